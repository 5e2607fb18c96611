package server

import (
	"net"
	"net/http"
	"sync"
)

// waiting keeps the connections of one server that have no request, in the order in
// which they began to wait. A connection keeps its place in memory while it has a
// request, so that keep-alive costs no allocation.
type waiting struct {
	mu sync.Mutex // guards what follows
	// ring is the head of a ring: ring.next has waited longest.
	ring  waiter
	count int
	conns map[net.Conn]*waiter
}

// waiter is a connection. It waits where next is not nil.
type waiter struct {
	conn       net.Conn
	next, prev *waiter
}

func newWaiting() *waiting {
	q := &waiting{conns: map[net.Conn]*waiter{}}
	q.ring.next, q.ring.prev = &q.ring, &q.ring
	return q
}

// track follows a connection's state. net/http calls it from the goroutine that
// accepts, so it must not block.
func (q *waiting) track(c net.Conn, state http.ConnState) {
	if oldest := q.update(c, state); oldest != nil {
		shut(oldest)
	}
}

// update takes the new state over and returns the connection that has to give way, if any.
func (q *waiting) update(c net.Conn, state http.ConnState) net.Conn {
	q.mu.Lock()
	defer q.mu.Unlock()
	w, ok := q.conns[c]
	if ok {
		q.leaveLocked(w)
	}
	switch state {
	case http.StateNew, http.StateIdle:
		if !ok {
			w = &waiter{conn: c}
			q.conns[c] = w
		}
		return q.enterLocked(w)
	case http.StateHijacked, http.StateClosed:
		delete(q.conns, c)
	}
	return nil
}

// enterLocked puts w at the end. Beyond maxWaiting it takes out the first one and returns it.
func (q *waiting) enterLocked(w *waiter) net.Conn {
	w.prev, w.next = q.ring.prev, &q.ring
	w.prev.next, w.next.prev = w, w
	q.count++
	if q.count <= maxWaiting {
		return nil
	}
	oldest := q.ring.next
	q.leaveLocked(oldest)
	return oldest.conn
}

func (q *waiting) leaveLocked(w *waiter) {
	if w.next == nil {
		return
	}
	w.prev.next, w.next.prev = w.next, w.prev
	w.next, w.prev = nil, nil
	q.count--
}

// shut closes the connection below TLS: a TLS close would first try to write an
// alert, for up to 5 s.
func shut(c net.Conn) {
	if t, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = t.NetConn()
	}
	_ = c.Close() // Whoever waits on it sees the end.
}
