package tripleo_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/internal/profiles/tripleo"
)

func TestEndpoints(t *testing.T) {
	clear := func(address string) []tripleo.Endpoint { return []tripleo.Endpoint{{Address: address}} }
	for _, c := range []struct {
		name, format, text string
		want               []tripleo.Endpoint
	}{
		{"redis with its defaults", "redis", "", clear("127.0.0.1:6379")},
		{"redis of a controller", "redis", "# Managed by Puppet.\nbind 172.16.2.10 -::1\nport 6380\nrequirepass \"s3cret \\x41\\\"\\n #5\"\n",
			[]tripleo.Endpoint{{Address: "172.16.2.10:6380", Password: "s3cret A\"\n #5"}}},
		{"redis with a password in single quotes", "redis", `requirepass 'it\'s \n'`, []tripleo.Endpoint{{Address: "127.0.0.1:6379", Password: `it's \n`}}},
		{"redis on all addresses", "redis", "bind * -::*", clear("127.0.0.1:6379")},
		{"redis on IPv6 (E07)", "redis", "bind fd00::10\n", clear("[fd00::10]:6379")},
		{"redis with TLS only", "redis", "port 0\ntls-port 6379\ntls-ca-cert-file /etc/ipa/ca.crt\ntls-cert-file /c\ntls-key-file /k\n",
			[]tripleo.Endpoint{{Address: "127.0.0.1:6379", TLS: &tripleo.TLS{CAFile: "/etc/ipa/ca.crt", CertFile: "/c", KeyFile: "/k"}}}},
		{"redis with TLS and no client certificates", "redis", "port 0\ntls-port 6379\ntls-auth-clients no\ntls-cert-file /c\n",
			[]tripleo.Endpoint{{Address: "127.0.0.1:6379", TLS: &tripleo.TLS{}}}},
		{"redis with a socket only", "redis", "port 0\nunixsocket /var/run/redis/redis.sock\n", clear("unix:/var/run/redis/redis.sock")},

		{"memcached with its defaults", "memcached", "", clear("127.0.0.1:11211")},
		{"memcached of a controller", "memcached", "PORT=\"11212\"\nUSER=\"memcached\"\nOPTIONS=\"-l 172.16.2.10 -U 0 >> /var/log/memcached.log 2>&1\"\n", clear("172.16.2.10:11212")},
		{"memcached on two addresses", "memcached", `OPTIONS="-l 172.16.2.10,::1 -U 0"`, clear("172.16.2.10:11211")},
		{"memcached on IPv6", "memcached", `OPTIONS="-l fd00::10 -U 0"`, clear("[fd00::10]:11211")},
		{"memcached with an address in the clear", "memcached", `OPTIONS="-l 172.16.2.10,notls:127.0.0.1:11211 -Z -o ssl_key=/k"`, clear("127.0.0.1:11211")},
		{"memcached with an address of IPv6 in the clear", "memcached", `OPTIONS="-Z -l fd00::10,notls:::1:11211 -U 0"`, clear("[::1]:11211")},
		{"memcached with TLS only", "memcached", `OPTIONS="--enable-ssl --listen=172.16.2.10:11213"`, []tripleo.Endpoint{{Address: "172.16.2.10:11213", TLS: &tripleo.TLS{}}}},
		{"memcached with the port among its options", "memcached", `OPTIONS="-p 11214 -l127.0.0.1"`, clear("127.0.0.1:11214")},

		{"etcd", "etcd", "#[member]\nETCD_NAME=\"c0\"\nETCD_LISTEN_CLIENT_URLS=\"http://172.16.2.10:2379\"\n", clear("172.16.2.10:2379")},
		{"etcd on two addresses", "etcd", "ETCD_LISTEN_CLIENT_URLS=http://0.0.0.0:2379,http://[::]:2380",
			[]tripleo.Endpoint{{Address: "127.0.0.1:2379"}, {Address: "[::1]:2380"}}},
		{"etcd with TLS", "etcd", "ETCD_LISTEN_CLIENT_URLS=https://c0:2379\nETCD_TRUSTED_CA_FILE=/ca\nETCD_CLIENT_CERT_AUTH=\"true\"\nETCD_CERT_FILE=/c\nETCD_KEY_FILE=/k\n",
			[]tripleo.Endpoint{{Address: "c0:2379", TLS: &tripleo.TLS{CAFile: "/ca", CertFile: "/c", KeyFile: "/k"}}}},
		{"etcd with TLS and no client certificates", "etcd", "ETCD_LISTEN_CLIENT_URLS=https://c0:2379\nETCD_CERT_FILE=/c\n", []tripleo.Endpoint{{Address: "c0:2379", TLS: &tripleo.TLS{}}}},

		{"qdrouterd", "qdrouterd", "router {\n  mode: interior\n}\n\nlistener {\n    host: 172.16.2.10 # internal API\n    port: 5666\n}\nlistener {\n    port: 1\n}\n", clear("172.16.2.10:5666")},
		{"qdrouterd with its older name of the host", "qdrouterd", "listener {\naddr: ::1\nport: amqp\n}\n", clear("[::1]:5672")},
		{"qdrouterd with HTTP first", "qdrouterd", "listener {\nport: 8080\nhttp: yes\n}\nlistener {\nport: amqps\n}\n", clear("127.0.0.1:5671")},
		{"qdrouterd with TLS", "qdrouterd", "sslProfile {\nname: tls\ncertDb: /ca\ncertFile: /c\nkeyFile: /k\n}\nlistener {\nport: 5671\nsslProfile: tls\n}\n",
			[]tripleo.Endpoint{{Address: "127.0.0.1:5671", TLS: &tripleo.TLS{CAFile: "/ca", CertFile: "/c", KeyFile: "/k"}}}},

		{"rabbitmq with its defaults", "rabbitmq", "", clear("127.0.0.1:5672")},
		{"rabbitmq of a controller", "rabbitmq", "NODE_IP_ADDRESS=172.16.2.10\nNODE_PORT=5673\nNODENAME=rabbit@c0\n", clear("172.16.2.10:5673")},
		{"rabbitmq with TLS", "rabbitmq", "NODE_PORT=1\n[\n {rabbit, [\n% {tcp_listeners, [{\"no\", 1}]},\n {tcp_listeners, []},\n {ssl_listeners, [{\"fd00::10\", 5672}]},\n {ssl_options, [{cacertfile,\"/etc/ipa/ca.crt\"}]}\n]}].\n",
			[]tripleo.Endpoint{{Address: "[fd00::10]:5672", TLS: &tripleo.TLS{CAFile: "/etc/ipa/ca.crt"}}}},
		{"rabbitmq with its default user", "rabbitmq", "[{rabbit, [\n{default_user, <<\"guest\">>},\n{default_pass, <<\"s3cret\">>}\n]}].",
			[]tripleo.Endpoint{{Address: "127.0.0.1:5672", Username: "guest", Password: "s3cret"}}},
		{"rabbitmq with a listener of the other file", "rabbitmq", `[{rabbit, [{tcp_listeners, [{"10.0.0.1", 5674}]}]}].`, clear("10.0.0.1:5674")},

		{"mysql with its defaults", "mysql", "", clear("unix:/var/lib/mysql/mysql.sock")},
		{"mysql with options of other kinds", "mysql", "!includedir /etc\nuser=a\n[mysqldump]\nuser=b\n[client]\nno-beep\n# user=c\n;user=d\nuser = f\n[mysql]\nuser = 'e'\n",
			[]tripleo.Endpoint{{Address: "unix:/var/lib/mysql/mysql.sock", Username: "e"}}},
		{"mysql with credentials", "mysql", "[client]\nuser=root\npassword=\"s3cret\"\n\n[mysql]\nsocket=/run/mysql.sock\n",
			[]tripleo.Endpoint{{Address: "unix:/run/mysql.sock", Username: "root", Password: "s3cret"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := tripleo.Endpoints(c.format, []byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("Endpoints() (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEndpointsErrors(t *testing.T) {
	for _, c := range []struct{ name, format, text, want string }{
		{"an unknown format", "ldap", "", `format "ldap": expected one of redis, memcached, etcd, qdrouterd, rabbitmq, mysql`},
		{"no port", "redis", "port six", `"six" is no port: expected a number from 1 to 65535`},
		{"no server", "redis", "port 0", "port 0 without tls-port and unixsocket: expected one of them"},
		{"a password without its end", "redis", `requirepass "s3cret`, `the directive "requirepass" has a quote without its end`},
		{"a host that is a path", "redis", "bind /etc/passwd", `"/etc/passwd" is no host: expected a name or an address`},
		{"a port of memcached", "memcached", "PORT=0", `"0" is no port: expected a number from 1 to 65535`},
		{"etcd without its variable (E29)", "etcd", "HOME=/root", "ETCD_LISTEN_CLIENT_URLS is not set: expected a URL such as http://127.0.0.1:2379"},
		{"a URL with credentials", "etcd", "ETCD_LISTEN_CLIENT_URLS=http://u:s3cret@h:1", "ETCD_LISTEN_CLIENT_URLS: expected URLs such as http://127.0.0.1:2379"},
		{"a URL of a socket", "etcd", "ETCD_LISTEN_CLIENT_URLS=unix://h:1", `ETCD_LISTEN_CLIENT_URLS: "unix": expected http or https`},
		{"too many URLs", "etcd", "ETCD_LISTEN_CLIENT_URLS=" + strings.Repeat("http://h:1,", 8) + "http://h:1", "ETCD_LISTEN_CLIENT_URLS: expected at most 8 URLs"},
		{"no listener", "qdrouterd", "router {\n}\n", "no listener: expected one without http"},
		{"a block without its end", "qdrouterd", "listener {\n", `the block "listener" has no end`},
		{"an end without its block", "qdrouterd", "}\n", `a "}" without its "{"`},
		{"a profile that is missing", "qdrouterd", "listener {\nsslProfile: tls\n}\n", `the listener's sslProfile "tls": expected a block sslProfile of that name`},
		{"a password without a user", "mysql", "[client]\npassword=s3cret\n", "a password without a user: expected user, too"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := tripleo.Endpoints(c.format, []byte(c.text))
			if err == nil || err.Error() != c.want {
				t.Errorf("Endpoints() = %v, want %s", err, c.want)
			}
		})
	}
}

func TestSecretIsNotPrinted(t *testing.T) {
	e := tripleo.Endpoint{Address: "h:1", Password: "s3cret"}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		if got := fmt.Sprintf(verb, e); strings.Contains(got, "s3cret") || strings.Contains(got, fmt.Sprintf("%x", "s3cret")) {
			t.Errorf("Sprintf(%q) = %s, want no secret", verb, got)
		}
	}
}

func TestClustercheckURL(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"without its variable", "", "http://c0.internalapi:9200/"},
		{"of a controller", `TRIPLEO_SOCAT_BIND='tcp4-listen:9201,bind="172.16.2.10",reuseaddr,fork'`, "http://172.16.2.10:9201/"},
		{"on IPv6", `TRIPLEO_SOCAT_BIND='tcp6-listen:9200,bind="fd00::10",reuseaddr,fork'`, "http://[fd00::10]:9200/"},
		{"on IPv6 in brackets", `TRIPLEO_SOCAT_BIND='tcp6-listen:9200,bind=[fd00::10],fork'`, "http://[fd00::10]:9200/"},
		{"without a bind", `TRIPLEO_SOCAT_BIND="tcp4-listen:9202,fork"`, "http://c0.internalapi:9202/"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := tripleo.ClustercheckURL([]byte(c.text), "c0.internalapi")
			if err != nil || got != c.want {
				t.Errorf("ClustercheckURL() = %s, %v, want %s", got, err, c.want)
			}
		})
	}
}

func TestApachePort(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       int
		wantErr    string
	}{
		{"a port", "Listen 8088\n<VirtualHost *:1>\n", 8088, ""},
		{"an address", "  listen [fd00::10]:8089 http\n", 8089, ""},
		{"a virtual host", "# Listen 1\n<VirtualHost 172.16.2.10:8090>\n</VirtualHost>\n", 8090, ""},
		{"nothing", "ServerName c0\n", 0, "no directive Listen: expected one with a port"},
		{"no number", "Listen ${PORT}\n", 0, `directive Listen with "${PORT}": expected a port from 1 to 65535`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := tripleo.ApachePort([]byte(c.text))
			if got != c.want || (err == nil) != (c.wantErr == "") || err != nil && err.Error() != c.wantErr {
				t.Errorf("ApachePort() = %d, %v, want %d, %q", got, err, c.want, c.wantErr)
			}
		})
	}
}

