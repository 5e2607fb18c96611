package openstack

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// NeutronConfig is the configuration of the kind neutron. It sends an authenticated request that
// needs Neutron's database.
type NeutronConfig struct {
	// Keystone is the name of a keystone collector whose token is shared. If it is empty,
	// the collector logs in with the credentials of this block.
	Keystone string `yaml:"keystone,omitempty"`

	Auth `yaml:",inline"`

	// Project is the id of the project whose quota is read; empty means that of the token.
	Project string `yaml:"project,omitempty"`
	// Resources are the exported quotas, by Neutron's names; empty means neutronResources.
	Resources []string `yaml:"resources,omitempty"`
	// Extensions are aliases of API extensions. Their presence is exported.
	Extensions []string `yaml:"extensions,omitempty"`
	// Agents are the types of counted agents, such as "DHCP agent".
	Agents []string `yaml:"agents,omitempty"`
	// Subnets are the names of subnets whose addresses are counted.
	Subnets []string `yaml:"subnets,omitempty"`
}

var (
	projectID    = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	neutronAlias = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)
	neutronAgent = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9 ()/_.-]{0,63}$`)
)

// neutronResources returns the quotas of Neutron's core and of its own extensions, by the names
// in the response to GET /v2.0/quotas/{project}/details.
func neutronResources() []string {
	return []string{
		"floatingip", "network", "port", "rbac_policy", "router", "security_group",
		"security_group_rule", "subnet", "subnetpool", "trunk",
	}
}

// Problems implements collectors.Kind.
func (c *NeutronConfig) Problems() []collectors.Problem {
	problems := c.loginProblems(c.Keystone)
	if c.Project != "" && !projectID.MatchString(c.Project) {
		problems = append(problems, collectors.Problem{Path: "project", Text: fmt.Sprintf("project %q: expected the id of a project", c.Project)})
	}
	problems = append(problems, listProblems("resources", c.Resources, neutronAlias, "the name of a quota such as port")...)
	problems = append(problems, listProblems("extensions", c.Extensions, neutronAlias, "the alias of an extension such as security-group")...)
	problems = append(problems, listProblems("agents", c.Agents, neutronAgent, "a type of agent such as DHCP agent")...)
	if len(c.Subnets) > maxSubnets {
		problems = append(problems, collectors.Problem{Path: "subnets", Text: fmt.Sprintf("%d subnets: expected at most %d", len(c.Subnets), maxSubnets)})
	}
	return append(problems, listProblems("subnets", c.Subnets, resourceName, "the name of a subnet")...)
}

// New creates the collector. Without a shared token, it reads the credentials. It does not use
// the network.
func (c *NeutronConfig) New(env collectors.Env) (collectors.Collector, error) {
	consumer, err := newConsumer("neutron", c.Keystone, c.Auth, env)
	if err != nil {
		return nil, fmt.Errorf("neutron: %w", err)
	}
	n := &neutron{
		consumer: consumer, project: c.Project,
		resources: slices.Clone(c.Resources), extensions: slices.Clone(c.Extensions), agents: slices.Clone(c.Agents), subnets: slices.Clone(c.Subnets),
	}
	if len(n.resources) == 0 {
		n.resources = neutronResources()
	}
	return n, nil
}

// External implements collectors.Kind.
func (c *NeutronConfig) External() bool { return true }

// Uses implements collectors.Kind. It returns the keystone collector whose token is shared.
func (c *NeutronConfig) Uses() []string {
	if c.Keystone == "" {
		return nil
	}
	return []string{c.Keystone}
}

// neutron is the collector of the kind neutron.
type neutron struct {
	consumer

	project                                string
	resources, extensions, agents, subnets []string
}

// Collect reads the quota of the project, then the configured extensions, agents and subnets. Only the
// quota decides whether Neutron is up.
func (n *neutron) Collect(ctx context.Context) ([]collectors.Sample, error) {
	exchange, err := n.begin(n.locate)
	if err != nil {
		return nil, err
	}
	r := &neutronCollection{n, exchange}
	var b collectors.Batch
	quotas, took, err := r.measure(ctx)
	remote.AddDependency(&b, n.name, took, reasonOf(err))
	addExpiry(&b, n.name, r.expires)
	if err != nil {
		quotas = nil // of an incomplete response
	}
	addNeutronQuotas(&b, n.name, n.resources, quotas)
	if err == nil {
		err = errors.Join(r.extensions(ctx, &b), r.agents(ctx, &b), r.subnets(ctx, &b))
	}
	return b.Samples, errors.Join(err, r.reloadError())
}

// neutronCollection is one collection.
type neutronCollection struct {
	n *neutron
	*exchange
}

// measure sends the request that decides whether Neutron is up: it succeeds if Neutron accepts
// the token and reaches its database. If Neutron has no quota details or the token no project,
// it lists one network instead, and the quotas are nil.
func (r *neutronCollection) measure(ctx context.Context) (map[string]neutronQuota, time.Duration, error) {
	if err := r.login(ctx); err != nil {
		return nil, 0, err
	}
	if project := r.project(); project != "" {
		var response neutronQuotas
		took, err := r.get(ctx, "quotas/"+url.PathEscape(project)+"/details.json", &response)
		if reasonOf(err) != remote.ReasonNotFound {
			return response.Quota, took, err
		}
	}
	var response neutronNetworks
	took, err := r.get(ctx, "networks?limit=1&fields=id", &response)
	return nil, took, err
}

// project returns the id of the project whose quota is read.
func (r *neutronCollection) project() string {
	if r.n.project != "" {
		return r.n.project
	}
	return r.token.project
}

// locate looks up Neutron's address in the catalog. In older installations, the endpoint ends in the
// version of the API.
func (n *neutron) locate(ctx context.Context, token *token) (string, error) {
	endpoint, err := token.endpoint(ctx, "network", n.region, n.side)
	if err != nil {
		return "", newError("find the service network in the catalog", err)
	}
	base := strings.TrimRight(endpoint, "/") + "/"
	if path.Base(base) != "v2.0" {
		base += "v2.0/"
	}
	return base, nil
}
