package main

import (
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

const keystoneVHost = "etc/httpd/conf.d/10-keystone_wsgi.conf"

func tripleoAPIScenarios() []tripleoScenario {
	var all []tripleoScenario
	for _, status := range []int32{200, 204, 300, 302} {
		all = append(all, tripleoScenario{id: "E01", situation: fmt.Sprintf("the API answers %d", status), service: "keystone", given: answering(status),
			line: fmt.Sprintf(`; keystone: %d 127\.0\.0\.1:HTTP [0-9.]+ seconds\n$`, status)})
	}
	for _, failed := range []struct {
		status int32
		reason string
	}{{400, "client_error"}, {401, "auth"}, {404, "not_found"}, {500, "server_error"}, {503, "server_error"}} {
		all = append(all, tripleoScenario{id: "E02", situation: fmt.Sprintf("the API answers %d", failed.status), service: "keystone", given: answering(failed.status),
			code: 1, rule: "APIDown", line: fmt.Sprintf(`as it should: %s\..*\): %d 127\.0\.0\.1:HTTP [0-9.]+ seconds: %[1]s`, failed.reason, failed.status)})
	}
	return append(all, []tripleoScenario{
		{id: "E03", situation: "the API answers 500, with `HEALTHCHECK_CURL_PY`", service: "keystone", environment: []string{"HEALTHCHECK_CURL_PY="}, given: answering(500), code: 1, rule: "APIDown", line: "500 127"},
		{id: "E03", situation: "the API answers 500, with `no_proxy` and `HEALTHCHECK_USE_PROXY=1`", service: "keystone", environment: []string{"no_proxy=localhost", "HEALTHCHECK_USE_PROXY=1"},
			given: answering(500), code: 1, rule: "APIDown", line: "500 127"},
		{id: "E04", situation: "the API refuses connections", service: "keystone", given: func(_ *testing.T, c *container) { c.http.Close() },
			code: 1, rule: "APIDown", line: `as it should: refused\..*\): 000 127\.0\.0\.1:HTTP .*: refused`},
		// A label has 63 bytes at most (RFC 1035, 2.3.4), so there is no query for this name.
		{id: "E05", situation: "the API's name does not resolve", service: "keystone", given: func(t *testing.T, c *container) {
			c.write(t, keystoneVHost, "<VirtualHost *:@HTTP@>\nServerName "+strings.Repeat("a", 64)+".invalid\n</VirtualHost>\n")
		}, code: 1, rule: "APIDown", line: `as it should: dns\.`},
		{id: "E06", situation: "the API never answers, and `HEALTHCHECK_CURL_MAX_TIME` is 0.2", service: "keystone", environment: []string{"HEALTHCHECK_CURL_MAX_TIME=0.2"}, given: silentAPI,
			code: 1, rule: "APIDown", line: `as it should: timeout\..*\): 000 127\.0\.0\.1:\d+ \d+\.\d+ seconds: timeout`},
	}...)
}

// silentAPI puts a server that accepts and sends nothing in the place of the API.
func silentAPI(t *testing.T, c *container) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	c.ports["SILENT"] = port(l.Addr())
	c.write(t, keystoneVHost, "<VirtualHost *:@SILENT@>\nServerName 127.0.0.1\n</VirtualHost>\n")
}

