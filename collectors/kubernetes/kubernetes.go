// Package kubernetes measures the Kubernetes API: its readiness, open watches, access rights and
// custom resource definitions.
package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/internal/panics"
)

const (
	// parallel bounds the concurrent requests of one collection.
	parallel = 4
	// margin is the part of its time that a collection does not use, so that it can still
	// report a timeout.
	margin = 200 * time.Millisecond
	// firstWait is how long the first collection waits for the watches, so that the first
	// evaluation has their samples.
	firstWait = time.Second
	// defaultTimeout bounds a collection whose context has no deadline.
	defaultTimeout = 5 * time.Second
)

// collector measures one API server and the account's access to it, and keeps watches open.
type collector struct {
	name   string
	config *rest.Config
	// requests and streams have separate connections: a connection that hangs under a watch
	// does not delay a request.
	requests, streams *client
	reviews           []review
	crds              []*crd
	watches           []*watch
	// last is the result of the previous checks, nil before the first. lastOutcome summarizes
	// it; timedOut reports whether they timed out.
	last        *result
	lastOutcome string
	timedOut    bool
}

// review is one access review. The access is nil for the review that only verifies the
// credentials.
type review struct {
	access *Access
	body   []byte
}

// New creates the collector. It reads the kubeconfig, the certificates and the token, and
// returns an error for a file that is missing or malformed.
func (c *Config) New(env collectors.Env) (collectors.Collector, error) {
	config, err := c.restConfig(env.Hide)
	if err != nil {
		return nil, fmt.Errorf("kubernetes: %w", err)
	}
	logger := env.Logger
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	if c.Server != "" && c.TokenFile != "" && !c.sendsToken() {
		logger.Warn("token_file is not used: a token is not sent unencrypted to another host")
	}
	made := &collector{name: env.Name, config: config}
	if made.requests, err = newClient(config, env.Bodies); err != nil {
		return nil, fmt.Errorf("kubernetes: %w", err)
	}
	if made.streams, err = newClient(config, env.Bodies); err != nil {
		return nil, fmt.Errorf("kubernetes: %w", err)
	}
	for _, a := range c.Access {
		made.reviews = append(made.reviews, review{&a, reviewBody(&a)})
	}
	if len(made.reviews) == 0 {
		made.reviews = []review{{body: reviewBody(nil)}}
	}
	for _, name := range c.CRDs {
		made.crds = append(made.crds, &crd{name: name})
	}
	for _, of := range c.watches() {
		w := newWatch(made.streams, of.resource, time.Duration(c.WatchIdleTimeout), logger)
		if w.namespace = of.namespace; w.namespace != "" {
			w.logger = logger.With("namespace", w.namespace)
		}
		made.watches = append(made.watches, w)
	}
	return made, nil
}

// Run implements collectors.Runner. It keeps the watches open, and requests a collection for each
// change of one.
func (c *collector) Run(ctx context.Context, changed func()) {
	g, ctx := errgroup.WithContext(ctx)
	for _, w := range c.watches {
		g.Go(panics.Caught(func() { w.run(ctx, changed) }))
	}
	<-ctx.Done()
	err := g.Wait()
	c.streams.closeIdle()
	c.requests.closeIdle()
	panics.Raise(err)
}

// result is the result of the requests of one collection.
type result struct {
	ready    response
	readyErr error
	// allowed and present are in the order of the reviews and the CRDs. They are valid
	// where the error with the same index is nil.
	allowed, present       []bool
	allowedErr, presentErr []error
}

// Collect implements collectors.Collector. For a change of a watch, it sends no requests and exports
// the result of the previous checks again: trouble with a watch must not become load.
func (c *collector) Collect(ctx context.Context) ([]collectors.Sample, error) {
	first := c.last == nil
	if first || !collectors.Requested(ctx) {
		c.check(ctx, first)
	}
	var b collectors.Batch
	remote.AddDependency(&b, c.name, c.last.ready.took, c.last.reason())
	c.addResult(&b, c.last)
	for _, w := range c.watches {
		addWatch(&b, c.name, w, time.Now())
	}
	return b.Samples, c.problems(c.last)
}

