package tcp_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"go.uber.org/goleak"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/tcp"
)

// respond reads and writes in turn: pairs are a text to read and the answer. The first text
// may be empty.
func respond(pairs ...string) func(net.Conn) {
	return func(conn net.Conn) {
		for i := 0; i+1 < len(pairs); i += 2 {
			got := make([]byte, len(pairs[i]))
			if _, err := io.ReadFull(conn, got); err != nil || string(got) != pairs[i] {
				return
			}
			if _, err := io.WriteString(conn, pairs[i+1]); err != nil {
				return
			}
		}
		_, _ = io.Copy(io.Discard, conn)
	}
}

const redisPing = "*1\r\n$4\r\nPING\r\n"

func redis(answer string) func(net.Conn) { return respond(redisPing, answer) }

// newCollector makes a collector of a block.
func newCollector(t testing.TB, name, block string) collectors.Collector {
	t.Helper()
	return collectortest.New(t, name, block, &tcp.Config{})
}

func TestExposition(t *testing.T) {
	cert, certFile, _ := collectortest.Certificate(t, "localhost", time.Now().Add(time.Hour))
	address := collectortest.ListenOn(t, "tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{cert}}, redis("+PONG\r\n"))
	_, port, _ := net.SplitHostPort(address)
	c := newCollector(t, "redis", "{address: 'localhost:"+port+"', protocol: redis, tls: {ca_file: "+certFile+"}}")
	samples, err := collectortest.Collect(t, c)
	if err != nil {
		t.Fatalf("Collect() = %v, want no error", err)
	}
	collectortest.Golden(t, "metrics.prom", collectortest.Exposition(timeless(t, samples), c.Describe()))
	if got, want := collectortest.Note(c), "redis "+address+" +PONG"; got != want {
		t.Errorf("Note() = %q, want %q", got, want)
	}
}

// timeless puts one millisecond in the place of every duration, and the epoch's first
// day in the place of every moment.
func timeless(t *testing.T, samples []collectors.Sample) []collectors.Sample {
	t.Helper()
	for i, s := range samples {
		name := s.Labels.Get(model.MetricNameLabel)
		if strings.HasSuffix(name, "_timestamp_seconds") {
			samples[i].Value = 86400
			continue
		}
		if !strings.HasSuffix(name, "_duration_seconds") && !strings.HasSuffix(name, "_latency_seconds") {
			continue
		}
		if s.Value <= 0 || s.Value > collectortest.Patience.Seconds() {
			t.Errorf("%s = %v, want a plausible time", name, s.Value)
		}
		samples[i].Value = 0.001
	}
	return samples
}

func phases(samples []collectors.Sample) string {
	var phases []string
	for _, s := range samples {
		if s.Labels.Get(model.MetricNameLabel) == "vitals_tcp_phase_duration_seconds" {
			s.Labels.Range(func(l labels.Label) {
				if l.Name == "phase" {
					phases = append(phases, l.Value)
				}
			})
		}
	}
	return strings.Join(phases, " ")
}

func TestFailures(t *testing.T) {
	refused := collectortest.Refusing(t)
	dir := collectortest.Dir(t)
	silent := collectortest.Listen(t, respond())
	plain := collectortest.Listen(t, respond("", "220 hello\r\n"))
	closes := collectortest.Listen(t, func(net.Conn) {})
	for _, c := range []struct{ name, block, reason, phases, note string }{
		{"E04 no listener", "{address: '" + refused + "', protocol: redis}", "refused", "", "redis " + refused + " refused: "},
		{"E04 no socket", "{address: 'unix:" + dir + "/none', protocol: redis}", "refused", "", "redis unix:" + dir + "/none refused: "},
		{"E05 no such host", "{address: 'no..such:6379', protocol: redis}", "dns", "", "redis no..such:6379 dns: "},
		{"E06 silent", "{address: '" + silent + "', protocol: redis}", "timeout", "connect", "redis " + silent + " timeout: "},
		{"E06 silent in the handshake", "{address: '" + silent + "', tls: {server_name: a}}", "timeout", "connect", "tcp " + silent + " timeout: "},
		{"plain text for TLS", "{address: '" + plain + "', tls: {server_name: a}}", "tls", "connect", "tcp " + plain + " tls: "},
		{"closes in the handshake", "{address: '" + closes + "', tls: {server_name: a}}", "tls", "connect", "tcp " + closes + " tls: "},
		{"closes", "{address: '" + closes + "', protocol: ovsdb}", "protocol", "connect", "ovsdb " + closes + " protocol: "},
		{"no socket matches", "{address: 'unix:" + dir + "/*.ctl'}", "missing_endpoint", "", "tcp unix:" + dir + "/*.ctl missing_endpoint: 0 sockets match "},
		{"no password file", "{address: '" + silent + "', protocol: redis, password_file: " + dir + "/none}", "auth", "", "redis " + silent + " auth: read password: "},
		{"no certificates to trust", "{address: '" + silent + "', tls: {ca_file: " + dir + "/none}}", "tls", "", "tcp " + silent + " tls: prepare tls: "},
		{"none of the family", "{address: 'localhost:1', ip_family: 4}", "refused", "resolve", "tcp localhost:1 refused: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			collector := newCollector(t, "d", c.block)
			samples, err := collectortest.Outlast(t, collector, func(samples []collectors.Sample, _ error) bool {
				return collectortest.Reason(samples) == c.reason && phases(samples) == c.phases
			})
			if got := collectortest.Reason(samples); got != c.reason || err == nil {
				t.Errorf("Collect() has reason %q, error %v, want %q and an error", got, err, c.reason)
			}
			if up, ok := collectortest.Value(samples, `vitals_dependency_up{dependency="d"}`); !ok || up != 0 {
				t.Errorf("vitals_dependency_up = %v, %t, want 0", up, ok)
			}
			if _, ok := collectortest.Value(samples, `vitals_dependency_latency_seconds{dependency="d"}`); ok {
				t.Error("there is a latency, want none as nothing answered")
			}
			if got := phases(samples); got != c.phases {
				t.Errorf("phases = %q, want %q", got, c.phases)
			}
			if got := collectortest.Note(collector); !strings.HasPrefix(got, c.note) || len(got) > 200 {
				t.Errorf("Note() = %q, want one that begins with %q", got, c.note)
			}
			if err != nil && !strings.HasPrefix(err.Error(), "check "+c.note[:strings.Index(c.note, " ")]) {
				t.Errorf("Collect() = %v, want the name of what was checked", err)
			}
		})
	}
}

