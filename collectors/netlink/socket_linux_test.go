package netlink

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vitals-health/vitals/collectors"
)

// What the path leads to is no network namespace: nothing hangs, nothing is entered.
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
	tests := []struct{ name, path, says string }{
		{"nothing", at("missing"), "no such file"},
		{"dangling link", at("dangling"), "no such file"},
		{"loop of links", at("loop"), "too many levels"},
		{"something below a file", at("file/below"), "not a directory"},
		{"name that is too long", at(strings.Repeat("x", 300)), "file name too long"},
		{"process that is gone", "/proc/4194305/ns/net", "no such file"}, // beyond PID_MAX_LIMIT
		{"fifo without a writer", at("fifo"), "is no network namespace"},
		{"directory", dir, "is no network namespace"},
		{"device", "/dev/null", "is no network namespace"},
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
				got, err := round(t, c)
				if got != "failure namespace 1\nup 0" || err == nil || !strings.Contains(err.Error(), tt.says) || !strings.Contains(err.Error(), tt.path) {
					t.Errorf("Collect() = %q, %v, want the reason namespace and an error with %q and the path", got, err, tt.says)
				}
			}
		})
	}
}

// A held socket finds out that its path leads to another namespace now.
func TestPathChanges(t *testing.T) {
	link := filepath.Join(t.TempDir(), "net")
	c := makeNetlink("host", Config{NetNS: link, Socket: held, WriteTest: off}, netlinkPath(link))
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
		got, err := round(t, c)
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

func TestSocketKeepsTheDeadline(t *testing.T) {
	conn, err := netlinkPath("").open()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, _, err = conn.receive(ctx, make([]byte, netlinkDatagram))
	if reasonOfNetlink(err) != timeout {
		t.Errorf("receive() = %v without a request, want a timeout", err)
	}
	if err := conn.send(ctx, listLinks(1)); reasonOfNetlink(err) != timeout {
		t.Errorf("send() = %v after the deadline, want a timeout", err)
	}
}

// The kernel's own words for what the fake kernel only plays.
func TestSocketOfThisKernel(t *testing.T) {
	conn, err := netlinkPath("").open()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if conn.port() == 0 {
		t.Error("port() = 0, want an address of its own")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := conn.send(ctx, listLinks(7)); err != nil {
		t.Fatal(err)
	}
	short := make([]byte, 10)
	if length, from, err := conn.receive(ctx, short); length <= len(short) || from != 0 || err != nil {
		t.Errorf("receive() = %d, %d, %v with room for 10 bytes, want the length of all and the kernel's port", length, from, err)
	}
	n := fakeNetlink(t, Config{}, nil)
	n.sequence = 8
	unknown := linkRequest(unix.RTM_GETLINK, 0, n.sequence, appendAttribute(nil, unix.IFLA_IFNAME, cString("no-such-link")))
	fresh, err := netlinkPath("").open()
	if err != nil {
		t.Fatal(err)
	}
	defer fresh.Close()
	if err := n.exchange(ctx, fresh, unknown, func(message) error { return nil }); err != error(unix.ENODEV) {
		t.Errorf("exchange() = %v for a link that there is not, want %v", err, unix.ENODEV)
	}
}

// netlinkRounds do not use up descriptors, whether they fail or not.
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
		c := makeNetlink("host", Config{Socket: fresh, WriteTest: off}, netlinkPath(path))
		_, _ = round(t, c)
		before := open()
		for range 50 {
			_, _ = round(t, c)
		}
		if after := open(); after > before+5 {
			t.Errorf("%q: %d descriptors are open after 50 rounds, %d before", path, after, before)
		}
	}
}
