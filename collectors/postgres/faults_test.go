package postgres_test

import (
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/postgres/postgrestest"
)

// message is a message of the server with a length that may be wrong.
func message(kind byte, length uint32, body string) string {
	return string(kind) + string(binary.BigEndian.AppendUint32(nil, length)) + body
}

const (
	notice = "N\x00\x00\x00\x0dSNOTICE\x00\x00"
	ready  = "R\x00\x00\x00\x08\x00\x00\x00\x00Z\x00\x00\x00\x05I"
)

// hostile are servers that no check may accept, hang on, or read without bound: what they do
// after the request for TLS, or without it after the connection.
func hostile() collectortest.Servers {
	once, forever, slowly := collectortest.Once, collectortest.Forever, collectortest.Slowly
	return collectortest.Hostile().With(collectortest.Servers{
		"endless notices":           forever(notice),
		"refuses TLS for ever":      slowly(strings.Repeat("N", 1000)),
		"notices byte for byte":     slowly(strings.Repeat(notice, 100)),
		"claims 2 GB":               forever(message('N', 0x7fffffff, "x")),
		"claims a negative size":    once(message('N', 0xffffffff, "")),
		"claims no size":            once(message('N', 0, "")),
		"half an answer":            collectortest.Closing("R\x00\x00\x00\x08\x00"),
		"half a message":            once("R\x00\x00\x00\x08\x00"),
		"half an error":             once(message('E', 9, "SFATA")),
		"an error without fields":   once(message('E', 5, "\x00")),
		"an unknown message":        once(message('!', 4, "")),
		"an unknown login":          once(message('R', 8, "\x00\x00\x00\x63")),
		"SASL without mechanisms":   once(message('R', 8, "\x00\x00\x00\x0a")),
		"SASL without an end":       once(message('R', 13, "\x00\x00\x00\x0aSCRAM")),
		"ready before the login":    once("Z\x00\x00\x00\x05I"),
		"a row in the login":        once("D\x00\x00\x00\x06\x00\x00"),
		"a MySQL server":            once("J\x00\x00\x00\x0a8.4.0\x00"),
		"answers after the queries": once(ready + ready + ready),
	})
}

// holds checks that a collection fails within its deadline with protocol or timeout, and leaves no
// goroutine behind.
func holds(t *testing.T, block string) {
	t.Helper()
	password := filepath.Join(t.TempDir(), "password")
	collectortest.Write(t, password, "hunter2\n")
	c := newCollector(t, "password_file: "+password+", "+block)
	start := time.Now()
	samples, err := collectortest.CollectWithin(t, c, 300*time.Millisecond)
	if took := time.Since(start); took > collectortest.Patience {
		t.Errorf("Collect() took %s, want it to end at its deadline", took)
	}
	if got := collectortest.Reason(samples); !slices.Contains([]string{"protocol", "timeout", "tls"}, got) || err == nil {
		t.Errorf("Collect() = %v, reason %q, want protocol, timeout or tls", err, got)
	}
	if text := collectortest.Note(c); err != nil && strings.Contains(text+err.Error(), "hunter2") {
		t.Errorf("the password is shown: %q, %v", text, err)
	}
}

func TestHostileServers(t *testing.T) {
	cert, _, _ := collectortest.Certificate(t, "localhost", time.Now().Add(time.Hour))
	settings := &tls.Config{Certificates: []tls.Certificate{cert}}
	request := func(conn net.Conn) bool {
		_, err := io.ReadFull(conn, make([]byte, 8))
		return err == nil
	}
	collectortest.NoLeaks(t)
	for name, serve := range hostile() {
		for stage, c := range map[string]struct {
			block string
			serve func(net.Conn)
		}{
			"in the clear":    {"sslmode: disable", serve},
			"in place of TLS": {"sslmode: require", serve},
			"after no TLS": {"sslmode: prefer", func(conn net.Conn) {
				if request(conn) {
					_, _ = io.WriteString(conn, "N")
					serve(conn)
				}
			}},
			"after yes to TLS": {"sslmode: require", func(conn net.Conn) {
				if request(conn) {
					_, _ = io.WriteString(conn, "S")
					serve(conn)
				}
			}},
			"behind TLS": {"sslmode: require", func(conn net.Conn) {
				if request(conn) {
					_, _ = io.WriteString(conn, "S")
					secured := tls.Server(conn, settings)
					defer secured.Close()
					serve(secured)
				}
			}},
		} {
			t.Run(name+" "+stage, func(t *testing.T) {
				t.Parallel()
				holds(t, "address: '"+collectortest.Listen(t, c.serve)+"', "+c.block)
			})
		}
	}
}

