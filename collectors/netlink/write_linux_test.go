package netlink

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// linkNames returns the names of the fake kernel's links.
func (k *fakeKernel) linkNames() []string {
	var names []string
	for _, l := range k.links {
		names = append(names, l.name)
	}
	return names
}

func TestWriteTest(t *testing.T) {
	for _, kind := range []string{dummy, veth, bridge} {
		t.Run(kind, func(t *testing.T) {
			var made []fakeLink
			kernel := &fakeKernel{links: []fakeLink{{name: "lo"}}}
			kernel.answers = func(m netlink.Message, datagrams [][]byte) [][]byte {
				if m.Header.Type == unix.RTM_NEWLINK {
					made = append(made, kernel.links[1])
				}
				return datagrams
			}
			c := fakeCollector(t, Config{WriteTest: kind}, kernel)
			for range 3 {
				if got, err := collect(t, c); got != "links 1\nup 1\nwrite_up 1" || err != nil {
					t.Errorf("Collect() = %q, %v, want a link created", got, err)
				}
			}
			seen := map[string]bool{}
			for _, l := range made {
				if l.kind != kind || !isTestLink([]byte(l.name)) || (l.peer != "") != (kind == veth) || l.peer != "" && !isTestLink([]byte(l.peer)) {
					t.Errorf("made %+v, want a %s with the name of a test link", l, kind)
				}
				seen[l.name] = true
			}
			if len(seen) != 3 {
				t.Errorf("the names are %v, want three", seen)
			}
			if diff := cmp.Diff([]string{"lo"}, kernel.linkNames()); diff != "" {
				t.Errorf("links afterwards (-want +got):\n%s", diff)
			}
			if want := slices.Repeat([]uint16{unix.RTM_GETLINK, unix.RTM_NEWLINK, unix.RTM_DELLINK}, 3); !slices.Equal(kernel.requests, want) {
				t.Errorf("the requests are %v, want %v", kernel.requests, want)
			}
		})
	}
}

func TestWritesNothingByDefault(t *testing.T) {
	for _, config := range []Config{{}, {Socket: held}, {Interfaces: []string{"lo"}}} {
		kernel := &fakeKernel{links: []fakeLink{{name: "lo"}, {name: "vitals-00000000"}}}
		got, err := collect(t, fakeCollector(t, config, kernel))
		if err != nil || strings.Contains(got, "write") || len(kernel.requests) != 1 || len(kernel.links) != 2 {
			t.Errorf("%+v: Collect() = %q, %v with the requests %v, want a list and no more", config, got, err, kernel.requests)
		}
	}
}

// Links of an earlier process are deleted, and no others.
func TestLeftovers(t *testing.T) {
	others := []fakeLink{
		{name: "lo"}, {name: "vitals"}, {name: "vitals-"}, {name: "vitals-0"}, {name: "vitals-0000000"}, {name: "vitals-0000000g"},
		{name: "vitals-ABCDEF01"}, {name: "xvitals-0000000"}, {name: "Vitals-00000000"}, {name: "eth0", altnames: []string{"vitals-00000000"}},
		{name: "vitals-000000000"},
	}
	kernel := &fakeKernel{links: slices.Concat(others, []fakeLink{
		{name: "vitals-00000001", peer: "vitals-00000002"}, {name: "vitals-00000002", peer: "vitals-00000001"}, {name: "vitals-deadbeef"},
	})}
	c := fakeCollector(t, Config{WriteTest: veth}, kernel)
	if got, err := collect(t, c); got != "links 14\nup 1\nwrite_up 1" || err != nil {
		t.Errorf("Collect() = %q, %v, want a link created", got, err)
	}
	if diff := cmp.Diff((&fakeKernel{links: others}).linkNames(), kernel.linkNames()); diff != "" {
		t.Errorf("links afterwards (-want +got):\n%s", diff)
	}
}

func TestManyLeftovers(t *testing.T) {
	kernel := &fakeKernel{}
	for i := range 2*leftovers + 1 {
		kernel.links = append(kernel.links, fakeLink{name: fmt.Sprintf("vitals-%08x", i)})
	}
	c := fakeCollector(t, Config{WriteTest: bridge}, kernel)
	for _, left := range []int{leftovers + 1, 1, 0} {
		if got, err := collect(t, c); err != nil || len(kernel.links) != left {
			t.Errorf("Collect() = %q, %v with %d links left, want %d", got, err, len(kernel.links), left)
		}
	}
}

