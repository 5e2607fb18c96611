package memcached_test

import (
	"bufio"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/memcached"
)

func newCollector(t testing.TB, address, more string) collectors.Collector {
	t.Helper()
	return collectortest.New(t, "cache", "{address: '"+address+"'"+more+"}", &memcached.Config{})
}

// statistics is a part of what memcached 1.6 answers.
const statistics = "STAT pid 123\r\nSTAT version 1.6.18\r\nSTAT max_connections 1024\r\nSTAT curr_connections 10\r\nSTAT rejected_connections 3\r\n" +
	"STAT rusage_user 0.007369\r\nSTAT limit_maxbytes 67108864\r\nSTAT accepting_conns 1\r\nSTAT bytes 1048576\r\nSTAT evictions 5\r\nEND\r\n"

// respond answers requests, one line each. An empty answer closes the connection.
func respond(t testing.TB, answers map[string]string) func(net.Conn) {
	return func(conn net.Conn) {
		in := bufio.NewReader(conn)
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			if strings.HasPrefix(line, "set ") {
				next, err := in.ReadString('\n')
				if err != nil {
					return
				}
				line += next
			}
			answer, ok := answers[line]
			if !ok {
				t.Errorf("the server receives %q, want one of %q", line, answers)
			}
			if _, err := io.WriteString(conn, answer); err != nil || answer == "" {
				return
			}
		}
	}
}

func serve(t testing.TB, answers map[string]string) string {
	t.Helper()
	return collectortest.ListenOn(t, "tcp", "127.0.0.1:0", nil, respond(t, answers))
}

func TestExposition(t *testing.T) {
	path := filepath.Join(collectortest.Dir(t), "memcached.sock")
	collectortest.ListenOn(t, "unix", path, nil, respond(t, map[string]string{"version\r\n": "VERSION 1.6.18\r\n", "stats\r\n": statistics}))
	c := newCollector(t, "unix:"+path, "")
	samples, err := collectortest.Collect(t, c)
	if err != nil {
		t.Fatalf("Collect() = %v, want no error", err)
	}
	for i, s := range samples {
		if s.Labels.Get(model.MetricNameLabel) == "vitals_dependency_latency_seconds" {
			samples[i].Value = 0.001
		}
	}
	collectortest.Golden(t, "metrics.prom", collectortest.Exposition(samples, c.Describe()))
	if got, want := collectortest.Note(c), "memcached unix:"+path+" 1.6.18"; got != want {
		t.Errorf("Note() = %q, want %q", got, want)
	}
}

// Each refusal has its reason.
func TestRefusals(t *testing.T) {
	for _, c := range []struct{ answer, reason string }{
		{"CLIENT_ERROR unauthenticated", "login_required"},
		{"ERROR Too many open connections", "too_many_connections"},
		{"SERVER_ERROR out of memory", "server_error"},
		{"ERROR", "protocol"},
		{"VERSION ", "protocol"},
		{"version 1.6.18", "protocol"},
		{"-ERR unknown command 'version'", "protocol"},
		{"", "protocol"},
	} {
		t.Run(c.answer, func(t *testing.T) {
			kind := newCollector(t, serve(t, map[string]string{"version\r\n": c.answer + "\r\n"}), "")
			samples, err := collectortest.Collect(t, kind)
			if got := collectortest.Reason(samples); got != c.reason || err == nil {
				t.Errorf("Collect() = %v, reason %q, want %q", err, got, c.reason)
			}
			if note := collectortest.Note(kind); !strings.Contains(note, " "+c.reason+": ") || len(note) > collectors.MaxNote {
				t.Errorf("Note() = %q, want the reason", note)
			}
		})
	}
}

// The password is sent only to a server that requires a login: any other would store it.
func TestLogin(t *testing.T) {
	const set = "set vitals 0 0 14\r\nvitals hunter2\r\n"
	for _, c := range []struct{ name, version, stored, reason string }{
		{"right", "CLIENT_ERROR unauthenticated\r\n", "STORED\r\n", ""},
		{"wrong", "CLIENT_ERROR unauthenticated\r\n", "CLIENT_ERROR authentication failure\r\n", "auth"},
		{"the password comes back", "CLIENT_ERROR unauthenticated\r\n", "vitals hunter2\r\n", "protocol"},
		{"no login is required", "VERSION 1.6.18\r\n", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			answers := map[string]string{"version\r\n": c.version, "stats\r\n": statistics}
			if c.stored != "" {
				answers[set] = c.stored
			}
			server := func(conn net.Conn) {
				if c.stored == "STORED\r\n" { // the version follows the login
					_, _ = io.ReadFull(conn, make([]byte, len("version\r\n")))
					_, _ = io.WriteString(conn, c.version)
					respond(t, map[string]string{set: c.stored, "version\r\n": "VERSION 1.6.18\r\n", "stats\r\n": statistics})(conn)
					return
				}
				respond(t, answers)(conn)
			}
			kind := newCollector(t, collectortest.ListenOn(t, "tcp", "127.0.0.1:0", nil, server), ", username: vitals, password: hunter2")
			samples, err := collectortest.Collect(t, kind)
			if got := collectortest.Reason(samples); got != c.reason || (err == nil) != (c.reason == "") {
				t.Errorf("Collect() = %v, reason %q, want %q", err, got, c.reason)
			}
			if err != nil && strings.Contains(collectortest.Note(kind)+err.Error(), "hunter2") {
				t.Errorf("the password is shown: %q, %v", collectortest.Note(kind), err)
			}
		})
	}
}

func TestProblems(t *testing.T) {
	for _, c := range []struct{ name, config, want string }{
		{"no address", "{}", `address: address "": expected host:port, [address]:port, unix:/path or unix:@name`},
		{"a password alone", "{address: 'a:1', password_file: /p}", "username: no username: expected one, because memcached has no login by a password alone"},
		{"all of it", "{address: 'a:1', ip_family: 4, username: u, password: p, tls: {}}", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := collectortest.Problems(t, c.config, &memcached.Config{}); got != c.want {
				t.Errorf("Problems() =\n%s\nwant\n%s", got, c.want)
			}
		})
	}
	config := &memcached.Config{}
	if c, err := config.New(collectors.Env{Name: "cache"}); err == nil {
		t.Errorf("New() without an address = %v, want an error", c)
	}
}
