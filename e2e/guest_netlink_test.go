//go:build e2e && guest

package e2e_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestGuestNetlinkInterfaces(t *testing.T) {
	d := vitalsAs(t, "", "name: host, netlink: {interfaces: [lo, br-int]}", documentedRules(t, "netlink"))
	d.staysAlive(t)
	initRuns(t, "load", "veth")
	for _, step := range []struct {
		do                   string
		present, up, running float64
		rule                 string
	}{
		{"", 0, -1, -1, "BridgeMissing"},
		{"links dummy br-int 1", 1, 0, 0, "BridgeDown"},
		{"link br-int up", 1, 1, 1, ""},
		{"link br-int down", 1, 0, 0, "BridgeDown"},
		{"link br-int delete", 0, -1, -1, "BridgeMissing"},
		{"links veth br-int 1", 1, 0, 0, "BridgeDown"},
		{"link br-int up", 1, 1, 0, "BridgeDown"}, // the other end is down
		{"link veth0 up", 1, 1, 1, ""},
		{"link br-int delete", 0, -1, -1, "BridgeMissing"},
	} {
		if step.do != "" {
			initRuns(t, strings.Fields(step.do)...)
		}
		links, err := os.ReadDir("/sys/class/net")
		if err != nil {
			t.Fatal(err)
		}
		d.awaits(t, "after "+step.do, func(m metrics) error {
			return errors.Join(listed(m, "host", float64(len(links))),
				m.want(1, "vitals_netlink_interface_running", "netlink", "host", "interface", "lo"),
				wantOrAbsent(m, step.present, "vitals_netlink_interface_present"),
				wantOrAbsent(m, step.up, "vitals_netlink_interface_up"),
				wantOrAbsent(m, step.running, "vitals_netlink_interface_running"),
				onlyFails(m, step.rule, "BridgeMissing", "BridgeDown"), d.want("/ready", statusFor(step.rule)))
		})
	}
}

// wantOrAbsent compares a series of the interface br-int; less than 0 is absent.
func wantOrAbsent(m metrics, want float64, name string) error {
	if want < 0 {
		return m.wantAbsent(name, "netlink", "host", "interface", "br-int")
	}
	return m.want(want, name, "netlink", "host", "interface", "br-int")
}

// onlyFails returns an error if another one of these rules of ready fails.
func onlyFails(m metrics, failing string, rules ...string) error {
	var errs []error
	for _, rule := range rules {
		if got := m.statusOf(rule, "ready"); (got == "failing") != (rule == failing) {
			errs = append(errs, fmt.Errorf("rule %s is %q where %q is to fail", rule, got, failing))
		}
	}
	return errors.Join(errs...)
}

// statusFor is what a probe answers while the rule fails, or none does.
func statusFor(rule string) int {
	if rule == "" {
		return http.StatusOK
	}
	return http.StatusInternalServerError
}

// listed returns an error unless so many links were listed.
func listed(m metrics, name string, links float64) error {
	return errors.Join(m.want(1, "vitals_netlink_up", "netlink", name), m.wantFailure("", "vitals_netlink_failure", "netlink", name),
		m.wantBetween(0, 5, "vitals_netlink_latency_seconds", "netlink", name), m.want(links, "vitals_netlink_links", "netlink", name))
}

// wrote returns an error unless a link was made and deleted.
func wrote(m metrics, name string) error {
	return errors.Join(m.want(1, "vitals_netlink_write_up", "netlink", name), m.wantFailure("", "vitals_netlink_write_failure", "netlink", name),
		m.wantBetween(0, 1, "vitals_netlink_write_latency_seconds", "netlink", name))
}

// wroteNot returns an error unless no link could be made, for this reason.
func wroteNot(m metrics, name, reason string) error {
	return errors.Join(m.want(0, "vitals_netlink_write_up", "netlink", name), m.wantFailure(reason, "vitals_netlink_write_failure", "netlink", name),
		m.wantAbsent("vitals_netlink_write_latency_seconds", "netlink", name))
}

