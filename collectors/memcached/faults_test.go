package memcached_test

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

// The same servers after the version: the server is up, and its statistics unknown.
func TestHostileStatistics(t *testing.T) {
	servers := collectortest.Hostile()
	delete(servers, "an answer to no command") // is a server without statistics
	servers["endless statistics"] = collectortest.Forever("STAT bytes 1\r\n")
	servers["half of the statistics"] = collectortest.Once("STAT bytes 1\r\nSTAT evic")
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
	for name, serve := range servers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCollector(t, collectortest.ListenOn(t, "tcp", "127.0.0.1:0", nil, func(conn net.Conn) {
				_, _ = io.ReadFull(conn, make([]byte, len("version\r\n")))
				_, _ = io.WriteString(conn, "VERSION 1.6.18\r\n")
				serve(conn)
			}), "")
			samples, err := collectortest.CollectWithin(t, c, 300*time.Millisecond)
			if got := reason(samples); got != "" || err == nil {
				t.Errorf("Collect() = %v, reason %q, want an error of a server that is up", err, got)
			}
			for _, s := range samples {
				if name := s.Labels.Get("__name__"); strings.HasPrefix(name, "vitals_memcached_") {
					t.Errorf("%s of an incomplete answer, want none", name)
				}
			}
		})
	}
}
