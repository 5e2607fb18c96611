package server

import (
	"net"
	"net/http"
	"sync"
)

// waiting holds the idle connections of one server in the order in which they became
// idle. A connection keeps its entry while it has a request, so that keep-alive costs no
// allocation.
type waiting struct {
	mu sync.Mutex // guards what follows
	// ring is the head of a ring: ring.next has been idle longest.
	ring  waiter
	count int
	conns map[net.Conn]*waiter
}

// waiter is a connection. It is idle if next is not nil.
type waiter struct {
	conn       net.Conn
	next, prev *waiter
}

func newWaiting() *waiting {
	q := &waiting{conns: map[net.Conn]*waiter{}}
	q.ring.next, q.ring.prev = &q.ring, &q.ring
	return q
}

// track records a connection's state. net/http calls it from the goroutine that accepts,
// so it must not block.
func (q *waiting) track(c net.Conn, state http.ConnState) {
	if oldest := q.update(c, state); oldest != nil {
		shut(oldest)
	}
}

// update records the new state and returns the connection to close, if any.
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

// enterLocked appends w. Beyond maxWaiting it removes the first entry and returns its
// connection.
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
	_ = c.Close() // Its readers return an error.
}
