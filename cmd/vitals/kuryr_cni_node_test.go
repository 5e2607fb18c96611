package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// mebibyte is the unit of max_memory_usage, in bytes.
const mebibyte = 1 << 20

// node is what the CNI daemon's profile measures on its own host: a tree of files in
// the place of the kernel's and of those that an installation leaves, and an exporter
// in place of netlink data and of the daemon's own metrics.
type node struct {
	dir      string
	exporter *httptest.Server
	// used is the use of memory that use wrote last, in bytes.
	used int

	// mu guards what follows.
	mu sync.Mutex
	// fails is why netlink fails; empty while it works.
	fails string
	// links are the configured interfaces: absent, down or up.
	links map[string]string
	// answered are the requests that the daemon's own metrics count.
	answered map[answered]int
}

// answered is a kind of requests in the daemon's own metrics.
type answered struct {
	command, failed string
	// seconds is how long each of them took.
	seconds int
}

// newNode creates a healthy node.
func newNode(t *testing.T) *node {
	t.Helper()
	n := &node{dir: t.TempDir(), links: map[string]string{"br-int": "up"}, answered: map[answered]int{}}
	archive, err := txtar.ParseFile("testdata/cni_node.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var stat syscall.Stat_t
	if err := syscall.Stat(n.dir, &stat); err != nil {
		t.Fatal(err)
	}
	dev := uint64(stat.Dev)
	fill := strings.NewReplacer("TREE", n.dir, "DEVICE", fmt.Sprintf("%d:%d", dev>>8&0xfff|dev>>32&^0xfff, dev&0xff|dev>>12&^0xff))
	for _, f := range archive.Files {
		n.write(t, f.Name, fill.Replace(string(f.Data)))
	}
	if err := os.Chmod(n.path("cni/bin/kuryr-cni"), 0o755); err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/netlink", n.serve(n.netlink))
	mux.HandleFunc("/metrics", n.serve(n.requests))
	n.exporter = serveHTTP(t, mux)
	return n
}

func (n *node) path(name string) string { return filepath.Join(n.dir, name) }

func (n *node) read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(n.path(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// write replaces a file atomically.
func (n *node) write(t *testing.T, name, text string) {
	t.Helper()
	path := n.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	next := path + ".next"
	writeFile(t, next, text)
	if info, err := os.Stat(path); err == nil {
		if err := os.Chmod(next, info.Mode()); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Rename(next, path); err != nil {
		t.Fatal(err)
	}
}

// use lets the daemon use memory, in bytes: all of it without swap, the page cache in
// it without recent use, and swap.
func (n *node) use(t *testing.T, usage, cache, swap int) {
	t.Helper()
	total := func() { n.write(t, "cgroup/kuryr/memory.current", fmt.Sprintln(usage)) }
	// A collection in between reads at most the larger of the two uses.
	if usage < n.used {
		total()
	} else {
		defer total()
	}
	n.used = usage
	n.write(t, "cgroup/kuryr/memory.swap.current", fmt.Sprintln(swap))
	n.write(t, "cgroup/kuryr/memory.stat", fmt.Sprintf("anon %d\ninactive_file %d\n", usage-cache, cache))
}

func (n *node) serve(text func() string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		n.mu.Lock()
		defer n.mu.Unlock()
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		fmt.Fprint(w, text())
	}
}

// requests is the histogram that the CNI daemon exposes.
func (n *node) requests() string {
	const name = "kuryr_cni_request_duration_seconds"
	var b strings.Builder
	fmt.Fprintf(&b, "# TYPE %s histogram\n", name)
	for _, command := range []string{"ADD", "DEL"} {
		for _, failed := range []string{"False", "True"} {
			below, all, sum := 0, 0, 0
			for kind, count := range n.answered {
				if kind.command != command || kind.failed != failed {
					continue
				}
				all, sum = all+count, sum+count*kind.seconds
				if kind.seconds <= 50 {
					below += count
				}
			}
			if all == 0 {
				continue // a series begins with its first request
			}
			labels := fmt.Sprintf("command=%q,error=%q", command, failed)
			fmt.Fprintf(&b, "%s_bucket{%s,le=\"50.0\"} %d\n%s_bucket{%s,le=\"+Inf\"} %d\n", name, labels, below, name, labels, all)
			fmt.Fprintf(&b, "%s_count{%s} %d\n%s_sum{%s} %d\n", name, labels, all, name, labels, sum)
		}
	}
	return b.String()
}

// answers has the daemon's own metrics count requests; later one more was served, and
// was seen before anything else happens.
func answers(count int, command, failed string, seconds int) step {
	return func(t *testing.T, l *kuryrLab) func() {
		t.Helper()
		add := func(count int, kind answered) {
			l.node.mu.Lock()
			defer l.node.mu.Unlock()
			l.node.answered[kind] += count
		}
		add(count, answered{command, failed, seconds})
		return func() {
			add(1, answered{"ADD", "False", 1})
			l.round(t)
		}
	}
}

// netlinkReasons are those of vitals_netlink_failure.
func netlinkReasons() []string {
	return []string{"timeout", "forbidden", "overflow", "interrupted", "namespace", "unsupported", "protocol"}
}

// netlink is what a collector of the kind netlink would export. Most of its failures
// cannot be brought about without harm to the host, or without root.
func (n *node) netlink() string {
	var b strings.Builder
	gauge := func(name string, holds bool, labels string) {
		value := 0
		if holds {
			value = 1
		}
		fmt.Fprintf(&b, "vitals_netlink_%s{netlink=\"netlink\"%s} %d\n", name, labels, value)
	}
	gauge("up", n.fails == "", "")
	for _, reason := range netlinkReasons() {
		gauge("failure", n.fails == reason, fmt.Sprintf(",reason=%q", reason))
	}
	if n.fails != "" {
		return b.String()
	}
	for name, state := range n.links {
		gauge("interface_present", state != "absent", fmt.Sprintf(",interface=%q", name))
		if state != "absent" {
			gauge("interface_up", state == "up", fmt.Sprintf(",interface=%q", name))
		}
	}
	return b.String()
}

// file replaces a file of the node.
func nodeFile(name, text string) step {
	return func(t *testing.T, l *kuryrLab) func() {
		t.Helper()
		before := l.node.read(t, name)
		l.node.write(t, name, text)
		return func() { l.node.write(t, name, before) }
	}
}

// noFile removes a file of the node.
func noFile(name string) step {
	return func(t *testing.T, l *kuryrLab) func() {
		t.Helper()
		path := l.node.path(name)
		if err := os.Rename(path, path+".away"); err != nil {
			t.Fatal(err)
		}
		return func() {
			if err := os.Rename(path+".away", path); err != nil {
				t.Error(err)
			}
		}
	}
}

// mode changes the permissions of a file of the node.
func mode(name string, bits os.FileMode) step {
	return func(t *testing.T, l *kuryrLab) func() {
		t.Helper()
		info, err := os.Stat(l.node.path(name))
		if err != nil {
			t.Fatal(err)
		}
		set := func(bits os.FileMode) {
			if err := os.Chmod(l.node.path(name), bits); err != nil {
				t.Error(err)
			}
		}
		set(bits)
		return func() { set(info.Mode()) }
	}
}

// capabilities gives the daemon other lines Cap... in its status; without arguments, none.
func capabilities(lines ...string) step {
	return func(t *testing.T, l *kuryrLab) func() {
		t.Helper()
		const name = "proc/4711/status"
		status := slices.DeleteFunc(strings.SplitAfter(l.node.read(t, name), "\n"), func(line string) bool {
			return strings.HasPrefix(line, "Cap")
		})
		return nodeFile(name, strings.Join(append(status, lines...), ""))(t, l)
	}
}

// usesMemory lets the daemon use memory, see node.use.
func usesMemory(usage, cache, swap int) step {
	return func(t *testing.T, l *kuryrLab) func() {
		t.Helper()
		l.node.use(t, usage, cache, swap)
		return func() { l.node.use(t, 100*mebibyte, 0, 0) }
	}
}

// netlinkFails lets netlink fail for a reason.
func netlinkFails(reason string) step {
	return func(_ *testing.T, l *kuryrLab) func() {
		set := func(reason string) {
			l.node.mu.Lock()
			defer l.node.mu.Unlock()
			l.node.fails = reason
		}
		set(reason)
		return func() { set("") }
	}
}

// link brings an interface into a state.
func link(name, state string) step {
	return func(_ *testing.T, l *kuryrLab) func() {
		set := func(state string) {
			l.node.mu.Lock()
			defer l.node.mu.Unlock()
			l.node.links[name] = state
		}
		set(state)
		return func() { set("up") }
	}
}

// boolean sets the byte that a part of the daemon shares, in its place.
func boolean(component string, alive bool) step {
	return func(t *testing.T, l *kuryrLab) func() {
		t.Helper()
		f, err := os.OpenFile(l.node.path("shm/"+component), os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		set := func(alive bool) {
			value := []byte{0}
			if alive {
				value[0] = 1
			}
			if _, err := f.WriteAt(value, 0); err != nil {
				t.Error(err)
			}
		}
		set(alive)
		return func() { set(true) }
	}
}
