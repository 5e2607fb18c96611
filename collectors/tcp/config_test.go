package tcp_test

import (
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/tcp"
)

func TestProblems(t *testing.T) {
	const form = "expected host:port, [address]:port, unix:/path or unix:@name"
	long := strings.Repeat("x", 108)
	for _, c := range []struct{ name, config, want string }{
		{"no address", "{}", `address: address "": ` + form},
		{"no port", "{address: localhost}", `address: address "localhost": ` + form},
		{"no host", "{address: ':6379'}", `address: address ":6379": ` + form},
		{"E07 IPv6 without brackets", "{address: '::1:6379'}", `address: address "::1:6379": ` + form},
		{"a URL", "{address: 'redis://localhost:6379'}", `address: address "redis://localhost:6379": ` + form},
		{"credentials", "{address: 'u:p@localhost:6379'}", `address: address "u:p@localhost:6379": ` + form},
		{"port too large", "{address: 'localhost:65536'}", `address: address "localhost:65536": expected a port from 1 to 65535`},
		{"port 0", "{address: 'localhost:0'}", `address: address "localhost:0": expected a port from 1 to 65535`},
		{"a service", "{address: 'localhost:redis'}", `address: address "localhost:redis": expected a port from 1 to 65535`},
		{"relative path", "{address: 'unix:x.sock'}", `address: socket "x.sock": expected an absolute path, or @ and a name`},
		{"no abstract name", "{address: 'unix:@'}", `address: socket "@": expected an absolute path, or @ and a name`},
		{"long path", "{address: 'unix:/" + long + "'}", `address: socket has 109 bytes: expected at most 107`},
		{"bad pattern", "{address: 'unix:/run/[x'}", `address: socket "/run/[x": expected a path or a pattern: syntax error in pattern`},
		{"family", "{address: 'localhost:1', ip_family: 5}", `ip_family: ip_family "5": expected any, 4 or 6`},
		{"family 4 of an IPv6 address", "{address: '[::1]:1', ip_family: 4}", `ip_family: ip_family 4: expected an address of that family, not ::1`},
		{"family 6 of an IPv4 address", "{address: '127.0.0.1:1', ip_family: 6}", `ip_family: ip_family 6: expected an address of that family, not 127.0.0.1`},
		{"TLS over a socket", "{address: 'unix:/x', tls: {}}", `tls.server_name: no server_name: expected the name in the certificate, as a Unix socket has none`},
		{"TLS files", "{address: 'a:1', tls: {ca_file: x, cert_file: /y}}", "tls.ca_file: path \"x\": expected an absolute path\ntls: cert_file and key_file: expected both or none"},
		{"protocol", "{address: 'a:1', protocol: http}", `protocol: protocol "http": expected one of redis, memcached, mysql, amqp, etcd, ovsdb`},
		{"a dialogue beside a protocol", "{address: 'a:1', protocol: redis, query_response: [{expect: x}]}", `query_response: query_response beside protocol: expected one of them`},
		{"login without a protocol", "{address: 'a:1', username: u, password: p}", "password: password: expected a protocol that uses it\nusername: username: expected a protocol that uses it"},
		{"login of another protocol", "{address: 'a:1', protocol: etcd, password_file: /p}", `password_file: password_file: expected a protocol that uses it`},
		{"database of another protocol", "{address: 'a:1', protocol: redis, database: '0'}", `database: database: expected a protocol that uses it`},
		{"queries of another protocol", "{address: 'a:1', protocol: redis, queries: {a: {sql: x}}}", `queries: queries: expected a protocol that uses it`},
		{"a query without a statement", "{address: 'a:1', protocol: mysql, queries: {a: {}}}", `queries.a.sql: no statement: expected one`},
		{"galera of another protocol", "{address: 'a:1', protocol: amqp, galera: true}", `galera: galera: expected a protocol that uses it`},
		{"two passwords", "{address: 'a:1', protocol: redis, password: p, password_file: /p}", `password_file: password_file beside password: expected one of them`},
		{"relative password file", "{address: 'a:1', protocol: redis, password_file: p}", `password_file: expected the absolute path of a file`},
		{"an empty step", "{address: 'a:1', query_response: [{expect: x}, {}]}", `query_response[1]: empty step: expected expect, send or starttls`},
		{"an expression", "{address: 'a:1', query_response: [{expect: '('}]}", "query_response[0].expect: expect \"(\": expected a regular expression: error parsing regexp: missing closing ): `(?m)(`"},
		{"an expression for anything", "{address: 'a:1', query_response: [{expect: '.*'}]}", `query_response[0].expect: expect ".*": expected an expression that an empty answer does not match`},
		{"starttls twice", "{address: 'a:1', query_response: [{starttls: true}, {starttls: true}]}", `query_response[1].starttls: starttls twice: expected one`},
		{"starttls over a socket", "{address: 'unix:/x', query_response: [{starttls: true}]}", `tls.server_name: no server_name: expected the name in the certificate, as a Unix socket has none`},
		{"too many steps", "{address: 'a:1', query_response: [" + strings.Repeat("{send: x},", 33) + "]}", `query_response: 33 steps: expected at most 32`},
		{"all of it", "{address: 'localhost:6379', ip_family: 6, protocol: redis, username: u, password_file: /p, tls: {server_name: x, ca_file: /ca}}", ""},
		{"a zone", "{address: '[fe80::1%eth0]:1', ip_family: 6}", ""},
		{"abstract", "{address: 'unix:@x[', tls: {insecure_skip_verify: true}}", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := collectortest.Problems(t, c.config, &tcp.Config{}); got != c.want {
				t.Errorf("Problems() =\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// New fails for a configuration with problems.
func TestNewRejectsProblems(t *testing.T) {
	for _, block := range []string{"{}", "{address: 'a:1', query_response: [{expect: '('}]}"} {
		var config tcp.Config
		collectortest.Decode(t, block, &config)
		if c, err := config.New(collectors.Env{Name: "d"}); err == nil {
			t.Errorf("New() of %s = %v, want an error", block, c)
		}
	}
}

func TestConfigRedactsPassword(t *testing.T) {
	var config tcp.Config
	collectortest.Decode(t, "{address: 'a:1', protocol: redis, password: hunter2}", &config)
	shown, err := yaml.Marshal(config)
	if err != nil || strings.Contains(string(shown), "hunter2") || !strings.Contains(string(shown), "<secret>") {
		t.Errorf("Marshal() = %s, %v, want the password redacted", shown, err)
	}
}
