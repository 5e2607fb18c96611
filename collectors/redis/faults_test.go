package redis_test

import (
	"io"
	"net"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/collectors/collectortest"
)

func TestHostileServers(t *testing.T) {
	waits := map[string]string{"never answers": "timeout", "a byte at a time": "timeout"}
	collectortest.Hostile().Run(t, "protocol", waits, func(t *testing.T, address, reason string) {
		c := newCollector(t, address, ", username: vitals, password: hunter2")
		collectortest.Fails(t, c, reason, "")
		if note := collectortest.Note(c); strings.Contains(note, "hunter2") {
			t.Errorf("the password is shown: %q", note)
		}
	})
}

// The same servers after the response to PING: the server is up, and its state unknown.
func TestHostileStates(t *testing.T) {
	servers := collectortest.Hostile().With(collectortest.Servers{
		"endless fields": func(conn net.Conn) {
			_, _ = io.WriteString(conn, "$262144\r\n")
			collectortest.Forever("used_memory:1\r\n")(conn)
		},
		"half of INFO": collectortest.Once("$1000\r\nrole:master\r\n"),
	})
	servers.After("*1\r\n$4\r\nPING\r\n", "+PONG\r\n").Run(t, "", nil, func(t *testing.T, address, _ string) {
		collectortest.Incomplete(t, newCollector(t, address, ""), "vitals_redis_")
	})
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
			if got := collectortest.Reason(samples); got != c.want || err == nil {
				t.Errorf("Collect() = %v, reason %q, want %q", err, got, c.want)
			}
		})
	}
	clear := collectortest.ListenOn(t, "tcp", "127.0.0.1:0", nil, collectortest.Once("-ERR Protocol error\r\n"))
	samples, err := collectortest.Collect(t, newCollector(t, clear, ", tls: {insecure_skip_verify: true}"))
	if got := collectortest.Reason(samples); got != "tls" || err == nil {
		t.Errorf("Collect() = %v, reason %q, want tls of a server without", err, got)
	}
}
