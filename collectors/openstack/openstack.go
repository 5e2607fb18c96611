package openstack

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// maxBalancers bounds the load balancers of one collector, each of which costs two requests a
// collection.
const maxBalancers = 20

// ServiceConfig is the configuration of the kind openstack. It checks one service of the catalog
// with an authenticated request that needs its database.
type ServiceConfig struct {
	// Service is the type of the service in the catalog, such as load-balancer.
	Service string `yaml:"service"`
	// Keystone is the name of a keystone collector whose token is shared. If it is empty,
	// the collector logs in with the credentials of this block.
	Keystone string `yaml:"keystone,omitempty"`

	Auth `yaml:",inline"`

	// Path is the request that decides whether the service is up, below the URL of the API. Empty
	// means that of the list in services, and the version document for other types.
	Path string `yaml:"path,omitempty"`
	// Binaries are the processes of the service to count, such as nova-compute.
	Binaries []string `yaml:"binaries,omitempty"`
	// Amphorae exports the number of Octavia's amphorae by status.
	Amphorae bool `yaml:"amphorae,omitempty"`
	// LoadBalancers are the names of load balancers whose state is exported.
	LoadBalancers []string `yaml:"load_balancers,omitempty"`
}

// resourceName is the name of a resource, which a user may choose.
var resourceName = regexp.MustCompile(`^[^\x00-\x1f\x7f]{1,255}$`)

// Problems implements collectors.Kind.
func (c *ServiceConfig) Problems() []collectors.Problem {
	problems := c.loginProblems(c.Keystone)
	add := func(path, format string, args ...any) {
		problems = append(problems, collectors.Problem{Path: path, Text: fmt.Sprintf(format, args...)})
	}
	switch {
	case c.Service == "":
		add("service", "no service: expected the type of a service in the catalog, such as load-balancer")
	case c.Service == "identity":
		add("service", "service %q: expected the kind keystone for it", c.Service)
	case !serviceType.MatchString(c.Service):
		add("service", "service %q: expected a service type such as load-balancer", c.Service)
	}
	if c.Path != "" && !requestPath.MatchString(c.Path) {
		add("path", "path %q: expected a path below the URL of the API, such as servers?limit=1", c.Path)
	}
	known := serviceOf(c.Service)
	for i, binary := range c.Binaries {
		path := fmt.Sprintf("binaries[%d]", i)
		switch {
		case len(known.binaries) == 0:
			add(path, "binaries of the service %q: expected none, its API has no list of them", c.Service)
		case !slices.Contains(known.binaries, binary):
			add(path, "binaries %q: expected one of %s", binary, strings.Join(known.binaries, ", "))
		case slices.Index(c.Binaries, binary) < i:
			add(path, "binaries %q: expected it once", binary)
		}
	}
	if c.Amphorae && !c.balances() {
		add("amphorae", "amphorae of the service %q: expected service: load-balancer", c.Service)
	}
	if len(c.LoadBalancers) > 0 && !c.balances() {
		add("load_balancers", "load_balancers of the service %q: expected service: load-balancer", c.Service)
	}
	if len(c.LoadBalancers) > maxBalancers {
		add("load_balancers", "%d load_balancers: expected at most %d", len(c.LoadBalancers), maxBalancers)
	}
	return append(problems, listProblems("load_balancers", c.LoadBalancers, resourceName, "the name of a load balancer")...)
}

// balances reports whether the service is Octavia.
func (c *ServiceConfig) balances() bool { return c.Service == "load-balancer" }

// New creates the collector. Without a shared token, it reads the credentials. It does not use
// the network.
func (c *ServiceConfig) New(env collectors.Env) (collectors.Collector, error) {
	consumer, err := newConsumer(c.Service, c.Keystone, c.Auth, env)
	if err != nil {
		return nil, fmt.Errorf("openstack: %w", err)
	}
	known := serviceOf(c.Service)
	if c.Path != "" {
		known.check, known.key = c.Path, ""
	}
	return &catalogService{
		consumer: consumer, service: known,
		binaries: slices.Clone(c.Binaries), amphorae: c.Amphorae, balancers: slices.Clone(c.LoadBalancers),
	}, nil
}

// External implements collectors.Kind.
func (c *ServiceConfig) External() bool { return true }

// Uses implements collectors.Kind. It returns the keystone collector whose token is shared.
func (c *ServiceConfig) Uses() []string {
	if c.Keystone == "" {
		return nil
	}
	return []string{c.Keystone}
}

// catalogService is the collector of the kind openstack.
type catalogService struct {
	consumer

	service             service
	binaries, balancers []string
	amphorae            bool
}

