package file

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/files"
)

// newFile returns a collector of a file with this content. The test may replace its file system.
func newFile(t *testing.T, format, content string, keys ...string) (f *collector, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "file")
	rewrite(t, path, content)
	config := &Config{Path: path, Format: format, Keys: keys, SizeLimit: 1 << 20}
	c, err := config.New(collectors.Env{Name: "f"})
	if err != nil {
		t.Fatal(err)
	}
	return c.(*collector), path
}

func rewrite(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// outcome collects and returns a summary: exists, valid, the presence of the keys and the
// reason, with - for what is absent.
func outcome(t *testing.T, f *collector) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	samples, err := f.Collect(ctx)
	words := []string{"-", "-", "", ""}
	digit := func(v float64) string { return map[float64]string{0: "0", 1: "1"}[v] }
	for _, s := range samples {
		switch s.Labels.Get("__name__") {
		case "vitals_file_exists":
			words[0] = digit(s.Value)
		case "vitals_file_valid":
			words[1] = digit(s.Value)
		case "vitals_file_key_present":
			words[2] += digit(s.Value)
		case "vitals_file_failure":
			if s.Value == 1 {
				words[3] += s.Labels.Get("reason")
			}
		}
	}
	if (err != nil) != (words[3] != "") {
		t.Errorf("Collect() = %v with the reason %q, want both or neither", err, words[3])
	}
	return strings.Join(strings.Fields(strings.Join(words, " ")), " ")
}

// age makes the ctime of a file an hour older, so that its attributes count as settled.
func age(f *collector) {
	old := func(info fs.FileInfo, err error) (fs.FileInfo, error) {
		if err == nil {
			info.Sys().(*syscall.Stat_t).Ctim.Sec -= 3600
		}
		return info, err
	}
	stat, open := f.reader.stat, f.reader.open
	f.reader.stat = func(path string) (fs.FileInfo, error) { return old(stat(path)) }
	f.reader.open = func(path string) (openFile, error) {
		g, err := open(path)
		return hookedFile{openFile: g, stat: old}, err
	}
}

// hookedFile lets a test observe and change the calls to an open file.
type hookedFile struct {
	openFile
	stat func(fs.FileInfo, error) (fs.FileInfo, error)
	read func() error
}

func (f hookedFile) Stat() (fs.FileInfo, error) {
	if f.stat == nil {
		return f.openFile.Stat()
	}
	return f.stat(f.openFile.Stat())
}

func (f hookedFile) ReadAt(p []byte, at int64) (int, error) {
	n, err := f.openFile.ReadAt(p, at)
	if f.read != nil {
		if failed := f.read(); failed != nil {
			return 0, failed
		}
	}
	return n, err
}

// onRead calls a function after every read.
func onRead(f *collector, read func() error) {
	open := f.reader.open
	f.reader.open = func(path string) (openFile, error) {
		g, err := open(path)
		return hookedFile{openFile: g, read: read}, err
	}
}

// first does something the first time only.
func first(do func() error) func() error { return sync.OnceValue(do) }

// countOpened counts how often a file is opened.
func countOpened(f *collector) *int {
	opened, open := new(int), f.reader.open
	f.reader.open = func(path string) (openFile, error) {
		*opened++
		return open(path)
	}
	return opened
}

func TestReadsAgainOnlyAfterAChange(t *testing.T) {
	f, path := newFile(t, formatJSON, `{"a": 1}`, "a", "b")
	age(f)
	opened := countOpened(f)
	moment := time.Unix(1_700_000_000, 0)
	for _, step := range []struct {
		name string
		do   func() error
		want string
		read int
	}{
		{"first", func() error { return nil }, "1 1 10", 1},
		{"unchanged", func() error { return nil }, "1 1 10", 0},
		{"other content", func() error { return os.WriteFile(path, []byte(`{"a": 1, "b": 2}`), 0o600) }, "1 1 11", 1},
		{"other mode", func() error { return os.Chmod(path, 0o644) }, "1 1 11", 1},
		{"other time", func() error { return os.Chtimes(path, moment, moment) }, "1 1 11", 1},
		{"another file of the same size and time", func() error {
			return errors.Join(os.WriteFile(path+".new", []byte(`{"a": 1, "c": 2}`), 0o644), os.Chtimes(path+".new", moment, moment), os.Rename(path+".new", path))
		}, "1 1 10", 1},
		{"broken", func() error { return os.WriteFile(path, []byte(`{`), 0o600) }, "1 0 syntax", 1},
		{"still broken", func() error { return nil }, "1 0 syntax", 0},
		{"gone", func() error { return os.Remove(path) }, "0 -", 0},
		{"back", func() error { return os.WriteFile(path, []byte(`{"b": 2}`), 0o600) }, "1 1 01", 1},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		before := *opened
		if got := outcome(t, f); got != step.want {
			t.Errorf("%s: %s, want %s", step.name, got, step.want)
		}
		if read := *opened - before; read != step.read {
			t.Errorf("%s: opened %d times, want %d", step.name, read, step.read)
		}
	}
}

