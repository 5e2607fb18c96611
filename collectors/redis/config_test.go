package redis_test

import (
	"testing"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/redis"
)

func TestProblems(t *testing.T) {
	for _, c := range []struct{ name, config, want string }{
		{"no address", "{}", `address: address "": expected host:port, [address]:port, unix:/path or unix:@name`},
		{"family", "{address: 'a:1', ip_family: 5}", `ip_family: ip_family "5": expected any, 4 or 6`},
		{"two passwords", "{address: 'a:1', password: p, password_file: /p}", "password_file: password_file beside password: expected one of them"},
		{"relative password file", "{address: 'a:1', password_file: hunter2}", "password_file: expected the absolute path of a file"},
		{"user alone", "{address: 'a:1', username: u}", "username: username without a password: expected password_file or password"},
		{"TLS files", "{address: 'a:1', tls: {cert_file: /y}}", "tls: cert_file and key_file: expected both or none"},
		{"TLS on a socket", "{address: 'unix:/x', tls: {}}", "tls.server_name: no server_name: expected the name in the certificate, as a Unix socket has none"},
		{"all of it", "{address: 'a:1', ip_family: 6, username: u, password_file: /p, tls: {ca_file: /ca, cert_file: /c, key_file: /k, server_name: n}}", ""},
		{"a socket", "{address: 'unix:/run/redis/redis.sock', password: p, tls: {insecure_skip_verify: true}}", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := collectortest.Problems(t, c.config, &redis.Config{}); got != c.want {
				t.Errorf("Problems() =\n%s\nwant\n%s", got, c.want)
			}
		})
	}
	config := &redis.Config{}
	if c, err := config.New(collectors.Env{Name: "cache"}); err == nil {
		t.Errorf("New() without an address = %v, want an error", c)
	}
}

func TestExternal(t *testing.T) {
	for address, want := range map[string]bool{"10.0.0.5:6379": true, "redis.example:6379": true, "127.0.0.1:6379": false, "unix:/run/redis.sock": false, "": true} {
		var config redis.Config
		config.Address = address
		if got := config.External(); got != want || config.Uses() != nil {
			t.Errorf("External() of %q = %t, want %t", address, got, want)
		}
	}
}
