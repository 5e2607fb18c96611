// Package connlimit bounds the connections of servers, and shares them out between the
// addresses of clients: many connections of one client do not keep another one waiting.
package connlimit

import (
	"cmp"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// How long a connection is kept for others of its own address. An idle one is closed at
// once.
const (
	// silentPatience is for the first byte, which a client sends with the connection.
	silentPatience = 50 * time.Millisecond
	// busyPatience is for a TLS handshake or a request on a busy machine. Without it, many
	// clients at a time would close each other's connections, and none would get a response.
	// It is the usual timeout of a kubelet's probe.
	busyPatience = time.Second
)

// phase is what a connection does.
type phase int

// The phases, in the order in which connections are closed.
const (
	idle phase = iota
	silent
	busy
)

// Pool holds the connections of a server, and serves a bounded number of them. It is safe
// for concurrent use.
type Pool struct {
	limits Limits
	// changed has an element after a connection arrived, ended or became idle.
	changed chan struct{}

	mu sync.Mutex // guards what follows
	// served are the connections that Accept has returned, and held their number by address.
	served map[*conn]struct{}
	held   map[netip.Prefix]int
	// queues are the connections that wait, by address and oldest first.
	queues    map[netip.Prefix][]*conn
	waiting   int
	evicted   uint64
	listeners int
}

// New returns an empty pool.
func New(l Limits) *Pool {
	return &Pool{
		limits: l, changed: make(chan struct{}, 1),
		served: map[*conn]struct{}{}, held: map[netip.Prefix]int{}, queues: map[netip.Prefix][]*conn{},
	}
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

// arrive appends a connection to those that wait. Beyond the bound it closes the oldest of
// the address that has most of them.
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
	p.queues[c.from] = append(p.queues[c.from], c)
	p.waiting++
	if p.waiting <= p.limits.Waiting {
		return nil
	}
	var longest netip.Prefix
	for from, queue := range p.queues {
		if len(queue) > len(p.queues[longest]) {
			longest = from
		}
	}
	p.evicted++
	return p.shiftLocked(longest)
}

// shiftLocked removes the oldest connection of an address from those that wait.
func (p *Pool) shiftLocked(from netip.Prefix) *conn {
	queue := p.queues[from]
	c := queue[0]
	queue[0] = nil
	if p.queues[from] = queue[1:]; len(queue) == 1 {
		delete(p.queues, from)
	}
	p.waiting--
	return c
}

// next returns the connection to serve next: the oldest of the address of which fewest are
// served. It returns nil if none waits or none can be served now, and then when to call
// next again; 0 is after a change.
func (p *Pool) next(now time.Time) (*conn, time.Duration) {
	c, gone, wait := p.admit(now)
	if gone != nil {
		gone.reset()
	}
	return c, wait
}

func (p *Pool) admit(now time.Time) (c, gone *conn, wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for from, queue := range p.queues {
		if c == nil || cmp.Or(cmp.Compare(p.held[from], p.held[c.from]), queue[0].since.Compare(c.since)) < 0 {
			c = queue[0]
		}
	}
	if c == nil {
		return nil, nil, 0
	}
	if len(p.served) >= p.limits.Served {
		if gone, wait = p.victimLocked(c.from, now); gone == nil {
			return nil, nil, wait
		}
		p.removeLocked(gone)
		p.evicted++
	}
	p.shiftLocked(c.from)
	c.phase, c.since, c.served = silent, now, now
	p.served[c] = struct{}{}
	p.held[c.from]++
	return c, gone, 0
}

// victimLocked returns the connection to close for a newcomer: of the address that then
// holds most, the one that has been idle longest, or else the oldest. If that is the
// newcomer's address, only a connection whose patience is over gives way. Without one, wait
// is until the first is.
func (p *Pool) victimLocked(newcomer netip.Prefix, now time.Time) (victim *conn, wait time.Duration) {
	own := p.held[newcomer] + 1
	most := own
	for _, n := range p.held {
		most = max(most, n)
	}
	wait = busyPatience
	for c := range p.served {
		if n := p.held[c.from]; n < most && (c.from != newcomer || own < most) {
			continue
		}
		if left := c.patience() - now.Sub(c.since); left > 0 && own == most {
			wait = min(wait, left)
			continue
		}
		if victim == nil || cmp.Or(cmp.Compare(c.phase, victim.phase), c.order().Compare(victim.order())) < 0 {
			victim = c
		}
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
	if p.held[c.from]--; p.held[c.from] == 0 {
		delete(p.held, c.from)
	}
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
	for from := range p.queues {
		for len(p.queues[from]) > 0 {
			_ = p.shiftLocked(from).Conn.Close()
		}
	}
}
