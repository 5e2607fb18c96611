package listen

import (
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/internal/connlimit"
	"github.com/vitals-health/vitals/internal/grpchealth"
)

// unopened is what Open begins with, without handlers.
func unopened() *Listeners {
	l := newListeners(slog.New(slog.DiscardHandler), grpchealth.New(nil))
	for _, d := range l.doors() {
		d.server = &http.Server{}
	}
	l.pool(connlimit.Limits{Served: 4, Waiting: 4})
	return l
}

func dial(path string) error {
	conn, err := net.Dial("unix", path)
	if err == nil {
		_ = conn.Close()
	}
	return err
}

// TestSocketThatIsThere is about whose place the Unix socket may take.
func TestSocketThatIsThere(t *testing.T) {
	tests := []struct {
		name string
		// occupy makes something at path; what it returns is kept until the end.
		occupy func(t *testing.T, path string) (free func())
		want   string
	}{
		{"nothing", func(*testing.T, string) func() { return func() {} }, ""},
		{"left by a dead process", func(t *testing.T, path string) func() {
			ln, err := net.Listen("unix", path)
			if err != nil {
				t.Fatal(err)
			}
			ln.(*net.UnixListener).SetUnlinkOnClose(false)
			_ = ln.Close()
			return func() {}
		}, ""},
		{"a live process", func(t *testing.T, path string) func() {
			ln, err := net.Listen("unix", path)
			if err != nil {
				t.Fatal(err)
			}
			return func() { _ = ln.Close() }
		}, "another process answers on it"},
		{"a live process that does not accept", busySocket, "another process may be using it"},
		{"a live socket for datagrams", func(t *testing.T, path string) func() {
			conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
			if err != nil {
				t.Fatal(err)
			}
			return func() { _ = conn.Close() }
		}, "another process may be using it"},
		{"a file", func(t *testing.T, path string) func() {
			write(t, filepath.Dir(path), filepath.Base(path), "precious")
			return func() {}
		}, "there is a file of another type"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(collectortest.Dir(t), "v.sock")
			defer tt.occupy(t, path)()
			before, _ := os.Lstat(path)
			l := unopened()
			defer l.Close()
			err := l.openSocket(Socket{Path: path, Mode: "0660"})
			after, _ := os.Lstat(path)
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) || !os.SameFile(before, after) {
					t.Errorf("openSocket() = %v, want %q and the file as it was", err, tt.want)
				}
				return
			}
			if err != nil || dial(path) != nil {
				t.Fatalf("openSocket() = %v, dial %v, want a socket that answers", err, dial(path))
			}
			if mode := after.Mode().Perm(); mode != 0o660 {
				t.Errorf("mode = %o, want 660", mode)
			}
		})
	}
}

// busySocket is a listener whose queue is full: connect(2) returns EAGAIN.
func busySocket(t *testing.T, path string) func() {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Bind(fd, &syscall.SockaddrUnix{Name: path}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	waiting, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		_ = waiting.Close()
		_ = syscall.Close(fd)
	}
}

// TestSocketOfASuccessorStays is about a process that ends slowly while the next one
// has begun to listen.
func TestSocketOfASuccessorStays(t *testing.T) {
	path := filepath.Join(collectortest.Dir(t), "v.sock")
	old, next := unopened(), unopened()
	if err := old.openSocket(Socket{Path: path, Mode: "0660"}); err != nil {
		t.Fatal(err)
	}
	_ = old.socket.Load().ln.Close() // the server's shutdown begins so
	if err := next.openSocket(Socket{Path: path, Mode: "0660"}); err != nil {
		t.Fatal(err)
	}
	old.Close()
	if err := dial(path); err != nil {
		t.Errorf("dial after the predecessor's end = %v, want no error", err)
	}
	next.Close()
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("Lstat() after the end = %v, want not exist", err)
	}
}

// TestDefaultSocket is about the socket of a daemon without --web.unix-socket. Another one is open at another's path.
func TestDefaultSocket(t *testing.T) {
	dir := collectortest.Dir(t)
	file, system, user := write(t, dir, "file", ""), filepath.Join(dir, "d.sock"), filepath.Join(dir, "u.sock")
	unmade := filepath.Join(dir, "vitals", "d.sock")
	made := ""
	if os.Geteuid() == 0 {
		made = unmade
	}
	for _, tt := range []struct {
		name   string
		socket Socket
		want   string
	}{
		{"the default path", Socket{Path: system, User: user}, system},
		{"one in a directory that root makes", Socket{Path: unmade}, made},
		{"the user's", Socket{Path: file + "/d.sock", User: user}, user},
		{"neither", Socket{Path: file + "/d.sock", User: file + "/u.sock"}, ""},
		{"no directory of the user", Socket{Path: file + "/d.sock"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := unopened()
			defer l.Close()
			tt.socket.Mode, tt.socket.Default = "0660", true
			if err := l.openSocket(tt.socket); err != nil {
				t.Fatalf("openSocket() = %v, want no error", err)
			}
			got := ""
			if s := l.socket.Load(); s != nil {
				got = s.path
			}
			if got != tt.want || got != "" && dial(got) != nil {
				t.Errorf("openSocket() listens on %q, dial %v, want %q", got, dial(got), tt.want)
			}
		})
	}
	if err := unopened().openSocket(Socket{Path: file + "/d.sock", Mode: "0660", User: user}); err == nil {
		t.Error("openSocket() of a path that the user chose = nil, want an error")
	}
}

// Users of all groups may reach the default socket's directory, whatever the umask of root.
func TestDirectoryOfTheDefaultSocket(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o077))
	dir := filepath.Join(t.TempDir(), "vitals")
	makeDir(dir)
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("makeDir() makes %v, %v, want mode 755", info, err)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	makeDir(dir)
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("makeDir() of a directory that exists makes %v, %v, want its mode 700", info, err)
	}
}

func TestUserSocket(t *testing.T) {
	for dir, want := range map[string]string{"/run/user/1000": "/run/user/1000/vitals.sock", "": "", "relative": ""} {
		if got := UserSocket(func(string) string { return dir }); got != want {
			t.Errorf("UserSocket() with XDG_RUNTIME_DIR=%s = %q, want %q", dir, got, want)
		}
	}
}

// write writes a file below dir and returns its path.
func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
