package postgres_test

import (
	"strings"
	"testing"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/postgres"
)

func TestProblems(t *testing.T) {
	for _, c := range []struct{ name, config, want string }{
		{"no address", "{}", `address: address "": expected host:port, [address]:port, unix:/path or unix:@name`},
		{"family", "{address: 'a:1', ip_family: 5}", `ip_family: ip_family "5": expected any, 4 or 6`},
		{"sslmode", "{address: 'a:1', sslmode: verify}", `sslmode: sslmode "verify": expected one of disable, allow, prefer, require, verify-ca, verify-full`},
		{"TLS on a socket", "{address: 'unix:/x', sslmode: verify-full}", `sslmode: sslmode verify-full: expected disable or a host, because PostgreSQL has no TLS on a Unix socket`},
		{"files without TLS", "{address: 'a:1', sslmode: disable, tls: {ca_file: /ca}}", `tls: tls without TLS: expected another sslmode, and a host`},
		{"files on a socket", "{address: 'unix:/x', tls: {ca_file: /ca}}", `tls: tls without TLS: expected another sslmode, and a host`},
		{"TLS files", "{address: 'a:1', tls: {ca_file: x, cert_file: /y}}", "tls.ca_file: path \"x\": expected an absolute path\ntls: cert_file and key_file: expected both or none"},
		{"relative password file", "{address: 'a:1', password_file: hunter2}", `password_file: expected the absolute path of a file`},
		{"target_session_attrs", "{address: 'a:1', target_session_attrs: primary}", `target_session_attrs: target_session_attrs "primary": expected any or read-write`},
		{"a zero byte", `{address: 'a:1', username: "a\0", database: "\0"}`, "database: database with a zero byte: expected a name\nusername: username with a zero byte: expected a name"},
		{"a query", "{address: 'a:1', queries: {'a b': {}}}", "queries.a b.sql: no statement: expected one\nqueries.a b: name \"a b\": expected 1 to 63 letters, digits, '.', '_' or '-', with a letter or digit at both ends"},
		{"all of it", "{address: 'a:1', ip_family: 6, username: u, password_file: /p, database: d, sslmode: verify-full, tls: {ca_file: /ca, cert_file: /c, key_file: /k, server_name: n}, target_session_attrs: read-write, queries: {a: {sql: SELECT 1}}}", ""},
		{"a socket", "{address: 'unix:/run/postgresql/.s.PGSQL.5432'}", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := collectortest.Problems(t, c.config, &postgres.Config{}); got != c.want {
				t.Errorf("Problems() =\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestExternal(t *testing.T) {
	for address, want := range map[string]bool{"10.0.0.5:5432": true, "db.example:5432": true, "127.0.0.1:5432": false, "unix:/run/postgresql/.s.PGSQL.5432": false, "": true} {
		if got := (&postgres.Config{Address: address}).External(); got != want {
			t.Errorf("External() of %q = %t, want %t", address, got, want)
		}
	}
}

func TestNewRejectsProblems(t *testing.T) {
	if c, err := (&postgres.Config{}).New(collectors.Env{Name: "d"}); err == nil || !strings.Contains(err.Error(), "address") {
		t.Errorf("New() = %v, %v, want an error", c, err)
	}
}
