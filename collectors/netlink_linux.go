package collectors

import (
	"context"
	"errors"
	"sync"
	"time"
)

// netlink is the collector of the kind netlink. All but holding, held and mu belongs to
// the one goroutine that busy stands for.
type netlink struct {
	name   string
	config NetlinkConfig
	kernel netlinkKernel
	// busy is closed when the goroutine of the last step has ended.
	busy     chan struct{}
	sequence uint32
	buffer   []byte

	mu sync.Mutex // guards what follows
	// holding is whether a socket may stay open between rounds.
	holding bool
	held    netlinkConn
}

// heldNetlink is a netlink whose socket is closed when Vitals needs it no longer.
type heldNetlink struct{ *netlink }

func newNetlink(name string, config NetlinkConfig) (Collector, error) {
	n := makeNetlink(name, config, netlinkPath(config.NetNS))
	if n.holding {
		return heldNetlink{n}, nil
	}
	return n, nil
}

func makeNetlink(name string, config NetlinkConfig, kernel netlinkKernel) *netlink {
	n := &netlink{
		name: name, config: config, kernel: kernel, holding: config.Socket == netlinkHeld,
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
func (n *netlink) Collect(ctx context.Context) ([]Sample, error) {
	var b batch
	links, err := netlinkStep(ctx, n, n.list, nil)
	n.outcome(&b, listMetrics(), links.took, err)
	if err != nil {
		return b.samples, err
	}
	b.set(netlinkLinksMetric, float64(links.count), n.name)
	for _, name := range n.config.Interfaces {
		flags, present := links.flags[name]
		b.set(netlinkInterfacePresentMetric, number(present), n.name, name)
		if present {
			b.set(netlinkInterfaceUpMetric, number(flags&netlinkUp != 0), n.name, name)
			b.set(netlinkInterfaceRunningMetric, number(flags&netlinkRunning != 0), n.name, name)
		}
	}
	if !n.config.writes() {
		return b.samples, nil
	}
	test := writeTest{n, testLinkName(), links.leftovers}
	took, err := netlinkStep(ctx, n, test.run, test.undo)
	n.outcome(&b, writeMetrics(), took, err)
	return b.samples, err
}

// outcome appends whether something worked, how long it took if so, and why not if not.
func (n *netlink) outcome(b *batch, of outcomeMetrics, took time.Duration, err error) {
	b.set(of.up, number(err == nil), n.name)
	if err == nil {
		b.set(of.latency, took.Seconds(), n.name)
	}
	for _, r := range netlinkReasons() {
		b.set(of.failure, number(r == reasonOfNetlink(err)), n.name, string(r))
	}
}

// Describe implements Collector.
func (n *netlink) Describe() []Desc { return describe(netlinkDefs()) }

// netlinkStep calls f in a goroutine of its own and gives up on it when ctx ends. The
// kernel answers such requests under a lock of its own (rtnl_lock), and whoever waits
// for that cannot be interrupted, whatever the socket's deadline. If f fails, undo is
// called, for which nobody waits. Nothing else is started before both have ended.
func netlinkStep[T any](ctx context.Context, n *netlink, f func(context.Context) (T, error), undo func(context.Context)) (T, error) {
	var none T
	select {
	case <-n.busy:
	case <-ctx.Done():
		return none, &netlinkError{netlinkTimeout, errors.New("ask the kernel: it has not answered the request of an earlier round")}
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
		limited, cancel := netlinkDeadline(ctx)
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
		return none, &netlinkError{netlinkTimeout, errors.New("ask the kernel: the request is stuck in it")}
	}
}

// netlinkDeadline ends a little before ctx does, so that what ran into it can still say
// what it was.
func netlinkDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	const most = 100 * time.Millisecond
	return context.WithDeadline(ctx, deadline.Add(-min(time.Until(deadline)/20, most)))
}

// use calls f with a socket in the namespace that is meant now. The socket is held for
// the next time only if nothing failed: a late answer must not meet another request.
func (n *netlink) use(f func(netlinkConn) error) error {
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
func (n *netlink) take() (netlinkConn, error) {
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
func (n *netlink) put(conn netlinkConn) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.holding {
		n.held = conn
	}
	return n.holding
}
