package targets_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/targets"
)

var upMetric = collectors.NewGauge("up", "Whether the server answered.", "dependency")

// fleet is a set of servers by address. A server answers after its delay.
type fleet struct {
	mu sync.Mutex // guards what follows
	// answers has the delay of each server. A negative one is for ever, even beyond the deadline.
	answers map[string]time.Duration
	// fails has the servers that answer with an error.
	fails map[string]bool
	// began has the times of the checks by name; running and most count checks at a time.
	began         map[string][]time.Time
	running, most int
	// twice is set by a second check of a server at a time.
	twice bool
	busy  map[string]bool
}

func newFleet(addresses ...string) *fleet {
	f := &fleet{answers: map[string]time.Duration{}, fails: map[string]bool{}, began: map[string][]time.Time{}, busy: map[string]bool{}}
	for _, a := range addresses {
		f.answers[a] = time.Millisecond
	}
	return f
}

func (f *fleet) set(address string, delay time.Duration, fails bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answers[address], f.fails[address] = delay, fails
}

// begins returns the times of the checks of a target.
func (f *fleet) begins(name string) []time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.began[name])
}

// atATime returns the largest number of checks at a time, and whether two were of one target.
func (f *fleet) atATime() (most int, twice bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.most, f.twice
}

// kind is the configuration of one server.
type kind struct {
	collectors.Kind
	fleet   *fleet
	address string
}

func (k *kind) Problems() []collectors.Problem {
	if strings.Contains(k.address, " ") {
		return []collectors.Problem{{Text: "the address has a space"}}
	}
	return nil
}

func (k *kind) New(env collectors.Env) (collectors.Collector, error) {
	return &server{kind: k, name: env.Name}, nil
}

// server is the collector of one server.
type server struct {
	*kind
	name string
}

func (s *server) enter() (delay time.Duration, fails bool) {
	s.fleet.mu.Lock()
	defer s.fleet.mu.Unlock()
	s.fleet.began[s.name] = append(s.fleet.began[s.name], time.Now())
	s.fleet.running++
	s.fleet.most = max(s.fleet.most, s.fleet.running)
	s.fleet.twice = s.fleet.twice || s.fleet.busy[s.name]
	s.fleet.busy[s.name] = true
	return s.fleet.answers[s.address], s.fleet.fails[s.address]
}

func (s *server) leave() {
	s.fleet.mu.Lock()
	defer s.fleet.mu.Unlock()
	s.fleet.running--
	s.fleet.busy[s.name] = false
}

func (s *server) Collect(ctx context.Context) ([]collectors.Sample, error) {
	delay, fails := s.enter()
	defer s.leave()
	if s.address == "panics" {
		panic("boom")
	}
	var b collectors.Batch
	var err error
	if delay < 0 {
		<-s.stopped(ctx)
		return nil, ctx.Err()
	}
	select {
	case <-time.After(delay):
	case <-ctx.Done():
		err = ctx.Err()
	}
	if fails {
		err = errors.New("refused")
	}
	b.Set(upMetric, collectors.Number(err == nil), s.name)
	return b.Samples, err
}

// stopped ends an hour after the deadline.
func (s *server) stopped(ctx context.Context) <-chan time.Time {
	<-ctx.Done()
	return time.After(time.Hour)
}

func (s *server) Describe() []collectors.Desc {
	return collectors.Describe([]*collectors.Def{upMetric})
}

func (s *server) Note() string { return "server " + s.address }

// lab is a running collector of several targets.
type lab struct {
	t         *testing.T
	fleet     *fleet
	collector collectors.Collector
	stop      func()
	requests  <-chan struct{}
	source    *source
}

// source is a Source that the test drives.
type source struct {
	sets chan func(func([]targets.Target, error))
}

func (s *source) Run(ctx context.Context, found func([]targets.Target, error)) {
	for {
		select {
		case <-ctx.Done():
			return
		case set := <-s.sets:
			set(found)
		}
	}
}

func (l *lab) found(err error, addresses ...string) {
	l.source.sets <- func(found func([]targets.Target, error)) { found(named(addresses...), err) }
	synctest.Wait()
}

// named returns targets whose names are their addresses.
func named(addresses ...string) []targets.Target {
	var all []targets.Target
	for _, a := range addresses {
		name, address, ok := strings.Cut(a, "=")
		if !ok {
			address = a
		}
		all = append(all, targets.Target{Name: name, Address: address})
	}
	return all
}

const (
	interval = 10 * time.Second
	timeout  = 5 * time.Second
)

func start(t *testing.T, f *fleet, discover bool, concurrency, limit int, addresses ...string) *lab {
	l := &lab{t: t, fleet: f, source: &source{make(chan func(func([]targets.Target, error)))}}
	opts := targets.Options{
		Label: "dependency", Targets: named(addresses...), Limit: limit, Concurrency: concurrency,
		Kind: func(address string) collectors.Kind { return &kind{fleet: f, address: address} },
	}
	if discover {
		opts.Sources = []targets.Source{l.source}
	}
	l.collector = targets.New(opts, collectors.Env{Name: "web", Interval: interval, Timeout: timeout})
	l.stop, l.requests = collectortest.Run(t, l.collector)
	return l
}

// collect returns the samples of a collection and its error.
func (l *lab) collect() (string, error) {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), timeout)
	defer cancel()
	samples, err := l.collector.Collect(ctx)
	return collectortest.Exposition(samples, nil), err
}

// requested reports whether a collection was requested, and forgets it.
func (l *lab) requested() (n int) {
	for {
		select {
		case <-l.requests:
			n++
		default:
			return n
		}
	}
}

func addresses(n int) []string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf("s%03d", i))
	}
	return all
}
