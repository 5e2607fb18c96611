package components

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
)

// newBoolean makes a collector with one shared boolean, in memory where that can be.
func newBoolean(b *testing.B) *Collector {
	dir, err := os.MkdirTemp("/dev/shm", "v")
	if err != nil {
		dir = b.TempDir()
	}
	b.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "watcher")
	if err := os.WriteFile(path, []byte{1}, 0o600); err != nil {
		b.Fatal(err)
	}
	config := Config{SharedBooleans: map[string]SharedBoolean{"watcher": {Path: path}}}
	c, err := config.New(collectors.Env{})
	if err != nil {
		b.Fatal(err)
	}
	return c.(*Collector)
}

// BenchmarkSharedBoolean is the cost of one poll; there are 40 in a second.
func BenchmarkSharedBoolean(b *testing.B) {
	c := newBoolean(b)
	defer c.booleans[0].close()
	c.poll(c.booleans[0], true)
	b.ReportAllocs()
	for b.Loop() {
		c.poll(c.booleans[0], false)
	}
}

// BenchmarkSharedBooleanWatch is the share of a core, in percent, that watching a
// shared boolean takes, for waking up mostly. One operation is a second of it.
func BenchmarkSharedBooleanWatch(b *testing.B) {
	c := newBoolean(b)
	before, start := collectortest.CPU(b), time.Now()
	for b.Loop() {
		ctx, cancel := context.WithTimeout(b.Context(), time.Second)
		c.Run(ctx, func() {})
		cancel()
	}
	b.ReportMetric(100*float64(collectortest.CPU(b)-before)/float64(time.Since(start)), "%core")
}
