package openstack

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// consumer is the part of a collector that calls one service of the catalog with a token: its own,
// or that of a keystone collector.
type consumer struct {
	name string
	// what names the service in errors.
	what string
	peer func(string) collectors.Collector
	// keystone is the name of the collector whose session is used; empty if own is set.
	keystone string
	own      *session

	region string
	side   gophercloud.Availability
	// renewalRejected is true after the service rejected a token and also its replacement. A
	// further token would not help, so none is requested until the service accepts one again.
	renewalRejected bool
}

// newConsumer creates a consumer. Without a shared token, it reads the credentials. It does not use
// the network.
func newConsumer(what, keystone string, a Auth, env collectors.Env) (consumer, error) {
	c := consumer{name: env.Name, what: what, peer: env.Peer, keystone: keystone, region: a.Region}
	if a.Interface != "" {
		c.side, _ = availability(a.Interface)
	}
	if keystone != "" {
		return c, nil
	}
	session, err := newSession(a, env.Hide)
	if err != nil {
		return c, err
	}
	c.own = session
	return c, nil
}

// sharedProblems returns a problem for each key of a login, because a shared token excludes it.
func (a *Auth) sharedProblems() []collectors.Problem {
	keys := a.identityKeys()
	for key, set := range map[string]bool{
		"cloud": a.Cloud != "", "clouds_file": a.CloudsFile != "", "ca_file": a.CAFile != "",
		"cert_file": a.CertFile != "", "key_file": a.KeyFile != "", "insecure": a.Insecure,
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
	if _, ok := availability(a.Interface); !ok {
		problems = append(problems, collectors.Problem{Path: "interface", Text: fmt.Sprintf("interface %q: expected public, internal or admin", a.Interface)})
	}
	return problems
}

// loginProblems returns every mistake in the credentials, or in the name of the collector whose token
// is shared.
func (a *Auth) loginProblems(keystone string) []collectors.Problem {
	if keystone != "" {
		return append(collectors.NameProblem("keystone", keystone), a.sharedProblems()...)
	}
	return a.problems()
}

// session returns the session to use and whether it belongs to another collector. It looks up
// the peer in each collection, because a reload may replace it.
func (c *consumer) session() (s *session, shared bool, err error) {
	if c.own != nil {
		return c.own, false, nil
	}
	var peer collectors.Collector
	if c.peer != nil {
		peer = c.peer(c.keystone)
	}
	owner, ok := peer.(*keystone)
	if !ok {
		return nil, false, fmt.Errorf("collector %q: expected one of the kind keystone", c.keystone)
	}
	return owner.session, true, nil
}

// Run implements collectors.Runner. It closes the idle connections when ctx ends.
func (c *consumer) Run(ctx context.Context, _ func()) {
	<-ctx.Done()
	if c.own != nil {
		c.own.close()
	}
}

// validated is the body of a response.
type validated interface {
	// validate returns an error if the body is JSON, but not the expected response.
	validate() error
}

// exchange is the state of the requests of one collection.
type exchange struct {
	c       *consumer
	session *session
	shared  bool
	token   *token
	// locate returns the URL of the API in the token's catalog, with a slash at its end.
	locate  func(context.Context, *token) (string, error)
	base    string // the result of locate
	renewed bool   // the token was replaced
	// headers are sent with each request.
	headers map[string]string
	// expires is when the service's certificates expire; zero without TLS.
	expires time.Time
}

// begin returns the exchange of a collection. Its error is a mistake in the configuration.
func (c *consumer) begin(locate func(context.Context, *token) (string, error)) (*exchange, error) {
	session, shared, err := c.session()
	if err != nil {
		return nil, err
	}
	return &exchange{c: c, session: session, shared: shared, locate: locate}, nil
}

// login gets a token and looks up the address of the API.
func (r *exchange) login(ctx context.Context) error {
	token, err := r.session.use(ctx, r.shared)
	if err != nil {
		return fmt.Errorf("no token for %s: %w", r.c.what, err)
	}
	return r.adopt(ctx, token)
}

// adopt sets the token and the address of the API.
func (r *exchange) adopt(ctx context.Context, token *token) error {
	base, err := r.locate(ctx, token)
	if err == nil {
		r.token, r.base = token, base
	}
	return err
}

// get sends a GET request. It replaces a rejected token once per collection.
func (r *exchange) get(ctx context.Context, resource string, into validated) (time.Duration, error) {
	took, err := r.send(ctx, resource, into)
	if reasonOf(err) != remote.ReasonAuth {
		r.c.renewalRejected = r.c.renewalRejected && err != nil
		return took, err
	}
	if r.renewed || r.c.renewalRejected {
		return took, err
	}
	r.renewed = true
	token, renewal := r.session.replacement(ctx, r.token, r.shared)
	if renewal != nil {
		return 0, fmt.Errorf("%s rejects the token, and a new one was not issued: %w", r.c.what, renewal)
	}
	if err := r.adopt(ctx, token); err != nil {
		return 0, err
	}
	took, err = r.send(ctx, resource, into)
	r.c.renewalRejected = reasonOf(err) == remote.ReasonAuth
	return took, err
}

// send sends a GET request with the current token.
func (r *exchange) send(ctx context.Context, resource string, into validated) (time.Duration, error) {
	op := "get " + r.base + resource
	_, took, err := call(withExpiry(ctx, &r.expires), r.token.login, r.token.id, op, http.MethodGet, r.base+resource, &gophercloud.RequestOpts{
		JSONResponse: into, OkCodes: []int{http.StatusOK}, MoreHeaders: r.headers,
	})
	if err != nil {
		return took, err
	}
	if err := into.validate(); err != nil {
		return 0, newError(op, err)
	}
	return took, nil
}

// reloadError is the error of the last reload of the credentials, unless they are another
// collector's.
func (r *exchange) reloadError() error {
	if r.shared {
		return nil
	}
	_, err := r.session.count()
	return err
}
