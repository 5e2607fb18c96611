package ntp

import (
	"bytes"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/vitals-health/vitals/collectors/remote"
)

// fakeConn answers each query with a datagram that has the origin of the query.
type fakeConn struct {
	net.Conn
	origin   [8]byte
	datagram []byte
}

func (c *fakeConn) Write(query []byte) (int, error) {
	copy(c.origin[:], query[40:48])
	return len(query), nil
}

func (c *fakeConn) Read(b []byte) (int, error) {
	message := bytes.Clone(c.datagram)
	if len(message) >= 32 {
		copy(message[24:32], c.origin[:])
	}
	return copy(b, message), nil
}

func (c *fakeConn) Close() error                { return nil }
func (c *fakeConn) SetDeadline(time.Time) error { return nil }
func (c *fakeConn) RemoteAddr() net.Addr        { return &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 123} }

// A datagram is a response or an error. A usable one has a synchronized server.
func FuzzResponse(f *testing.F) {
	response := make([]byte, 48)
	response[0], response[1], response[32], response[40] = 0x24, 2, 0xe0, 0xe0
	f.Add(response)
	f.Add(append([]byte{0xe4, 0}, response[2:]...))
	f.Add([]byte("SSH-2.0-OpenSSH_9.2\r\n"))
	f.Fuzz(func(t *testing.T, datagram []byte) {
		r, err := exchange(t.Context(), &fakeConn{datagram: datagram})
		if err != nil {
			return
		}
		if int(r.Leap) >= len(leaps()) {
			t.Fatalf("exchange(%x) has the leap indicator %d", datagram, r.Leap)
		}
		err = failure(r)
		if err == nil && (r.Stratum == 0 || r.Stratum > 15) {
			t.Fatalf("failure() of stratum %d = nil, want an error", r.Stratum)
		}
		if err != nil && !slices.Contains(remote.Reasons(), remote.ReasonOf(err)) {
			t.Fatalf("failure() = %v without a reason", err)
		}
	})
}
