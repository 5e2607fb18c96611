package redis_test

import (
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/vitals-health/vitals/collectors/collectortest"
)

// holds checks that a collection fails within its deadline with one of the reasons, and does not
// show the password.
func holds(t *testing.T, address string, reasons ...string) {
	t.Helper()
	c := newCollector(t, address, ", username: vitals, password: hunter2")
	start := time.Now()
	samples, err := collectortest.CollectWithin(t, c, 300*time.Millisecond)
	if took := time.Since(start); took > collectortest.Patience {
		t.Errorf("Collect() took %s, want it to end at its deadline", took)
	}
	if got := reason(samples); !slices.Contains(reasons, got) || err == nil {
		t.Errorf("Collect() = %v, reason %q, want one of %q", err, got, reasons)
	}
	if err != nil && strings.Contains(collectortest.Note(c)+err.Error(), "hunter2") {
		t.Errorf("the password is shown: %q, %v", collectortest.Note(c), err)
	}
}

func TestHostileServers(t *testing.T) {
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
	for name, serve := range collectortest.Hostile() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			holds(t, collectortest.ListenOn(t, "tcp", "127.0.0.1:0", nil, serve), "protocol", "timeout")
		})
	}
}

// The same servers after the answers to AUTH and PING: the server is up, and its state unknown.
func TestHostileStates(t *testing.T) {
	servers := collectortest.Hostile()
	servers["endless fields"] = func(conn net.Conn) {
		_, _ = io.WriteString(conn, "$262144\r\n")
		collectortest.Forever("used_memory:1\r\n")(conn)
	}
	servers["half of INFO"] = collectortest.Once("$1000\r\nrole:master\r\n")
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
	for name, serve := range servers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCollector(t, collectortest.ListenOn(t, "tcp", "127.0.0.1:0", nil, func(conn net.Conn) {
				_, _ = io.ReadFull(conn, make([]byte, len("*1\r\n$4\r\nPING\r\n")))
				_, _ = io.WriteString(conn, "+PONG\r\n")
				serve(conn)
			}), "")
			samples, err := collectortest.CollectWithin(t, c, 300*time.Millisecond)
			if got := reason(samples); got != "" || err == nil {
				t.Errorf("Collect() = %v, reason %q, want an error of a server that is up", err, got)
			}
			for _, s := range samples {
				if name := s.Labels.Get("__name__"); strings.HasPrefix(name, "vitals_redis_") {
					t.Errorf("%s of an incomplete answer, want none", name)
				}
			}
		})
	}
}

func TestConnections(t *testing.T) {
	plain := serve(t, fakeServer{TB: t})
	for _, c := range []struct{ name, address, more, want string }{
		{"nothing listens", "127.0.0.1:1", "", "refused"},
		{"no such host", "no..such:6379", "", "dns"},
		{"no such socket", "unix:/nonexistent/redis.sock", "", "refused"},
		{"no certificates", plain, ", tls: {ca_file: /nonexistent}", "tls"},
	} {
		t.Run(c.name, func(t *testing.T) {
			samples, err := collectortest.Collect(t, newCollector(t, c.address, c.more))
			if got := reason(samples); got != c.want || err == nil {
				t.Errorf("Collect() = %v, reason %q, want %q", err, got, c.want)
			}
		})
	}
	clear := collectortest.ListenOn(t, "tcp", "127.0.0.1:0", nil, collectortest.Once("-ERR Protocol error\r\n"))
	samples, err := collectortest.Collect(t, newCollector(t, clear, ", tls: {insecure_skip_verify: true}"))
	if got := reason(samples); got != "tls" || err == nil {
		t.Errorf("Collect() = %v, reason %q, want tls of a server without", err, got)
	}
}
