package postgres_test

import (
	"crypto/tls"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/postgres"
	"github.com/vitals-health/vitals/collectors/postgres/postgrestest"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/collectors/remote/query"
)

// newCollector makes a collector of a block for the user vitals.
func newCollector(t testing.TB, block string) collectors.Collector {
	t.Helper()
	return collectortest.New(t, "nova", "{username: vitals, "+block+"}", &postgres.Config{})
}

// timeless puts one millisecond in the place of every duration.
func timeless(samples []collectors.Sample) []collectors.Sample {
	for i, s := range samples {
		if name := s.Labels.Get(model.MetricNameLabel); strings.HasSuffix(name, "_duration_seconds") || strings.HasSuffix(name, "_latency_seconds") {
			samples[i].Value = 0.001
		} else if strings.HasSuffix(name, "_timestamp_seconds") {
			samples[i].Value = 86400
		}
	}
	return samples
}

func TestExposition(t *testing.T) {
	cert, certFile, _ := collectortest.Certificate(t, "localhost", time.Now().Add(time.Hour))
	password := filepath.Join(t.TempDir(), "password")
	collectortest.Write(t, password, "hunter2\n")
	answers := postgrestest.Healthy()
	answers[postgrestest.StateSQL] = postgrestest.State("1", "1", "42", "97", "1", "2.5", "8192")
	answers["SELECT count(*) FROM stuck"] = postgrestest.Table{Columns: []string{"count"}, Rows: [][]any{{3}}}
	answers["SELECT nothing"] = postgrestest.Failure("42703", `column "nothing" does not exist`)
	server := postgrestest.Server{TB: t, Auth: "password", Password: "hunter2", TLS: &tls.Config{Certificates: []tls.Certificate{cert}}, Answers: answers}
	_, port, _ := net.SplitHostPort(collectortest.Listen(t, server.Serve))
	c := newCollector(t, "address: 'localhost:"+port+"', ip_family: 4, password_file: "+password+", sslmode: verify-full, tls: {ca_file: "+certFile+"}, queries: {"+
		"stuck: {sql: SELECT count(*) FROM stuck}, wrong: {sql: SELECT nothing}}")
	samples, err := collectortest.Collect(t, c)
	if err == nil || !strings.HasSuffix(err.Error(), `query wrong: error 42703: column "nothing" does not exist`) {
		t.Errorf("Collect() = %v, want the error of the wrong query", err)
	}
	collectortest.Golden(t, "metrics.prom", collectortest.Exposition(timeless(samples), c.Describe()))
	if got, want := collectortest.Note(c), "postgres 127.0.0.1:"+port+" up: query wrong: error 42703"; !strings.HasPrefix(got, want) {
		t.Errorf("Note() = %q, want %q", got, want)
	}
}

func TestHealthy(t *testing.T) {
	collectortest.NoLeaks(t)
	server := postgrestest.Server{TB: t, Answers: postgrestest.Healthy()}
	address := collectortest.Listen(t, server.Serve)
	c := newCollector(t, "address: '"+address+"', target_session_attrs: read-write")
	samples, err := collectortest.Collect(t, c)
	if got := collectortest.Reason(samples); err != nil || got != "" {
		t.Errorf("Collect() = %v, reason %q, want none", err, got)
	}
	if got, want := collectortest.Note(c), "postgres "+address+" 17.2"; got != want {
		t.Errorf("Note() = %q, want %q", got, want)
	}
	for series, want := range map[string]float64{"vitals_postgres_connections": 7, "vitals_postgres_connections_limit": 97, "vitals_postgres_read_only": 0, "vitals_postgres_in_recovery": 0} {
		if got, ok := collectortest.Value(samples, series+`{dependency="nova"}`); !ok || got != want {
			t.Errorf("%s = %v, %t, want %v", series, got, ok, want)
		}
	}
	if _, ok := collectortest.Value(samples, `vitals_postgres_replication_lag_seconds{dependency="nova"}`); ok {
		t.Error("a primary has a replication lag, want none")
	}
}

