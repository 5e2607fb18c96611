package openstack

import (
	"context"
	"errors"

	"github.com/vitals-health/vitals/collectors"
)

// extensions appends which of the configured extensions Neutron has loaded. On an
// error nothing is appended.
func (r *neutronRound) extensions(ctx context.Context, b *collectors.Batch) error {
	if len(r.n.extensions) == 0 {
		return nil
	}
	var answer neutronExtensions
	if _, err := r.get(ctx, "extensions", &answer); err != nil {
		return err
	}
	for _, alias := range r.n.extensions {
		b.Set(neutronExtensionPresentMetric, collectors.Number(answer.has(alias)), r.n.name, alias)
	}
	return nil
}

// errNoAgents stands for a list that policy has emptied: Neutron does not refuse to
// list agents, it leaves out those that the role may not see, and keeps dead agents
// in the list until an administrator deletes them.
var errNoAgents = errors.New("neutron shows no agents: expected a role that may list them, by default admin")

// agents appends how many agents of the configured types there are, and how many of
// them live. On an error nothing is appended.
func (r *neutronRound) agents(ctx context.Context, b *collectors.Batch) error {
	if len(r.n.agents) == 0 {
		return nil
	}
	var answer neutronAgents
	if _, err := r.get(ctx, "agents?fields=agent_type&fields=alive", &answer); err != nil {
		return err
	}
	if len(answer.Agents) == 0 {
		return errNoAgents
	}
	for _, agentType := range r.n.agents {
		all, alive := answer.count(agentType)
		b.Set(neutronAgentsMetric, float64(all), r.n.name, agentType)
		b.Set(neutronAgentsAliveMetric, float64(alive), r.n.name, agentType)
	}
	return nil
}

// Describe lists the metrics that Collect exports.
func (n *neutron) Describe() []collectors.Desc { return collectors.Describe(neutronDefs()) }
