package http_test

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/vitals-health/vitals/collectors/collectortest"
	httpkind "github.com/vitals-health/vitals/collectors/http"
)

// The body is written with any expectations.
func TestBodyOutput(t *testing.T) {
	type answer struct {
		status int
		body   string
	}
	var next atomic.Pointer[answer]
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		a := next.Load()
		w.WriteHeader(a.status)
		_, _ = w.Write([]byte(a.body))
	}))
	defer server.Close()
	path := filepath.Join(collectortest.Dir(t), "body")
	c := collectortest.New(t, "api", `{url: "`+server.URL+`", body_size_limit: 8B, body_output: `+path+`}`, &httpkind.Config{})
	for _, tt := range []struct {
		status     int
		body, want string
	}{{200, "well", "well"}, {500, "broken", "broken"}, {200, "123456789", "12345678"}, {404, "", ""}} {
		next.Store(&answer{tt.status, tt.body})
		if _, err := collectortest.Collect(t, c); (err == nil) != (tt.status == 200) {
			t.Errorf("Collect() = %v of the status %d", err, tt.status)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != tt.want {
			t.Errorf("the body %q is left as %q, %v, want %q", tt.body, got, err, tt.want)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != fs.FileMode(0o600) {
		t.Errorf("the file is %v, %v, want one that only the user may read", info.Mode(), err)
	}
	next.Store(&answer{200, "well"})
	if _, err := collectortest.Collect(t, c); err != nil {
		t.Fatal(err)
	}
	server.Close()
	if _, err := collectortest.Collect(t, c); err == nil {
		t.Error("Collect() = nil without a server, want an error")
	}
	if got, err := os.ReadFile(path); string(got) != "well" {
		t.Errorf("the file has %q, %v, want what was answered last", got, err)
	}
}

// A body that cannot be written is no failure of the server, and delays nothing.
func TestBodyOutputFails(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(make([]byte, 512<<10)) // more than the buffer of a pipe
	}))
	defer server.Close()
	dir := collectortest.Dir(t)
	pipe, unread := filepath.Join(dir, "pipe"), filepath.Join(dir, "unread")
	for _, path := range []string{pipe, unread} {
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	reader, err := os.OpenFile(unread, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	for name, path := range map[string]string{"no folder": "/no/such/folder/body", "a folder": dir, "a pipe without a reader": pipe, "a full pipe": unread} {
		t.Run(name, func(t *testing.T) {
			c := collectortest.New(t, "api", `{url: "`+server.URL+`", body_output: `+path+`}`, &httpkind.Config{})
			begin := time.Now()
			if _, err := collectortest.CollectWithin(t, c, 2*time.Second); err != nil {
				t.Errorf("Collect() = %v, want no error", err)
			}
			if took := time.Since(begin); took > collectortest.Patience {
				t.Errorf("Collect() took %s, want it to end with its collection", took)
			}
			if note := collectortest.Note(c); !strings.HasPrefix(note, "200 ") || !strings.Contains(note, "; body_output: ") {
				t.Errorf("Note() = %q, want that the body could not be written", note)
			}
		})
	}
}

// A link is not followed: the file that it names stays as it is.
func TestBodyOutputFollowsNoLink(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("body")) }))
	defer server.Close()
	dir := collectortest.Dir(t)
	other := filepath.Join(dir, "other")
	collectortest.Write(t, other, "precious")
	for name, link := range map[string]func(from, to string) error{"symbolic": os.Symlink, "hard": os.Link} {
		path := filepath.Join(dir, name)
		if err := link(other, path); err != nil {
			t.Fatal(err)
		}
		c := collectortest.New(t, "api", `{url: "`+server.URL+`", body_output: `+path+`}`, &httpkind.Config{})
		if _, err := collectortest.Collect(t, c); err != nil {
			t.Errorf("Collect() = %v, want no error", err)
		}
		if note := collectortest.Note(c); !strings.Contains(note, "; body_output: ") {
			t.Errorf("Note() with a %s link = %q, want that the body could not be written", name, note)
		}
		if got, err := os.ReadFile(other); err != nil || string(got) != "precious" {
			t.Errorf("the target of a %s link has %q, %v, want it unchanged", name, got, err)
		}
	}
	dangling := filepath.Join(dir, "dangling")
	if err := os.Symlink(filepath.Join(dir, "new"), dangling); err != nil {
		t.Fatal(err)
	}
	c := collectortest.New(t, "api", `{url: "`+server.URL+`", body_output: `+dangling+`}`, &httpkind.Config{})
	if _, err := collectortest.Collect(t, c); err != nil {
		t.Errorf("Collect() = %v, want no error", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "new")); !os.IsNotExist(err) {
		t.Errorf("the target of a dangling link: %v, want none", err)
	}
}

// The links of the system, such as /dev/stdout, are no files of others.
func TestBodyOutputToADescriptor(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("body")) }))
	defer server.Close()
	file, err := os.Create(filepath.Join(collectortest.Dir(t), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, folder := range []string{"/dev/fd/", "/proc/self/fd/"} {
		c := collectortest.New(t, "api", `{url: "`+server.URL+`", body_output: `+folder+strconv.Itoa(int(file.Fd()))+`}`, &httpkind.Config{})
		if _, err := collectortest.Collect(t, c); err != nil {
			t.Errorf("Collect() = %v, want no error", err)
		}
		if got, err := os.ReadFile(file.Name()); err != nil || string(got) != "body" {
			t.Errorf("%s leaves %q, %v, want the body", folder, got, err)
		}
	}
}
