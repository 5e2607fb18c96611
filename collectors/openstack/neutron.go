package openstack

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// NeutronConfig is the configuration of the kind neutron, which makes an
// authenticated call that reaches Neutron's database.
type NeutronConfig struct {
	// Keystone names a keystone collector whose token is shared. Empty means that
	// the collector logs in by itself, with the keys beside it.
	Keystone string `yaml:"keystone,omitempty"`

	Auth `yaml:",inline"`

	// Project is the id of the project whose quota is read; empty means the token's.
	Project string `yaml:"project,omitempty"`
	// Resources are the quotas that are exported, by Neutron's own names; empty
	// means all that Neutron itself has.
	Resources []string `yaml:"resources,omitempty"`
	// Extensions are the aliases of the API extensions whose presence is exported.
	Extensions []string `yaml:"extensions,omitempty"`
	// Agents are the types of agents that are counted, such as "DHCP agent".
	Agents []string `yaml:"agents,omitempty"`
}

var (
	projectID    = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	neutronAlias = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)
	neutronAgent = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9 ()/_.-]{0,63}$`)
)

// neutronResources are the quotas of Neutron's core and of the extensions that are
// part of it, by the names in GET /v2.0/quotas/{project}/details.
func neutronResources() []string {
	return []string{
		"floatingip", "network", "port", "rbac_policy", "router", "security_group",
		"security_group_rule", "subnet", "subnetpool", "trunk",
	}
}

// Problems returns every mistake that can be seen without any I/O.
func (c *NeutronConfig) Problems() []collectors.Problem {
	problems := c.problems()
	if c.Keystone != "" {
		problems = append(collectors.NameProblem("keystone", c.Keystone), c.sharedProblems()...)
	}
	if c.Project != "" && !projectID.MatchString(c.Project) {
		problems = append(problems, collectors.Problem{Path: "project", Text: fmt.Sprintf("project %q: expected the id of a project", c.Project)})
	}
	problems = append(problems, listProblems("resources", c.Resources, neutronAlias, "the name of a quota such as port")...)
	problems = append(problems, listProblems("extensions", c.Extensions, neutronAlias, "the alias of an extension such as security-group")...)
	return append(problems, listProblems("agents", c.Agents, neutronAgent, "a type of agent such as DHCP agent")...)
}

// sharedProblems names the keys that say how to log in, which a shared token excludes.
func (c *NeutronConfig) sharedProblems() []collectors.Problem {
	keys := c.identityKeys()
	for key, set := range map[string]bool{
		"cloud": c.Cloud != "", "clouds_file": c.CloudsFile != "", "ca_file": c.CAFile != "",
		"cert_file": c.CertFile != "", "key_file": c.KeyFile != "", "insecure": c.Insecure,
	} {
		if set {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	var problems []collectors.Problem
	for _, key := range keys {
		problems = append(problems, collectors.Problem{Path: key, Text: key + " beside keystone: expected the credentials there, or no shared token"})
	}
	if _, ok := availability(c.Interface); !ok {
		problems = append(problems, collectors.Problem{Path: "interface", Text: fmt.Sprintf("interface %q: expected public, internal or admin", c.Interface)})
	}
	return problems
}

// New reads the credentials, where they are its own, and makes the collector. It
// talks to nobody.
func (c *NeutronConfig) New(env collectors.Env) (collectors.Collector, error) {
	n := &neutron{
		name: env.Name, peer: env.Peer, keystone: c.Keystone, region: c.Region, project: c.Project,
		resources: slices.Clone(c.Resources), extensions: slices.Clone(c.Extensions), agents: slices.Clone(c.Agents),
	}
	if len(n.resources) == 0 {
		n.resources = neutronResources()
	}
	if c.Interface != "" {
		n.side, _ = availability(c.Interface)
	}
	if c.Keystone != "" {
		return n, nil
	}
	session, err := newOpenStackSession(c.Auth)
	if err != nil {
		return nil, fmt.Errorf("neutron: %w", err)
	}
	n.own = session
	return n, nil
}

// External says that a restart of the workload cannot cure Neutron.
func (c *NeutronConfig) External() bool { return true }

// Uses names the keystone collector whose token is shared.
func (c *NeutronConfig) Uses() []string {
	if c.Keystone == "" {
		return nil
	}
	return []string{c.Keystone}
}

type neutron struct {
	name string
	peer func(string) collectors.Collector
	// keystone names the collector whose session is used; empty if own is set.
	keystone string
	own      *session

	region                        string
	side                          gophercloud.Availability
	project                       string
	resources, extensions, agents []string

	// futile is set while a token issued because Neutron had refused another is
	// refused as well: then one more would not help, and none is asked for until
	// Neutron has accepted a token again.
	futile bool
}

// session returns the session to use and whether it belongs to another collector.
// The peer is looked up in each round, since a reload may replace it.
func (n *neutron) session() (s *session, shared bool, err error) {
	if n.own != nil {
		return n.own, false, nil
	}
	var peer collectors.Collector
	if n.peer != nil {
		peer = n.peer(n.keystone)
	}
	source, ok := peer.(openStackShared)
	if !ok {
		return nil, false, fmt.Errorf("collector %q: expected one of the kind keystone", n.keystone)
	}
	return source.openStackSession(), true, nil
}

// Collect reads the quota of the project, and then what else is configured. Only
// the first decides whether Neutron is up.
func (n *neutron) Collect(ctx context.Context) ([]collectors.Sample, error) {
	session, shared, err := n.session()
	if err != nil {
		return nil, err
	}
	r := &neutronRound{n: n, session: session, shared: shared}
	var b collectors.Batch
	quotas, took, err := r.measure(ctx)
	remote.AddDependency(&b, n.name, took, reasonOf(err))
	if err == nil {
		addNeutronQuotas(&b, n.name, n.resources, quotas)
		err = errors.Join(r.extensions(ctx, &b), r.agents(ctx, &b))
	}
	if !shared {
		_, unread := session.count()
		err = errors.Join(err, unread)
	}
	return b.Samples, err
}

// Run closes the connections that are kept between rounds when ctx ends.
func (n *neutron) Run(ctx context.Context, _ func()) {
	<-ctx.Done()
	if n.own != nil {
		n.own.close()
	}
}

// neutronRound is one round: it holds the token, and whether that was replaced.
type neutronRound struct {
	n       *neutron
	session *session
	shared  bool
	token   *token
	base    string
	renewed bool
}

// measure makes the call that decides: it needs the token to be accepted and the
// database to answer. The quotas are nil where Neutron has no quota details or the
// token no project; then one network is listed instead.
func (r *neutronRound) measure(ctx context.Context) (map[string]neutronQuota, time.Duration, error) {
	token, err := r.session.use(ctx, r.shared)
	if err != nil {
		return nil, 0, fmt.Errorf("no token for neutron: %w", err)
	}
	if err := r.adopt(ctx, token); err != nil {
		return nil, 0, err
	}
	if project := r.project(); project != "" {
		var answer neutronQuotas
		took, err := r.get(ctx, "quotas/"+url.PathEscape(project)+"/details.json", &answer)
		if reasonOf(err) != remote.ReasonNotFound {
			return answer.Quota, took, err
		}
	}
	var answer neutronNetworks
	took, err := r.get(ctx, "networks?limit=1&fields=id", &answer)
	return nil, took, err
}

// project is the one whose quota is read.
func (r *neutronRound) project() string {
	if r.n.project != "" {
		return r.n.project
	}
	return r.token.project
}

// adopt takes a token and looks Neutron's address up in its catalog. An endpoint
// may end in the version of the API, as older installations register it.
func (r *neutronRound) adopt(ctx context.Context, token *token) error {
	endpoint, err := token.endpoint(ctx, "network", r.n.region, r.n.side)
	if err != nil {
		return newError("find the service network in the catalog", err)
	}
	r.token, r.base = token, strings.TrimRight(endpoint, "/")+"/"
	if path.Base(r.base) != "v2.0" {
		r.base += "v2.0/"
	}
	return nil
}

// get makes one GET. A token that Neutron refuses is replaced once in a round.
func (r *neutronRound) get(ctx context.Context, resource string, into neutronAnswer) (time.Duration, error) {
	took, err := r.try(ctx, resource, into)
	if reasonOf(err) != remote.ReasonAuth {
		r.n.futile = r.n.futile && err != nil
		return took, err
	}
	if r.renewed || r.n.futile {
		return took, err
	}
	r.renewed = true
	token, renewal := r.session.refused(ctx, r.token, r.shared)
	if renewal != nil {
		return 0, fmt.Errorf("neutron refuses the token, and there is no new one: %w", renewal)
	}
	if err := r.adopt(ctx, token); err != nil {
		return 0, err
	}
	took, err = r.try(ctx, resource, into)
	r.n.futile = reasonOf(err) == remote.ReasonAuth
	return took, err
}

func (r *neutronRound) try(ctx context.Context, resource string, into neutronAnswer) (time.Duration, error) {
	op := "get " + r.base + resource
	_, took, err := callOpenStack(ctx, r.token.login, r.token.id, op, http.MethodGet, r.base+resource, &gophercloud.RequestOpts{
		JSONResponse: into, OkCodes: []int{http.StatusOK},
	})
	if err != nil {
		return took, err
	}
	if err := into.complete(); err != nil {
		return 0, newError(op, err)
	}
	return took, nil
}