// Every failure that a server reports has its reason, and the same on every run.
func TestServerErrors(t *testing.T) {
	for code, want := range map[string]remote.Reason{
		"28P01": remote.ReasonAuth, "28000": remote.ReasonAuth, "42501": remote.ReasonForbidden, "3D000": remote.ReasonNotFound,
		"53300": "too_many_connections", "57P03": "starting_up", "25006": query.ReasonReadOnly, "57014": remote.ReasonTimeout,
		"08P01": remote.ReasonProtocol, "0A000": remote.ReasonClientError, "57P01": remote.ReasonServerError, "XX000": remote.ReasonServerError,
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			server := postgrestest.Server{TB: t, Refuses: func(bool) *pgproto3.ErrorResponse { return postgrestest.Fatal(code, "no") }}
			c := newCollector(t, "address: '"+collectortest.Listen(t, server.Serve)+"'")
			samples, err := collectortest.Collect(t, c)
			if got := collectortest.Reason(samples); got != string(want) || err == nil || !strings.HasSuffix(err.Error(), ": error "+code+": no") {
				t.Errorf("Collect() = %v, reason %q, want %q", err, got, want)
			}
		})
	}
}

func TestReadOnly(t *testing.T) {
	answers := postgrestest.Healthy()
	answers[postgrestest.StateSQL] = postgrestest.State("0", "1", "1", "97", nil, nil, nil)
	server := postgrestest.Server{TB: t, Answers: answers}
	address := collectortest.Listen(t, server.Serve)
	for attrs, want := range map[string]string{"any": "", "read-write": "read_only"} {
		samples, err := collectortest.Collect(t, newCollector(t, "address: '"+address+"', target_session_attrs: "+attrs))
		if got := collectortest.Reason(samples); got != want || (err == nil) != (want == "") {
			t.Errorf("%s: Collect() = %v, reason %q, want %q", attrs, err, got, want)
		}
		if got, ok := collectortest.Value(samples, `vitals_postgres_read_only{dependency="nova"}`); !ok || got != 1 {
			t.Errorf("%s: vitals_postgres_read_only = %v, %t, want 1", attrs, got, ok)
		}
	}
}

// A server that answers SELECT 1 is up, whatever else it does not answer.
func TestStateIsMissing(t *testing.T) {
	for name, answer := range map[string]any{
		"no function":  postgrestest.Failure("42883", "function pg_last_wal_receive_lsn() does not exist"),
		"no number":    postgrestest.State("yes", "0", "1", "97", nil, nil, nil),
		"two rows":     postgrestest.Table{Columns: []string{"r"}, Rows: [][]any{{"1"}, {"1"}}},
		"other column": postgrestest.Table{Columns: []string{"r"}, Rows: [][]any{{"1"}}},
	} {
		t.Run(name, func(t *testing.T) {
			answers := postgrestest.Healthy()
			answers[postgrestest.StateSQL] = answer
			address := collectortest.Listen(t, postgrestest.Server{TB: t, Answers: answers}.Serve)
			samples, err := collectortest.Collect(t, newCollector(t, "address: '"+address+"'"))
			if got := collectortest.Reason(samples); got != "" || err == nil || !strings.Contains(err.Error(), "query the state: ") {
				t.Errorf("Collect() = %v, reason %q, want an error of a server that is up", err, got)
			}
			samples, err = collectortest.Collect(t, newCollector(t, "address: '"+address+"', target_session_attrs: read-write"))
			if got := collectortest.Reason(samples); got == "" || err == nil {
				t.Errorf("Collect() = %v, reason %q, want a failure: it is unknown whether the server accepts changes", err, got)
			}
		})
	}
}

// The password is sent in the clear only to a server on this host, or behind TLS that
// authenticates the server.
func TestPasswordItself(t *testing.T) {
	dir := t.TempDir()
	password := filepath.Join(dir, "password")
	for _, c := range []struct{ name, in, auth, want string }{
		{"right", "hunter2", "password", ""},
		{"wrong", "hunter3", "password", "auth"},
		{"GSSAPI", "hunter2", "gss", "auth"},
	} {
		t.Run(c.name, func(t *testing.T) {
			collectortest.Write(t, password, c.in+"\n")
			server := postgrestest.Server{TB: t, Auth: c.auth, Password: "hunter2", Answers: postgrestest.Healthy()}
			samples, err := collectortest.Collect(t, newCollector(t, "address: '"+collectortest.Listen(t, server.Serve)+"', password_file: "+password))
			if got := collectortest.Reason(samples); got != c.want {
				t.Errorf("Collect() = %v, reason %q, want %q", err, got, c.want)
			}
		})
	}
	t.Run("no file", func(t *testing.T) {
		samples, err := collectortest.Collect(t, newCollector(t, "address: '127.0.0.1:1', password_file: "+dir+"/none"))
		if got := collectortest.Reason(samples); got != "auth" || err == nil {
			t.Errorf("Collect() = %v, reason %q, want auth", err, got)
		}
	})
}