func TestNumber(t *testing.T) {
	const text = "[DEFAULT]\n# port = 1\nport=2\n[statsd]\nport = \"8126\"\n[Bad]\nport = -1\n[refers]\nport = $DEFAULT.port\nhost = $none\nempty =\n"
	for _, c := range []struct {
		option string
		want   int
		err    string
	}{
		{"statsd.port", 8126, ""},
		{"DEFAULT.port", 2, ""},
		{"refers.port", 2, ""},
		{"none.port", 7, ""},
		{"statsd.host", 7, ""},
		{"refers.empty", 7, ""},
		{"port", 7, ""},
		{"bad.port", 0, `/f:7: bad.port "-1": expected a whole number above 0`},
		{"refers.host", 7, "/f:10: refers.host refers to $none, which this file does not set: expected a value (a dollar sign is written $$)"},
	} {
		got, err := tripleo.Option{Option: c.option, Default: 7}.Number("/f", []byte(text))
		if message := errorText(err); got != c.want || message != c.err {
			t.Errorf("Number(%s) = %d, %q, want %d, %q", c.option, got, message, c.want, c.err)
		}
	}
}

func TestHasFilter(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       bool
		err        string
	}{
		{"first line", "[pipeline:main]\npipeline = catch_errors healthcheck proxy-server\n", true, ""},
		{"continued line", "[pipeline:main]\npipeline = catch_errors\n    gatekeeper\n    healthcheck\n\tproxy-server\n", true, ""},
		{"value below the name", "[pipeline:main]\npipeline =\n healthcheck proxy-server\n", true, ""},
		{"last assignment", "[pipeline:main]\npipeline = healthcheck\npipeline = proxy-server\n", false, ""},
		{"part of a name", "[pipeline:main]\npipeline = healthcheck2 proxy-healthcheck\n", false, ""},
		{"comment", "[pipeline:main]\n# pipeline = healthcheck\npipeline = proxy-server\n", false, ""},
		{"another section", "[pipeline:other]\npipeline = healthcheck\n", false, ""},
		{"no INI", "[pipeline:main\n", false, `/f:1: bad section: expected "[name]" and nothing behind it`},
	} {
		got, err := tripleo.HasFilter("/f", []byte(c.text), "healthcheck")
		if message := errorText(err); got != c.want || message != c.err {
			t.Errorf("%s: HasFilter() = %t, %q, want %t, %q", c.name, got, message, c.want, c.err)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// No text makes a parser panic, and errors are short.
func FuzzEndpoints(f *testing.F) {
	f.Add("redis", "bind ::1\nrequirepass \"a\\x41\\")
	f.Add("memcached", `OPTIONS="-l notls:::1:11211 -p"`)
	f.Add("etcd", "ETCD_LISTEN_CLIENT_URLS=https://[::]:1,http://h:2")
	f.Add("qdrouterd", "listener {\nport: amqp\nsslProfile: x\n}\nsslProfile {\nname: x\n}\n")
	f.Add("rabbitmq", `NODE_PORT=1 {ssl_listeners, [{"", 1}]}`)
	f.Add("mysql", "[client]\nuser='\n")
	f.Fuzz(func(t *testing.T, format, text string) {
		endpoints, err := tripleo.Endpoints(format, []byte(text))
		if err != nil && len(err.Error()) > 512 {
			t.Errorf("Endpoints() = %d bytes of error, want at most 512", len(err.Error()))
		}
		for _, e := range endpoints {
			if i := strings.LastIndex(e.Address, ":"); i < 1 || i == len(e.Address)-1 {
				t.Errorf("Endpoints() = %q, want host:port or unix:/path", e.Address)
			}
		}
		_, _ = tripleo.ClustercheckURL([]byte(text), "own")
		_, _ = tripleo.ApachePort([]byte(text))
		_, _ = tripleo.HasFilter("f", []byte(text), format)
	})
}
