// Package connlimit bounds the connections of servers, and shares them out between the
// networks and addresses of clients: many connections of one client do not keep another one
// waiting.
package connlimit

import (
	"cmp"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// How long a connection is kept for a client whose network and address have as many connections as any
// other. A client that has fewer takes the place of another one at once.
const (
	// quietPatience is for a connection without a request: for its first byte, for the rest of its
	// first header, and between the requests of its first second. A client sends a header with the
	// connection, or after a TLS handshake.
	quietPatience = 100 * time.Millisecond
	// busyPatience is for a request, and for clients of the same address for a TLS handshake as
	// well, on a busy machine. Without it, many clients at a time would close each other's
	// connections, and none would get a response. It is the usual timeout of a kubelet's probe.
	busyPatience = time.Second
)

// phase is what a connection does.
type phase int

// The phases, in the order in which connections are closed.
const (
	idle phase = iota
	silent
	// unfinished has sent a part of its first header.
	unfinished
	busy
)

// Pool holds the connections of a server, and serves a bounded number of them. It is safe
// for concurrent use.
type Pool struct {
	limits Limits
	// changed has an element after a connection arrived, ended or became idle.
	changed chan struct{}

	*group // whose mu guards what follows
	// served are the connections that Accept has returned, and held their numbers.
	served map[*conn]struct{}
	held   counts
	// queues are the connections that wait, by address and oldest first, and queued their numbers.
	queues    map[netip.Prefix][]*conn
	queued    counts
	waiting   int
	evicted   uint64
	listeners int
}

// group is what pools have together.
type group struct {
	mu    sync.Mutex // guards what follows, and the connections of the pools
	pools []*Pool
	// all is the number of connections that wait in all pools, and arrived counts the arrivals.
	all     int
	arrived uint64
}

// New returns n empty pools. They share the bound of waiting connections.
func New(n int, l Limits) []*Pool {
	g := &group{}
	for range n {
		g.pools = append(g.pools, &Pool{
			limits: l, changed: make(chan struct{}, 1), group: g,
			served: map[*conn]struct{}{}, held: newCounts(), queues: map[netip.Prefix][]*conn{}, queued: newCounts(),
		})
	}
	return g.pools
}

// Counts returns the number of open connections, and how many were closed for others since
// the start.
func (p *Pool) Counts() (open int, evicted uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.served) + p.waiting, p.evicted
}

// Track is the ConnState of the server.
func (p *Pool) Track(c net.Conn, state http.ConnState) {
	if t, ok := c.(interface{ NetConn() net.Conn }); ok { // below TLS
		c = t.NetConn()
	}
	tracked, ok := c.(*conn)
	if !ok {
		return
	}
	switch state {
	case http.StateActive:
		p.enter(tracked, busy)
	case http.StateIdle:
		p.enter(tracked, idle)
	}
}

func (p *Pool) enter(c *conn, to phase) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c.phase, c.since = to, time.Now()
	if to == idle && p.waiting > 0 {
		p.wake()
	}
}

