//go:build e2e

package e2e_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// unbound runs Debian's resolver in the foreground, with more lines in its section server and
// more sections.
func unbound(t *testing.T, listen, dir, server, sections string) *tcpServer {
	t.Helper()
	file := filepath.Join(dir, "unbound-"+tcpPort(t, listen)+".conf")
	writeUnbound(t, file, listen, server, sections)
	return tcpServe(t, "/usr/sbin/unbound", "-d", "-p", "-c", file)
}

func writeUnbound(t *testing.T, file, listen, server, sections string) {
	t.Helper()
	config := fmt.Sprintf(`server:
    interface: 127.0.0.1
    port: %s
    do-daemonize: no
    use-syslog: no
    chroot: ""
    username: ""
    directory: %s
    module-config: "iterator"
    do-not-query-localhost: no
    num-threads: 1
    local-zone: "test." nodefault
%s
%s
remote-control:
    control-enable: no
`, tcpPort(t, listen), filepath.Dir(file), server, sections)
	if err := os.WriteFile(file, []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
}

// zone are the records of keystone.example and others.
const zone = `    local-zone: "example." static
    local-data: "example. 3600 IN SOA ns1.example. admin.example. 2026112301 3600 600 86400 300"
    local-data: "keystone.example. 60 IN A %s"
    local-data: "keystone.example. 60 IN AAAA 2001:db8::10"
    local-data: "mail.example. 60 IN MX 10 mx.example."
    local-data: "_sip._udp.example. 60 IN SRV 1 2 5060 sip.example."
    local-data: '_spf.example. 60 IN TXT "v=spf1 -all"'
    local-data-ptr: "192.0.2.10 60 keystone.example"
%s`

func TestDNS(t *testing.T) {
	t.Parallel()
	listen, silent, dir := address(t), address(t), shortDirectory(t, "")
	var many strings.Builder
	for i := range 200 {
		fmt.Fprintf(&many, "    local-data: \"many.example. 60 IN A 192.0.2.%d\"\n", i)
	}
	records := fmt.Sprintf(zone, "192.0.2.10", many.String()+`    local-zone: "refused.example." refuse`)
	s := unbound(t, listen, dir, records, "forward-zone:\n    name: \"broken.test.\"\n    forward-addr: "+strings.Replace(silent, ":", "@", 1))
	server := ", server: '" + listen + "'"
	a := serverAsk(t, "dns", map[string]string{
		"a":       "name: keystone.example" + server + ", answers: [192.0.2.10]",
		"tcp":     "name: keystone.example, protocol: tcp" + server,
		"aaaa":    "name: keystone.example, type: AAAA, answers: ['2001:DB8:0::10']" + server,
		"mx":      "name: mail.example, type: MX, answers: [10 mx.example]" + server,
		"srv":     "name: _sip._udp.example, type: SRV, match: ' 5060 '" + server,
		"txt":     "name: _spf.example, type: TXT, match: '^v=spf1 '" + server,
		"ptr":     "name: 192.0.2.10, type: PTR, answers: [keystone.example]" + server,
		"soa":     "name: example, type: SOA" + server,
		"many":    "name: many.example" + server,
		"missing": "name: nova.example" + server,
		"no-type": "name: mail.example" + server,
		"refused": "name: x.refused.example" + server,
		"broken":  "name: x.broken.test" + server,
	})
	a.staysAlive(t)
	for _, c := range []struct{ name, collector, reason, note string }{
		{"an address", "a", "", "dns A keystone.example at " + listen + " 192.0.2.10"},
		{"over TCP", "tcp", "", " 192.0.2.10"},
		{"an address of IPv6", "aaaa", "", " 2001:db8::10"},
		{"mail servers", "mx", "", " 10 mx.example."},
		{"a service", "srv", "", " 1 2 5060 sip.example."},
		{"a text", "txt", "", " v=spf1 -all"},
		{"the name of an address", "ptr", "", " keystone.example."},
		{"a zone", "soa", "", "2026112301 3600 600 86400 300"},
		{"a response that is too large for UDP", "many", "", "192.0.2."},
		{"no such name", "missing", "not_found", "NXDOMAIN"},
		{"no record of the type", "no-type", "not_found", "no record of this type"},
		{"refused", "refused", "forbidden", "REFUSED"},
		{"a server that has no answer", "broken", "server_error", "SERVFAIL"},
	} {
		t.Run(c.name, func(t *testing.T) { a.sees(t, c.collector, c.reason, c.note) })
	}
	t.Run("metrics", func(t *testing.T) {
		a.exports(t, `vitals_dns_answer_present{answer="192.0.2.10",dependency="a"} 1`, `vitals_dns_unexpected_answers{dependency="a"} 0`,
			`vitals_dns_answer_present{answer="2001:DB8:0::10",dependency="aaaa"} 1`, `vitals_dns_matching_answers{dependency="srv"} 1`,
			`vitals_dns_soa_serial{dependency="soa"} 2.026112301e+09`, `vitals_dns_answers{dependency="many"} 200`, `vitals_dns_authoritative{dependency="soa"} 1`,
			`vitals_dns_rcode{dependency="missing",rcode="nxdomain"} 1`, `vitals_dns_authenticated{dependency="a"} 0`)
	})
	a.dnsFaults(t, s, listen, dir)
}

// exports waits until the metrics have these lines.
func (a tcpAsking) exports(t *testing.T, lines ...string) {
	t.Helper()
	for _, line := range lines {
		await(t, line, tcpWithin, func() error {
			_, metrics, err := a.get("/metrics")
			if err == nil && !strings.Contains(metrics, "\n"+line+"\n") {
				err = fmt.Errorf("the metrics have no line %s", line)
			}
			return err
		})
	}
}

// dnsFaults breaks the server of the collectors a and tcp.
func (a tcpAsking) dnsFaults(t *testing.T, s *tcpServer, listen, dir string) {
	t.Helper()
	t.Run("stopped by SIGSTOP", func(t *testing.T) {
		s.signal(t, syscall.SIGSTOP)
		a.sees(t, "a", "timeout", "timeout")
		a.sees(t, "tcp", "timeout", "timeout")
	})
	t.Run("continued", func(t *testing.T) {
		s.signal(t, syscall.SIGCONT)
		a.recovered(t, "a", time.Now(), "192.0.2.10")
	})
	t.Run("killed", func(t *testing.T) {
		s.kill()
		a.sees(t, "a", "refused", "connection refused")
		a.sees(t, "tcp", "refused", "connection refused")
		if err := a.want("/ready", http.StatusServiceUnavailable); err != nil {
			t.Error(err)
		}
	})
	t.Run("started with another address", func(t *testing.T) {
		writeUnbound(t, filepath.Join(dir, "unbound-"+tcpPort(t, listen)+".conf"), listen, fmt.Sprintf(zone, "192.0.2.99", ""), "")
		s.start(t)
		a.seesWithin(t, startsWithin, "a", "", " 192.0.2.99")
		a.exports(t, `vitals_dns_answer_present{answer="192.0.2.10",dependency="a"} 0`, `vitals_dns_unexpected_answers{dependency="a"} 1`)
	})
}

// TestDNSVerdict has one rule for the address and one for the server, and a resolver whose own
// server is slow.
func TestDNSVerdict(t *testing.T) {
	t.Parallel()
	upstream, listen, dir := address(t), address(t), shortDirectory(t, "")
	s := unbound(t, upstream, dir, fmt.Sprintf(zone, "192.0.2.10", ""), "")
	unbound(t, listen, dir, "    cache-max-ttl: 0\n    cache-max-negative-ttl: 0", "forward-zone:\n    name: \"example.\"\n    forward-addr: "+strings.Replace(upstream, ":", "@", 1))
	a := serverAsk(t, "dns", map[string]string{"resolver": "name: keystone.example, server: '" + listen + "'"})
	a.staysAlive(t)
	t.Run("healthy", func(t *testing.T) {
		a.sees(t, "resolver", "", "192.0.2.10")
		await(t, "ready", tcpWithin, func() error { return a.want("/ready", http.StatusOK) })
	})
	t.Run("slow", func(t *testing.T) {
		s.signal(t, syscall.SIGSTOP)
		a.sees(t, "resolver", "timeout", "timeout")
		await(t, "not ready", tcpWithin, func() error { return a.want("/ready", http.StatusServiceUnavailable) })
	})
	t.Run("fast again", func(t *testing.T) {
		s.signal(t, syscall.SIGCONT)
		a.sees(t, "resolver", "", "192.0.2.10")
		await(t, "ready", tcpWithin, func() error { return a.want("/ready", http.StatusOK) })
	})
}

// TestDNSWrongProtocol queries a server of another protocol, which waits for a line's end.
func TestDNSWrongProtocol(t *testing.T) {
	t.Parallel()
	redis, dir := address(t), shortDirectory(t, "")
	redisServer(t, redis, dir, "--save", "")
	a := serverAsk(t, "dns", map[string]string{
		"tcp": "name: a.example, protocol: tcp, server: '" + redis + "'",
		"udp": "name: a.example, server: '" + redis + "'",
	})
	a.staysAlive(t)
	a.sees(t, "tcp", "timeout", "read length of response")
	a.sees(t, "udp", "refused", "connection refused")
}

// TestDNSSEC signs a zone, which one resolver verifies. Then the signatures expire.
func TestDNSSEC(t *testing.T) {
	t.Parallel()
	listen, dir := address(t), shortDirectory(t, "")
	in := func(command ...string) string {
		t.Helper()
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", command, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	const records = "$ORIGIN signed.test.\n$TTL 60\n@ IN SOA ns1 admin 1 3600 600 86400 60\n@ IN NS ns1\nns1 IN A 127.0.0.1\nkeystone IN A 192.0.2.10\n"
	if err := os.WriteFile(filepath.Join(dir, "zone"), []byte(records), 0o644); err != nil {
		t.Fatal(err)
	}
	key := in("ldns-keygen", "-a", "ECDSAP256SHA256", "-k", "signed.test")
	in("ldns-signzone", "-f", "signed", "-o", "signed.test", "zone", key)
	in("ldns-signzone", "-f", "expired", "-i", "20200101000000", "-e", "20200201000000", "-o", "signed.test", "zone", key)
	sections := func(file string) string {
		return "auth-zone:\n    name: \"signed.test.\"\n    zonefile: " + file + "\n    for-upstream: yes\n    for-downstream: no"
	}
	server := "    module-config: \"validator iterator\"\n    trust-anchor-file: " + filepath.Join(dir, key+".key")
	s := unbound(t, listen, dir, server, sections("signed"))
	a := serverAsk(t, "dns", map[string]string{"signed": "name: keystone.signed.test, server: '" + listen + "'"})
	a.staysAlive(t)
	t.Run("verified", func(t *testing.T) {
		a.sees(t, "signed", "", "192.0.2.10")
		a.exports(t, `vitals_dns_authenticated{dependency="signed"} 1`)
	})
	t.Run("expired", func(t *testing.T) {
		s.kill()
		writeUnbound(t, filepath.Join(dir, "unbound-"+tcpPort(t, listen)+".conf"), listen, server, sections("expired"))
		s.start(t)
		a.sees(t, "signed", "server_error", "SERVFAIL")
	})
}