func TestGuestNetlinkWrite(t *testing.T) {
	onlyInGuest(t)
	if err := unix.DeleteModule("veth", 0); err != nil && !errors.Is(err, unix.ENOENT) {
		t.Fatal(err)
	}
	initRuns(t, "netns", "/run/netns/vitals")
	// Another Vitals left this behind.
	initRuns(t, "as", "netns=/run/netns/vitals", "--", guestInit, "links", "dummy", "vitals-0123abcd", "1")
	t.Run("makes links", func(t *testing.T) {
		d := vitalsAs(t, "", `
			name: dummy, netlink: {netns: /run/netns/vitals, write_test: dummy}
			name: bridge, netlink: {netns: /run/netns/vitals, write_test: bridge, socket: held}
			name: sandbox, netlink: {netns: /run/netns/vitals, write_test: veth}`, documentedRules(t, "netlink"))
		d.staysAlive(t)
		m := d.awaits(t, "links of two types are made", func(m metrics) error {
			return errors.Join(wrote(m, "dummy"), wrote(m, "bridge"), wroteNot(m, "sandbox", "unsupported"), m.wantRule("failing", "LinksCannotBeMade", "ready"))
		})
		t.Log(m.about("latency"))
		initRuns(t, "load", "veth")
		d.awaits(t, "the kernel has veth", func(m metrics) error {
			return errors.Join(wrote(m, "dummy"), wrote(m, "bridge"), wrote(m, "sandbox"))
		})
	})
	// Each collection lists the links first, so it finds what the former left.
	d := vitalsAs(t, "", "name: after, netlink: {netns: /run/netns/vitals, write_test: dummy}", "")
	d.awaits(t, "no link is left", func(m metrics) error { return errors.Join(listed(m, "after", 1), wrote(m, "after")) })
}

// Listing needs no capability; the rest needs some.
func TestGuestNetlinkOfUser(t *testing.T) {
	initRuns(t, "netns", "/run/netns/other")
	const config = `
		name: host, netlink: {interfaces: [lo]}
		name: write, netlink: {write_test: dummy}
		name: other, netlink: {netns: /run/netns/other}`
	for who, reason := range map[string]string{"uid=1000": "forbidden", "drop=NET_ADMIN": "forbidden", "uid=1000 ambient=NET_ADMIN": "", "": ""} {
		t.Run(who, func(t *testing.T) {
			d := vitalsAs(t, who, config, documentedRules(t, "netlink"))
			d.staysAlive(t)
			d.awaits(t, who, func(m metrics) error {
				errs := []error{m.want(1, "vitals_netlink_up", "netlink", "host"), m.want(1, "vitals_netlink_up", "netlink", "write")}
				if reason == "" {
					errs = append(errs, wrote(m, "write"))
				} else {
					errs = append(errs, wroteNot(m, "write", reason))
				}
				if strings.HasPrefix(who, "uid") {
					errs = append(errs, m.want(0, "vitals_netlink_up", "netlink", "other"), m.wantFailure("forbidden", "vitals_netlink_failure", "netlink", "other"))
				} else {
					errs = append(errs, listed(m, "other", 1))
				}
				return errors.Join(errs...)
			})
		})
	}
}

func TestGuestNetlinkNamespaceDeleted(t *testing.T) {
	const path = "/run/netns/sandbox"
	initRuns(t, "netns", path)
	d := vitalsAs(t, "", `
		name: host, netlink: {netns: /run/netns/sandbox}
		name: held, netlink: {netns: /run/netns/sandbox, socket: held}`, documentedRules(t, "netlink"))
	d.staysAlive(t)
	there := func(m metrics) error { return errors.Join(listed(m, "host", 1), listed(m, "held", 1)) }
	d.awaits(t, "the namespace is there", there)
	if err := errors.Join(unix.Unmount(path, unix.MNT_DETACH), os.Remove(path)); err != nil {
		t.Fatal(err)
	}
	d.awaits(t, "the namespace is gone", func(m metrics) error {
		var errs []error
		for _, name := range []string{"host", "held"} {
			errs = append(errs, m.want(0, "vitals_netlink_up", "netlink", name), m.wantFailure("namespace", "vitals_netlink_failure", "netlink", name),
				m.wantAbsent("vitals_netlink_links", "netlink", name))
		}
		return errors.Join(append(errs, m.wantRule("failing", "NetlinkBroken", "ready"))...)
	})
	initRuns(t, "netns", path)
	initRuns(t, "as", "netns="+path, "--", guestInit, "links", "dummy", "eth0", "1")
	d.awaits(t, "another namespace has its name", func(m metrics) error { return errors.Join(listed(m, "host", 2), listed(m, "held", 2)) })
}

