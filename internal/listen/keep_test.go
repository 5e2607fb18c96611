package listen

import (
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/vitals-health/vitals/collectors/collectortest"
)

// kept opens and serves a Unix socket below a directory of its own.
func kept(t *testing.T) (l *Listeners, dir, path string) {
	t.Helper()
	dir = filepath.Join(collectortest.Dir(t), "run")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, "v.sock")
	l = unopened()
	l.local.server.Handler = http.NotFoundHandler()
	if err := l.openSocket(Socket{Path: path, Mode: "0666"}); err != nil {
		t.Fatal(err)
	}
	failed := l.Serve()
	t.Cleanup(func() {
		l.Close()
		select {
		case err := <-failed:
			t.Errorf("Serve() reports %v, want no listener to end", err)
		default:
		}
		if _, err := os.Lstat(path); !os.IsNotExist(err) {
			t.Errorf("Lstat() after the end = %v, want not exist", err)
		}
	})
	return l, dir, path
}

// answers reports whether the socket at a path answers requests and is counted as such.
func answers(l *Listeners, path string) bool {
	conn, err := net.Dial("unix", path)
	if err != nil {
		return false
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	if _, err := conn.Write([]byte("GET / HTTP/1.0\r\n\r\n")); err != nil {
		return false
	}
	n, _ := conn.Read(make([]byte, 1))
	listening, ok := l.UnixSocket()
	return n == 1 && listening && ok
}

func TestUnixSocketIsMadeAgain(t *testing.T) {
	for name, remove := range map[string]func(dir, path string) error{
		"removed":                func(_, path string) error { return os.Remove(path) },
		"moved":                  func(dir, path string) error { return os.Rename(path, filepath.Join(dir, "other")) },
		"in another directory":   func(dir, _ string) error { return os.Rename(dir, dir+".old") },
		"with another directory": func(dir, _ string) error { return os.RemoveAll(dir) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, dir, path := kept(t)
			for range 2 {
				_ = os.RemoveAll(dir + ".old")
				if err := remove(dir, path); err != nil {
					t.Fatal(err)
				}
				if _, err := os.Lstat(dir); err != nil {
					collectortest.Wait(t, "the loss to be counted", func() bool { listening, ok := l.UnixSocket(); return ok && !listening })
					if err := os.Mkdir(dir, 0o700); err != nil {
						t.Fatal(err)
					}
				}
				collectortest.Wait(t, "the socket to answer again", func() bool { return answers(l, path) })
				if info, err := os.Lstat(path); err != nil || info.Mode() != fs.ModeSocket|0o666 {
					t.Errorf("Lstat() = %v, %v, want a socket with the mode 666", info, err)
				}
			}
		})
	}
}

// A socket of another process in the place of the own one stays, also at the end. When the
// other process ends, the own socket is made again.
func TestUnixSocketOfAnotherStays(t *testing.T) {
	l, _, path := kept(t)
	other, err := net.ListenUnix("unix", &net.UnixAddr{Name: path + ".new", Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	other.SetUnlinkOnClose(false)
	// At no time is the place free for the own socket.
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	collectortest.Wait(t, "the loss to be counted", func() bool { listening, _ := l.UnixSocket(); return !listening })
	if err := dial(path); err != nil {
		t.Errorf("dial of the other process = %v, want its socket to stay", err)
	}
	_ = other.Close()
	collectortest.Wait(t, "the socket to answer again", func() bool { return answers(l, path) })
}

// The look for the file takes place often enough for a socket within a second.
func TestKeepInterval(t *testing.T) {
	if keepInterval > time.Second/2 {
		t.Errorf("keepInterval = %s, want at most half a second", keepInterval)
	}
}