// The same servers after a login: they break the check, or a query of one that is up.
func TestHostileQueries(t *testing.T) {
	row := "T\x00\x00\x00\x19\x00\x01n\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x19\xff\xff\xff\xff\xff\xff\x00\x00"
	servers := hostile()
	servers["endless rows"] = collectortest.Forever(message('D', 11, "\x00\x01\x00\x00\x00\x011"))
	servers["columns and endless rows"] = func(conn net.Conn) {
		_, _ = io.WriteString(conn, row)
		collectortest.Forever(message('D', 11, "\x00\x01\x00\x00\x00\x011"))(conn)
	}
	servers["a cut row"] = collectortest.Once(row + message('D', 10, "\x00\x02\x00\x00\x00\xff"))
	servers["a row of 60000 columns"] = collectortest.Once(row + message('D', 6, "\xff\xff"))
	collectortest.NoLeaks(t)
	for name, serve := range servers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answers := postgrestest.Healthy()
			answers["SELECT 1"] = serve
			holds(t, "address: '"+collectortest.Listen(t, postgrestest.Server{TB: t, Answers: answers}.Serve)+"'")

			answers = postgrestest.Healthy()
			answers["SELECT n"] = serve
			c := newCollector(t, "address: '"+collectortest.Listen(t, postgrestest.Server{TB: t, Answers: answers}.Serve)+"', queries: {n: {sql: SELECT n}, one: {sql: SELECT 1}}")
			samples, err := collectortest.Outlast(t, c, func(samples []collectors.Sample, err error) bool {
				return err != nil && collectortest.Reason(samples) == ""
			})
			if got := collectortest.Reason(samples); got != "" || err == nil {
				t.Errorf("Collect() = %v, reason %q, want an error of a server that is up", err, got)
			}
			for _, series := range []string{"vitals_query_value", "vitals_query_rows"} {
				if value, ok := collectortest.Value(samples, series+`{dependency="nova",query="n"}`); ok {
					t.Errorf("%s = %v, want none", series, value)
				}
			}
		})
	}
}

// Without a server there is a reason, and no latency.
func TestNoListener(t *testing.T) {
	dir := collectortest.Dir(t)
	for _, c := range []struct{ name, address, want string }{
		{"no listener", collectortest.Refusing(t), "refused"},
		{"no socket", "unix:" + dir + "/none", "refused"},
		{"no match", "unix:" + dir + "/*", "missing_endpoint"},
		{"no such host", "no..such:5432", "dns"},
	} {
		t.Run(c.name, func(t *testing.T) {
			samples, err := collectortest.Collect(t, newCollector(t, "address: '"+c.address+"'"))
			if got := collectortest.Reason(samples); got != c.want || err == nil {
				t.Errorf("Collect() = %v, reason %q, want %q", err, got, c.want)
			}
			if _, ok := collectortest.Value(samples, `vitals_dependency_latency_seconds{dependency="nova"}`); ok {
				t.Error("there is a latency without an answer")
			}
		})
	}
}

// Variables and files of libpq in the environment have no effect.
func TestEnvironmentHasNoEffect(t *testing.T) {
	for name, value := range map[string]string{
		"PGHOST": "db.example", "PGPORT": "1", "PGUSER": "other", "PGPASSWORD": "other", "PGDATABASE": "other", "PGOPTIONS": "-c search_path=x",
		"PGSSLMODE": "nonsense", "PGSSLROOTCERT": "/nonexistent", "PGSSLCERT": "/nonexistent", "PGTARGETSESSIONATTRS": "standby", "PGCONNECT_TIMEOUT": "x",
		"PGREQUIREAUTH": "gss", "PGAPPNAME": "x", "PGTZ": "x", "PGPASSFILE": "/nonexistent",
	} {
		t.Setenv(name, value)
	}
	address := collectortest.Listen(t, postgrestest.Server{TB: t, Answers: postgrestest.Healthy()}.Serve)
	samples, err := collectortest.Collect(t, newCollector(t, "address: '"+address+"'"))
	if got := collectortest.Reason(samples); got != "" || err != nil {
		t.Errorf("Collect() = %v, reason %q, want none", err, got)
	}
}
