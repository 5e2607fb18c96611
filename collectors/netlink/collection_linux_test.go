package netlink

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mdlayher/netlink"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/panics"
)

func TestInterfaces(t *testing.T) {
	links := []fakeLink{
		{name: "lo", flags: linkWorks | unix.IFF_LOOPBACK},
		{name: "eth0", altnames: []string{"enp1s0", "uplink"}, flags: linkWorks},
		{name: "eth1", flags: unix.IFF_UP | unix.IFF_BROADCAST},
		{name: "br-int", flags: unix.IFF_BROADCAST},
		{name: "dormant", flags: unix.IFF_UP | unix.IFF_LOWER_UP | unix.IFF_DORMANT},
	}
	tests := []struct{ name, want string }{
		{"lo", "interface_present lo 1\ninterface_running lo 1\ninterface_up lo 1"},
		{"eth0", "interface_present eth0 1\ninterface_running eth0 1\ninterface_up eth0 1"},
		{"uplink", "interface_present uplink 1\ninterface_running uplink 1\ninterface_up uplink 1"},
		{"eth1", "interface_present eth1 1\ninterface_running eth1 0\ninterface_up eth1 1"},
		{"br-int", "interface_present br-int 1\ninterface_running br-int 0\ninterface_up br-int 0"},
		{"dormant", "interface_present dormant 1\ninterface_running dormant 0\ninterface_up dormant 1"},
		{"eth", "interface_present eth 0"},
		{"eth00", "interface_present eth00 0"},
		{"noqueue", "interface_present noqueue 0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := collect(t, fakeCollector(t, Config{Interfaces: []string{tt.name}}, &fakeKernel{links: links}))
			if want := tt.want + "\nlinks 5\nup 1"; got != want || err != nil {
				t.Errorf("Collect() = %q, %v, want %q and no error", got, err, want)
			}
		})
	}
}

// manyLinks returns links as on a node with thousands of pods.
func manyLinks(count int) []fakeLink {
	links := make([]fakeLink, count)
	for i := range links {
		links[i] = fakeLink{name: fmt.Sprintf("tap%08x-%02x", i, i%256), flags: linkWorks}
	}
	return links
}

func TestManyLinks(t *testing.T) {
	links := manyLinks(8000)
	first, last := links[0].name, links[len(links)-1].name
	c := fakeCollector(t, Config{Interfaces: []string{first, last, "br-int"}}, &fakeKernel{links: links})
	want := strings.Join([]string{
		"interface_present " + first + " 1", "interface_present " + last + " 1", "interface_present br-int 0",
		"interface_running " + first + " 1", "interface_running " + last + " 1",
		"interface_up " + first + " 1", "interface_up " + last + " 1", "links 8000", "up 1",
	}, "\n")
	got, err := collectWithin(t, c, 30*time.Second) // a busy machine needs long under the race detector
	if sorted(got) != sorted(want) || err != nil {
		t.Errorf("Collect() = %q, %v, want %q and no error", got, err, want)
	}
}

func TestHeldSocket(t *testing.T) {
	here, there := netnsID{1, 1}, netnsID{1, 2}
	gone := netnsPath("/run/netns/x").fault("check", unix.ENOENT)
	overflow := fails(unix.ENOBUFS)
	steps := []struct {
		name           string
		in             netnsID
		missing        error
		receives       func(<-chan struct{}) error
		want           string
		opened, closed int
	}{
		{"the first opens a socket", here, nil, nil, "links 1\nup 1", 1, 0},
		{"the next uses it", here, nil, nil, "links 1\nup 1", 1, 0},
		{"it overflows", here, nil, overflow, "failure overflow 1\nup 0", 1, 1},
		{"another is opened", here, nil, nil, "links 1\nup 1", 2, 1},
		{"another namespace", there, nil, nil, "links 1\nup 1", 3, 2},
		{"the same again", there, nil, nil, "links 1\nup 1", 3, 2},
		{"no namespace", there, gone, nil, "failure namespace 1\nup 0", 3, 3},
		{"still none", there, gone, nil, "failure namespace 1\nup 0", 3, 3},
		{"it is back", there, nil, nil, "links 1\nup 1", 4, 3},
		{"no answer", there, nil, func(expired <-chan struct{}) error { <-expired; return os.ErrDeadlineExceeded }, "failure timeout 1\nup 0", 4, 4},
		{"answers again", there, nil, nil, "links 1\nup 1", 5, 4},
	}
	synctest.Test(t, func(t *testing.T) {
		kernel := &fakeKernel{links: []fakeLink{{name: "lo"}}}
		c := fakeCollector(t, Config{Socket: held}, kernel)
		for _, r := range steps {
			kernel.in, kernel.missing, kernel.receives = r.in, r.missing, r.receives
			if got, err := collect(t, c); got != r.want || (err != nil) != strings.HasPrefix(got, "failure") {
				t.Errorf("%s: Collect() = %q, %v, want %q", r.name, got, err, r.want)
			}
			if kernel.opened != r.opened || kernel.closed != r.closed {
				t.Errorf("%s: %d sockets opened and %d closed, want %d and %d", r.name, kernel.opened, kernel.closed, r.opened, r.closed)
			}
		}
	})
}

