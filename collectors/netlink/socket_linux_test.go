package netlink

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"

	"github.com/vitals-health/vitals/collectors"
)

// A path that does not lead to a network namespace is an error.
func TestPathToNoNamespace(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, err := range []error{
		os.WriteFile(at("file"), []byte("net:[4026531840]"), 0o600),
		unix.Mkfifo(at("fifo"), 0o600),
		os.Symlink(at("nowhere"), at("dangling")),
		os.Symlink(at("loop"), at("loop")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct{ name, path, text string }{
		{"nothing", at("missing"), "no such file"},
		{"dangling link", at("dangling"), "no such file"},
		{"loop of links", at("loop"), "too many levels"},
		{"something below a file", at("file/below"), "not a directory"},
		{"name that is too long", at(strings.Repeat("x", 300)), "file name too long"},
		{"process that is gone", "/proc/4194305/ns/net", "no such file"}, // beyond PID_MAX_LIMIT
		{"fifo without a writer", at("fifo"), "not a network namespace"},
		{"directory", dir, "not a network namespace"},
		{"device", "/dev/null", "not a network namespace"},
		{"ordinary file, such as ip netns leaves behind", at("file"), "setns: invalid argument"},
		{"namespace of another kind", "/proc/self/ns/uts", "setns: invalid argument"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, kind := range []string{fresh, held} {
				c, err := (&Config{NetNS: tt.path, Socket: kind, WriteTest: off}).New(collectors.Env{Name: "host"})
				if err != nil {
					t.Fatal(err)
				}
				got, err := collect(t, c)
				if got != "failure namespace 1\nup 0" || err == nil || !strings.Contains(err.Error(), tt.text) || !strings.Contains(err.Error(), tt.path) {
					t.Errorf("Collect() = %q, %v, want the reason namespace and an error with %q and the path", got, err, tt.text)
				}
			}
		})
	}
}

// A held socket is replaced when its path leads to another namespace.
func TestPathChanges(t *testing.T) {
	link := filepath.Join(t.TempDir(), "net")
	c := collectorOf("host", Config{NetNS: link, Socket: held, WriteTest: off}, netnsPath(link))
	for _, step := range []struct {
		target, want string
		same         bool
	}{
		{"/proc/self/ns/net", "up 1", false},
		{"/proc/thread-self/ns/net", "up 1", true},
		{"/proc/self/ns/uts", "failure namespace 1\nup 0", false},
		{"/proc/self/ns/net", "up 1", false},
		{"/proc/4194305/ns/net", "failure namespace 1\nup 0", false},
	} {
		_ = os.Remove(link)
		if err := os.Symlink(step.target, link); err != nil {
			t.Fatal(err)
		}
		before := c.held
		got, err := collect(t, c)
		if !strings.HasSuffix(got, step.want) {
			t.Errorf("%s: Collect() = %q, %v, want %q", step.target, got, err, step.want)
		}
		if same := c.held == before && before != nil; same != step.same {
			t.Errorf("%s: the same socket: %v, want %v", step.target, same, step.same)
		}
	}
	if c.held != nil {
		t.Error("the socket is held without a namespace")
	}
}

func TestDeadline(t *testing.T) {
	conn, err := netnsPath("").open()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	none := func(netlink.Message) error { return nil }
	if err := conn.exchange(ctx, unanswered(), none); reasonOf(err) != timeout {
		t.Errorf("exchange() = %v without an answer, want a timeout", err)
	}
	if err := conn.exchange(ctx, listLinks(), none); reasonOf(err) != timeout {
		t.Errorf("exchange() = %v after the deadline, want a timeout", err)
	}
}

// unanswered is a request of a type that the kernel ignores.
func unanswered() netlink.Message {
	return netlink.Message{Header: netlink.Header{Type: netlink.Noop, Flags: netlink.Request}}
}

func TestCancellation(t *testing.T) {
	conn, err := netnsPath("").open()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if err := conn.exchange(ctx, unanswered(), func(netlink.Message) error { return nil }); reasonOf(err) != timeout {
		t.Errorf("exchange() = %v when canceled, want a timeout", err)
	}
}

// The errors of this kernel are those that the fake kernel returns.
func TestSocketOfThisKernel(t *testing.T) {
	conn, err := netnsPath("").open()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if conn.PID() == 0 {
		t.Error("PID() = 0, want an address of the socket")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	unknown := linkRequest(unix.RTM_GETLINK, 0, func(ae *netlink.AttributeEncoder) { ae.String(unix.IFLA_IFNAME, "no-such-link") })
	if err := conn.exchange(ctx, unknown, func(netlink.Message) error { return nil }); !errors.Is(err, unix.ENODEV) {
		t.Errorf("exchange() = %v for a link that does not exist, want %v", err, unix.ENODEV)
	}
	if err := conn.acknowledged(ctx, unknown); !errors.Is(err, unix.ENODEV) {
		t.Errorf("acknowledged() = %v for a link that does not exist, want %v", err, unix.ENODEV)
	}
}

// Collections leave no descriptors open.
func TestClosesWhatItOpens(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	open := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	for _, path := range []string{"", "/proc/self/ns/net", file, "/nowhere"} {
		c := collectorOf("host", Config{Socket: fresh, WriteTest: off}, netnsPath(path))
		_, _ = collect(t, c)
		before := open()
		for range 50 {
			_, _ = collect(t, c)
		}
		if after := open(); after > before+5 {
			t.Errorf("%q: %d descriptors are open after 50 collections, %d before", path, after, before)
		}
	}
}
