package execprobe

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vitals-health/vitals/collectors/collectortest"
)

const passing = "state ready\nrules 1\nverdict pass\n"

func reply(status, body string) string { return "HTTP/1.0 " + status + "\r\nX: y\r\n\r\n" + body }

// serve answers each connection on a new socket with what handle does.
func serve(t *testing.T, handle func(net.Conn)) string {
	t.Helper()
	dir := collectortest.Dir(t)
	path := filepath.Join(dir, "s")
	collectortest.ListenOn(t, "unix", path, nil, handle)
	return path
}

// readRequest reads as much as the client sends.
func readRequest(c net.Conn) string {
	buf := make([]byte, 4096)
	n, _ := c.Read(buf)
	return string(buf[:n])
}

func TestQuery(t *testing.T) {
	tests := []struct {
		name, answer string
		want         Outcome
		text         string
	}{
		{"passes", reply("200 OK", passing), OK, "ready: 1 rule"},
		{"no such state", reply("404 Not Found", NoSuchPath+"there are /ready\nmore"), Usage, `the daemon has no state "ready": there are /ready`},
		{"another program", reply("404 Not Found", "nginx"), Protocol, "the answer is not the daemon's: status 404"},
		{"a login is required", reply("401 Unauthorized", "no"), Forbidden, "the daemon requires authentication: status 401"},
		{"an error", reply("500 Oops", passing), Protocol, "the answer is not the daemon's: status 500"},
		{"other text", reply("200 OK", "ok"), Protocol, `the answer is not the daemon's: line "ok": expected a key and a value`},
		{"nothing in it", reply("200 OK", ""), Protocol, `the answer is not the daemon's: no verdict at the end of ""`},
		{"cut off", reply("200 OK", "state ready\nrules 1\n"), Protocol, `the answer is not the daemon's: no verdict at the end of "state ready\nrules 1\n"`},
		{"no number", reply("200 OK", "rules many\nverdict pass\n"), Protocol, `the answer is not the daemon's: rules "many": strconv.Atoi: parsing "many": invalid syntax`},
		{"a newer daemon's", reply("200 OK", "mood good\n"+passing), OK, "ready: 1 rule"},
		{"another state's", reply("200 OK", "state alive\nverdict pass\n"), Protocol, `the answer is not the daemon's: it is about the state "alive"`},
		{"no body", "HTTP/1.0 200 OK\r\n", Protocol, "the answer is not the daemon's: no HTTP"},
		{"no HTTP", "220 smtp\r\n\r\n", Protocol, "the answer is not the daemon's: no HTTP"},
		{"nothing", "", Protocol, "the answer is not the daemon's: no HTTP"},
		{"too much", reply("200 OK", strings.Repeat(" ", MaxAnswer)+passing), Protocol, "the answer is not the daemon's: more than 65536 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var request string
			socket := serve(t, func(c net.Conn) {
				request = readRequest(c)
				_, _ = io.WriteString(c, tt.answer)
			})
			r := Query(socket, "ready", time.Now().Add(time.Minute))
			if r.Outcome != tt.want || r.Text != tt.text {
				t.Errorf("Query() = %s %q, want %s %q", r.Outcome, r.Text, tt.want, tt.text)
			}
			if want := "GET /api/v1/verdict/ready HTTP/1.0\r\nHost: vitals\r\nAccept: text/plain\r\n\r\n"; request != want {
				t.Errorf("request = %q, want %q", request, want)
			}
		})
	}
}

// One deadline holds for everything: for a daemon that never answers, and for one
// that sends a byte now and then.
func TestQueryEndsAtTheDeadline(t *testing.T) {
	release := make(chan struct{})
	silent := serve(t, func(c net.Conn) { <-release })
	drip := serve(t, func(c net.Conn) {
		for {
			if _, err := io.WriteString(c, " "); err != nil {
				return
			}
			select {
			case <-release:
				return
			case <-time.After(time.Millisecond):
			}
		}
	})
	for name, socket := range map[string]string{"silent": silent, "drip": drip} {
		deadline := time.Now().Add(50 * time.Millisecond)
		r := Query(socket, "ready", deadline)
		if want := fmt.Sprintf("the daemon on %s does not answer in time", socket); r.Outcome != Timeout || r.Text != want {
			t.Errorf("%s: Query() = %s %q, want %s %q", name, r.Outcome, r.Text, Timeout, want)
		}
		if late := time.Since(deadline); late < 0 || late > 30*time.Second {
			t.Errorf("%s: Query() returned %s after the deadline, want at once and not before", name, late)
		}
	}
	close(release)
}

