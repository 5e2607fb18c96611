//go:build e2e

package e2e_test

import (
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// slowPath forwards datagrams to a server, and its answers after a delay.
type slowPath struct {
	delay atomic.Int64
	conn  net.PacketConn
}

// newSlowPath listens on an address until the end of the test.
func newSlowPath(t *testing.T, listen, server string) *slowPath {
	t.Helper()
	conn, err := net.ListenPacket("udp", listen)
	if err != nil {
		t.Fatal(err)
	}
	p := &slowPath{conn: conn}
	var answers sync.WaitGroup
	answers.Go(func() {
		for {
			packet := make([]byte, 1500)
			n, client, err := conn.ReadFrom(packet)
			if err != nil {
				return
			}
			answers.Go(func() { p.answer(server, client, packet[:n]) })
		}
	})
	t.Cleanup(func() { _ = conn.Close(); answers.Wait() })
	return p
}

// answer sends one request, and its answer after the delay.
func (p *slowPath) answer(server string, client net.Addr, packet []byte) {
	conn, err := net.DialTimeout("udp", server, time.Second)
	if err != nil {
		return
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	if _, err := conn.Write(packet); err != nil {
		return
	}
	n, err := conn.Read(packet)
	if err != nil {
		return
	}
	<-time.After(time.Duration(p.delay.Load()))
	_, _ = p.conn.WriteTo(packet[:n], client) // the client may be gone
}

// A slow way to chronyd fails ready, and passes with the next collection after it is fast again.
func TestNTPSlow(t *testing.T) {
	t.Parallel()
	listen, slow := address(t), address(t)
	s := chronyd(t, listen, shortDirectory(t, ""), "allow 127.0.0.1\nlocal stratum 5")
	path := newSlowPath(t, slow, listen)
	a := serverAsk(t, "ntp", map[string]string{"clock": "server: '" + slow + "'"})
	a.staysAlive(t)
	const well = "stratum 5"
	a.recovers(t, "clock", well, time.Now())
	path.delay.Store(int64(3 * time.Second))
	a.breaks(t, "clock", "timeout", "timeout")
	path.delay.Store(0)
	a.recovers(t, "clock", well, time.Now())
	s.kill()
	a.breaks(t, "clock", "timeout", "timeout") // nothing refuses on the way
	s.start(t)
	a.recovers(t, "clock", well, time.Now())
}
