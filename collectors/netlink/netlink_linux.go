package netlink

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/vitals-health/vitals/collectors"
)

// collector is the collector of the kind collector. All but holding, held and mu belongs to
// the one goroutine that busy stands for.
type collector struct {
	name   string
	config Config
	kernel kernel
	// busy is closed when the goroutine of the last step has ended.
	busy     chan struct{}
	sequence uint32
	buffer   []byte

	mu sync.Mutex // guards what follows
	// holding is whether a socket may stay open between rounds.
	holding bool
	held    conn
}

// heldNetlink is a netlink whose socket is closed when Vitals needs it no longer.
type heldNetlink struct{ *collector }

func newNetlink(name string, config Config) (collectors.Collector, error) {
	n := makeNetlink(name, config, netlinkPath(config.NetNS))
	if n.holding {
		return heldNetlink{n}, nil
	}
	return n, nil
}

func makeNetlink(name string, config Config, kernel kernel) *collector {
	n := &collector{
		name: name, config: config, kernel: kernel, holding: config.Socket == held,
		busy: make(chan struct{}), buffer: make([]byte, netlinkDatagram),
	}
	close(n.busy)
	return n
}

// Run implements Runner: it closes the held socket at the end.
func (h heldNetlink) Run(ctx context.Context, _ func()) {
	<-ctx.Done()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.holding = false
	if h.held != nil {
		_ = h.held.Close()
		h.held = nil
	}
}

// Collect lists the links and, where that is configured, makes one and deletes it.
func (n *collector) Collect(ctx context.Context) ([]collectors.Sample, error) {
	var b collectors.Batch
	links, err := step(ctx, n, n.list, nil)
	n.outcome(&b, listMetrics(), links.took, err)
	if err != nil {
		return b.Samples, err
	}
	b.Set(linksMetric, float64(links.count), n.name)
	for _, name := range n.config.Interfaces {
		flags, present := links.flags[name]
		b.Set(interfacePresentMetric, collectors.Number(present), n.name, name)
		if present {
			b.Set(interfaceUpMetric, collectors.Number(flags&up != 0), n.name, name)
			b.Set(interfaceRunningMetric, collectors.Number(flags&running != 0), n.name, name)
		}
	}
	if !n.config.writes() {
		return b.Samples, nil
	}
	test := writeTest{n, testLinkName(), links.leftovers}
	took, err := step(ctx, n, test.run, test.undo)
	n.outcome(&b, writeMetrics(), took, err)
	return b.Samples, err
}

// outcome appends whether something worked, how long it took if so, and why not if not.
func (n *collector) outcome(b *collectors.Batch, of outcomeMetrics, took time.Duration, err error) {
	b.Set(of.up, collectors.Number(err == nil), n.name)
	if err == nil {
		b.Set(of.latency, took.Seconds(), n.name)
	}
	for _, r := range reasons() {
		b.Set(of.failure, collectors.Number(r == reasonOfNetlink(err)), n.name, string(r))
	}
}

// Describe implements Collector.
func (n *collector) Describe() []collectors.Desc { return collectors.Describe(defs()) }

// step calls f in a goroutine of its own and gives up on it when ctx ends. The
// kernel answers such requests under a lock of its own (rtnl_lock), and whoever waits
// for that cannot be interrupted, whatever the socket's deadline. If f fails, undo is
// called, for which nobody waits. Nothing else is started before both have ended.
func step[T any](ctx context.Context, n *collector, f func(context.Context) (T, error), undo func(context.Context)) (T, error) {
	var none T
	select {
	case <-n.busy:
	case <-ctx.Done():
		return none, &collectors.Error[reason]{Reason: timeout, Err: errors.New("ask the kernel: it has not answered the request of an earlier round")}
	}
	type outcome struct {
		value    T
		err      error
		panicked any
	}
	busy, done := make(chan struct{}), make(chan outcome, 2) // an undo that panics is the second
	n.busy = busy
	go func() {
		defer close(busy)
		defer func() {
			if p := recover(); p != nil {
				done <- outcome{panicked: p}
			}
		}()
		limited, cancel := deadline(ctx)
		defer cancel()
		value, err := f(limited)
		done <- outcome{value: value, err: err}
		if err != nil && undo != nil {
			undo(context.WithoutCancel(ctx))
		}
	}()
	select {
	case o := <-done:
		if o.panicked != nil {
			panic(o.panicked)
		}
		return o.value, o.err
	case <-ctx.Done():
		return none, &collectors.Error[reason]{Reason: timeout, Err: errors.New("ask the kernel: the request is stuck in it")}
	}
}

// deadline ends a little before ctx does, so that what ran into it can still say
// what it was.
func deadline(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	const most = 100 * time.Millisecond
	return context.WithDeadline(ctx, deadline.Add(-min(time.Until(deadline)/20, most)))
}

// use calls f with a socket in the namespace that is meant now. The socket is held for
// the next time only if nothing failed: a late answer must not meet another request.
func (n *collector) use(f func(conn) error) error {
	conn, err := n.take()
	if err != nil {
		return err
	}
	if err = f(conn); err == nil && n.put(conn) {
		return nil
	}
	_ = conn.Close()
	return err
}

// take returns the held socket, or a new one if there is none or its namespace is no
// longer the one that is meant.
func (n *collector) take() (conn, error) {
	n.mu.Lock()
	held := n.held
	n.held = nil
	n.mu.Unlock()
	if held == nil {
		return n.kernel.open()
	}
	now, err := n.kernel.namespace()
	if err == nil && now == held.namespace() {
		return held, nil
	}
	_ = held.Close()
	if err != nil {
		return nil, err
	}
	return n.kernel.open()
}

// put holds a socket; it returns false where sockets are not held.
func (n *collector) put(conn conn) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.holding {
		n.held = conn
	}
	return n.holding
}
