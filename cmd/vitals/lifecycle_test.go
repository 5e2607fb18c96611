package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vitals-health/vitals/collectors/collectortest"
)

// markers is a configuration whose rules check files: state ready fails while the
// file "bad" exists, state alive never does.
const markers = `
evaluation_interval: 100ms
rule_files: [rules.yml]
collectors:
  - name: bad
    interval: 1s
    timeout: 1s
    file: {path: "${VITALS_TEST_DIR}/bad"}
`

const markerRules = `
groups:
  - name: g
    rules:
      - alert: Bad
        expr: vitals_file_exists{file="bad"} == 1
        labels: {state: ready}
        annotations: {summary: the marker exists}
      - alert: Dead
        expr: vitals_file_exists{file="bad"} > 1
        labels: {state: alive}
`

// markerConfig writes both into a directory of their own and returns it with the
// configuration's path. A process that is launched with it finds that directory in its
// environment.
func markerConfig(t *testing.T) (dir, config string) {
	t.Helper()
	dir = t.TempDir()
	write(t, dir, "rules.yml", markerRules)
	return dir, write(t, dir, "vitals.yml", strings.ReplaceAll(markers, "${VITALS_TEST_DIR}", dir))
}

// waitReady waits until the state ready passes.
func (p *runningVitals) waitReady() {
	p.t.Helper()
	eventually(p.t, "ready to pass", func() bool { code, _ := p.get("/ready"); return code == 200 })
}

func TestLameDuck(t *testing.T) {
	t.Parallel()
	const delay = 10 * time.Second // within which a busy machine answers all requests
	for name, sig := range map[string]syscall.Signal{"SIGTERM": syscall.SIGTERM, "SIGINT": syscall.SIGINT} {
		t.Run(name, func(t *testing.T) {
			_, config := markerConfig(t)
			p := runVitals(t, config, "--web.shutdown-delay="+delay.String())
			p.waitReady()
			begin := time.Now()
			p.signal(sig)
			eventually(t, "ready to fail", func() bool { code, _ := p.get("/ready"); return code == 503 })
			if code, body := p.get("/ready"); code != 503 || body != "shutting down\n" {
				t.Errorf("/ready = %d %q, want 503 \"shutting down\"", code, body)
			}
			if code, body := p.get("/alive"); code != 200 || body != "ok" {
				t.Errorf("/alive = %d %q, want 200 ok", code, body)
			}
			if code, body := p.get("/-/ready"); code != 503 {
				t.Errorf("/-/ready = %d %q, want 503", code, body)
			}
			// There is nothing to reload any more, and it does not shorten the delay.
			p.signal(syscall.SIGHUP)
			if code := p.exit(); code != 0 {
				t.Errorf("exit code = %d, want 0", code)
			}
			if took := time.Since(begin); took < delay {
				t.Errorf("the process ended after %s, want it to wait for --web.shutdown-delay", took)
			}
			if _, err := os.Lstat(p.socket); !os.IsNotExist(err) {
				t.Errorf("Lstat(socket) after the end = %v, want not exist", err)
			}
		})
	}
}

func TestSecondSignalEndsAtOnce(t *testing.T) {
	_, config := markerConfig(t)
	p := runVitals(t, config, "--web.shutdown-delay=1h")
	p.waitReady()
	p.signal(syscall.SIGTERM)
	eventually(t, "ready to fail", func() bool { code, _ := p.get("/ready"); return code == 503 })
	p.signal(syscall.SIGTERM)
	if code := p.exit(); code != 0 {
		t.Errorf("exit code = %d, want 0", code)
	}
}

// TestShutdownEndsWhatWaits checks that shutdown ends requests that wait.
func TestShutdownEndsWhatWaits(t *testing.T) {
	t.Parallel()
	_, config := markerConfig(t)
	p := runVitals(t, config, "--web.shutdown-delay=0s")
	p.waitReady()
	slow, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	if _, err := slow.Write([]byte("GET /ready HTTP/1.1\r\n")); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	p.signal(syscall.SIGTERM)
	if code := p.exit(); code != 0 {
		t.Errorf("exit code = %d, want 0", code)
	}
	if took := time.Since(begin); took > 30*time.Second {
		t.Errorf("the process ended after %s with a slow client, want at most the 2s that requests get", took)
	}
}

// A port in use is an error, with the process that has it and the flag that changes it.
func TestTakenPort(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	address := taken.Addr().String()
	name, err := os.ReadFile("/proc/self/comm")
	if err != nil {
		t.Fatal(err)
	}
	other := taken.Addr().(*net.TCPAddr).Port + 1
	if other > 65535 {
		other = 65534
	}
	_, config := markerConfig(t)
	for _, command := range [][]string{{"run", "--config.file=" + config}, {"demo"}} {
		for _, flag := range []string{"web.listen-address", "probe.listen-address", "grpc.listen-address"} {
			socket := filepath.Join(collectortest.Dir(t), "v.sock")
			args := append(slices.Clone(command), "--web.unix-socket="+socket, "--"+flag+"="+address)
			if flag != "web.listen-address" {
				args = append(args, "--web.listen-address=127.0.0.1:0")
			}
			p := launch(t, args...)
			if code := p.exit(); code != 3 {
				t.Errorf("%s: exit code = %d, want 3", flag, code)
			}
			want := fmt.Sprintf("listen on %s: address already in use by the process %d (%s): stop that, or choose another port, such as --%s=127.0.0.1:%d",
				address, os.Getpid(), strings.TrimSpace(string(name)), flag, other)
			if log := p.log.String(); !strings.Contains(log, want) || strings.Contains(log, "Listening on") {
				t.Errorf("%s: the log is %q, want %q in it and nothing to listen", flag, log, want)
			}
		}
	}
}

// TestSocketOfAnEarlierProcess starts one process after another at the same socket.
func TestSocketOfAnEarlierProcess(t *testing.T) {
	_, config := markerConfig(t)
	first := runVitals(t, config)
	first.waitReady()
	p := launch(t, "run", "--config.file="+config, "--web.listen-address=127.0.0.1:0", "--web.unix-socket="+first.socket)
	if code, want := p.exit(), "listen on the Unix socket "+first.socket+": another process answers on it: choose another path with --web.unix-socket=PATH, or none with --web.unix-socket=\n"; code != 3 || !strings.HasSuffix(p.log.String(), want) {
		t.Errorf("beside a live process: exit code = %d, log %q, want 3 and %q", code, p.log, want)
	}
	if code, _ := request(t, overSocket(first.socket), http.MethodGet, "http://vitals/ready", ""); code != 200 {
		t.Errorf("/ready of the live process = %d, want 200", code)
	}

	first.signal(syscall.SIGKILL)
	first.exit()
	if _, err := os.Lstat(first.socket); err != nil {
		t.Fatalf("Lstat(socket) of a dead process = %v, want no error", err)
	}
	launch(t, "run", "--config.file="+config, "--web.listen-address=127.0.0.1:0", "--web.unix-socket="+first.socket)
	eventually(t, "the next process to listen, with mode 660", func() bool {
		info, err := os.Lstat(first.socket)
		return err == nil && info.Mode().Perm() == 0o660 && dialSocket(first.socket) == nil
	})
}

// dialSocket connects to a Unix socket and closes the connection.
func dialSocket(path string) error {
	conn, err := net.Dial("unix", path)
	if err == nil {
		_ = conn.Close()
	}
	return err
}
