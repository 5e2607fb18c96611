//go:build e2e

package e2e_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

const (
	// netlinkRules is the file of the rules that the documentation shows.
	netlinkRules = "../collectors/netlink/testdata/rules.yml"
	// netlinkSlack is the longest until a change of the kernel shows: an interval, a
	// timeout, and the delays of a busy machine.
	netlinkSlack = 30 * time.Second
)

// netlinkLab is a network namespace and a Vitals that lists its links, with a fresh and
// with a held socket, and makes links there. It evaluates the documented rules, without
// their "for".
type netlinkLab struct {
	daemon
	// netns is the namespace's name.
	netns string
}

// startNetlink makes a namespace with a bridge that has a port, and runs Vitals. The
// command of Vitals may be put behind another.
func startNetlink(t *testing.T, before ...string) *netlinkLab {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Fatal("network namespaces need root")
	}
	dir := shortDirectory(t, "")
	l := &netlinkLab{netns: filepath.Base(dir)}
	l.create(t)
	t.Cleanup(func() { _ = exec.Command("ip", "netns", "del", l.netns).Run() })
	rules := regexp.MustCompile(`(?m)^ *for: .*\n`).ReplaceAllString(read(t, netlinkRules), "")
	const collector = "  - {name: %s, interval: 1s, timeout: 1s, netlink: {netns: /run/netns/%s, interfaces: [br-int, uplink], %s}}\n"
	config := "rule_files: [rules.yml]\ncollectors:\n" +
		fmt.Sprintf(collector, "host", l.netns, "socket: fresh") +
		fmt.Sprintf(collector, "holder", l.netns, "socket: held") +
		fmt.Sprintf(collector, "sandbox", l.netns, "write_test: veth")
	vitals := "#!/bin/sh\nexec " + strings.Join(append(before, os.Getenv("VITALS_BIN")), " ") + ` "$@"` + "\n"
	for name, text := range map[string]string{"rules.yml": rules, "vitals.yml": config, "vitals": vitals} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	l.daemon = runVitals(t, filepath.Join(dir, "vitals"), filepath.Join(dir, "vitals.yml"), dir)
	return l
}

// create makes the namespace.
func (l *netlinkLab) create(t *testing.T) {
	t.Helper()
	ip(t, "netns", "add", l.netns)
	l.ip(t, "link", "add", "br-int", "type", "bridge")
	l.ip(t, "link", "add", "port0", "type", "veth", "peer", "name", "peer0")
	l.ip(t, "link", "property", "add", "dev", "peer0", "altname", "uplink")
	l.ip(t, "link", "set", "port0", "master", "br-int")
	for _, link := range []string{"br-int", "port0", "peer0"} {
		l.ip(t, "link", "set", link, "up")
	}
}

// ip runs ip(8) in the namespace.
func (l *netlinkLab) ip(t *testing.T, args ...string) string {
	t.Helper()
	return ip(t, append([]string{"-n", l.netns}, args...)...)
}