// A node has thousands of links, and they come and go. There are 8,000 where the machine
// makes them fast enough, and 2,000 elsewhere.
func TestGuestNetlinkThousands(t *testing.T) {
	const within = 10 * time.Second
	initRuns(t, "netns", "/run/netns/many")
	links := 1.0
	for _, more := range []struct {
		prefix string
		n      int
	}{{"few", 2000}, {"more", 6000}} {
		began := time.Now()
		initRuns(t, "as", "netns=/run/netns/many", "--", guestInit, "links", "dummy", more.prefix, fmt.Sprint(more.n))
		took := time.Since(began)
		links += float64(more.n)
		t.Run(fmt.Sprint(links), func(t *testing.T) {
			m := vitalsAs(t, "", `
				interval: 5s, timeout: 5s, name: host, netlink: {netns: /run/netns/many, interfaces: [few1999]}
				interval: 5s, timeout: 5s, name: held, netlink: {netns: /run/netns/many, socket: held}`, "").awaits(t, "all are listed", func(m metrics) error {
				return errors.Join(listed(m, "host", links), listed(m, "held", links), m.want(1, "vitals_netlink_interface_present", "netlink", "host", "interface", "few1999"))
			})
			t.Logf("%d links were made in %s\n%s%s", more.n, took.Round(time.Millisecond), m.about("vitals_netlink_latency"), m.about("process_resident_memory_bytes{}"))
		})
		if took > within {
			break
		}
	}
}

// While links come and go, the kernel marks a list that may be incomplete, and Vitals
// queries it again a few times. A list is complete or there is none, and a busy node is no
// reason for a restart.
func TestGuestNetlinkChanging(t *testing.T) {
	const links = 1001
	initRuns(t, "netns", "/run/netns/changing")
	initRuns(t, "as", "netns=/run/netns/changing", "--", guestInit, "links", "dummy", "link", fmt.Sprint(links-1))
	d := vitalsAs(t, "", "interval: 2s, timeout: 2s, name: host, netlink: {netns: /run/netns/changing}", read(t, netlinkRules))
	d.staysAlive(t)
	d.awaits(t, "all are listed", func(m metrics) error { return listed(m, "host", links) })
	for i := range 4 {
		work(t, "churn", "netns=/run/netns/changing", "link", fmt.Sprint("churn", i), "churn")
	}
	until := time.Now().Add(10 * time.Second)
	seen := map[string]int{}
	d.awaits(t, "a few collections", func(m metrics) error {
		right := errors.Join(m.wantFailure("", "vitals_netlink_failure", "netlink", "host"), m.wantBetween(links, links+4, "vitals_netlink_links", "netlink", "host"))
		switch {
		case right == nil:
			seen["right"]++
		case m.wantAbsent("vitals_netlink_links", "netlink", "host") != nil:
			t.Fatal(right)
		case m.wantFailure("interrupted", "vitals_netlink_failure", "netlink", "host") == nil:
			seen["interrupted"]++
		case m.wantFailure("timeout", "vitals_netlink_failure", "netlink", "host") == nil, m.wantAbsent("vitals_netlink_up", "netlink", "host") == nil:
			seen["late"]++ // as on a busy host
		default:
			t.Fatal(right)
		}
		if left := time.Until(until); left > 0 {
			return fmt.Errorf("%s are left", left)
		}
		return nil
	})
	t.Logf("what was seen how often: %v", seen)
}