func TestWriteFails(t *testing.T) {
	refuses := func(errno unix.Errno, kinds ...uint16) map[uint16]unix.Errno {
		all := map[uint16]unix.Errno{}
		for _, kind := range kinds {
			all[kind] = errno
		}
		return all
	}
	// slow delays a request of the kind beyond the deadline. The request succeeds.
	slow := func(kind netlink.HeaderType) func(<-chan struct{}, netlink.Message) error {
		return func(_ <-chan struct{}, m netlink.Message) error {
			if m.Header.Type == kind {
				time.Sleep(1200 * time.Millisecond)
			}
			return nil
		}
	}
	silent := func(kind netlink.HeaderType) func(netlink.Message, [][]byte) [][]byte {
		return func(m netlink.Message, datagrams [][]byte) [][]byte {
			if m.Header.Type == kind {
				return nil
			}
			return datagrams
		}
	}
	links := func(names ...string) []fakeLink {
		all := []fakeLink{{name: "lo"}}
		for _, name := range names {
			all = append(all, fakeLink{name: name})
		}
		return all
	}
	tests := []struct {
		name   string
		kernel fakeKernel
		want   reason
		text   string
	}{
		{"no right to make links", fakeKernel{links: links(), refused: refuses(unix.EPERM, unix.RTM_NEWLINK, unix.RTM_DELLINK)}, forbidden, "create a link of the type veth: netlink receive: operation not permitted"},
		{"no such type of link", fakeKernel{links: links(), refused: refuses(unix.EOPNOTSUPP, unix.RTM_NEWLINK)}, unsupported, "create a link of the type veth: netlink receive: operation not supported"},
		{"no memory", fakeKernel{links: links(), refused: refuses(unix.ENOMEM, unix.RTM_NEWLINK)}, overflow, "cannot allocate memory"},
		{"a name that is taken", fakeKernel{links: links(), refused: refuses(unix.EEXIST, unix.RTM_NEWLINK)}, protocol, "file exists"},
		{"garbage", fakeKernel{links: links(), answers: func(m netlink.Message, d [][]byte) [][]byte {
			if m.Header.Type == unix.RTM_NEWLINK {
				return [][]byte{[]byte("garbage")}
			}
			return d
		}}, protocol, "an answer without an acknowledgement"},
		{"a link instead of an acknowledgement", fakeKernel{links: links(), answers: func(m netlink.Message, d [][]byte) [][]byte {
			if m.Header.Type == unix.RTM_NEWLINK {
				return [][]byte{fakeMessage(m, unix.RTM_NEWLINK, 0, fakeLink{name: "lo"}.encode())}
			}
			return d
		}}, protocol, "a message of the type 16: expected an acknowledgement"},
		{"no acknowledgement of the link", fakeKernel{links: links(), answers: silent(unix.RTM_NEWLINK)}, timeout, "create a link of the type veth: netlink receive: i/o timeout"},
		{"no acknowledgement of the deletion", fakeKernel{links: links(), answers: silent(unix.RTM_DELLINK)}, timeout, "delete link vitals-"},
		{"the deadline comes while the link is made", fakeKernel{links: links(), sends: slow(unix.RTM_NEWLINK)}, timeout, "stuck in the kernel"},
		{"the deadline comes while the link is deleted", fakeKernel{links: links(), sends: slow(unix.RTM_DELLINK)}, timeout, "stuck in the kernel"},
		{"no right to delete a leftover", fakeKernel{links: links("vitals-00000001"), refused: refuses(unix.EPERM, unix.RTM_DELLINK)}, forbidden, "delete link vitals-00000001 of an earlier collection: netlink receive: operation not permitted"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kernel := tt.kernel
				before := kernel.linkNames()
				c := fakeCollector(t, Config{WriteTest: veth, Socket: held}, &kernel)
				got, err := collect(t, c)
				want := fmt.Sprintf("links %d\nup 1\nwrite_failure %s 1\nwrite_up 0", len(before), tt.want)
				if got != want {
					t.Errorf("Collect() = %q, want %q", got, want)
				}
				if err == nil || !strings.Contains(err.Error(), tt.text) {
					t.Errorf("Collect() = %v, want an error with %q", err, tt.text)
				}
				c.end()
				if diff := cmp.Diff(before, kernel.linkNames()); diff != "" {
					t.Errorf("links afterwards (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// A link that another process has deleted, for example another Vitals as a leftover, is
// no error.
func TestWriteTestLinkGone(t *testing.T) {
	kernel := &fakeKernel{links: []fakeLink{{name: "lo"}}}
	kernel.answers = func(m netlink.Message, datagrams [][]byte) [][]byte {
		if m.Header.Type == unix.RTM_NEWLINK {
			kernel.links = kernel.links[:1]
		}
		return datagrams
	}
	if got, err := collect(t, fakeCollector(t, Config{WriteTest: veth}, kernel)); got != "links 1\nup 1\nwrite_up 1" || err != nil {
		t.Errorf("Collect() = %q, %v, want a link created", got, err)
	}
}