// A daemon that hangs accepts no connection once its backlog is full.
func TestQueryFullBacklog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	if err := errors.Join(syscall.Bind(fd, &syscall.SockaddrUnix{Name: path}), syscall.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	first, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	deadline := time.Now().Add(50 * time.Millisecond)
	if r := Query(path, "ready", deadline); r.Outcome != Timeout || r.Text != "the daemon does not accept on "+path+" in time" || time.Now().Before(deadline) || time.Since(deadline) > 30*time.Second {
		t.Errorf("Query() = %s %q, want %s at the deadline", r.Outcome, r.Text, Timeout)
	}
}

// The daemon ends during a query, before or after it has read the request.
func TestQueryClosedConnection(t *testing.T) {
	for name, read := range map[string]func(net.Conn){"before": func(net.Conn) {}, "after": func(c net.Conn) { readRequest(c) }} {
		r := Query(serve(t, read), "ready", time.Now().Add(time.Minute))
		if r.Outcome != NoDaemon && r.Outcome != Protocol {
			t.Errorf("%s: Query() = %s %q, want %s or %s", name, r.Outcome, r.Text, NoDaemon, Protocol)
		}
	}
}

// A caller that waits for a daemon repeats the query: no descriptor may stay open.
func TestQueryLeavesNothingOpen(t *testing.T) {
	open := func() int {
		names, err := os.ReadDir("/dev/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(names)
	}
	passes := serve(t, func(c net.Conn) { _, _ = io.WriteString(c, reply("200 OK", passing)) })
	query := func() {
		for _, socket := range []string{filepath.Join(t.TempDir(), "none.sock"), passes} {
			Query(socket, "ready", time.Now().Add(time.Minute))
		}
	}
	query()
	before := open()
	for range 50 {
		query()
	}
	if after := open(); after > before+25 {
		t.Errorf("%d files are open after 100 questions, want about %d", after, before)
	}
}

func TestQueryWithoutADaemon(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none.sock")
	if r := Query(missing, "ready", time.Now().Add(time.Minute)); r.Outcome != NoDaemon || r.Text != "there is no socket "+missing {
		t.Errorf("Query() without a socket = %s %q, want %s", r.Outcome, r.Text, NoDaemon)
	}
	// A daemon that died leaves its socket behind.
	dead := serve(t, func(net.Conn) {})
	ln, err := net.Listen("unix", dead+"2")
	if err != nil {
		t.Fatal(err)
	}
	ln.(*net.UnixListener).SetUnlinkOnClose(false)
	_ = ln.Close()
	if r := Query(dead+"2", "ready", time.Now().Add(time.Minute)); r.Outcome != NoDaemon || r.Text != "no process listens on "+dead+"2" {
		t.Errorf("Query() on a dead socket = %s %q, want %s", r.Outcome, r.Text, NoDaemon)
	}
	long := "/" + strings.Repeat("x", 200)
	if r := Query(long, "ready", time.Now().Add(time.Minute)); r.Outcome != Usage {
		t.Errorf("Query() on a path that is too long = %s %q, want %s", r.Outcome, r.Text, Usage)
	}
}

func TestDialed(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want Outcome
	}{
		{syscall.EACCES, Forbidden}, {syscall.EPERM, Forbidden}, {syscall.ENOENT, NoDaemon}, {syscall.ECONNREFUSED, NoDaemon},
		{os.ErrDeadlineExceeded, Timeout}, {errors.New("other"), NoDaemon},
	} {
		if r := Unreachable("/s", tt.err); r.Outcome != tt.want {
			t.Errorf("Unreachable(%v) = %s %q, want %s", tt.err, r.Outcome, r.Text, tt.want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(reply("200 OK", passing)))
	f.Add([]byte("HTTP/1.0 404 \r\n\r\n\xff"))
	f.Add([]byte(reply("404 Not Found", NoSuchPath+"\xff")))
	f.Add([]byte(reply("200 OK", "exit_code -1\nline \x00\nstalled true\nage_seconds 1e308\nverdict fail\n")))
	f.Fuzz(func(t *testing.T, answer []byte) {
		status, body, failed := split(answer, MaxAnswer)
		r := Read(status, body, "ready")
		if failed != nil {
			r = *failed
		}
		for _, s := range Styles() {
			text, code := s.Render(r), s.Code(r)
			if len(text) >= 4096 || strings.IndexByte(text, '\n') > maxFirst || !strings.HasSuffix(text, "\n") {
				t.Errorf("Render() = %q, want lines, bounded", text)
			}
			if passes := r.Outcome == OK || r.Outcome == Warning; code == 0 && !passes {
				t.Errorf("Code() of %s = 0", r.Outcome)
			}
		}
	})
}
