//go:build e2e

package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	// icmpPeer is the host that answers, icmpGone an address of its network without a host, and
	// icmpBlackhole one without a way.
	icmpPeer, icmpPeer6, icmpGone, icmpBlackhole = "198.19.0.2", "fd00:19::2", "198.19.0.9", "198.51.100.1"
	// icmpRules are the documented rules, for the collector gateway.
	icmpRules = "../collectors/icmp/testdata/rules.yml"
)

// icmpLab is two network namespaces, which a link connects: one of Vitals and one of the host that
// it pings. A second link makes Vitals reachable for the test, in a network of the test's own.
type icmpLab struct{ vitals, peer, listen string }

func newICMPLab(t *testing.T, network string) icmpLab {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Fatal("network namespaces need root")
	}
	name := filepath.Base(shortDirectory(t, ""))
	l := icmpLab{vitals: name + "v", peer: name + "p"}
	for _, namespace := range []string{l.vitals, l.peer} {
		ip(t, "netns", "add", namespace)
		t.Cleanup(func() { _ = exec.Command("ip", "netns", "del", namespace).Run() })
		ip(t, "-n", namespace, "link", "set", "lo", "up")
	}
	ip(t, "-n", l.vitals, "link", "add", "test0", "type", "veth", "peer", "name", "peer0", "netns", l.peer)
	for _, end := range []struct{ namespace, link, host string }{{l.vitals, "test0", "1"}, {l.peer, "peer0", "2"}} {
		ip(t, "-n", end.namespace, "address", "add", "198.19.0."+end.host+"/24", "dev", end.link)
		ip(t, "-n", end.namespace, "address", "add", "fd00:19::"+end.host+"/64", "dev", end.link, "nodad")
		ip(t, "-n", end.namespace, "link", "set", end.link, "up")
	}
	ip(t, "-n", l.vitals, "route", "add", "blackhole", icmpBlackhole)
	link := fmt.Sprintf("icmp%d", rand.IntN(1_000_000))
	ip(t, "link", "add", link, "type", "veth", "peer", "name", "host0", "netns", l.vitals)
	t.Cleanup(func() { _ = exec.Command("ip", "link", "del", link).Run() })
	ip(t, "address", "add", network+"1/30", "dev", link)
	ip(t, "link", "set", link, "up")
	ip(t, "-n", l.vitals, "address", "add", network+"2/30", "dev", "host0")
	ip(t, "-n", l.vitals, "link", "set", "host0", "up")
	l.listen = net.JoinHostPort(network+"2", "8080")
	return l
}

// in runs a command in a namespace.
func (l icmpLab) in(t *testing.T, namespace string, command ...string) {
	t.Helper()
	ip(t, append([]string{"netns", "exec", namespace}, command...)...)
}

// groups sets the groups that may send echo requests without a privilege, as in "1 0" for none.
func (l icmpLab) groups(t *testing.T, from, to string) {
	t.Helper()
	l.in(t, l.vitals, "sh", "-c", "echo "+from+" "+to+" >/proc/sys/net/ipv4/ping_group_range")
}

// run runs Vitals in its namespace, behind a command, with collectors and the documented rules
// without their "for".
func (l icmpLab) run(t *testing.T, blocks map[string]string, before ...string) tcpAsking {
	t.Helper()
	dir := shortDirectory(t, "")
	config := "evaluation_interval: 200ms\nrule_files: [rules.yml]\ncollectors:\n"
	for name, block := range blocks {
		config += fmt.Sprintf("  - {name: %s, interval: 500ms, timeout: 450ms, icmp: {interval: 10ms, %s}}\n", name, block)
	}
	rules := regexp.MustCompile(`(?m)^ *for: .*\n`).ReplaceAllString(read(t, icmpRules), "")
	for file, text := range map[string]string{"vitals.yml": config, "rules.yml": rules} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	command := append([]string{"ip", "netns", "exec", l.vitals}, before...)
	command = append(command, os.Getenv("VITALS_BIN"), "run", "--config.file="+filepath.Join(dir, "vitals.yml"),
		"--web.listen-address="+l.listen, "--web.unix-socket="+filepath.Join(dir, "vitals.sock"), "--web.shutdown-delay=0s")
	d := daemon{launch(t, l.listen, command...)}
	await(t, "vitals listens", time.Minute, func() error { return d.want("/alive", http.StatusOK) })
	return tcpAsking{d}
}

// unprivileged is a command that runs another without NET_RAW.
func unprivileged() []string {
	return []string{"setpriv", "--bounding-set=-net_raw", "--inh-caps=-net_raw", "--"}
}

func (a tcpAsking) ready(t *testing.T, status int) {
	t.Helper()
	await(t, "ready is "+strconv.Itoa(status), tcpWithin, func() error { return a.want("/ready", status) })
}

