package tcp

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/remote"
)

func TestProtocols(t *testing.T) {
	type uses struct{ login, database, galera, startsTLS bool }
	want := map[string]uses{
		"redis":     {login: true},
		"memcached": {},
		"mysql":     {login: true, database: true, galera: true, startsTLS: true},
		"amqp":      {login: true, database: true},
		"etcd":      {},
		"ovsdb":     {database: true},
	}
	got := map[string]uses{}
	for _, name := range protocolNames() {
		p, ok := protocolOf(name)
		if !ok || p.name != name || p.check == nil {
			t.Errorf("protocolOf(%q) = %+v, %t, want the protocol with a check", name, p, ok)
		}
		got[name] = uses{p.login, p.database, p.galera, p.startsTLS}
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(uses{})); diff != "" {
		t.Errorf("the protocols use (-want +got):\n%s", diff)
	}
	if p, ok := protocolOf("gopher"); ok {
		t.Errorf("protocolOf(gopher) = %+v, want none", p)
	}
}

// A library may set the deadlines of its connection, but not beyond the collection's.
func TestConnEndsWithTheCollection(t *testing.T) {
	for name, set := range map[string]func(net.Conn) error{
		"no deadline of its own": func(net.Conn) error { return nil },
		"deadline removed":       func(c net.Conn) error { return c.SetDeadline(time.Time{}) },
		"deadline in an hour":    func(c net.Conn) error { return c.SetReadDeadline(time.Now().Add(time.Hour)) },
	} {
		t.Run(name, func(t *testing.T) {
			_, conn := serveOnce(t, 50*time.Millisecond, collectortest.Drain)
			if err := set(conn); err != nil {
				t.Fatal(err)
			}
			if _, err := conn.Read(make([]byte, 1)); reasonOf(err) != remote.ReasonTimeout {
				t.Errorf("Read() = %v, want a timeout", err)
			}
		})
	}
	t.Run("write", func(t *testing.T) {
		stop := make(chan struct{})
		_, conn := serveOnce(t, 50*time.Millisecond, func(net.Conn) { <-stop })
		defer close(stop)
		if err := conn.SetWriteDeadline(time.Time{}); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write(make([]byte, 1)); reasonOf(err) != remote.ReasonTimeout {
			t.Errorf("Write() = %v, want a timeout", err)
		}
	})
}

func TestConnReadsABoundedAnswer(t *testing.T) {
	_, conn := serveOnce(t, patience, collectortest.Forever("\x00"))
	read, buffer := 0, make([]byte, 64<<10)
	for {
		n, err := conn.Read(buffer)
		read += n
		if err == nil {
			continue
		}
		if reasonOf(err) != remote.ReasonProtocol || !strings.Contains(err.Error(), "larger than") || read != maxRead {
			t.Errorf("Read() = %v after %d bytes, want the end after %d", err, read, maxRead)
		}
		return
	}
}
