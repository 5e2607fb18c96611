//go:build e2e

package e2e_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// pollEvery is the pause between two checks of a program that is expected to change.
const pollEvery = 200 * time.Millisecond

// program is a process that a test owns.
type program struct {
	// url is where it listens.
	url string
	log string
	cmd *exec.Cmd
	// timeout is how long one answer may take; 0 is 30 seconds.
	timeout time.Duration
}

// lanes are those of e2e/run, and that of a run without lanes.
var lanes = []string{"", "alone", "stacks", "node", "beside", "soak"}

// ports counts those that were chosen.
var ports atomic.Uint32

// address returns a loopback address that nothing listens on. Nothing else gets its port before a
// server listens, or while a test has stopped it: each lane has 2,000 ports, and takes one after the
// other. They are below those of the services of e2e/run, and below the ephemeral ports of Linux, see
// ip_local_port_range in ip(7).
func address(t *testing.T) string {
	t.Helper()
	return addressOf(t, "127.0.0.1")
}

func addressOf(t *testing.T, ip string) string {
	t.Helper()
	const first, each = 10_000, 2_000
	lane := slices.Index(lanes, os.Getenv(laneVariable))
	if lane < 0 {
		t.Fatalf("%s is %q, want one of %q", laneVariable, os.Getenv(laneVariable), lanes)
	}
	var err error
	for range 100 {
		var l net.Listener
		port := first + lane*each + int(ports.Add(1)%each)
		if l, err = net.Listen("tcp", net.JoinHostPort(ip, strconv.Itoa(port))); err == nil {
			defer l.Close()
			return l.Addr().String()
		}
	}
	t.Fatal(err)
	return ""
}

// launch starts a program that listens on the address, with a log among those of the
// stacks where they run. It ends with the test, and must then leave with code 0.
func launch(t *testing.T, address string, command ...string) *program {
	t.Helper()
	name := strings.ReplaceAll(t.Name(), "/", "-") + "-" + filepath.Base(command[0])
	p := &program{
		url: "http://" + address,
		log: filepath.Join(logDirectory(t), name+".log"),
		cmd: exec.Command(command[0], command[1:]...),
	}
	log, err := os.Create(p.log)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if state := os.Getenv(stateVariable); state != "" {
		p.cmd.Env = append(os.Environ(), "OS_CLIENT_CONFIG_FILE="+filepath.Join(state, "openstack", "clouds.yaml"))
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.stop(t) })
	return p
}

// stop sends SIGTERM to the program and kills it if it does not exit within a minute.
func (p *program) stop(t *testing.T) {
	t.Helper()
	if p.cmd.ProcessState != nil {
		return // the test has ended it
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Errorf("%s ended too early: %v\n%s", p.cmd.Path, p.cmd.Wait(), p.tail())
		return
	}
	kill := time.AfterFunc(time.Minute, func() { _ = p.cmd.Process.Kill() })
	defer kill.Stop()
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("%s: %v on SIGTERM, want exit code 0 within a minute\n%s", p.cmd.Path, err, p.tail())
	}
}

// tail returns the end of the program's log.
func (p *program) tail() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-2000):])
}

// get returns the status and the body of one answer.
func (p *program) get(path string) (int, string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), cmp.Or(p.timeout, 30*time.Second))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+path, nil)
	if err != nil {
		return 0, "", err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return res.StatusCode, string(body), err
}

// await polls until check returns no error and returns how long that took. The test
// ends when the time is over.
func await(t *testing.T, what string, within time.Duration, check func() error) time.Duration {
	t.Helper()
	start := time.Now()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		err := check()
		took := time.Since(start)
		if err == nil {
			return took
		}
		if took > within {
			t.Fatalf("%s: not within %s:\n%v", what, within, err)
		}
		<-tick.C
	}
}

// passesOnce returns a check that passes for good once it has passed.
func passesOnce(check func() error) func() error {
	passed := false
	return func() error {
		if passed {
			return nil
		}
		err := check()
		passed = err == nil
		return err
	}
}

