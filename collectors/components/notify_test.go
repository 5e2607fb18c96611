package components_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/components"
)

// listenNotify runs a collector with a socket for the component watcher.
func listenNotify(t testing.TB, more string) (c *components.Collector, socket string, stop func()) {
	t.Helper()
	dir := filepath.Join(collectortest.Dir(t), "n")
	c = newCollector(t, "{expect: [watcher], notify_directory: "+dir+more+"}")
	stop, _ = collectortest.Run(t, c)
	socket = filepath.Join(dir, "watcher.sock")
	collectortest.Wait(t, "the socket has its mode", func() bool {
		info, err := os.Lstat(socket)
		return err == nil && info.Mode().Perm()&0o111 == 0
	})
	return c, socket, stop
}

func dialNotify(t testing.TB, socket string) *net.UnixConn {
	t.Helper()
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func sendNotify(t testing.TB, conn *net.UnixConn, datagram string) {
	t.Helper()
	if _, err := conn.Write([]byte(datagram)); err != nil {
		t.Fatalf("send %.40q: %v", datagram, err)
	}
}

// counterValue returns one of the counters of the component watcher.
func counterValue(t testing.TB, c *components.Collector, name string) float64 {
	t.Helper()
	samples, err := c.Collect(t.Context())
	if err != nil {
		t.Fatalf("Collect() = %v, want no error", err)
	}
	v, ok := collectortest.Value(samples, name+`{component="watcher"}`)
	if !ok {
		t.Fatalf("no %s, want one", name)
	}
	return v
}

func TestNotify(t *testing.T) {
	defer goleak.VerifyNone(t)
	c, socket, stop := listenNotify(t, "")
	defer stop()
	conn := dialNotify(t, socket)
	for _, step := range []struct{ send, want string }{
		{"STATUS=starting", "alive true, ready ?: starting"},
		{"READY=1\nSTATUS=synced 42 pods", "alive true, ready true: synced 42 pods"},
		{"WATCHDOG=1", "alive true, ready true: synced 42 pods"},
		{"RELOADING=1", "alive true, ready true: reloading"},
		{"READY=1", "alive true, ready true: "},
		{"WATCHDOG=trigger", "alive false, ready false: watchdog trigger"},
		{"WATCHDOG=1", "alive true, ready true: "},
		{"ERRNO=28", "alive false, ready false: errno 28: no space left on device"},
		{"READY=1", "alive true, ready true: "},
		{"STOPPING=1", "alive true, ready false: stopping"},
	} {
		reports := counterValue(t, c, "vitals_component_reports_total")
		sendNotify(t, conn, step.send)
		collectortest.Wait(t, "the report "+step.send, func() bool {
			return counterValue(t, c, "vitals_component_reports_total") > reports
		})
		if got := statusText(c, "watcher"); got != step.want {
			t.Errorf("after %q: %s, want %s", step.send, got, step.want)
		}
	}
	if via := c.Status()[0].Via; via != "notify" {
		t.Errorf("Via = %q, want notify", via)
	}
}

func TestNotifyStartsACollection(t *testing.T) {
	defer goleak.VerifyNone(t)
	dir := collectortest.Dir(t)
	c := newCollector(t, "{expect: [watcher], notify_directory: "+dir+"}")
	stop, collections := collectortest.Run(t, c)
	defer stop()
	socket := filepath.Join(dir, "watcher.sock")
	collectortest.Wait(t, "the socket", func() bool { _, err := os.Lstat(socket); return err == nil })
	sendNotify(t, dialNotify(t, socket), "READY=1")
	select {
	case <-collections:
	case <-time.After(collectortest.Patience):
		t.Error("no collection was started, want one")
	}
}

func TestNotifyGarbage(t *testing.T) {
	defer goleak.VerifyNone(t)
	c, socket, stop := listenNotify(t, "")
	defer stop()
	conn := dialNotify(t, socket)
	for n, datagram := range []string{
		"", "\n", "no assignment", "\x00\xff\xfe binary\x01", strings.Repeat("A", 64<<10),
		"READY=1\n" + strings.Repeat("X=1\n", 16<<10), "READY=maybe", "STATUS=\xff",
	} {
		sendNotify(t, conn, datagram)
		collectortest.Wait(t, "the datagram is counted", func() bool {
			return counterValue(t, c, "vitals_component_invalid_reports_total") == float64(n+1)
		})
	}
	if got, want := statusText(c, "watcher"), "alive true, ready ?: \uFFFD"; got != want {
		t.Errorf("Status() = %s, want %s: only the last datagram is valid", got, want)
	}
}

func TestNotifySetsTheDeadline(t *testing.T) {
	defer goleak.VerifyNone(t)
	c, socket, stop := listenNotify(t, ", deadline: 1h")
	defer stop()
	conn := dialNotify(t, socket)
	sendNotify(t, conn, "READY=1\nWATCHDOG_USEC=1000")
	collectortest.Wait(t, "silence of 100 ms", func() bool {
		return strings.HasPrefix(statusText(c, "watcher"), "alive false, ready false: no report for ")
	})
	sendNotify(t, conn, "WATCHDOG_USEC=3600000000")
	collectortest.Wait(t, "recovery", func() bool { return statusText(c, "watcher") == "alive true, ready true: " })
}

// A descriptor that comes with a datagram is closed: the other end of a pipe sees
// its end. That is what a sender of BARRIER=1 waits for.
func TestNotifyClosesDescriptors(t *testing.T) {
	defer goleak.VerifyNone(t)
	_, socket, stop := listenNotify(t, "")
	defer stop()
	sender, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(sender)
	before := countDescriptors(t)
	for _, datagram := range []string{"BARRIER=1", "FDSTORE=1\nFDNAME=x", "\xff"} {
		for range 20 {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			rights := syscall.UnixRights(int(w.Fd()))
			if err := syscall.Sendmsg(sender, []byte(datagram), rights, &syscall.SockaddrUnix{Name: socket}, 0); err != nil {
				t.Fatal(err)
			}
			_ = w.Close()
			_ = r.SetReadDeadline(time.Now().Add(collectortest.Patience))
			if n, err := r.Read(make([]byte, 1)); n != 0 || err == nil || os.IsTimeout(err) {
				t.Errorf("%q: Read() = %d, %v, want the end of the pipe", datagram, n, err)
			}
			_ = r.Close()
		}
	}
	if after := countDescriptors(t); after != before {
		t.Errorf("%d descriptors are open, want %d as before", after, before)
	}
}

func countDescriptors(t *testing.T) int {
	t.Helper()
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(open)
}

func TestNotifySocketMode(t *testing.T) {
	defer goleak.VerifyNone(t)
	for _, tt := range []struct {
		more string
		want fs.FileMode
	}{{"", 0o660}, {", notify_mode: 0606", 0o606}} {
		_, socket, stop := listenNotify(t, tt.more)
		collectortest.Wait(t, fmt.Sprintf("the socket has the mode %v", tt.want), func() bool {
			info, err := os.Lstat(socket)
			return err == nil && info.Mode().Perm() == tt.want
		})
		stop()
		if _, err := os.Lstat(socket); !os.IsNotExist(err) {
			t.Errorf("Lstat() after the end = %v, want not exist", err)
		}
	}
}

func TestNotifyTakesAnEarlierProcessPlace(t *testing.T) {
	defer goleak.VerifyNone(t)
	dir := collectortest.Dir(t)
	socket := filepath.Join(dir, "watcher.sock")
	stale, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	_ = stale.Close() // which leaves the file
	c := newCollector(t, "{expect: [watcher], notify_directory: "+dir+"}")
	stop, _ := collectortest.Run(t, c)
	defer stop()
	collectortest.Wait(t, "a listener", func() bool {
		conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: socket, Net: "unixgram"})
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
}

func TestNotifyPlaceIsTaken(t *testing.T) {
	tests := []struct {
		name  string
		taken func(t *testing.T, path string) (free func())
		want  string
	}{
		{"by a live process", func(t *testing.T, path string) func() {
			conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
			if err != nil {
				t.Fatal(err)
			}
			return func() { _ = os.Remove(path); _ = conn.Close() } // in this order: the file may then be that of the collector
		}, "is in use by another process"},
		{"by another type of socket", func(t *testing.T, path string) func() {
			l, err := net.Listen("unix", path)
			if err != nil {
				t.Fatal(err)
			}
			return func() { _ = l.Close() }
		}, "is in use as another type of socket"},
		{"by a file", func(t *testing.T, path string) func() {
			collectortest.Write(t, path, "precious")
			return func() {
				if data, err := os.ReadFile(path); err != nil || !bytes.Equal(data, []byte("precious")) {
					t.Errorf("ReadFile() = %q, %v, want the file as it was", data, err)
				}
				_ = os.Remove(path)
			}
		}, "exists and is not a socket"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			defer goleak.VerifyNone(t)
			dir := collectortest.Dir(t)
			socket := filepath.Join(dir, "watcher.sock")
			free := tt.taken(t, socket)
			c := newCollector(t, "{expect: [watcher, other], notify_directory: "+dir+"}")
			stop, _ := collectortest.Run(t, c)
			defer stop()
			fault := func() string {
				samples, err := c.Collect(t.Context())
				if len(samples) == 0 {
					t.Error("Collect() = no samples, want those of both components")
				}
				if err == nil {
					return ""
				}
				return err.Error()
			}
			collectortest.Wait(t, tt.want, func() bool { return strings.Contains(fault(), tt.want) })
			if strings.Contains(fault(), `"other"`) {
				t.Errorf("Collect() = %s, want nothing about the other component", fault())
			}
			free()
			collectortest.Wait(t, "the place to be taken over", func() bool { return fault() == "" })
			sendNotify(t, dialNotify(t, socket), "READY=1")
			collectortest.Wait(t, "a report", func() bool { return statusText(c, "watcher") == "alive true, ready true: " })
		})
	}
}

func TestNotifySocketIsMadeAgain(t *testing.T) {
	defer goleak.VerifyNone(t)
	c, socket, stop := listenNotify(t, "")
	if err := os.Remove(socket); err != nil {
		t.Fatal(err)
	}
	collectortest.Wait(t, "the socket to be back", func() bool { _, err := os.Lstat(socket); return err == nil })
	collectortest.Wait(t, "a listener", func() bool {
		conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: socket, Net: "unixgram"})
		if err != nil {
			return false
		}
		defer conn.Close()
		_, err = conn.Write([]byte("READY=1"))
		return err == nil
	})
	collectortest.Wait(t, "a report", func() bool { return statusText(c, "watcher") == "alive true, ready true: " })

	// A successor's socket is not removed. At no time is its place free for the own one.
	next, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket + ".new", Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close()
	if err := os.Rename(socket+".new", socket); err != nil {
		t.Fatal(err)
	}
	stop()
	if _, err := os.Lstat(socket); err != nil {
		t.Errorf("Lstat() of the successor's socket = %v, want no error", err)
	}
}
