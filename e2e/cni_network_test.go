//go:build e2e

package e2e_test

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// namespace is a network namespace that a test made for itself.
type namespace string

// newNamespace makes one, with its loopback interface alone. It is removed with the test.
func newNamespace(t *testing.T) namespace {
	t.Helper()
	n := namespace(filepath.Base(shortDirectory(t, "")))
	t.Cleanup(func() {
		if out, err := exec.Command("ip", "netns", "list").Output(); err == nil && strings.Contains(string(out), string(n)) {
			n.remove(t)
		}
	})
	n.make(t)
	return n
}

func (n namespace) make(t *testing.T)   { t.Helper(); ip(t, "netns", "add", string(n)) }
func (n namespace) remove(t *testing.T) { t.Helper(); ip(t, "netns", "delete", string(n)) }

// ip runs the program in the namespace.
func (n namespace) ip(t *testing.T, args ...string) {
	t.Helper()
	ip(t, append([]string{"-netns", string(n)}, args...)...)
}

// inOrder returns an error unless netlink works and lists that many links.
func (m *cniManager) inOrder(links float64) error {
	return errors.Join(m.healthy(), m.has(1, "vitals_netlink_up", "netlink", "netlink"), m.has(links, "vitals_netlink_links", "netlink", "netlink"))
}

// TestCNINamespaceDeleted deletes the network namespace under the collector, and puts
// another one in its place, with a pause and without: what is measured is always the one
// that has the name now. No restart of the CNI daemon makes a namespace.
func TestCNINamespaceDeleted(t *testing.T) {
	t.Parallel()
	for _, socket := range []string{"fresh", "held"} {
		t.Run(socket, func(t *testing.T) {
			t.Parallel()
			n := newNamespace(t)
			m := startCNI(t, cniOptions{collectors: "netlink: {netlink: {netns: /run/netns/" + string(n) + ", socket: " + socket + "}}"})
			await(t, "in order", cniWithin, func() error { return m.inOrder(1) })
			m.staysAlive(t)

			n.remove(t)
			took := await(t, "the namespace is gone", cniWithin, func() error {
				return errors.Join(m.state("ready", "NetlinkDown failing: "), m.has(0, "vitals_netlink_up", "netlink", "netlink"),
					m.has(1, "vitals_netlink_failure", "netlink", "netlink", "reason", "namespace"))
			})
			t.Logf("not ready %s after it was deleted", took.Round(100*time.Millisecond))

			n.make(t)
			n.ip(t, "link", "add", "another", "type", "bridge")
			await(t, "another one with its name", cniWithin, func() error { return m.inOrder(2) })

			n.remove(t)
			n.make(t)
			await(t, "a third one at once", cniWithin, func() error { return m.inOrder(1) })
		})
	}
}

// TestCNIInterface sets an interface down, takes its carrier and deletes it. Down it may
// be, as a bridge of Open vSwitch is that works. Others made it and mend it, so without
// it the node is not ready, and nothing is restarted.
func TestCNIInterface(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	add := func() {
		n.ip(t, "link", "add", "br-int", "up", "type", "veth", "peer", "name", "far-end")
		n.ip(t, "link", "set", "far-end", "up")
	}
	add()
	m := startCNI(t, cniOptions{collectors: "netlink: {netlink: {netns: /run/netns/" + string(n) + ", interfaces: [br-int]}}"})
	// shows compares the gauges of the interface: down means that nothing runs over it.
	shows := func(up, running float64) error {
		link := []string{"netlink", "netlink", "interface", "br-int"}
		return errors.Join(m.has(1, "vitals_netlink_interface_present", link...),
			m.has(up, "vitals_netlink_interface_up", link...), m.has(running, "vitals_netlink_interface_running", link...))
	}
	await(t, "in order", cniWithin, func() error { return errors.Join(m.inOrder(3), shows(1, 1)) })
	m.staysAlive(t)

	n.ip(t, "link", "set", "br-int", "down")
	await(t, "the interface is down", cniWithin, func() error {
		return errors.Join(m.healthy(), m.rule("InterfaceDown", "ready", "failing"), shows(0, 0))
	})
	n.ip(t, "link", "set", "br-int", "up")
	await(t, "the interface is up again", cniWithin, func() error { return errors.Join(m.inOrder(3), shows(1, 1)) })

	n.ip(t, "link", "set", "far-end", "down")
	await(t, "the interface has no carrier", cniWithin, func() error { return shows(1, 0) })
	m.steady(t, 3*time.Second, m.healthy)

	n.ip(t, "link", "delete", "br-int")
	await(t, "the interface is gone", cniWithin, func() error {
		return errors.Join(m.state("ready", "InterfaceMissing failing: The interface br-int does not exist."),
			m.has(0, "vitals_netlink_interface_present", "netlink", "netlink", "interface", "br-int"))
	})
	add()
	await(t, "the interface is there again", cniWithin, func() error { return errors.Join(m.inOrder(3), shows(1, 1)) })
}
