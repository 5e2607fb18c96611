package disk

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
)

// fake returns a collector of the path /data whose file system answers with r.
func fake(r func() result) *collector {
	return &collector{name: "data", disks: []*disk{{path: "/data", stat: r}}}
}

func TestExposition(t *testing.T) {
	c := fake(func() result {
		return result{usage: usage{size: 100 << 30, free: 12 << 30, available: 7 << 30, inodes: 6553600, inodesFree: 6500000, writable: true}}
	})
	c.disks = append(c.disks, &disk{path: "/gone", stat: func() result { return result{err: syscall.ENOENT} }})
	samples, err := c.Collect(t.Context())
	if want := "stat file system of /gone: no such file or directory"; err == nil || err.Error() != want {
		t.Errorf("Collect() = %v, want %s", err, want)
	}
	collectortest.Golden(t, "metrics.prom", collectortest.Exposition(samples, c.Describe()))
}

func TestReasons(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		want reason
	}{
		{"no such path", syscall.ENOENT, missing},
		{"a directory that may not be searched", syscall.EACCES, forbidden},
		{"an input or output error", syscall.EIO, unreadable},
		{"a stale handle of NFS", syscall.ESTALE, unreadable},
	} {
		t.Run(tt.name, func(t *testing.T) {
			samples, err := fake(func() result { return result{err: tt.err} }).Collect(t.Context())
			if !errors.Is(err, tt.err) {
				t.Errorf("Collect() = %v, want %v", err, tt.err)
			}
			series := `vitals_disk_failure{disk="data",path="/data",reason="` + string(tt.want) + `"}`
			if v, ok := collectortest.Value(samples, series); !ok || v != 1 || len(samples) != len(reasons()) {
				t.Errorf("%s = %v, %v in %d samples, want 1 and no other metric", series, v, ok, len(samples))
			}
		})
	}
}

// A file system that hangs fails at the deadline, and does not delay the others.
func TestHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := make(chan result)
		var calls atomic.Int64
		c := fake(func() result { calls.Add(1); return <-answer })
		c.disks = append(c.disks, &disk{path: "/", stat: func() result { return result{usage: usage{size: 1}} }})
		for range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			start := time.Now()
			samples, err := c.Collect(ctx)
			cancel()
			if took := time.Since(start); took != time.Second || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Collect() = %v after %s, want the deadline after 1s", err, took)
			}
			if v, _ := collectortest.Value(samples, `vitals_disk_failure{disk="data",path="/data",reason="timeout"}`); v != 1 {
				t.Errorf("the reason is not timeout: %v", samples)
			}
			if v, _ := collectortest.Value(samples, `vitals_disk_size_bytes{disk="data",path="/"}`); v != 1 {
				t.Errorf("the other path was not measured: %v", samples)
			}
		}
		if n := calls.Load(); n != 1 {
			t.Errorf("%d calls wait for the file system, want 1", n)
		}
		answer <- result{}
		synctest.Wait()
		close(answer)
		if _, err := c.Collect(t.Context()); err != nil {
			t.Errorf("Collect() = %v, want none after the file system answers again", err)
		}
	})
}

// The values are those of statfs(2) on a real file system.
func TestRealFileSystem(t *testing.T) {
	dir := t.TempDir()
	c := collectortest.New(t, "data", "paths: ["+dir+"]", &Config{})
	samples, err := collectortest.Collect(t, c)
	if err != nil {
		t.Fatal(err)
	}
	value := func(metric string) float64 {
		v, ok := collectortest.Value(samples, metric+`{disk="data",path="`+dir+`"}`)
		if !ok {
			t.Errorf("%s is missing", metric)
		}
		return v
	}
	size, free, available := value("vitals_disk_size_bytes"), value("vitals_disk_free_bytes"), value("vitals_disk_available_bytes")
	if size <= 0 || free > size || available > free {
		t.Errorf("size %v, free %v, available %v, want them in descending order", size, free, available)
	}
	if value("vitals_disk_inodes_free") > value("vitals_disk_inodes") || value("vitals_disk_writable") != 1 {
		t.Errorf("samples = %v, want at most all inodes free, and a writable file system", samples)
	}
	c = collectortest.New(t, "data", "paths: ["+filepath.Join(dir, "gone")+"]", &Config{})
	if _, err := collectortest.Collect(t, c); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Collect() = %v, want fs.ErrNotExist", err)
	}
}

func TestProblems(t *testing.T) {
	for text, want := range map[string]string{
		"{}":               "paths: no paths: expected at least one, such as /var/lib",
		"paths: [/a, b]":   `paths[1]: path "b": expected an absolute path`,
		"paths: [/a, /a]":  `paths[1]: path "/a": expected each path once`,
		"paths: [/a, /b/]": "",
	} {
		if got := collectortest.Problems(t, text, &Config{}); got != want {
			t.Errorf("Problems(%s) = %q, want %q", text, got, want)
		}
	}
}

func TestIsLocal(t *testing.T) {
	var kind collectors.Kind = &Config{Paths: []string{"/"}}
	if kind.External() || kind.Uses() != nil {
		t.Errorf("External() = %v, Uses() = %v, want neither", kind.External(), kind.Uses())
	}
	if names := kind.Metrics("data"); len(names) != len(defs()) || !strings.HasPrefix(names[0].Name, "vitals_disk_") {
		t.Errorf("Metrics() = %v, want the metrics of the kind", names)
	}
}