// A late answer is not read as the answer to the next request.
func TestHeldSocketDropsLateAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late := true
		kernel := &fakeKernel{links: []fakeLink{{name: "lo"}}}
		kernel.receives = func(expired <-chan struct{}) error {
			if !late {
				return nil
			}
			late = false
			<-expired
			return os.ErrDeadlineExceeded
		}
		c := fakeCollector(t, Config{Socket: held}, kernel)
		if got, err := collect(t, c); got != "failure timeout 1\nup 0" {
			t.Errorf("Collect() = %q, %v, want a timeout", got, err)
		}
		kernel.links = append(kernel.links, fakeLink{name: "eth0"})
		if got, err := collect(t, c); got != "links 2\nup 1" || err != nil {
			t.Errorf("Collect() = %q, %v, want two links and no error", got, err)
		}
	})
}

func TestRunClosesTheHeldSocket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kernel := &fakeKernel{links: []fakeLink{{name: "lo"}}}
		c := holder{fakeCollector(t, Config{Socket: held}, kernel)}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			c.Run(ctx, func() {})
		}()
		for range 2 {
			if got, err := collect(t, c); got != "links 1\nup 1" || err != nil {
				t.Errorf("Collect() = %q, %v, want one link and no error", got, err)
			}
		}
		if kernel.opened != 1 || kernel.closed != 0 {
			t.Errorf("%d sockets opened and %d closed while it runs, want 1 and 0", kernel.opened, kernel.closed)
		}
		cancel()
		<-done
		if kernel.closed != 1 {
			t.Errorf("%d sockets closed when Run has returned, want 1", kernel.closed)
		}
		if _, err := collect(t, c); err != nil || kernel.opened != 2 || kernel.closed != 2 {
			t.Errorf("Collect() = %v after Run with %d sockets opened and %d closed, want none left open", err, kernel.opened, kernel.closed)
		}
	})
}

func TestKindsOfSockets(t *testing.T) {
	for _, tt := range []struct {
		socket string
		runs   bool
	}{{fresh, false}, {held, true}} {
		c, err := (&Config{Socket: tt.socket}).New(collectors.Env{Name: "host"})
		if _, runs := c.(collectors.Runner); runs != tt.runs || err != nil {
			t.Errorf("New() with a %s socket = %T, %v, want a Runner: %v", tt.socket, c, err, tt.runs)
		}
	}
}

// A system call that waits for a lock of the kernel ignores the deadline.
func TestStuckInTheKernel(t *testing.T) {
	defer goleak.VerifyNone(t)
	synctest.Test(t, func(t *testing.T) {
		lock := make(chan struct{})
		kernel := &fakeKernel{
			links: []fakeLink{{name: "lo"}},
			sends: func(<-chan struct{}, netlink.Message) error { <-lock; return nil },
		}
		c := fakeCollector(t, Config{WriteTest: veth}, kernel)
		for i, text := range []string{"is stuck in the kernel", "has not answered the request of an earlier collection", "has not answered"} {
			begin := time.Now()
			got, err := collect(t, c)
			if got != "failure timeout 1\nup 0" || err == nil || !strings.Contains(err.Error(), text) {
				t.Errorf("collection %d: Collect() = %q, %v, want a timeout with %q", i, got, err, text)
			}
			if took := time.Since(begin); took != time.Second {
				t.Errorf("collection %d took %s, want the timeout, 1s", i, took)
			}
			synctest.Wait() // until the other goroutine is stuck
			if len(kernel.requests) != 1 {
				t.Errorf("collection %d: %d requests sent, want no other while one is stuck", i, len(kernel.requests))
			}
		}
		close(lock)
		if got, err := collect(t, c); got != "links 1\nup 1\nwrite_up 1" || err != nil {
			t.Errorf("Collect() = %q, %v when the lock is free, want that all works", got, err)
		}
	})
}

// A collection waits for the request of an earlier one until its deadline.
func TestStuckBriefly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kernel := &fakeKernel{links: []fakeLink{{name: "lo"}}}
		kernel.sends = func(<-chan struct{}, netlink.Message) error {
			time.Sleep(1500 * time.Millisecond)
			kernel.sends = nil
			return nil
		}
		c := fakeCollector(t, Config{}, kernel)
		if got, err := collect(t, c); got != "failure timeout 1\nup 0" {
			t.Errorf("Collect() = %q, %v, want a timeout", got, err)
		}
		if got, err := collect(t, c); got != "links 1\nup 1" || err != nil {
			t.Errorf("Collect() = %q, %v, want one link and no error", got, err)
		}
	})
}

func TestPanicReachesTheCaller(t *testing.T) {
	c := fakeCollector(t, Config{}, &fakeKernel{opens: func() error { panic("no socket today") }})
	defer func() {
		if got := panics.Of(recover()); got == nil || got.Value != "no socket today" {
			t.Errorf("recover() = %v, want what f panicked with", got)
		}
	}()
	_, err := collect(t, c)
	t.Errorf("Collect() = %v, want a panic", err)
}

func sorted(lines string) string {
	all := strings.Split(lines, "\n")
	slices.Sort(all)
	return strings.Join(all, "\n")
}