// daemon is a running Vitals.
type daemon struct{ *program }

// startVitals runs Vitals against the stacks and waits until it answers.
func startVitals(t *testing.T) daemon {
	t.Helper()
	usesStacks(t)
	return runVitals(t, env(t).vitals, "testdata/vitals.yml", shortDirectory(t, ""))
}

// shortDirectory makes a directory whose path leaves room for a socket's name. It is
// made in the one for temporary files unless another is named.
func shortDirectory(t *testing.T, in string) string {
	t.Helper()
	dir, err := os.MkdirTemp(in, "e2e")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// runVitals runs the program with a configuration, its socket in the directory, and
// waits until it answers.
func runVitals(t *testing.T, bin, config, dir string) daemon {
	t.Helper()
	listen := address(t)
	d := daemon{launch(t, listen, bin, "run", "--config.file="+config,
		"--web.listen-address="+listen, "--web.unix-socket="+filepath.Join(dir, "vitals.sock"), "--web.shutdown-delay=0s")}
	t.Cleanup(func() { d.keepsSecrets(t) })
	await(t, "vitals listens", time.Minute, func() error { return d.want("/alive", http.StatusOK) })
	return d
}

// want compares the status of one answer.
func (d daemon) want(path string, status int) error {
	got, body, err := d.get(path)
	if err == nil && got != status {
		err = fmt.Errorf("GET %s = %d %q, want %d", path, got, body, status)
	}
	return err
}

// awaitHealthy waits until the daemon is ready, whatever was broken before.
func (d daemon) awaitHealthy(t *testing.T) {
	t.Helper()
	await(t, "healthy before the fault", time.Minute, func() error { return d.want("/ready", http.StatusOK) })
}

// staysAlive queries the liveness probe all through the test and reports every answer
// that would restart the workload.
func (d daemon) staysAlive(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	var failures []error
	wg.Go(func() {
		tick := time.NewTicker(pollEvery)
		defer tick.Stop()
		for ctx.Err() == nil {
			if err := d.want("/alive", http.StatusOK); err != nil {
				failures = append(failures, err)
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
			}
		}
	})
	t.Cleanup(func() {
		cancel()
		wg.Wait()
		if len(failures) > 0 {
			t.Errorf("alive failed %d times, as in:\n%v", len(failures), errors.Join(failures[:min(3, len(failures))]...))
		}
	})
}

// keepsSecrets searches all output of the daemon for credentials.
func (d daemon) keepsSecrets(t *testing.T) {
	t.Helper()
	shown := map[string]string{}
	log, err := os.ReadFile(d.log)
	if err != nil {
		t.Fatal(err)
	}
	shown["the log"] = string(log)
	for _, path := range []string{"/metrics", "/ready?verbose", "/api/v1/status", "/config", "/"} {
		if _, shown[path], err = d.get(path); err != nil {
			t.Error(err)
		}
	}
	for where, text := range shown {
		for _, secret := range []string{"test-password", "test-token"} {
			if i := strings.Index(text, secret); i >= 0 {
				t.Errorf("%s shows a secret: %q", where, text[max(0, i-80):i+len(secret)])
			}
		}
	}
}

// stack runs a verb of one of the scripts.
func stack(t *testing.T, name string, args ...string) {
	t.Helper()
	usesStacks(t)
	var out bytes.Buffer
	cmd := exec.Command("./"+name+".sh", args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out.String())
	}
}

// broken makes a fault and returns what heals it. The fault is healed at the end of the
// test at the latest, also after an attempt that failed.
func broken(t *testing.T, name, fault string) (heal func()) {
	t.Helper()
	healed := false
	heal = func() {
		if !healed {
			stack(t, name, "heal", fault)
			healed = true
		}
	}
	t.Cleanup(heal)
	stack(t, name, "fault", fault)
	return heal
}