// Each sslmode, for servers with and without TLS, and with rules for one of them.
func TestSSLMode(t *testing.T) {
	cert, ca, _ := collectortest.Certificate(t, "localhost", time.Now().Add(time.Hour))
	other, otherCA, _ := collectortest.Certificate(t, "db.example", time.Now().Add(time.Hour))
	only := func(secured bool) func(bool) *pgproto3.ErrorResponse {
		return func(is bool) *pgproto3.ErrorResponse {
			if is == secured {
				return nil
			}
			return postgrestest.Fatal("28000", "no pg_hba.conf entry")
		}
	}
	settings := func(c tls.Certificate) *tls.Config { return &tls.Config{Certificates: []tls.Certificate{c}} }
	servers := map[string]postgrestest.Server{
		"without TLS": {}, "with TLS": {TLS: settings(cert)}, "TLS only": {TLS: settings(cert), Refuses: only(true)},
		"another name": {TLS: settings(other)}, "no TLS by its rules": {TLS: settings(cert), Refuses: only(false)},
	}
	for _, c := range []struct{ server, block, want, note string }{
		{"without TLS", "sslmode: disable", "", "17.2"},
		{"without TLS", "sslmode: allow", "", "17.2"},
		{"without TLS", "sslmode: prefer", "", "17.2"},
		{"without TLS", "sslmode: require", "tls", "the server does not support TLS"},
		{"without TLS", "sslmode: verify-full", "tls", "the server does not support TLS"},
		{"with TLS", "sslmode: disable", "", "17.2"},
		{"with TLS", "sslmode: allow", "", "17.2"},
		{"with TLS", "sslmode: prefer", "", "17.2 with TLS 1.3"},
		{"with TLS", "sslmode: require", "", "17.2 with TLS 1.3"},
		{"with TLS", "sslmode: require, tls: {ca_file: " + otherCA + "}", "tls", "certificate signed by unknown authority"},
		{"with TLS", "sslmode: verify-ca, tls: {ca_file: " + ca + "}", "", "17.2 with TLS 1.3"},
		{"with TLS", "sslmode: verify-full, tls: {ca_file: " + ca + "}", "", "17.2 with TLS 1.3"},
		{"with TLS", "sslmode: verify-full", "tls", "certificate signed by unknown authority"},
		{"with TLS", "sslmode: verify-full, tls: {ca_file: " + ca + ", server_name: db.example}", "tls", "not db.example"},
		{"another name", "sslmode: verify-ca, tls: {ca_file: " + otherCA + "}", "", "17.2 with TLS 1.3"},
		{"another name", "sslmode: verify-full, tls: {ca_file: " + otherCA + "}", "tls", "not localhost"},
		{"another name", "sslmode: verify-full, tls: {ca_file: " + otherCA + ", server_name: db.example}", "", "17.2 with TLS 1.3"},
		{"TLS only", "sslmode: disable", "auth", "error 28000"},
		{"TLS only", "sslmode: allow", "", "17.2 with TLS 1.3"},
		{"no TLS by its rules", "sslmode: prefer", "", "17.2"},
		{"no TLS by its rules", "sslmode: require", "auth", "error 28000"},
		{"with TLS", "sslmode: require, tls: {ca_file: /nonexistent}", "tls", "/nonexistent"},
	} {
		t.Run(c.server+" "+c.block, func(t *testing.T) {
			server := servers[c.server]
			server.TB, server.Answers = t, postgrestest.Healthy()
			_, port, _ := net.SplitHostPort(collectortest.Listen(t, server.Serve))
			kind := newCollector(t, "address: 'localhost:"+port+"', ip_family: 4, "+c.block)
			samples, err := collectortest.Collect(t, kind)
			if got, note := collectortest.Reason(samples), collectortest.Note(kind); got != c.want || !strings.Contains(note, c.note) {
				t.Errorf("Collect() = %v, reason %q, note %q, want %q, %q", err, got, note, c.want, c.note)
			}
			_, expires := collectortest.Value(samples, `vitals_tls_certificate_expiry_timestamp_seconds{dependency="nova"}`)
			if want := strings.Contains(c.note, "TLS 1.3") || strings.Contains(c.note, "authority") || strings.HasPrefix(c.note, "not "); expires != want && c.server != "no TLS by its rules" {
				t.Errorf("expiry of the certificate = %t, want %t", expires, want)
			}
		})
	}
}