// check sends the requests of a collection. The first one waits for the watches.
func (c *collector) check(ctx context.Context, first bool) {
	ctx, cancel := deadline(ctx)
	defer cancel()
	if c.timedOut {
		// The connection may be dead. It is not closed right after the timeout, because the
		// abandoned requests still used it then.
		c.requests.closeIdle()
	}
	wait := time.NewTimer(firstWait)
	defer wait.Stop()
	c.remember(c.query(ctx))
	if first {
		c.awaitWatches(ctx, wait.C)
	}
}

// remember keeps what the next collection needs of this one.
func (c *collector) remember(r *result) {
	c.last = r
	reason := r.reason()
	c.timedOut = reason == remote.ReasonTimeout
	outcome := fmt.Sprint(reason, r.allowed, r.present)
	if c.lastOutcome != "" && outcome != c.lastOutcome && reason == "" {
		// The API server, a right or a definition is available again, so a watch that is not
		// open retries now. The interval between collections bounds how often this happens.
		for _, w := range c.watches {
			w.retry()
		}
	}
	c.lastOutcome = outcome
}

// deadline returns a context that ends a little before ctx.
func deadline(ctx context.Context) (context.Context, context.CancelFunc) {
	left := defaultTimeout
	if deadline, ok := ctx.Deadline(); ok {
		left = time.Until(deadline)
	}
	return context.WithTimeout(ctx, left-min(left/5, margin))
}

// query sends the requests of a collection.
func (c *collector) query(ctx context.Context) *result {
	r := &result{
		allowed: make([]bool, len(c.reviews)), allowedErr: make([]error, len(c.reviews)),
		present: make([]bool, len(c.crds)), presentErr: make([]error, len(c.crds)),
	}
	var g errgroup.Group
	g.SetLimit(parallel)
	g.Go(panics.Caught(func() { r.ready, r.readyErr = c.requests.ready(ctx) }))
	for i, review := range c.reviews {
		g.Go(panics.Caught(func() { r.allowed[i], r.allowedErr[i] = c.requests.review(ctx, review.body) }))
	}
	for i, crd := range c.crds {
		g.Go(panics.Caught(func() { r.present[i], r.presentErr[i] = crd.check(ctx, c.requests) }))
	}
	panics.Raise(g.Wait()) // the result holds all other errors
	return r
}

// reason returns why the workload cannot use the API server, or "". Anonymous users can often
// read the readiness, so the reviews verify the credentials.
func (r *result) reason() remote.Reason {
	if r.readyErr != nil {
		return remote.ReasonOf(r.readyErr)
	}
	for _, err := range r.allowedErr {
		if err != nil {
			return remote.ReasonOf(err)
		}
	}
	return ""
}

// awaitWatches waits until each watch has had its first attempt, or until the timeout.
func (c *collector) awaitWatches(ctx context.Context, timeout <-chan time.Time) {
	for _, w := range c.watches {
		select {
		case <-w.tried:
		case <-timeout:
			return
		case <-ctx.Done():
			return
		}
	}
}

// problems returns the first errors of the collection and the number of the others.
func (c *collector) problems(r *result) error {
	const most = 3
	var texts []string
	add := func(what string, err error) {
		if err != nil {
			texts = append(texts, strings.TrimPrefix(what+": "+err.Error(), ": "))
		}
	}
	add("", r.readyErr)
	for i, review := range c.reviews {
		what := "review access"
		if review.access != nil {
			what = fmt.Sprintf("review access to %s %s", review.access.Verb, review.access.Resource)
		}
		add(what, r.allowedErr[i])
	}
	for i, crd := range c.crds {
		add("get definition "+crd.name, r.presentErr[i])
	}
	for _, w := range c.watches {
		what := "watch " + w.resource
		if w.namespace != "" {
			what += " in namespace " + w.namespace
		}
		add(what, w.snapshot().err)
	}
	if len(texts) == 0 {
		return nil
	}
	more := ""
	if len(texts) > most {
		more = fmt.Sprintf("; and %d more", len(texts)-most)
		texts = texts[:most]
	}
	text := strings.Join(texts, "; ")
	if limit := collectors.MaxReason - len(more); len(text) > limit {
		text = strings.ToValidUTF8(text[:limit], "")
	}
	return errors.New(text + more)
}
