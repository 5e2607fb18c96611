// Package kubernetes measures the Kubernetes API: its answer, open watches, access rights and
// custom resource definitions.
package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

const (
	// parallel bounds the requests of one round that run at the same time.
	parallel = 4
	// margin is what a round leaves of its time, so that it reports a time-out
	// instead of becoming one.
	margin = 200 * time.Millisecond
	// firstWait is how long the first round waits for the watches, so that the
	// first verdict is not unknown for want of some milliseconds.
	firstWait = time.Second
	// defaultTimeout bounds a round whose context has no deadline.
	defaultTimeout = 5 * time.Second
)

// collector measures one API server and the account's access to it, and keeps
// watches open on it.
type collector struct {
	name   string
	config *rest.Config
	// asking and watching have connections of their own, so that a connection
	// that hangs under a watch does not make the API server look down.
	asking, watching *client
	questions        []question
	crds             []*crd
	watches          []*watch
	waited           bool // the first round is over
	// told is what the last round found out, in short, and silent whether it was
	// a time-out.
	told   string
	silent bool
}

// question is one access review. The entry is nil for the question that only
// shows whether the credentials are accepted.
type question struct {
	entry *Access
	body  []byte
}

// New makes the collector. It reads the kubeconfig, the certificates and the token;
// a file that is missing or malformed is an error.
func (c *Config) New(env collectors.Env) (collectors.Collector, error) {
	config, err := c.restConfig()
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
	k := &collector{name: env.Name, config: config}
	if k.asking, err = newKubeClient(config); err != nil {
		return nil, fmt.Errorf("kubernetes: %w", err)
	}
	if k.watching, err = newKubeClient(config); err != nil {
		return nil, fmt.Errorf("kubernetes: %w", err)
	}
	for _, a := range c.Access {
		k.questions = append(k.questions, question{&a, reviewBody(&a)})
	}
	if len(k.questions) == 0 {
		k.questions = []question{{body: reviewBody(nil)}}
	}
	for _, name := range c.CRDs {
		k.crds = append(k.crds, &crd{name: name})
	}
	for _, resource := range c.Watch {
		k.watches = append(k.watches, newKubeWatch(k.watching, resource, time.Duration(c.WatchIdleTimeout), logger))
	}
	return k, nil
}

// Run implements Runner: it keeps the watches open.
func (k *collector) Run(ctx context.Context, changed func()) {
	var wg sync.WaitGroup
	for _, w := range k.watches {
		wg.Go(func() { w.run(ctx, changed) })
	}
	<-ctx.Done()
	wg.Wait()
	k.watching.closeIdle()
	k.asking.closeIdle()
}

// round is what one round found out.
type round struct {
	ready    answer
	readyErr error
	// allowed and present are in the order of the questions and the CRDs; an
	// error in the same place says that there is no answer.
	allowed, present       []bool
	allowedErr, presentErr []error
}

// Collect implements Collector.
func (k *collector) Collect(ctx context.Context) ([]collectors.Sample, error) {
	ctx, cancel := deadline(ctx)
	defer cancel()
	if k.silent {
		// The same connection may be silent for ever. It is dropped now and not right
		// after the time-out, when it was still busy with what had been given up.
		k.asking.closeIdle()
	}
	first := time.NewTimer(firstWait)
	defer first.Stop()
	round := k.ask(ctx)
	if !k.waited {
		k.waited = true
		k.awaitWatches(ctx, first.C)
	}
	var b collectors.Batch
	remote.AddDependency(&b, k.name, round.ready.took, round.reason())
	k.addRound(&b, round)
	for _, w := range k.watches {
		addKubeWatch(&b, k.name, w.resource, w.snapshot())
	}
	k.conclude(round)
	return b.Samples, k.problems(round)
}

// conclude draws from a round what concerns the next one.
func (k *collector) conclude(r *round) {
	reason := r.reason()
	k.silent = reason == remote.ReasonTimeout
	told := fmt.Sprint(reason, r.allowed, r.present)
	if told != k.told && reason == "" {
		// The API server has come back, or a right or a definition has. A watch that
		// is pausing need not wait for what is known already; the interval between
		// two rounds bounds how often this happens.
		for _, w := range k.watches {
			w.retry()
		}
	}
	k.told = told
}

// deadline bounds a round by a little less than what ctx leaves.
func deadline(ctx context.Context) (context.Context, context.CancelFunc) {
	left := defaultTimeout
	if deadline, ok := ctx.Deadline(); ok {
		left = time.Until(deadline)
	}
	return context.WithTimeout(ctx, left-min(left/5, margin))
}

// ask sends the requests of a round, some at a time.
func (k *collector) ask(ctx context.Context) *round {
	r := &round{
		allowed: make([]bool, len(k.questions)), allowedErr: make([]error, len(k.questions)),
		present: make([]bool, len(k.crds)), presentErr: make([]error, len(k.crds)),
	}
	var g errgroup.Group
	g.SetLimit(parallel)
	g.Go(func() error {
		r.ready, r.readyErr = k.asking.ready(ctx)
		return nil
	})
	for i, q := range k.questions {
		g.Go(func() error {
			r.allowed[i], r.allowedErr[i] = k.asking.review(ctx, q.body)
			return nil
		})
	}
	for i, crd := range k.crds {
		g.Go(func() error {
			r.present[i], r.presentErr[i] = crd.check(ctx, k.asking)
			return nil
		})
	}
	_ = g.Wait() // every error is kept in its place
	return r
}

// reason says why the API server is of no use to the workload. Its readiness is
// often open to anybody, so that only the reviews show whether the credentials
// are accepted.
func (r *round) reason() remote.Reason {
	if r.readyErr != nil {
		return reason(r.readyErr)
	}
	for _, err := range r.allowedErr {
		if err != nil {
			return reason(err)
		}
	}
	return ""
}

// awaitWatches waits until every watch has been tried once, unless that takes too long.
func (k *collector) awaitWatches(ctx context.Context, timeout <-chan time.Time) {
	for _, w := range k.watches {
		select {
		case <-w.tried:
		case <-timeout:
			return
		case <-ctx.Done():
			return
		}
	}
}

// problems lists what went wrong in the round, shortly: three mistakes tell as
// much as thirty of the same kind.
func (k *collector) problems(r *round) error {
	const most = 3
	var texts []string
	add := func(what string, err error) {
		if err != nil {
			texts = append(texts, strings.TrimPrefix(what+": "+err.Error(), ": "))
		}
	}
	add("", r.readyErr)
	for i, q := range k.questions {
		what := "review access"
		if q.entry != nil {
			what = fmt.Sprintf("review access to %s %s", q.entry.Verb, q.entry.Resource)
		}
		add(what, r.allowedErr[i])
	}
	for i, crd := range k.crds {
		add("get definition "+crd.name, r.presentErr[i])
	}
	for _, w := range k.watches {
		add("watch "+w.resource, w.snapshot().err)
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
	if limit := 512 - len(more); len(text) > limit {
		text = strings.ToValidUTF8(text[:limit], "")
	}
	return errors.New(text + more)
}
