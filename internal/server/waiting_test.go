package server

import (
	"net"
	"net/http"
	"testing"
)

func TestWaitingConnections(t *testing.T) {
	q := newWaiting()
	var conns []net.Conn
	open := func() net.Conn {
		here, there := net.Pipe()
		t.Cleanup(func() {
			_ = here.Close()
			_ = there.Close()
		})
		conns = append(conns, here)
		return here
	}
	for i := range maxWaiting {
		if gone := q.update(open(), http.StateNew); gone != nil {
			t.Fatalf("connection %d makes one give way, want none up to %d", i, maxWaiting)
		}
	}
	q.update(conns[0], http.StateActive)
	if gone := q.update(open(), http.StateNew); gone != nil {
		t.Error("one gives way while there is room: the first has a request")
	}
	if gone := q.update(conns[0], http.StateIdle); gone != conns[1] {
		t.Error("want the connection that has waited longest to give way, which is the second")
	}
	if gone := q.update(open(), http.StateNew); gone != conns[2] {
		t.Error("want the third to give way next")
	}
	for _, c := range conns {
		q.update(c, http.StateClosed)
	}
	if len(q.conns) != 0 || q.count != 0 || q.ring.next != &q.ring || q.ring.prev != &q.ring {
		t.Errorf("%d connections are remembered after all have closed, want none", len(q.conns))
	}
}