func ip(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command("ip", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("ip %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// links are the names of the links in the namespace.
func (l *netlinkLab) links(t *testing.T) string {
	t.Helper()
	var names []string
	for line := range strings.Lines(l.ip(t, "-brief", "link")) {
		name, _, _ := strings.Cut(strings.Fields(line)[0], "@")
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

// netlinkSight is the visible state of the namespace.
type netlinkSight struct {
	// reason is why links cannot be listed; empty: they can.
	reason string
	// write is why no link can be made; empty: it can.
	write string
	// bridge and uplink are "up", "down" (administratively), "idle" (no carrier) or
	// "gone"; empty: unknown.
	bridge, uplink string
	// rules are those that fail.
	rules []string
}

var netlinkHealthy = netlinkSight{bridge: "up", uplink: "up"}

// await waits until all collectors and the probes agree. Alive never fails.
func (l *netlinkLab) await(t *testing.T, what string, want netlinkSight) {
	t.Helper()
	took := await(t, what, netlinkSlack, func() error {
		m, err := l.metrics()
		if err != nil {
			return err
		}
		var problems []error
		for _, name := range []string{"host", "holder", "sandbox"} {
			problems = append(problems, m.netlink("vitals_netlink_", name, want.reason),
				m.link(name, "br-int", want.bridge), m.link(name, "uplink", want.uplink))
		}
		if want.reason == "" {
			problems = append(problems, m.netlink("vitals_netlink_write_", "sandbox", want.write))
		}
		status := http.StatusOK
		for _, rule := range want.rules {
			if got := m.statusOf(rule, "ready"); got != "failing" {
				problems = append(problems, fmt.Errorf("%s is %q, want failing", rule, got))
			}
			if rule != "LinksCannotBeMade" { // a warning
				status = http.StatusServiceUnavailable
			}
		}
		return errors.Join(append(problems, l.want("/ready", status), l.want("/alive", http.StatusOK))...)
	})
	t.Logf("%s: seen after %s", what, took.Round(100*time.Millisecond))
}

// netlink compares whether something works, and the reason if not.
func (m metrics) netlink(prefix, name, reason string) error {
	up := 1.0
	if reason != "" {
		up = 0
	}
	problems := []error{m.want(up, prefix+"up", "netlink", name)}
	for _, r := range []string{"timeout", "forbidden", "overflow", "interrupted", "namespace", "unsupported", "protocol"} {
		holds := 0.0
		if r == reason {
			holds = 1
		}
		problems = append(problems, m.want(holds, prefix+"failure", "netlink", name, "reason", r))
	}
	return errors.Join(problems...)
}

// link compares what is seen of a link.
func (m metrics) link(name, link, want string) error {
	seen := ""
	for _, part := range []string{"present", "up", "running"} {
		if v, ok := m[series("vitals_netlink_interface_"+part, "netlink", name, "interface", link)]; ok {
			seen += fmt.Sprintf(" %s=%g", part, v)
		}
	}
	wanted := map[string]string{
		"": "", "gone": " present=0", "up": " present=1 up=1 running=1",
		"down": " present=1 up=0 running=0", "idle": " present=1 up=1 running=0",
	}[want]
	if seen != wanted {
		return fmt.Errorf("%s sees of %s:%s, want:%s", name, link, seen, wanted)
	}
	return nil
}

// staysHome searches for threads of the daemon that did not come back from the namespace,
// and for descriptors that leak.
func (l *netlinkLab) staysHome(t *testing.T) {
	t.Helper()
	process := fmt.Sprintf("/proc/%d", l.cmd.Process.Pid)
	home, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	threads, err := filepath.Glob(process + "/task/*/ns/net")
	if err != nil || len(threads) == 0 {
		t.Fatalf("Glob() = %v, %v, want the daemon's threads", threads, err)
	}
	for _, thread := range threads {
		if in, err := os.Readlink(thread); err == nil && in != home {
			t.Errorf("%s is %s, want %s: a thread stayed in the namespace", thread, in, home)
		}
	}
	descriptors, err := filepath.Glob(process + "/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	sockets := 0
	for _, d := range descriptors {
		if to, err := os.Readlink(d); err == nil && strings.HasPrefix(to, "socket:") {
			sockets++
		}
	}
	if sockets > 20 {
		t.Errorf("%d sockets are open, want a few", sockets)
	}
}

// TestNetlinkInterfaces changes links under Vitals.
func TestNetlinkInterfaces(t *testing.T) {
	t.Parallel()
	l := startNetlink(t)
	l.await(t, "healthy", netlinkHealthy)
	down := []string{"BridgeDown"}
	steps := []struct {
		what string
		do   []string
		want netlinkSight
	}{
		{"bridge down", []string{"link", "set", "br-int", "down"}, netlinkSight{bridge: "down", uplink: "up", rules: down}},
		{"bridge up", []string{"link", "set", "br-int", "up"}, netlinkHealthy},
		{"no carrier", []string{"link", "set", "peer0", "down"}, netlinkSight{bridge: "idle", uplink: "down", rules: down}},
		{"carrier", []string{"link", "set", "peer0", "up"}, netlinkHealthy},
		{"altname gone", []string{"link", "property", "del", "dev", "peer0", "altname", "uplink"}, netlinkSight{bridge: "up", uplink: "gone"}},
		{"altname back", []string{"link", "property", "add", "dev", "peer0", "altname", "uplink"}, netlinkHealthy},
		{"bridge gone", []string{"link", "del", "br-int"}, netlinkSight{bridge: "gone", uplink: "up", rules: []string{"BridgeMissing"}}},
		{"bridge back, without a port", []string{"link", "add", "br-int", "up", "type", "bridge"}, netlinkHealthy},
		{"with a port that is down", []string{"link", "set", "port0", "down", "master", "br-int"}, netlinkSight{bridge: "idle", uplink: "idle", rules: down}},
		{"with a port that is up", []string{"link", "set", "port0", "up"}, netlinkHealthy},
	}
	for _, s := range steps {
		l.ip(t, s.do...)
		l.await(t, s.what, s.want)
	}
	l.staysHome(t)
}

// TestNetlinkNamespaceDeleted takes the namespace away from under Vitals.
func TestNetlinkNamespaceDeleted(t *testing.T) {
	t.Parallel()
	l := startNetlink(t)
	gone := netlinkSight{reason: "namespace", rules: []string{"NetlinkBroken"}}
	// failWith waits until the error of every collector contains a text.
	failWith := func(text string) {
		t.Helper()
		await(t, text, netlinkSlack, func() error {
			_, body, err := l.get("/api/v1/status")
			if n := strings.Count(body, text); n < 3 {
				err = errors.Join(err, fmt.Errorf("%d errors with %q in %s, want 3", n, text, body))
			}
			return err
		})
	}
	l.await(t, "healthy", netlinkHealthy)
	for range 2 {
		ip(t, "netns", "del", l.netns)
		failWith("no such file or directory")
		l.await(t, "namespace deleted", gone)
		path := filepath.Join("/run/netns", l.netns)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		failWith("invalid argument")
		l.await(t, "an ordinary file in its place", gone)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		l.create(t)
		l.await(t, "another namespace of that name", netlinkHealthy)
	}
	// Replaced between two collections: none fails, and a held socket would still list the
	// bridge.
	ip(t, "netns", "del", l.netns)
	ip(t, "netns", "add", l.netns)
	l.await(t, "replaced by an empty one", netlinkSight{bridge: "gone", uplink: "gone", rules: []string{"BridgeMissing"}})
	l.staysHome(t)
}

// TestNetlinkWriteTest searches for traces of the write test, and for those of one that was
// killed.
func TestNetlinkWriteTest(t *testing.T) {
	t.Parallel()
	l := startNetlink(t)
	l.await(t, "healthy", netlinkHealthy)
	for _, name := range []string{"vitals", "vitals-0", "vitals-deadbee", "vitals-DEADBEEF"} {
		l.ip(t, "link", "add", name, "type", "bridge")
	}
	l.ip(t, "link", "add", "vitals-deadbeef", "type", "veth", "peer", "name", "vitals-00000001")
	l.ip(t, "link", "add", "vitals-00000002", "type", "bridge")
	const kept = "lo br-int peer0 port0 vitals vitals-0 vitals-deadbee vitals-DEADBEEF"
	await(t, "what was left behind is deleted, and nothing else", netlinkSlack, func() error {
		if got := l.links(t); got != kept {
			return fmt.Errorf("the links are %s, want %s", got, kept)
		}
		return nil
	})
	l.await(t, "healthy", netlinkHealthy)
	l.staysHome(t)
}

// TestNetlinkManyLinks lists more links than fit into one datagram.
func TestNetlinkManyLinks(t *testing.T) {
	t.Parallel()
	l := startNetlink(t)
	l.ip(t, "link", "del", "br-int")
	batch := filepath.Join(t.TempDir(), "batch")
	var lines []string
	for i := range 150 {
		lines = append(lines, fmt.Sprintf("link add tap%d type veth peer name pod%d", i, i))
	}
	lines = append(lines, "link add br-int up type bridge", "link set port0 master br-int")
	if err := os.WriteFile(batch, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	l.ip(t, "-batch", batch)
	l.await(t, "the last link is seen", netlinkHealthy)
	await(t, "all links are counted", netlinkSlack, func() error {
		m, err := l.metrics()
		if err != nil {
			return err
		}
		return m.want(304, "vitals_netlink_links", "netlink", "host")
	})
}

// TestNetlinkForbidden takes the capabilities away: without CAP_SYS_ADMIN no
// process enters another namespace. Its own one can be listed by every process, and changed
// only with CAP_NET_ADMIN.
func TestNetlinkForbidden(t *testing.T) {
	t.Parallel()
	l := startNetlink(t, "setpriv", "--bounding-set=-sys_admin")
	l.await(t, "not entered", netlinkSight{reason: "forbidden", rules: []string{"NetlinkBroken"}})
	l.staysHome(t)

	inside := startNetlink(t, "setpriv", "--bounding-set=-net_admin")
	inside.await(t, "not changed", netlinkSight{write: "forbidden", bridge: "up", uplink: "up", rules: []string{"LinksCannotBeMade"}})
	if got, want := inside.links(t), "lo br-int peer0 port0"; got != want {
		t.Errorf("the links are %s, want %s", got, want)
	}
}