func tripleoAddressScenarios() []tripleoScenario {
	return []tripleoScenario{
		{id: "E07", situation: "glance binds to `::1`", service: "glance-api", given: writing("etc/glance/glance-api.conf", "[DEFAULT]\nbind_host=::1\n"), url: "http://[::1]:9292/"},
		{id: "E07", situation: "glance binds to all addresses", service: "glance-api", given: writing("etc/glance/glance-api.conf", "[DEFAULT]\nbind_host=0.0.0.0\n"), url: "http://127.0.0.1:9292/"},
		{id: "E08", situation: "a virtual host has `SSLEngine on`, the alias `/placement` and port 8776", service: "placement-api",
			given: writing("etc/httpd/conf.d/10-placement_wsgi.conf", "<VirtualHost 172.16.2.10:8776>\n  ServerName c0.internalapi\n  SSLEngine on\n  WSGIScriptAlias /placement \"/app\"\n</VirtualHost>\n"),
			url:   "https://c0.internalapi:8776/placement/"},
		{id: "E08", situation: "nova's proxy for VNC has `ssl_only`", service: "nova-vnc-proxy", given: writing("etc/nova/nova.conf", "[DEFAULT]\nssl_only=True\n[vnc]\nnovncproxy_host=172.16.2.10\n"), url: "https://172.16.2.10:6080/"},
		{id: "E08", situation: "images come over HTTP at `my_ip` and the port of `Listen`", service: "ironic-pxe", given: func(t *testing.T, c *container) {
			c.write(t, "etc/ironic/ironic.conf", "[DEFAULT]\nmy_ip=fd00::10\n")
			c.write(t, "etc/httpd/conf.d/10-ipxe_vhost.conf", "Listen 8088\n")
		}, url: "http://[fd00::10]:8088/"},
		{id: "E09", situation: "the file of the virtual host is missing", service: "keystone", given: removing(keystoneVHost), code: 3, line: "10-keystone_wsgi.conf: there is no such file"},
		{id: "E09", situation: "the file of the virtual host has none", service: "keystone", given: writing(keystoneVHost, "ServerName x\n"), code: 3, line: "10-keystone_wsgi.conf.*VirtualHost"},
		{id: "E09", situation: "all files of the dashboard are missing", service: "horizon", given: func(t *testing.T, c *container) {
			removing("etc/httpd/conf.d/10-horizon_vhost.conf")(t, c)
			removing("etc/httpd/conf.d/10-horizon_ssl_vhost.conf")(t, c)
		}, code: 3, line: "10-horizon_vhost.conf, .*10-horizon_ssl_vhost.conf: there is no such file, expected one of them"},
		{id: "E09", situation: "one file of the dashboard is missing", service: "horizon", given: removing("etc/httpd/conf.d/10-horizon_vhost.conf"), line: "horizon-ssl: 200"},
	}
}

// removing removes a file of the container.
func removing(path string) func(*testing.T, *container) {
	return func(t *testing.T, c *container) {
		t.Helper()
		if err := os.Remove(c.root(path)); err != nil {
			t.Fatal(err)
		}
	}
}

