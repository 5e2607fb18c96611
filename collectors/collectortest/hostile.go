package collectortest

import (
	"cmp"
	"crypto/tls"
	"io"
	"maps"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors"
)

// Servers are servers by what they do, for tests of a kind that connects.
type Servers map[string]func(net.Conn)

// Hostile returns the servers that no check of any protocol may accept, hang on, or read without
// bound. A kind adds those that misbehave in its own protocol.
func Hostile() Servers {
	return Servers{
		"accepts and closes":  func(net.Conn) {},
		"never answers":       Drain,
		"a byte at a time":    Slowly(strings.Repeat("x", 10_000)),
		"closes after a byte": Closing("\x00"),
		"endless zeros":       Forever("\x00"),
		"endless text":        Forever("a"),
		"endless lines":       Forever("hello\r\n"),
		"endless line ends":   Forever("\r\n"),
		"garbage":             Once("\x16\x03\x01\x02\x00\x01\xff\xfe\r\n" + strings.Repeat("x", 100)),
		"an SSH server":       Once("SSH-2.0-OpenSSH_9.2\r\n"),
		"a mail server":       Once("220 mail ESMTP\r\n"),
		"a web server":        Once("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"),
	}
}

// With returns the servers of both; more wins.
func (s Servers) With(more Servers) Servers {
	all := maps.Clone(s)
	maps.Copy(all, more)
	return all
}

// BehindTLS returns the servers after a handshake of TLS.
func (s Servers) BehindTLS(settings *tls.Config) Servers {
	secured := Servers{}
	for name, serve := range s {
		secured[name] = func(conn net.Conn) {
			if conn := tls.Server(conn, settings); conn.Handshake() == nil {
				defer conn.Close()
				serve(conn)
			}
		}
	}
	return secured
}

// After returns the servers after one response to a request, of which they read only the length.
func (s Servers) After(request, response string) Servers {
	later := Servers{}
	for name, serve := range s {
		later[name] = func(conn net.Conn) {
			if _, err := io.ReadFull(conn, make([]byte, len(request))); err != nil {
				return
			}
			if _, err := io.WriteString(conn, response); err == nil {
				serve(conn)
			}
		}
	}
	return later
}

// Run tests a kind against each server, in a subtest: check has to find that the kind fails with
// the reason for the server, or else with otherwise, as Fails does. No goroutine may be left.
func (s Servers) Run(t *testing.T, otherwise string, reasons map[string]string, check func(t *testing.T, address, reason string)) {
	t.Helper()
	NoLeaks(t)
	for name := range reasons {
		if s[name] == nil {
			t.Errorf("a reason is expected for %q, which is none of the servers", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s)) {
		t.Run(name, func(t *testing.T) {
			check(t, Listen(t, s[name]), cmp.Or(reasons[name], otherwise))
		})
	}
}

// Fails collects, with Outlast, until a dependency is down for this reason with an error that has
// this text. It checks what all kinds have in common: the dependency has no latency, and a note
// with the reason. It returns the samples.
func Fails(t *testing.T, c collectors.Collector, want, text string) []collectors.Sample {
	t.Helper()
	fails := func(samples []collectors.Sample, err error) bool {
		return Reason(samples) == want && err != nil && strings.Contains(err.Error(), text)
	}
	samples, err := Outlast(t, c, fails)
	if !fails(samples, err) {
		t.Errorf("Collect() has the reason %q and the error %v, want %q and an error with %q", Reason(samples), err, want, text)
	}
	if up := valuesOf(samples, "vitals_dependency_up"); !slices.Equal(up, []float64{0}) {
		t.Errorf("vitals_dependency_up = %v, want 0", up)
	}
	if latency := valuesOf(samples, "vitals_dependency_latency_seconds"); latency != nil {
		t.Errorf("vitals_dependency_latency_seconds = %v, want none without a response", latency)
	}
	if note := Note(c); !strings.Contains(note+": ", want+": ") || len(note) > collectors.MaxNote {
		t.Errorf("Note() = %q, want the reason %s", note, want)
	}
	return samples
}

// Incomplete collects, with Outlast, until a dependency is up with an error. It has no metric of the
// kind's own, whose names begin with the prefix.
func Incomplete(t *testing.T, c collectors.Collector, prefix string) {
	t.Helper()
	up := func(samples []collectors.Sample, err error) bool { return Reason(samples) == "" && err != nil }
	samples, err := Outlast(t, c, up)
	if !up(samples, err) {
		t.Errorf("Collect() has the reason %q and the error %v, want an error of a dependency that is up", Reason(samples), err)
	}
	for _, s := range samples {
		if name := s.Labels.Get(model.MetricNameLabel); strings.HasPrefix(name, prefix) {
			t.Errorf("%s of an incomplete response, want none", name)
		}
	}
}

// Reason returns the reason for which a dependency is down, "" for none.
func Reason(samples []collectors.Sample) string {
	return One(samples, "vitals_dependency_failure", "reason")
}

// One returns the values of a label of all series of a metric that are 1, with blanks in between.
func One(samples []collectors.Sample, metric, label string) string {
	var values []string
	for _, s := range samples {
		if s.Labels.Get(model.MetricNameLabel) == metric && s.Value == 1 {
			values = append(values, s.Labels.Get(label))
		}
	}
	return strings.Join(values, " ")
}

// valuesOf returns the values of all series of a metric.
func valuesOf(samples []collectors.Sample, metric string) []float64 {
	var values []float64
	for _, s := range samples {
		if s.Labels.Get(model.MetricNameLabel) == metric {
			values = append(values, s.Value)
		}
	}
	return values
}
