package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/internal/server"
)

// patience bounds the wait for an expected event; only a failure takes so long.
const patience = 2 * time.Minute

// eventually waits until ok is true; what describes the condition.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for !ok() {
		select {
		case <-deadline.C:
			t.Fatalf("waited %s in vain for: %s", patience, what)
		case <-ticker.C:
		}
	}
}

// lines is the output of a process so far.
type lines struct {
	mu   sync.Mutex // guards what follows
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// runningVitals is the real program, started as a user would.
type runningVitals struct {
	t    testing.TB
	cmd  *exec.Cmd
	log  *lines
	done chan struct{}
	code int
	// url and probes are where it listens; probes is empty without such a listener.
	url, probes, socket string
}

// launch starts the program without waiting for anything.
func launch(t testing.TB, args ...string) *runningVitals {
	t.Helper()
	return launchWith(t, nil, args...)
}

// launchWith has the process inherit a file as its descriptor 3.
func launchWith(t testing.TB, inherit *os.File, args ...string) *runningVitals {
	t.Helper()
	return launchProgram(t, "vitals", inherit, args...)
}

// launchProgram starts it by one of its names, see TestMain.
func launchProgram(t testing.TB, name string, inherit *os.File, args ...string) *runningVitals {
	t.Helper()
	p := &runningVitals{t: t, cmd: exec.Command(name, args...), log: &lines{}, done: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	// The race detector would wait for a second at the end of each process.
	p.cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0 "+os.Getenv("GORACE"))
	for _, arg := range args {
		if config, ok := strings.CutPrefix(arg, "--config.file="); ok {
			p.cmd.Env = append(p.cmd.Env, "VITALS_TEST_DIR="+filepath.Dir(config))
		}
	}
	if inherit != nil {
		p.cmd.ExtraFiles = []*os.File{inherit}
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.done)
		_ = p.cmd.Wait() // the exit code is checked
		p.code = p.cmd.ProcessState.ExitCode()
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.done
		if t.Failed() {
			t.Logf("output of vitals %s:\n%s", strings.Join(args, " "), p.log)
		}
	})
	return p
}

// runVitals starts the daemon on free ports and waits until it listens.
func runVitals(t testing.TB, config string, more ...string) *runningVitals {
	t.Helper()
	return runVitalsWith(t, nil, config, more...)
}

func runVitalsWith(t testing.TB, inherit *os.File, config string, more ...string) *runningVitals {
	t.Helper()
	socket := filepath.Join(collectortest.Dir(t), "v.sock")
	args := []string{"run", "--config.file=" + config, "--web.listen-address=127.0.0.1:0", "--web.unix-socket=" + socket}
	p := launchWith(t, inherit, append(args, more...)...)
	p.socket = socket
	listening := regexp.MustCompile(`msg="Listening on" address=(\S+)`)
	probing := regexp.MustCompile(`msg="listening for probes" address=(\S+)`)
	eventually(t, "the process to listen", func() bool {
		p.running()
		if m := listening.FindStringSubmatch(p.log.String()); m != nil {
			p.url = "http://" + m[1]
		}
		if m := probing.FindStringSubmatch(p.log.String()); m != nil {
			p.probes = "http://" + m[1]
		}
		return p.url != "" && strings.Contains(p.log.String(), "socket="+socket)
	})
	return p
}

// running ends the test if the process has ended.
func (p *runningVitals) running() {
	p.t.Helper()
	select {
	case <-p.done:
		p.t.Fatalf("the process ended with %d", p.code)
	default:
	}
}

// exit waits for the end and returns the exit code.
func (p *runningVitals) exit() int {
	p.t.Helper()
	eventually(p.t, "the process to end", func() bool {
		select {
		case <-p.done:
			return true
		default:
			return false
		}
	})
	return p.code
}

func (p *runningVitals) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// get sends a GET request to the process.
func (p *runningVitals) get(path string) (int, string) {
	p.t.Helper()
	return request(p.t, http.DefaultTransport, http.MethodGet, p.url+path, "")
}

// status holds what the tests read of /api/v1/status.
type status struct {
	Generation uint64
	Reload     server.ReloadStatus
	Rules      []ruleStatus
	Collectors []server.CollectorStatus
	Components []server.ComponentStatus
}

type ruleStatus struct {
	Name, Status, Summary string
	Since                 time.Time
	// Observed is a number or a string such as "+Inf".
	Observed   any
	AlertCount int `json:"alert_count"`
	Alerts     []struct {
		ActiveAt time.Time `json:"active_at"`
	}
}

func (p *runningVitals) status() status {
	p.t.Helper()
	_, body := p.get("/api/v1/status")
	var s status
	if err := json.Unmarshal([]byte(body), &s); err != nil {
		p.t.Fatalf("status %q: %v", body, err)
	}
	return s
}

// metric reports whether /metrics has a line.
func (p *runningVitals) metric(line string) bool {
	p.t.Helper()
	_, body := p.get("/metrics")
	return strings.Contains("\n"+body, "\n"+line+"\n")
}

func (p *runningVitals) rule(name string) ruleStatus {
	p.t.Helper()
	for _, r := range p.status().Rules {
		if r.Name == name {
			return r
		}
	}
	return ruleStatus{}
}

func (p *runningVitals) collector(name string) server.CollectorStatus {
	p.t.Helper()
	for _, c := range p.status().Collectors {
		if c.Name == name {
			return c
		}
	}
	return server.CollectorStatus{}
}

// request sends one request with headers given in turn as names and values.
func request(t testing.TB, transport http.RoundTripper, method, url, body string, headers ...string) (int, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(answer)
}

// overSocket is a transport to a Unix socket.
func overSocket(path string) *http.Transport {
	return &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}}
}

// write writes a file below dir and returns its path.
func write(t testing.TB, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	// Readers see either the old or the new text.
	err := errors.Join(os.WriteFile(path+".new", []byte(text), 0o600), os.Rename(path+".new", path))
	if err != nil {
		t.Fatal(err)
	}
	return path
}
