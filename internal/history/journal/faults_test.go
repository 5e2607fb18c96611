package journal

import (
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitals-health/vitals/internal/history"
)

// A disk that is full, and then no longer: one warning, and no event is missing.
func TestFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		var room atomic.Int64
		room.Store(1000)
		full := func(f *os.File, record []byte) (int, error) {
			n, err := f.Write(record[:min(int(room.Load()), len(record))])
			if room.Add(-int64(n)); err == nil && n < len(record) {
				err = &os.PathError{Op: "write", Path: f.Name(), Err: syscall.ENOSPC}
			}
			return n, err
		}
		p := startWith(t, options(dir), func(o Options, now time.Time) (*store, history.Past, error) {
			s, past, err := openStore(o, now)
			if err == nil {
				s.append = full
			}
			return s, past, err
		})
		p.wantWritable(true)
		for range 5 {
			p.change()
			time.Sleep(2 * beat)
		}
		p.wantWritable(false)
		p.wantLog(`level=WARN msg="events are not stored"`, 1)
		p.wantLog("no space left on device", 1)
		p.wantLog("damaged", 0)
		room.Store(1 << 20)
		time.Sleep(beat)
		p.wantWritable(true)
		p.wantLog("events are stored again", 1)
		p.kill()
		next := start(t, options(dir))
		defer next.stop()
		equal(t, p.events(), next.past.Events)
	})
}

// A file system that does not respond delays the start by a bounded time, and nothing later.
func TestFileSystemHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		responds := make(chan struct{})
		begin := time.Now()
		dir := t.TempDir()
		p := startWith(t, options(dir), func(o Options, now time.Time) (*store, history.Past, error) {
			<-responds
			return openStore(o, now)
		})
		if took := time.Since(begin); took > openTimeout+time.Second {
			t.Errorf("the start took %s, want at most %s", took, openTimeout)
		}
		p.wantWritable(false)
		p.wantLog("the directory does not respond", 1)
		close(responds)
		p.wantWritable(true)
		p.stop()
		next := start(t, options(dir))
		defer next.stop()
		equal(t, p.events(), next.past.Events)
	})
}

// A write that does not return is no success.
func TestWriteHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		returns := make(chan struct{})
		p := startWith(t, options(t.TempDir()), func(o Options, now time.Time) (*store, history.Past, error) {
			s, past, err := openStore(o, now)
			s.append = func(f *os.File, record []byte) (int, error) {
				<-returns
				return f.Write(record)
			}
			return s, past, err
		})
		p.change() // does not wait for the write
		time.Sleep(beat)
		p.wantWritable(false)
		p.wantLog("the directory does not respond", 1)
		close(returns)
		p.wantWritable(true)
		p.stop()
	})
}

// Directories that cannot be used: one warning with the reason, and the history goes on.
func TestUnusableDirectories(t *testing.T) {
	for name, tt := range map[string]struct {
		make func(t *testing.T, dir string) (path string)
		want string
	}{
		"no parent": {func(_ *testing.T, dir string) string { return filepath.Join(dir, "a", "b") }, "no such file"},
		"a file": {func(t *testing.T, dir string) string {
			write(t, filepath.Join(dir, "f"), nil)
			return filepath.Join(dir, "f")
		}, "not a directory"},
		"read-only": {func(*testing.T, string) string { return "/proc/self" }, "lock"},
		"a link": {func(t *testing.T, dir string) string {
			link(t, "/etc/passwd", filepath.Join(dir, lockName))
			return dir
		}, "too many levels of symbolic links"},
		"a directory": {func(t *testing.T, dir string) string { return mkdir(t, dir, lockName) }, "is a directory"},
		"a FIFO":      {func(t *testing.T, dir string) string { return fifo(t, dir, lockName) }, "no regular file"},
		"a file of all users": {func(t *testing.T, dir string) string {
			write(t, filepath.Join(dir, lockName), nil)
			chmod(t, filepath.Join(dir, lockName), 0o666)
			return dir
		}, "chmod 600 "},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := start(t, options(tt.make(t, t.TempDir())))
				defer p.stop()
				time.Sleep(5 * beat)
				p.wantWritable(false)
				p.wantLog("events are not stored", 1)
				p.wantLog(tt.want, 1)
				equal(t, 2, len(p.events()))
			})
		})
	}
}

func link(t *testing.T, to, name string) {
	t.Helper()
	if err := os.Symlink(to, name); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t *testing.T, dir, name string) string {
	t.Helper()
	if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func fifo(t *testing.T, dir, name string) string {
	t.Helper()
	if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A second process leaves the directory alone, and takes over when the first one ends. It then
// logs once which files it does not read.
func TestTwoProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := options(t.TempDir())
		mkdir(t, o.Dir, overridesName)
		first := start(t, o)
		second := start(t, o)
		defer second.stop()
		equal(t, 0, len(second.past.Events))
		second.wantWritable(false)
		second.wantLog("another process uses the directory", 1)
		second.wantLog("a file in the storage is not read", 0)
		first.wantWritable(true)
		first.stop()
		time.Sleep(beat)
		second.wantWritable(true)
		second.wantLog("events are stored again", 1)
		second.wantLog("a file in the storage is not read", 1)
		if err := second.journal.store.lock.Close(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * beat)
		second.wantLog("events are stored again", 2)
		second.wantLog("a file in the storage is not read", 1)
	})
}

func TestNoJournal(t *testing.T) {
	var j *Journal
	j.Run(t.Context(), history.New(time.Now()))
}

// The directory can be used later, and then a file of it fails between two events.
func TestErrorBetweenEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fails atomic.Bool
		fails.Store(true)
		locks := make(chan *os.File, 10)
		p := startWith(t, options(t.TempDir()), func(o Options, now time.Time) (*store, history.Past, error) {
			if fails.Load() {
				return nil, history.Past{}, syscall.EIO
			}
			s, past, err := openStore(o, now)
			locks <- s.lock
			return s, past, err
		})
		defer p.stop()
		p.wantWritable(false)
		fails.Store(false)
		time.Sleep(beat)
		p.wantWritable(true)
		if err := (<-locks).Close(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(beat)
		p.wantLog("file already closed", 1)
		time.Sleep(beat)
		p.wantWritable(true)
		p.wantLog("events are stored again", 2)
	})
}