// A refusal is an answer, so it has a latency.
func TestRefusalHasALatency(t *testing.T) {
	address := collectortest.Listen(t, redis("-NOAUTH Authentication required.\r\n"))
	c := newCollector(t, "d", "{address: '"+address+"', protocol: redis}")
	samples, err := collectortest.Collect(t, c)
	if got := collectortest.Reason(samples); got != "auth" || err == nil {
		t.Errorf("reason = %q, error %v, want auth", got, err)
	}
	if _, ok := collectortest.Value(samples, `vitals_dependency_latency_seconds{dependency="d"}`); !ok {
		t.Error("there is no latency, want one")
	}
	if got, want := phases(samples), "connect exchange"; got != want {
		t.Errorf("phases = %q, want %q", got, want)
	}
	if got, want := collectortest.Note(c), "redis "+address+" auth: answer to PING: NOAUTH Authentication required."; got != want {
		t.Errorf("Note() = %q, want %q (E28)", got, want)
	}
}

func TestConnectsOnly(t *testing.T) {
	cert, certFile, _ := collectortest.Certificate(t, "localhost", time.Now().Add(time.Hour))
	plain := collectortest.Listen(t, respond())
	secured := collectortest.ListenOn(t, "tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{cert}}, respond("x", ""))
	for block, want := range map[string]string{
		"{address: '" + plain + "'}": "tcp " + plain + " connected",
		"{address: '" + secured + "', tls: {server_name: localhost, ca_file: " + certFile + "}}": "tcp " + secured + " connected with TLS 1.3",
	} {
		c := newCollector(t, "d", block)
		if samples, err := collectortest.Collect(t, c); err != nil || collectortest.Note(c) != want || strings.Contains(phases(samples), "exchange") {
			t.Errorf("Collect() of %s = %v with the note %q and the phases %s, want %q", block, err, collectortest.Note(c), phases(samples), want)
		}
	}
}

func TestAddresses(t *testing.T) {
	dir := collectortest.Dir(t)
	pong := redis("+PONG\r\n")
	_, port, _ := net.SplitHostPort(collectortest.Listen(t, pong))
	addresses := map[string]string{
		"a name":        "localhost:" + port,
		"E07 IPv6":      collectortest.ListenOn(t, "tcp", "[::1]:0", nil, pong),
		"a path":        collectortest.ListenOn(t, "unix", filepath.Join(dir, "redis.sock"), nil, pong),
		"a pattern":     "unix:" + dir + "/redis.[a-z]*",
		"abstract":      collectortest.ListenOn(t, "unix", "@"+dir+"/abstract", nil, pong),
		"abstract star": collectortest.ListenOn(t, "unix", "@"+dir+"/*", nil, pong),
	}
	for name, address := range addresses {
		c := newCollector(t, "d", "{address: '"+address+"', protocol: redis}")
		if _, err := collectortest.Collect(t, c); err != nil || !strings.HasSuffix(collectortest.Note(c), " +PONG") {
			t.Errorf("%s: Collect() = %v with the note %q, want +PONG", name, err, collectortest.Note(c))
		}
	}
	if c := newCollector(t, "d", "{address: '"+addresses["a pattern"]+"', protocol: redis}"); true {
		collectortest.ListenOn(t, "unix", filepath.Join(dir, "redis.second"), nil, pong)
		samples, err := collectortest.Collect(t, c)
		if collectortest.Reason(samples) != "missing_endpoint" || err == nil || !strings.Contains(err.Error(), "2 sockets match") {
			t.Errorf("Collect() with two sockets = %v, want missing_endpoint and their number", err)
		}
	}
}

// The password is read in each collection, and is not shown.
func TestPasswordFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "password")
	address := collectortest.ListenOn(t, "tcp", "127.0.0.1:0", nil,
		respond("*2\r\n$4\r\nAUTH\r\n$6\r\nsecond\r\n", "+OK\r\n", redisPing, "+PONG\r\n"))
	c := newCollector(t, "d", "{address: '"+address+"', protocol: redis, password_file: "+file+"}")
	collectortest.Write(t, file, "wrong!\n")
	if samples, err := collectortest.Collect(t, c); collectortest.Reason(samples) != "protocol" || err == nil {
		t.Errorf("Collect() with the wrong password = %v, want an error", err)
	}
	collectortest.Write(t, file, " second\n")
	if _, err := collectortest.Collect(t, c); err != nil {
		t.Errorf("Collect() with the right password = %v, want no error", err)
	}
}

