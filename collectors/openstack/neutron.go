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

// sharedProblems returns a problem for each key of a login, because a shared token excludes it.
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

// New creates the collector. Without a shared token, it reads the credentials. It does not use
// the network.
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
	session, err := newSession(c.Auth)
	if err != nil {
		return nil, fmt.Errorf("neutron: %w", err)
	}
	n.own = session
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
	name string
	peer func(string) collectors.Collector
	// keystone is the name of the collector whose session is used; empty if own is set.
	keystone string
	own      *session

	region                        string
	side                          gophercloud.Availability
	project                       string
	resources, extensions, agents []string

	// renewalRejected is true after Neutron rejected a token and also its replacement. A
	// further token would not help, so none is requested until Neutron accepts one again.
	renewalRejected bool
}

// session returns the session to use and whether it belongs to another collector. It looks up
// the peer in each collection, because a reload may replace it.
func (n *neutron) session() (s *session, shared bool, err error) {
	if n.own != nil {
		return n.own, false, nil
	}
	var peer collectors.Collector
	if n.peer != nil {
		peer = n.peer(n.keystone)
	}
	owner, ok := peer.(*keystone)
	if !ok {
		return nil, false, fmt.Errorf("collector %q: expected one of the kind keystone", n.keystone)
	}
	return owner.session, true, nil
}

// Collect reads the quota of the project, then the configured extensions and agents. Only the
// quota decides whether Neutron is up.
func (n *neutron) Collect(ctx context.Context) ([]collectors.Sample, error) {
	session, shared, err := n.session()
	if err != nil {
		return nil, err
	}
	r := &neutronCollection{n: n, session: session, shared: shared}
	var b collectors.Batch
	quotas, took, err := r.measure(ctx)
	remote.AddDependency(&b, n.name, took, reasonOf(err))
	addExpiry(&b, n.name, r.expires)
	if err != nil {
		quotas = nil // of an incomplete response
	}
	addNeutronQuotas(&b, n.name, n.resources, quotas)
	if err == nil {
		err = errors.Join(r.extensions(ctx, &b), r.agents(ctx, &b))
	}
	if !shared {
		_, reloadErr := session.count()
		err = errors.Join(err, reloadErr)
	}
	return b.Samples, err
}

// Run implements collectors.Runner. It closes the idle connections when ctx ends.
func (n *neutron) Run(ctx context.Context, _ func()) {
	<-ctx.Done()
	if n.own != nil {
		n.own.close()
	}
}

// neutronCollection is the state of one collection.
type neutronCollection struct {
	n       *neutron
	session *session
	shared  bool
	token   *token
	base    string // URL of the API, with a slash at its end
	renewed bool   // the token was replaced
	// expires is when Neutron's certificates expire; zero without TLS.
	expires time.Time
}

// measure sends the request that decides whether Neutron is up: it succeeds if Neutron accepts
// the token and reaches its database. If Neutron has no quota details or the token no project,
// it lists one network instead, and the quotas are nil.
func (r *neutronCollection) measure(ctx context.Context) (map[string]neutronQuota, time.Duration, error) {
	token, err := r.session.use(ctx, r.shared)
	if err != nil {
		return nil, 0, fmt.Errorf("no token for neutron: %w", err)
	}
	if err := r.adopt(ctx, token); err != nil {
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

// adopt sets the token and looks up Neutron's address in its catalog. In older installations,
// the endpoint ends in the version of the API.
func (r *neutronCollection) adopt(ctx context.Context, token *token) error {
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

// get sends a GET request. It replaces a rejected token once per collection.
func (r *neutronCollection) get(ctx context.Context, resource string, into neutronResponse) (time.Duration, error) {
	took, err := r.send(ctx, resource, into)
	if reasonOf(err) != remote.ReasonAuth {
		r.n.renewalRejected = r.n.renewalRejected && err != nil
		return took, err
	}
	if r.renewed || r.n.renewalRejected {
		return took, err
	}
	r.renewed = true
	token, renewal := r.session.replacement(ctx, r.token, r.shared)
	if renewal != nil {
		return 0, fmt.Errorf("neutron rejects the token, and a new one was not issued: %w", renewal)
	}
	if err := r.adopt(ctx, token); err != nil {
		return 0, err
	}
	took, err = r.send(ctx, resource, into)
	r.n.renewalRejected = reasonOf(err) == remote.ReasonAuth
	return took, err
}

// send sends a GET request with the current token.
func (r *neutronCollection) send(ctx context.Context, resource string, into neutronResponse) (time.Duration, error) {
	op := "get " + r.base + resource
	_, took, err := call(withExpiry(ctx, &r.expires), r.token.login, r.token.id, op, http.MethodGet, r.base+resource, &gophercloud.RequestOpts{
		JSONResponse: into, OkCodes: []int{http.StatusOK},
	})
	if err != nil {
		return took, err
	}
	if err := into.validate(); err != nil {
		return 0, newError(op, err)
	}
	return took, nil
}
