package textfile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/internal/budget"
)

// A file system that hangs fails at the deadline, with one call that waits for it.
func TestHang(t *testing.T) {
	dir := t.TempDir()
	collectortest.Write(t, filepath.Join(dir, "a.prom"), "a 1\n")
	synctest.Test(t, func(t *testing.T) {
		config := &Config{Path: filepath.Join(dir, "*.prom")}
		config.SetDefaults()
		made, err := config.New(collectors.Env{Name: "cron"})
		if err != nil {
			t.Fatal(err)
		}
		c, hang := made.(*collector), make(chan listing)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		// The system call that hangs is that of a collection whose deadline has passed.
		if _, err := c.call.Do(ctx, func() listing { return <-hang }); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("Do() = %v, want the deadline", err)
		}
		ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		samples, err := c.Collect(ctx)
		if v, _ := collectortest.Value(samples, `vitals_textfile_failure{component="cron",path="`+c.path+`",reason="timeout"}`); v != 1 || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Collect() = %v, %v, want the reason timeout", samples, err)
		}
		hang <- listing{}
		synctest.Wait()
		if _, err := c.Collect(t.Context()); err != nil {
			t.Errorf("Collect() = %v after the file system answers again, want no error", err)
		}
	})
}

// A file that waits for memory beside others fails with timeout, and one for which there is none
// with memory.
func TestBodies(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.prom")
	large := make([]byte, 600<<10)
	for i := range large {
		large[i] = '#'
	}
	large[len(large)-1] = '\n'
	if err := os.WriteFile(path, large, 0o600); err != nil {
		t.Fatal(err)
	}
	config := &Config{Path: path}
	config.SetDefaults()
	c, err := config.New(collectors.Env{Name: "cron", Bodies: budget.NewBodies(512 << 10)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Collect(t.Context()); reasonOf(err) != memory {
		t.Errorf("Collect() = %v with the reason %q, want memory", err, reasonOf(err))
	}
}

// A directory with too many entries is not read to its end.
func TestTooManyEntries(t *testing.T) {
	dir := t.TempDir()
	for i := range maxEntries {
		if err := os.Symlink("x", filepath.Join(dir, time.Unix(int64(i), 0).UTC().Format("150405"))); err != nil {
			t.Fatal(err)
		}
	}
	config := &Config{Path: filepath.Join(dir, "*.prom")}
	config.SetDefaults()
	c, err := config.New(collectors.Env{Name: "cron"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Collect(t.Context()); reasonOf(err) != tooManyFiles {
		t.Errorf("Collect() = %v with the reason %q, want too_many_files", err, reasonOf(err))
	}
}

// A file that another program writes again and again is read whole or not at all.
func TestAFileThatIsWrittenMeanwhile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.prom")
	stop, ended := make(chan struct{}), make(chan error)
	go func() {
		for {
			select {
			case <-stop:
				ended <- nil
				return
			default:
			}
			if err := os.WriteFile(path, []byte("a 1\nb 1\n"), 0o600); err != nil {
				ended <- err
				return
			}
		}
	}()
	config := &Config{Path: path}
	config.SetDefaults()
	c, err := config.New(collectors.Env{Name: "cron"})
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		samples, err := c.Collect(t.Context())
		_, a := collectortest.Value(samples, `a{component="cron"}`)
		_, b := collectortest.Value(samples, `b{component="cron"}`)
		if a != b {
			t.Errorf("a, b = %t, %t with the error %v, want both or none", a, b, err)
		}
	}
	close(stop)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}