// No answer of a server makes the password visible.
func TestShowsNoPassword(t *testing.T) {
	const password = `hunter2"\päss`
	for name, answer := range map[string]string{
		"E28 in an error":           "-ERR wrong " + password + "\r\n",
		"in a line":                 password + "\r\n",
		"at the end of what fits":   strings.Repeat("a", 480) + password + "\r\n",
		"in quotes":                 `-ERR "` + password + "\"\r\n",
		"quoted":                    fmt.Sprintf("-ERR %q\r\n", password),
		"without the end of a line": password,
		"with a byte before it":     "\xff" + password + "\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			address := collectortest.Listen(t, func(conn net.Conn) {
				_, _ = bufio.NewReader(conn).ReadString('s')
				_, _ = io.WriteString(conn, answer)
			})
			c := newCollector(t, "d", "{address: '"+address+"', protocol: redis, username: u, password: '"+password+"'}")
			_, err := collectortest.Collect(t, c)
			if err == nil {
				t.Fatal("Collect() = nil, want an error")
			}
			for _, text := range []string{err.Error(), collectortest.Note(c)} {
				if strings.Contains(text, "hunter") || strings.Contains(text, "päss") {
					t.Errorf("%q shows the password", text)
				}
			}
		})
	}
}

// A collection leaves no goroutine behind and ends with its context.
func TestCollectionEnds(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	var address string
	t.Run("cancelled", func(t *testing.T) {
		address = collectortest.Listen(t, respond())
		c := newCollector(t, "d", "{address: '"+address+"', protocol: redis}")
		start := time.Now()
		samples, err := collectortest.CollectWithin(t, c, 50*time.Millisecond)
		if took := time.Since(start); collectortest.Reason(samples) != "timeout" || err == nil || took > collectortest.Patience {
			t.Errorf("Collect() = %v after %s, want a timeout at the deadline", err, took)
		}
	})
}

func TestIsExternal(t *testing.T) {
	for address, want := range map[string]bool{
		"127.0.0.1:1": false, "localhost:1": false, "[::1]:1": false, "unix:/run/x": false, "unix:@x": false, "0.0.0.0:1": false,
		"10.0.0.1:1": true, "redis.example:1": true, "[2001:db8::1]:1": true, "nonsense": true,
	} {
		if got := (&tcp.Config{Address: address}).External(); got != want {
			t.Errorf("External() of %s = %t, want %t", address, got, want)
		}
	}
}