// Both kinds of sockets, with both versions of IP, measure what the network does.
func TestICMP(t *testing.T) {
	t.Parallel()
	for _, socket := range []struct {
		name, from, to string
		before         []string
	}{
		{"with NET_RAW", "1", "0", nil},
		{"unprivileged", "0", "0", unprivileged()},
	} {
		t.Run(socket.name, func(t *testing.T) {
			l := newICMPLab(t, "198.18.0.")
			l.groups(t, socket.from, socket.to)
			a := l.run(t, map[string]string{
				"gateway": "address: " + icmpPeer + ", count: 10", "six": "address: '" + icmpPeer6 + "'", "large": "address: " + icmpPeer + ", payload_size: 60000",
				"self": "address: localhost, ip_family: 4", "gone": "address: " + icmpGone, "blackhole": "address: " + icmpBlackhole, "noroute": "address: 203.0.113.1",
			}, socket.before...)
			a.staysAlive(t)
			for _, c := range []struct{ collector, reason, note string }{
				{"gateway", "", "10 of 10 replies"}, {"six", "", "3 of 3 replies"}, {"large", "", "3 of 3 replies"}, {"self", "", "3 of 3 replies"},
				{"blackhole", "refused", "blackhole"}, {"noroute", "refused", "network is unreachable"},
			} {
				t.Run(c.collector, func(t *testing.T) { a.sees(t, c.collector, c.reason, c.note) })
			}
			t.Run("gone", func(t *testing.T) { a.isGone(t) })
			a.ready(t, http.StatusOK)
			a.exports(t, `vitals_icmp_loss_ratio{dependency="gateway"} 0`, `vitals_icmp_reply_ttl{dependency="gateway"} 64`, `vitals_icmp_reply_ttl{dependency="six"} 64`,
				`vitals_icmp_requests_sent{dependency="gateway"} 10`, `vitals_dependency_failure{dependency="blackhole",reason="permission"} 0`)
			l.breaks(t, a)
		})
	}
}

// isGone waits until the address without a host has failed: its neighbour discovery ends after
// seconds, and the requests before it time out.
func (a tcpAsking) isGone(t *testing.T) {
	t.Helper()
	await(t, "gone fails", tcpWithin, func() error {
		reason, note, err := a.outcome("gone")
		if err == nil && reason != "timeout" && reason != "refused" {
			err = fmt.Errorf("gone has the reason %q and the note %q, want timeout or refused", reason, note)
		}
		return err
	})
}

// breaks breaks the network in several ways, and repairs it.
func (l icmpLab) breaks(t *testing.T, a tcpAsking) {
	t.Helper()
	filter := func(action string, more ...string) {
		t.Helper()
		l.in(t, l.peer, append(append([]string{"iptables", "-w", action, "INPUT", "-p", "icmp"}, more...), "-j", "DROP")...)
	}
	t.Run("half of the packets are lost", func(t *testing.T) {
		half := []string{"-m", "statistic", "--mode", "nth", "--every", "2", "--packet", "0"}
		filter("-A", half...)
		await(t, "packets are lost", tcpWithin, func() error {
			_, note, err := a.outcome("gateway")
			if err == nil && (!strings.Contains(note, " of 10 replies") || strings.Contains(note, "10 of 10")) {
				err = fmt.Errorf("the note is %q, want lost packets", note)
			}
			return err
		})
		await(t, "the rule sees it", tcpWithin, func() error {
			_, body, err := a.get("/ready?verbose")
			if err == nil && !strings.Contains(body, "GatewayLosesPackets failing") {
				err = fmt.Errorf("/ready = %q, want GatewayLosesPackets", body)
			}
			return err
		})
		a.ready(t, http.StatusOK) // a warning
		filter("-D", half...)
		a.recovered(t, "gateway", time.Now(), "10 of 10 replies")
	})
	t.Run("all packets are lost", func(t *testing.T) {
		filter("-A")
		a.sees(t, "gateway", "timeout", "no reply to 10 requests")
		a.ready(t, http.StatusServiceUnavailable)
		a.exports(t, `vitals_icmp_loss_ratio{dependency="gateway"} 1`, `vitals_icmp_requests_sent{dependency="gateway"} 10`)
		filter("-D")
		a.recovered(t, "gateway", time.Now(), "10 of 10 replies")
		a.ready(t, http.StatusOK)
	})
	t.Run("a packet filter of this host", func(t *testing.T) {
		l.in(t, l.vitals, "iptables", "-w", "-A", "OUTPUT", "-p", "icmp", "-d", icmpPeer, "-j", "DROP")
		a.sees(t, "gateway", "forbidden", "operation not permitted")
		l.in(t, l.vitals, "iptables", "-w", "-F", "OUTPUT")
		a.recovered(t, "gateway", time.Now(), "10 of 10 replies")
	})
	t.Run("the link is down", func(t *testing.T) {
		ip(t, "-n", l.vitals, "link", "set", "test0", "down")
		a.sees(t, "gateway", "refused", "network is unreachable")
		a.ready(t, http.StatusServiceUnavailable)
		ip(t, "-n", l.vitals, "link", "set", "test0", "up")
		a.recovered(t, "gateway", time.Now(), "10 of 10 replies")
		a.ready(t, http.StatusOK)
	})
}

// Without a permission, the reason and the cure are on every surface, until a sysctl gives it.
func TestICMPPermission(t *testing.T) {
	t.Parallel()
	l := newICMPLab(t, "198.18.1.")
	l.groups(t, "1", "0")
	a := l.run(t, map[string]string{"gateway": "address: " + icmpPeer}, unprivileged()...)
	a.staysAlive(t)
	a.sees(t, "gateway", "permission", "net.ipv4.ping_group_range")
	a.sees(t, "gateway", "permission", "NET_RAW")
	a.ready(t, http.StatusServiceUnavailable)
	if _, body, err := a.get("/ready"); err != nil || !strings.Contains(body, "permission") {
		t.Errorf("/ready = %q, %v, want the reason", body, err)
	}
	l.groups(t, "0", "0")
	a.recovered(t, "gateway", time.Now(), "3 of 3 replies")
	a.ready(t, http.StatusOK)
}