// Two changes within one tick of a file system's clock look like one.
func TestReadsAgainSoonAfterAChange(t *testing.T) {
	f, _ := newFile(t, formatJSON, `{"a": 1}`)
	opened := countOpened(f)
	for range 3 {
		outcome(t, f)
	}
	if *opened != 3 {
		t.Errorf("opened %d times in 3 collections, want 3", *opened)
	}
}

func TestDoesNotOpenWithoutFormat(t *testing.T) {
	f, _ := newFile(t, "", "{")
	opened := countOpened(f)
	if got := outcome(t, f); got != "1 -" || *opened != 0 {
		t.Errorf("outcome %s, opened %d times, want 1 - and 0", got, *opened)
	}
}

func TestFaults(t *testing.T) {
	const content = `{"a": 1}`
	tests := []struct {
		name  string
		fault func(t *testing.T, f *collector, path string)
		want  string
	}{
		{"nothing wrong", func(*testing.T, *collector, string) {}, "1 1 1"},
		{"stat is forbidden", func(_ *testing.T, f *collector, path string) {
			f.reader.stat = func(string) (fs.FileInfo, error) {
				return nil, &fs.PathError{Op: "stat", Path: path, Err: syscall.EACCES}
			}
		}, "- - forbidden"},
		{"stat fails", func(_ *testing.T, f *collector, path string) {
			f.reader.stat = func(string) (fs.FileInfo, error) { return nil, &fs.PathError{Op: "stat", Path: path, Err: syscall.EIO} }
		}, "- - unreadable"},
		{"may not be opened", func(_ *testing.T, f *collector, path string) {
			f.reader.open = func(string) (openFile, error) { return nil, &fs.PathError{Op: "open", Path: path, Err: syscall.EPERM} }
		}, "1 - forbidden"},
		{"cannot be opened", func(_ *testing.T, f *collector, path string) {
			f.reader.open = func(string) (openFile, error) { return nil, &fs.PathError{Op: "open", Path: path, Err: syscall.EMFILE} }
		}, "1 - unreadable"},
		{"cannot be read", func(_ *testing.T, f *collector, _ string) {
			onRead(f, func() error { return syscall.EIO })
		}, "1 - unreadable"},
		{"stat of the open file fails", func(_ *testing.T, f *collector, _ string) {
			f.reader.open = func(path string) (openFile, error) {
				g, err := files.Open(path)
				return hookedFile{openFile: g, stat: func(fs.FileInfo, error) (fs.FileInfo, error) { return nil, syscall.ESTALE }}, err
			}
		}, "- - unreadable"},
		{"vanishes before it is opened", func(t *testing.T, f *collector, path string) {
			f.reader.open = func(string) (openFile, error) { return nil, &fs.PathError{Op: "open", Path: path, Err: syscall.ENOENT} }
		}, "0 -"},
		{"becomes a fifo before it is opened", func(t *testing.T, f *collector, path string) {
			was, err := os.Stat(path)
			f.reader.stat = func(string) (fs.FileInfo, error) { return was, nil }
			if err := errors.Join(err, os.Remove(path), syscall.Mkfifo(path, 0o600)); err != nil {
				t.Fatal(err)
			}
		}, "1 0 not_regular"},
		{"fifo", func(t *testing.T, f *collector, path string) {
			if err := errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)); err != nil {
				t.Fatal(err)
			}
		}, "1 0 not_regular"},
		{"directory", func(t *testing.T, f *collector, path string) {
			if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil {
				t.Fatal(err)
			}
		}, "1 0 not_regular"},
		{"device", func(_ *testing.T, f *collector, _ string) { f.reader.path = "/dev/zero" }, "1 0 not_regular"},
		{"dangling symbolic link", func(t *testing.T, f *collector, path string) {
			if err := errors.Join(os.Remove(path), os.Symlink("nowhere", path)); err != nil {
				t.Fatal(err)
			}
		}, "0 -"},
		{"as large as it may be", func(_ *testing.T, f *collector, _ string) { f.reader.limit = int64(len(content)) }, "1 1 1"},
		{"one byte larger", func(_ *testing.T, f *collector, _ string) { f.reader.limit = int64(len(content)) - 1 }, "1 0 too_large"},
		{"empty", func(t *testing.T, f *collector, path string) { rewrite(t, path, "") }, "1 0 syntax"},
		{"written once while it is read", func(t *testing.T, f *collector, path string) {
			onRead(f, first(func() error { return os.WriteFile(path, []byte(`{"b": 1, "a": 2}`), 0o600) }))
		}, "1 1 1"},
		{"cut off while it is read", func(t *testing.T, f *collector, path string) {
			onRead(f, first(func() error { return os.Truncate(path, 3) }))
		}, "1 0 syntax"},
		{"written all the time", func(_ *testing.T, f *collector, path string) {
			longer := content
			onRead(f, func() error {
				longer += " "
				return os.WriteFile(path, []byte(longer), 0o600)
			})
		}, "1 - unreadable"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, path := newFile(t, formatJSON, content, "a")
			tt.fault(t, f, path)
			if got := outcome(t, f); got != tt.want {
				t.Errorf("outcome %s, want %s", got, tt.want)
			}
		})
	}
}

