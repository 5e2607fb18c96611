package components_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/components"
)

// mapFile maps the first byte of a file, as a process that shares a boolean does.
func mapFile(t testing.TB, path string) []byte {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	shared, err := syscall.Mmap(int(f.Fd()), 0, 1, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(shared) })
	return shared
}

func waitStatus(t testing.TB, c *components.Collector, name, want string) {
	t.Helper()
	collectortest.Wait(t, name+" to be "+want, func() bool { return strings.HasPrefix(statusText(c, name), want) })
}

func TestSharedBoolean(t *testing.T) {
	defer goleak.VerifyNone(t)
	path := filepath.Join(t.TempDir(), "watcher")
	c := newCollector(t, "shared_booleans: {watcher: "+path+"}")
	stop, collections := collectortest.Run(t, c)
	defer stop()

	waitStatus(t, c, "watcher", "alive ?, ready ?: shared boolean: stat "+path+": no such file")
	collectortest.Write(t, path, "")
	waitStatus(t, c, "watcher", "alive ?, ready ?: shared boolean: file is empty")
	if c.Status()[0].Reported {
		t.Error("Reported = true, want false while the file is empty")
	}
	collectortest.Write(t, path, "\x01")
	waitStatus(t, c, "watcher", "alive true, ready ?: ")
	<-collections

	shared := mapFile(t, path)
	for range 3 { // it never latches
		shared[0] = 0
		waitStatus(t, c, "watcher", "alive false, ready ?: shared boolean is false")
		<-collections
		shared[0] = 0xff
		waitStatus(t, c, "watcher", "alive true, ready ?: ")
		<-collections
	}
	if s := c.Status()[0]; s.Via != "shared_boolean" || !s.Reported || s.LastReport.IsZero() {
		t.Errorf("Via, Reported, LastReport = %q, %v, %v, want those of a shared boolean", s.Via, s.Reported, s.LastReport)
	}

	// The process has started again, with a new file in the place of the old one.
	collectortest.Write(t, path+".new", "\x00")
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	waitStatus(t, c, "watcher", "alive false")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	waitStatus(t, c, "watcher", "alive ?, ready ?: shared boolean: stat")
	samples, err := c.Collect(t.Context())
	if _, ok := collectortest.Value(samples, `vitals_component_alive{component="watcher"}`); ok || err != nil {
		t.Errorf("Collect() = %v, %v, want no error and no vitals_component_alive", samples, err)
	}
}

func TestSharedBooleanWithReports(t *testing.T) {
	defer goleak.VerifyNone(t)
	path := filepath.Join(t.TempDir(), "watcher")
	collectortest.Write(t, path, "\x01")
	c := newCollector(t, "{expect: [watcher], shared_booleans: {watcher: "+path+"}}")
	stop, _ := collectortest.Run(t, c)
	defer stop()
	shared := mapFile(t, path)
	tests := []struct {
		name   string
		byte   byte
		report collectors.Report
		want   string
	}{
		{"both alive", 1, collectors.Report{Alive: new(true), Ready: new(true), Reason: "fine"}, "alive true, ready true: fine"},
		{"only the boolean dead", 0, collectors.Report{Alive: new(true)}, "alive false, ready false: shared boolean is false"},
		{"only the report dead", 1, collectors.Report{Alive: new(false), Reason: "deadlock"}, "alive false, ready false: deadlock"},
		{"both dead", 0, collectors.Report{Alive: new(false), Reason: "deadlock"}, "alive false, ready false: deadlock"},
		{"both alive again", 1, collectors.Report{Alive: new(true)}, "alive true, ready true: "},
	}
	for _, tt := range tests {
		shared[0] = tt.byte
		mustReport(t, c, "watcher", tt.report)
		collectortest.Wait(t, tt.name+": "+tt.want, func() bool { return statusText(c, "watcher") == tt.want })
	}
}

func TestSharedBooleanCannotBeRead(t *testing.T) {
	tests := []struct {
		name string
		make func(path string) error
		want string
	}{
		{"directory", func(path string) error { return os.Mkdir(path, 0o700) }, "is not a regular file"},
		{"fifo without a writer", func(path string) error { return syscall.Mkfifo(path, 0o600) }, "is not a regular file"},
		{"loop of symbolic links", func(path string) error { return os.Symlink(path, path) }, "too many levels of symbolic links"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			defer goleak.VerifyNone(t)
			path := filepath.Join(t.TempDir(), "b")
			if err := tt.make(path); err != nil {
				t.Fatal(err)
			}
			c := newCollector(t, "shared_booleans: {watcher: "+path+"}")
			stop, _ := collectortest.Run(t, c)
			collectortest.Wait(t, tt.want, func() bool { return strings.Contains(statusText(c, "watcher"), tt.want) })
			if got := statusText(c, "watcher"); !strings.HasPrefix(got, "alive ?, ready ?: ") {
				t.Errorf("Status() = %s, want an unknown state", got)
			}
			stop()
		})
	}
}

// BenchmarkReport is the cost of a heartbeat.
func BenchmarkReport(b *testing.B) {
	c := newCollector(b, "{expect: [watcher], deadline: 30s}")
	alive := true
	b.ReportAllocs()
	for b.Loop() {
		if err := c.Report("watcher", collectors.Report{Alive: &alive}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCollect is the cost of a collection of several components.
func BenchmarkCollect(b *testing.B) {
	for _, n := range []int{10, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c := newCollector(b, "accept: any")
			for i := range n {
				mustReport(b, c, fmt.Sprint("c", i), collectors.Report{Ready: new(true)})
			}
			b.ReportAllocs()
			for b.Loop() {
				_, _ = c.Collect(b.Context())
			}
		})
	}
}