// wake wakes up an Accept that waits.
func (p *Pool) wake() {
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

// arrive appends a connection to the queue of its address. Beyond the bound it closes a connection of the
// pool, the network and the address that have the longest queues.
func (p *Pool) arrive(c *conn) {
	if gone := p.append(c); gone != nil {
		gone.reset()
	}
	p.wake()
}

// append returns the connection to close, if any.
func (p *Pool) append(c *conn) (gone *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listeners == 0 { // the last one was closed meanwhile
		return c
	}
	p.arrived++
	c.number = p.arrived
	p.queues[c.from.address] = append(p.queues[c.from.address], c)
	p.countWaitingLocked(c, 1)
	if p.all <= p.limits.Waiting {
		return nil
	}
	longest := p
	for _, other := range p.pools {
		if other.waiting > longest.waiting {
			longest = other
		}
	}
	return longest.dropLocked()
}

// dropLocked removes a connection from those that wait, to close it: the oldest of the longest queue. If
// several are as long, the newest connection goes, so that those before it are served.
func (p *Pool) dropLocked() *conn {
	var drop *conn
	var most load
	for _, queue := range p.queues {
		l := p.queued.of(queue[0].from)
		if drop == nil || cmp.Or(l.compare(most), cmp.Compare(queue[0].number, drop.number)) > 0 {
			drop, most = queue[0], l
		}
	}
	p.evicted++
	p.shiftLocked(drop)
	return drop
}

// shiftLocked removes the oldest connection of its address from those that wait.
func (p *Pool) shiftLocked(c *conn) {
	queue := p.queues[c.from.address]
	queue[0] = nil
	if p.queues[c.from.address] = queue[1:]; len(queue) == 1 {
		delete(p.queues, c.from.address)
	}
	p.countWaitingLocked(c, -1)
}

func (p *Pool) countWaitingLocked(c *conn, n int) {
	p.queued.add(c.from, n)
	p.waiting += n
	p.all += n
}

// next returns the connection to serve next. It returns nil if none waits or none can be served now,
// and then when to call next again; 0 is after a change.
func (p *Pool) next(now time.Time) (*conn, time.Duration) {
	c, gone, wait := p.admit(now)
	if gone != nil {
		gone.reset()
	}
	return c, wait
}

// admit returns the oldest connection of the address of which fewest are served. If that one has
// to wait, a connection of another network does not wait for it.
func (p *Pool) admit(now time.Time) (c, gone *conn, wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	first, other := p.headsLocked()
	if first == nil {
		return nil, nil, 0
	}
	c = first
	if len(p.served) >= p.limits.Served {
		if gone, wait = p.victimLocked(c.from, now); gone == nil && other != first {
			c = other
			gone, _ = p.victimLocked(c.from, now)
		}
		if gone == nil {
			return nil, nil, wait
		}
		p.removeLocked(gone)
		p.evicted++
	}
	p.shiftLocked(c)
	c.phase, c.since, c.served = silent, now, now
	p.served[c] = struct{}{}
	p.held.add(c.from, 1)
	return c, gone, 0
}

// headsLocked returns of the connections that wait the one whose address has fewest, and the one whose network
// has fewest; nil if none waits.
func (p *Pool) headsLocked() (first, other *conn) {
	var firstLoad, otherLoad load
	for _, queue := range p.queues {
		c, l := queue[0], p.held.of(queue[0].from)
		if first == nil || cmp.Or(cmp.Compare(l.address, firstLoad.address), cmp.Compare(c.number, first.number)) < 0 {
			first, firstLoad = c, l
		}
		if other == nil || cmp.Or(l.compare(otherLoad), cmp.Compare(c.number, other.number)) < 0 {
			other, otherLoad = c, l
		}
	}
	return first, other
}

// victimLocked returns the connection to close for a newcomer, of the network and address that
// then hold most. If the newcomer has as many, only a connection whose patience is over gives way. A
// newcomer without a connection then takes the place of any connection without a request, or of
// the oldest request while few connections have none. Otherwise wait is until the first patience is over.
func (p *Pool) victimLocked(newcomer origin, now time.Time) (victim *conn, wait time.Duration) {
	p.held.add(newcomer, 1)
	defer p.held.add(newcomer, -1)
	own := p.held.of(newcomer)
	most := own
	for c := range p.served {
		if l := p.held.of(c.from); l.compare(most) > 0 {
			most = l
		}
	}
	wait = busyPatience
	var quiet, request *conn // the first to close of each
	quiets := 0
	for c := range p.served {
		left := c.patience(newcomer) - now.Sub(c.since)
		over := left <= 0
		if !over {
			wait = min(wait, left)
		}
		heaviest := p.held.of(c.from) == most
		if heaviest && (over || own != most) && (victim == nil || c.before(victim)) {
			victim = c
		}
		if c.phase != busy {
			quiets++
			if over && (quiet == nil || c.before(quiet)) {
				quiet = c
			}
		} else if heaviest && (request == nil || c.before(request)) {
			request = c
		}
	}
	switch {
	case victim != nil || own.address > 1:
	case quiet != nil:
		victim = quiet
	case quiets < p.limits.quiet():
		victim = request
	}
	return victim, wait
}

// leave removes a connection that was closed.
func (p *Pool) leave(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := p.served[c]; ok {
		p.removeLocked(c)
		p.wake()
	}
}

func (p *Pool) removeLocked(c *conn) {
	delete(p.served, c)
	p.held.add(c.from, -1)
}

// join counts a listener.
func (p *Pool) join() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.listeners++
}

// part is the end of a listener. After the last one, connections that wait are closed.
func (p *Pool) part() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listeners--; p.listeners > 0 {
		p.wake() // another listener serves what waits
		return
	}
	for _, queue := range p.queues {
		for _, c := range queue {
			p.shiftLocked(c)
			_ = c.Conn.Close()
		}
	}
}
