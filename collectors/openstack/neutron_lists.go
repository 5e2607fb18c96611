package openstack

import (
	"context"
	"errors"

	"github.com/vitals-health/vitals/collectors"
)

// extensions appends whether Neutron has loaded the configured extensions. On an error, it appends
// nothing.
func (r *neutronCollection) extensions(ctx context.Context, b *collectors.Batch) error {
	if len(r.n.extensions) == 0 {
		return nil
	}
	var response neutronExtensions
	if _, err := r.get(ctx, "extensions", &response); err != nil {
		return err
	}
	for _, alias := range r.n.extensions {
		b.Set(neutronExtensionPresentMetric, collectors.Number(response.has(alias)), r.n.name, alias)
	}
	return nil
}

// errNoAgents is the error for an empty list, which means a missing right: Neutron omits the
// agents that the role may not see, without an error, and keeps dead agents in the list until an
// administrator deletes them.
var errNoAgents = errors.New("neutron lists no agents: expected a role with the right to list them, by default admin")

// agents appends the numbers of agents of the configured types. On an error, it appends nothing.
func (r *neutronCollection) agents(ctx context.Context, b *collectors.Batch) error {
	if len(r.n.agents) == 0 {
		return nil
	}
	var response neutronAgents
	if _, err := r.get(ctx, "agents?fields=agent_type&fields=alive", &response); err != nil {
		return err
	}
	if len(response.Agents) == 0 {
		return errNoAgents
	}
	for _, agentType := range r.n.agents {
		all, alive := response.count(agentType)
		b.Set(neutronAgentsMetric, float64(all), r.n.name, agentType)
		b.Set(neutronAgentsAliveMetric, float64(alive), r.n.name, agentType)
	}
	return nil
}

// Describe implements collectors.Collector.
func (n *neutron) Describe() []collectors.Desc { return collectors.Describe(neutronDefs()) }