// Collect checks the service, then reads the configured lists. Only the check decides whether the
// service is up.
func (s *catalogService) Collect(ctx context.Context) ([]collectors.Sample, error) {
	r := &serviceCollection{s: s}
	exchange, err := s.begin(r.locate)
	if err != nil {
		return nil, err
	}
	r.exchange = exchange
	if s.service.header != "" {
		r.headers = map[string]string{s.service.header: s.service.microversion}
	}
	var b collectors.Batch
	took, err := r.measure(ctx)
	remote.AddDependency(&b, s.name, took, reasonOf(err))
	addExpiry(&b, s.name, r.expires)
	if r.document != "" {
		b.Set(serviceRespondingMetric, collectors.Number(r.responding), s.name)
	}
	var lists error
	for _, list := range r.lists() {
		failure := err
		if err == nil {
			failure = list.read(ctx, &b)
		}
		b.Set(serviceListMeasuredMetric, collectors.Number(failure == nil), s.name, list.name)
		if err == nil && reasonOf(failure) != remote.ReasonForbidden { // the role is a choice
			lists = errors.Join(lists, failure)
		}
	}
	if err == nil {
		lists = errors.Join(lists, r.balancers(ctx, &b))
	}
	return b.Samples, errors.Join(err, lists, r.reloadError())
}

// Describe implements collectors.Collector.
func (s *catalogService) Describe() []collectors.Desc { return collectors.Describe(serviceDefs()) }

// serviceCollection is one collection.
type serviceCollection struct {
	s *catalogService
	*exchange
	// document is the URL of the document that needs no token; empty before the login.
	document string
	// responding is whether the service returned it.
	responding bool
}

// locate looks up the service in the catalog.
func (r *serviceCollection) locate(ctx context.Context, t *token) (string, error) {
	op := "find the service " + r.s.what + " in the catalog"
	endpoint, err := r.s.service.find(ctx, t, r.s.region, r.s.side)
	if err != nil {
		return "", newError(op, err)
	}
	api, document, err := r.s.service.addresses(endpoint, t.project)
	if err != nil {
		return "", newError(op, err)
	}
	r.document = document
	return api, nil
}

// measure requests the version document, then sends the request that decides whether the service is
// up. Half of the time is left for that one. For a service without it, the document decides.
func (r *serviceCollection) measure(ctx context.Context) (time.Duration, error) {
	if err := r.login(ctx); err != nil {
		return 0, err
	}
	only := r.s.service.check == ""
	first, cancel := ctx, context.CancelFunc(func() {})
	if !only {
		first, cancel = halfOf(ctx)
	}
	took, err := r.version(first)
	cancel()
	if r.responding = err == nil; only {
		return took, err
	}
	check := strings.ReplaceAll(r.s.service.check, "{project}", r.token.project)
	return r.get(ctx, check, &checkResponse{key: r.s.service.key})
}

// version requests the version document.
func (r *serviceCollection) version(ctx context.Context) (time.Duration, error) {
	op := "get " + r.document
	var response checkResponse
	_, took, err := call(withExpiry(ctx, &r.expires), r.token.login, "", op, http.MethodGet, r.document, &gophercloud.RequestOpts{
		JSONResponse: &response, OkCodes: []int{http.StatusOK, http.StatusMultipleChoices},
	})
	if err != nil {
		return took, err
	}
	if err := response.validate(); err != nil {
		return 0, newError(op, err)
	}
	return took, nil
}

// list is a list that a role may not be allowed to read.
type list struct {
	name string
	read func(context.Context, *collectors.Batch) error
}

// lists returns the configured lists.
func (r *serviceCollection) lists() []list {
	var all []list
	if len(r.s.binaries) > 0 {
		all = append(all, list{listBinaries, r.processes})
	}
	if r.s.amphorae {
		all = append(all, list{listAmphorae, r.amphorae})
	}
	return all
}

// processes appends the numbers of processes by binary and state.
func (r *serviceCollection) processes(ctx context.Context, b *collectors.Batch) error {
	var response processList
	if _, err := r.get(ctx, r.s.service.processes, &response); err != nil {
		return err
	}
	counts := response.counts()
	for _, binary := range r.s.binaries {
		for _, state := range processStates() {
			for _, status := range processStatuses() {
				b.Set(serviceProcessesMetric, float64(counts[process{binary, state, status}]), r.s.name, binary, state, status)
			}
		}
	}
	return nil
}

// amphorae appends the numbers of amphorae by status.
func (r *serviceCollection) amphorae(ctx context.Context, b *collectors.Batch) error {
	var response amphoraList
	if _, err := r.get(ctx, "octavia/amphorae?fields=status", &response); err != nil {
		return err
	}
	statuses := amphoraStatuses()
	counts := response.counts()
	for _, status := range statuses {
		b.Set(amphoraeMetric, float64(counts[status]), r.s.name, status)
	}
	return nil
}
