package netlink

import (
	"context"
	"sync"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/panics"
)

// collector is the collector of the kind netlink.
type collector struct {
	name   string
	config Config
	kernel kernel
	// running is the goroutine of the last step; nil before the first.
	running *panics.Task[struct{}]

	mu sync.Mutex // guards holding and held
	// holding is whether a socket may stay open between collections.
	holding bool
	held    *conn
}

// holder is a collector whose held socket is closed at shutdown.
type holder struct{ *collector }

func newCollector(name string, config Config) (collectors.Collector, error) {
	c := collectorOf(name, config, netnsPath(config.NetNS))
	if c.holding {
		return holder{c}, nil
	}
	return c, nil
}

func collectorOf(name string, config Config, kernel kernel) *collector {
	return &collector{name: name, config: config, kernel: kernel, holding: config.Socket == held}
}

// Run implements Runner: it closes the held socket at the end.
func (h holder) Run(ctx context.Context, _ func()) {
	<-ctx.Done()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.holding = false
	if h.held != nil {
		_ = h.held.Close()
		h.held = nil
	}
}

// Collect lists the links and, with a write test, creates and deletes one.
func (c *collector) Collect(ctx context.Context) ([]collectors.Sample, error) {
	var b collectors.Batch
	links, err := step(ctx, c, c.list, nil)
	c.outcome(&b, listMetrics(), links.took, err)
	if err != nil {
		return b.Samples, err
	}
	b.Set(linksMetric, float64(links.count), c.name)
	for _, name := range c.config.Interfaces {
		flags, present := links.flags[name]
		b.Set(interfacePresentMetric, collectors.Number(present), c.name, name)
		if present {
			b.Set(interfaceUpMetric, collectors.Number(flags&up != 0), c.name, name)
			b.Set(interfaceRunningMetric, collectors.Number(flags&running != 0), c.name, name)
		}
	}
	if !c.config.writes() {
		return b.Samples, nil
	}
	test := writeTest{c, testLinkName(), links.leftovers}
	took, err := step(ctx, c, test.run, test.undo)
	c.outcome(&b, writeMetrics(), took, err)
	return b.Samples, err
}

// outcome appends the result of an operation: its success, duration or reason.
func (c *collector) outcome(b *collectors.Batch, of outcomeMetrics, took time.Duration, err error) {
	b.Set(of.up, collectors.Number(err == nil), c.name)
	if err == nil {
		b.Set(of.latency, took.Seconds(), c.name)
	}
	for _, r := range reasons() {
		b.Set(of.failure, collectors.Number(r == reasonOf(err)), c.name, string(r))
	}
}

// Describe implements Collector.
func (c *collector) Describe() []collectors.Desc { return collectors.Describe(defs()) }

// step calls f in a goroutine and returns a timeout when ctx ends. The kernel processes
// these requests under rtnl_lock. A system call that waits for that lock cannot be
// interrupted by the deadline of the socket. If f fails, step calls undo and does not
// wait for it. The next step starts when both have returned. step panics if f did, or if the
// previous f or undo did after the previous step had returned.
func step[T any](ctx context.Context, c *collector, f func(context.Context) (T, error), undo func(context.Context)) (T, error) {
	var none T
	if c.running != nil {
		select {
		case <-c.running.Done():
			c.end()
		case <-ctx.Done():
			return none, collectors.Errorf(timeout, "netlink request: the kernel has not answered the request of an earlier collection")
		}
	}
	var value T
	var err error
	panicked := true
	returned := make(chan struct{}) // closed when f has returned or panicked
	c.running = panics.Go(func() struct{} {
		func() {
			defer close(returned)
			limited, cancel := deadline(ctx)
			defer cancel()
			value, err = f(limited)
			panicked = false
		}()
		if err != nil && undo != nil {
			undo(context.WithoutCancel(ctx))
		}
		return struct{}{}
	})
	select {
	case <-returned:
		if panicked {
			c.end()
		}
		return value, err
	case <-ctx.Done():
		return none, collectors.Errorf(timeout, "netlink request: it is stuck in the kernel")
	}
}

// end waits for the goroutine of the last step, and panics if it did.
func (c *collector) end() {
	ended := c.running
	c.running = nil
	ended.Result()
}

// deadline returns a context that ends shortly before ctx, so that f can return the
// error of the operation that timed out.
func deadline(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	const most = 100 * time.Millisecond
	return context.WithDeadline(ctx, deadline.Add(-min(time.Until(deadline)/20, most)))
}

// use calls f with a socket in the configured namespace. The socket is held only after
// success: a late answer must not be read as the answer to another request.
func (c *collector) use(f func(*conn) error) error {
	conn, err := c.take()
	if err != nil {
		return err
	}
	if err = f(conn); err == nil && c.put(conn) {
		return nil
	}
	_ = conn.Close()
	return err
}

// take returns the held socket, or a new one if there is none or if the path now leads to
// another namespace.
func (c *collector) take() (*conn, error) {
	c.mu.Lock()
	held := c.held
	c.held = nil
	c.mu.Unlock()
	if held == nil {
		return c.kernel.open()
	}
	now, err := c.kernel.namespace()
	if err == nil && now == held.namespace {
		return held, nil
	}
	_ = held.Close()
	if err != nil {
		return nil, err
	}
	return c.kernel.open()
}

// put holds a socket. It returns false if sockets are not held.
func (c *collector) put(conn *conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.holding {
		c.held = conn
	}
	return c.holding
}