func tripleoSocketScenarios() []tripleoScenario {
	const service = "nova-scheduler"
	gone := func(t *testing.T, c *container) { c.proc(t) }
	return []tripleoScenario{
		{id: "E11", situation: "a connection to 5672", service: service, given: showing(connected(5672, tcpEstablished)), line: "5672: 1 established"},
		{id: "E12", situation: "a connection in SYN_SENT only", service: service, given: showing(connected(5672, tcpSynSent)), code: 1, rule: "RabbitMQNotConnected",
			line: `nova-scheduler has no established connection to RabbitMQ \(ports 5671, 5672\), 1 in syn_sent\.`},
		{id: "E13", situation: "a connection in CLOSE_WAIT", service: service, given: showing(connected(5672, tcpCloseWait)), code: 1, rule: "RabbitMQNotConnected", line: "1 in close_wait"},
		{id: "E14", situation: "TIME_WAIT of another process, and a socket of its own", service: service,
			given: showing(labSocket{table: "tcp", local: 40000, remote: 5672, state: tcpTimeWait, foreign: true}, connected(3306, tcpEstablished)), code: 1, rule: "RabbitMQNotConnected", line: "1 in time_wait"},
		{id: "E15", situation: "the process is missing", service: service, given: gone, code: 1, rule: "RabbitMQNotConnected", line: `^[^\n]*nova-scheduler does not run[^\n]* 5671 5672`},
		{id: "E16", situation: "a connection to another port", service: service, given: showing(connected(3306, tcpEstablished)), code: 1, rule: "RabbitMQNotConnected", line: `no established connection to RabbitMQ \(ports 5671, 5672\)\.`},
		{id: "E16", situation: "a local port that is 5672", service: service, given: showing(labSocket{table: "tcp", local: 5672, remote: 3306, state: tcpEstablished}), code: 1, rule: "RabbitMQNotConnected"},
		{id: "E16", situation: "the process listens on 5672", service: service, given: showing(listening(5672)), code: 1, rule: "RabbitMQNotConnected"},
		{id: "E17", situation: "a connection over IPv6", service: service, given: showing(labSocket{table: "tcp6", local: 40000, remote: 5672, state: tcpEstablished})},
		{id: "E18", situation: "UDP is bound on the port of gnocchi.conf", service: "gnocchi-statsd", given: showing(bound(8126))},
		{id: "E18", situation: "UDP is bound on another port", service: "gnocchi-statsd", given: showing(bound(8125)), code: 1, rule: "NotListening", line: "gnocchi-statsd does not listen on port 8126/udp"},
		{id: "E18", situation: "UDP is bound on 5555", service: "octavia-health-manager", given: showing(bound(5555))},
		{id: "E18", situation: "TCP listens in the place of UDP", service: "octavia-health-manager", given: showing(listening(5555)), code: 1, rule: "NotListening"},
		{id: "E19", situation: "`arguments` without a port", service: service, settings: []string{"arguments="}, code: 3, line: "arguments=: expected a value"},
		{id: "E19", situation: "an argument that is no port", service: service, settings: []string{"arguments=amqp"}, code: 3, line: `arguments=amqp: "amqp" is no port`},
		{id: "E19", situation: "libvirt without the name of its daemon", service: "nova-libvirt", code: 3, line: "expected the name of one daemon"},
		{id: "E20", situation: "rsync listens on 873", service: "swift-rsync", given: showing(listening(873))},
		{id: "E20", situation: "rsync does not listen", service: "swift-rsync", given: showing(), code: 1, rule: "NotListening", line: "rsync does not listen on port 873/tcp"},
		{id: "E21", situation: "virtlogd holds its socket", service: "nova-libvirt", settings: []string{"arguments=virtlogd"}, given: showing(holding("/run/libvirt/virtlogd-sock"))},
		{id: "E21", situation: "another process holds the socket", service: "nova-libvirt", settings: []string{"arguments=virtlogd"},
			given: func(t *testing.T, c *container) {
				c.proc(t, labProcess{comm: "virtlogd", args: []string{"/usr/sbin/virtlogd"}}, labProcess{comm: "libvirtd", args: []string{"/usr/sbin/libvirtd"}, sockets: []labSocket{holding("/run/libvirt/virtlogd-sock")}})
			}, code: 1, rule: "SocketNotHeld", line: "virtlogd does not hold its socket, /run/libvirt/virtlogd-sock or /var/run/libvirt/virtlogd-sock"},
		{id: "E21", situation: "no process holds the socket", service: "nova-libvirt", settings: []string{"arguments=virtlogd"}, given: showing(), code: 1, rule: "SocketNotHeld"},
	}
}