// A file that is replaced while it is read counts as it was, and in the next collection as it is.
func TestReplacedWhileItIsRead(t *testing.T) {
	f, path := newFile(t, formatJSON, `{"a": 1}`, "a", "b")
	onRead(f, first(func() error {
		return errors.Join(os.WriteFile(path+".new", []byte(`{"b": 1}`), 0o600), os.Rename(path+".new", path))
	}))
	for _, want := range []string{"1 1 10", "1 1 01"} {
		if got := outcome(t, f); got != want {
			t.Errorf("outcome %s, want %s", got, want)
		}
	}
}

// A mounted ConfigMap is replaced by renaming a symbolic link to its directory.
func TestConfigMapIsSwapped(t *testing.T) {
	f, path := newFile(t, formatYAML, "")
	age(f)
	dir := filepath.Dir(path)
	mount := func(revision, content string) {
		t.Helper()
		err := errors.Join(
			os.Mkdir(filepath.Join(dir, revision), 0o700),
			os.WriteFile(filepath.Join(dir, revision, "file"), []byte(content), 0o600),
			os.Symlink(revision, filepath.Join(dir, "..data_tmp")),
			os.Rename(filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data")),
		)
		if err != nil {
			t.Fatal(err)
		}
	}
	mount("..1", "a: 1")
	if err := errors.Join(os.Remove(path), os.Symlink("..data/file", path)); err != nil {
		t.Fatal(err)
	}
	outcomes := []string{outcome(t, f)}
	mount("..2", "a: :")
	outcomes = append(outcomes, outcome(t, f))
	mount("..3", "b: 1")
	outcomes = append(outcomes, outcome(t, f))
	if got, want := strings.Join(outcomes, ", "), "1 1, 1 0 syntax, 1 1"; got != want {
		t.Errorf("outcomes %s, want %s", got, want)
	}
}

// A file system that hangs blocks one goroutine, over any number of collections.
func TestHangingFileSystem(t *testing.T) {
	defer goleak.VerifyNone(t)
	f, _ := newFile(t, formatJSON, `{}`)
	stat := f.reader.stat
	called, release := make(chan bool, 10), make(chan struct{})
	f.reader.stat = func(path string) (fs.FileInfo, error) {
		called <- true
		<-release
		return stat(path)
	}
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		samples, err := f.Collect(ctx)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || reasonOf(err) != timeout || len(samples) != len(reasons()) {
			t.Errorf("Collect() = %v, %v, want the reason timeout alone", samples, err)
		}
	}
	if len(called) != 1 {
		t.Errorf("the file system was called %d times while it hung, want once", len(called))
	}
	close(release)
	if got := outcome(t, f); got != "1 1" {
		t.Errorf("outcome %s once the file system answers, want 1 1", got)
	}
}

// The content of a file is in no label and in no error.
func TestErrorsDoNotQuoteTheContent(t *testing.T) {
	const secret = "hunter2"
	for format, contents := range map[string][]string{
		formatYAML: {"a: hunter2: b", "a: *hunter2", "hunter2: 1\nhunter2: 2", "a: !<hunter2", "%hunter2", "a: \"hunter2", "- hunter2\nb", "&hunter2 &hunter2 a", "a: \"\\hunter2\""},
		formatJSON: {`{"hunter2": 1, "hunter2": 2}`, `hunter2`, `{"a": "hunter2"`, `{"a": hunter2}`, `"hunter2" hunter2`},
		formatINI:  {"hunter2", "[hunter2", "[a]\nhunter2", "hunter2 = 1", " hunter2", "[a]\n= hunter2", "[a]\nhunter2 = \xff"},
	} {
		for _, content := range contents {
			f, path := newFile(t, format, content)
			samples, err := f.Collect(t.Context())
			if reasonOf(err) != syntax {
				t.Errorf("%s %q: %v, want a mistake", format, content, err)
				continue
			}
			if !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), secret) {
				t.Errorf("%s %q: %v, want the file and no secret", format, content, err)
			}
			for _, s := range samples {
				if strings.Contains(s.Labels.String(), secret) {
					t.Errorf("%s %q: %s, want no secret", format, content, s.Labels)
				}
			}
		}
	}
}