func tripleoFileScenarios() []tripleoScenario {
	const (
		service = "swift-object-server"
		cache   = "var/cache/swift/object.recon"
		cron    = "var/spool/cron/root"
	)
	replicated := func(ago time.Duration, interval int) func(*testing.T, *container) {
		return func(t *testing.T, c *container) {
			t.Helper()
			c.proc(t, labProcess{comm: "swift-object-re", args: []string{"/usr/bin/python3", "/usr/bin/swift-object-replicator", "/etc/swift/object-server.conf"}})
			c.write(t, cache, fmt.Sprintf(`{"replication_last": %d.75}`, time.Now().Add(-ago).Unix()))
			c.write(t, "etc/swift/object-server.conf", fmt.Sprintf("[DEFAULT]\nbind_port=1\n[pipeline:main]\npipeline = healthcheck object-server\n[object-replicator]\ninterval = %d\n", interval))
		}
	}
	return []tripleoScenario{
		{id: "E22", situation: "Swift replicated 30 s ago, and the interval is 60 s", service: service, given: replicated(30*time.Second, 60)},
		{id: "E23", situation: "Swift replicated 120 s ago, and the interval is 60 s", service: service, given: replicated(120*time.Second, 60), code: 1, rule: "ReplicationStale",
			line: `swift-object-replicator finished its last pass (1m 59|2m \d)\S*s ago; its interval is 1m 0s`},
		{id: "E24", situation: "the cache of Swift is missing", service: service, given: func(t *testing.T, c *container) {
			replicated(0, 60)(t, c)
			removing(cache)(t, c)
		}, code: 1, rule: "ReplicationStale", line: "at an unknown time"},
		{id: "E24", situation: "the crontab is missing", service: "cron", given: removing(cron), code: 1, rule: "CrontabEmpty", line: "The crontab is missing"},
		{id: "E25", situation: "Swift replicated in an hour from now", service: service, given: replicated(-time.Hour, 60), code: 1, rule: "ReplicationStale", line: "finished its last pass in the future, so a clock is wrong"},
		{id: "E26", situation: "Swift replicated 301 s ago, and the interval is 300 s", service: service, given: replicated(301*time.Second, 300), code: 1, rule: "ReplicationStale", line: `5m \d\S*s ago; its interval is 5m 0s`},
		{id: "E27", situation: "a container of Swift runs an auditor only", service: service, given: func(t *testing.T, c *container) {
			c.proc(t, labProcess{comm: "swift-object-au", args: []string{"/usr/bin/python3", "/usr/bin/swift-object-auditor"}})
		}, code: 2, rule: "NothingToCheck"},
		{id: "E27", situation: "no proxy of Swift runs", service: "swift-proxy", given: func(t *testing.T, c *container) { c.proc(t) }, code: 2, rule: "NothingToCheck"},
		{id: "E27", situation: "the pipeline of Swift has no healthcheck, and the server answers 404", service: "swift-proxy", given: func(t *testing.T, c *container) {
			c.write(t, "etc/swift/proxy-server.conf", "[DEFAULT]\nbind_ip=127.0.0.1\nbind_port=@HTTP@\n[pipeline:main]\npipeline = proxy-server\n")
			c.status.Store(404)
		}},
		{id: "E27", situation: "the pipeline of Swift has healthcheck in its second line, and the server answers 404", service: "swift-proxy", given: func(t *testing.T, c *container) {
			c.write(t, "etc/swift/proxy-server.conf", "[DEFAULT]\nbind_ip=127.0.0.1\nbind_port=@HTTP@\n[pipeline:main]\npipeline = catch_errors gatekeeper\n  healthcheck proxy-server\n")
			c.status.Store(404)
		}, code: 1, rule: "APIDown"},
		{id: "E30", situation: "a crontab of two lines", service: "cron"},
		{id: "E30", situation: "a crontab of two lines, of another user", service: "cron", settings: []string{"arguments=heat"}},
		{id: "E30", situation: "a crontab of one line", service: "cron", given: writing(cron, "# a\nPATH=/bin\n"), code: 1, rule: "CrontabEmpty"},
		{id: "E30", situation: "a crontab of two lines, and no crond", service: "cron", given: func(t *testing.T, c *container) { c.proc(t) }, code: 1, rule: "ProcessMissing"},
	}
}

func tripleoOtherScenarios() []tripleoScenario {
	return []tripleoScenario{
		{id: "E28", situation: "Redis answers +PONG", service: "redis", line: `redis: redis 127\.0\.0\.1:\d+ \+PONG`},
		{id: "E28", situation: "Redis answers -NOAUTH", service: "redis", given: writing("etc/redis/redis.conf", "port @REDIS@\n"), code: 1, rule: "ServerDown", line: "as it should: auth.*NOAUTH"},
		{id: "E28", situation: "Redis refuses the password", service: "redis", given: writing("etc/redis/redis.conf", "port @REDIS@\nrequirepass other\n"), code: 1, rule: "ServerDown", line: "as it should: auth.*WRONGPASS"},
		{id: "E29", situation: "etcd.conf is missing", service: "etcd", environment: []string{"ETCD_SECRET=s3cret"}, given: removing("etc/etcd/etcd.conf"), code: 3, line: "etcd.conf: there is no such file"},
		{id: "E29", situation: "etcd.conf names no address", service: "etcd", environment: []string{"ETCD_SECRET=s3cret"}, given: writing("etc/etcd/etcd.conf", "A=b\n"), code: 3, line: "etcd.conf: ETCD_LISTEN_CLIENT_URLS is not set"},
		{id: "E31", situation: "the image has no tools", service: "collectd", environment: []string{"PATH="}},
		{id: "E33", situation: "checks are disabled", service: "keystone", settings: []string{"disabled=pass"}, given: answering(500), rule: "ChecksDisabled", line: "^warning 0 ChecksDisabled failing: The checks of this container are disabled"},
		{id: "E33", situation: "checks are disabled, and that is no health", service: "keystone", settings: []string{"disabled=fail"}, code: 1, rule: "ChecksDisabled"},
	}
}
