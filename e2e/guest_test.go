//go:build e2e && guest

package e2e_test

import (
	"bufio"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// The tests that begin with TestGuest run in the virtual machine of TestVM, as root and with
// no other users. They change the machine.

const (
	// guestInit is the program whose verbs make what the tests check.
	guestInit = "/init"
	// guestSlack is what a machine without KVM, on a busy host, may need for what happens
	// at once.
	guestSlack = time.Minute
)

// onlyInGuest protects other machines.
func onlyInGuest(t *testing.T) {
	t.Helper()
	if os.Getenv("VITALS_E2E_GUEST") == "" {
		t.Fatal("this test changes the machine that it runs on: start it with -run TestVM, without the tag guest")
	}
}

// vitalsAs runs Vitals in the machine: who is what "init as" calls a person, with a blank
// between two words. It evaluates twice a second, and collects as often unless the
// collector's line has another interval.
func vitalsAs(t *testing.T, who, collectors, rules string) daemon {
	t.Helper()
	onlyInGuest(t)
	dir := shortDirectory(t, "")
	if err := os.Chmod(dir, 0o755); err != nil { // for users
		t.Fatal(err)
	}
	config := "evaluation_interval: 500ms\nrule_files: [rules.yml]\nserver: {failing_status: 500}\ncollectors:\n"
	for line := range strings.Lines(strings.TrimSpace(collectors)) {
		if !strings.Contains(line, "timeout: ") {
			line = "interval: 500ms, timeout: 500ms, " + line
		}
		config += "  - {" + strings.TrimSpace(line) + "}\n"
	}
	if rules == "" {
		rules = "groups: []"
	}
	for name, text := range map[string]string{"vitals.yml": config, "rules.yml": rules} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	listen := address(t)
	command := slices.Concat([]string{guestInit, "as"}, strings.Fields(who), []string{"--", os.Getenv("VITALS_BIN"), "run",
		"--config.file=" + filepath.Join(dir, "vitals.yml"), "--web.listen-address=" + listen, "--web.unix-socket=", "--web.shutdown-delay=0s"}) // several run on this host
	d := daemon{launch(t, listen, command...)}
	d.timeout = guestSlack
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("log of vitals:\n%s", d.tail())
		}
	})
	await(t, "vitals has started", guestSlack, func() error { return d.want("/started", http.StatusOK) })
	return d
}

// documentedRules returns the rules that the documentation of a kind shows, without
// their "for".
func documentedRules(t *testing.T, kind string) string {
	t.Helper()
	rules := read(t, filepath.Join("..", "collectors", kind, "testdata", "rules.yml"))
	return regexp.MustCompile(`(?m)^ *for: .*\n`).ReplaceAllString(rules, "")
}

// awaits waits until the metrics are as they should be, and returns them.
func (d daemon) awaits(t *testing.T, what string, check func(m metrics) error) metrics {
	t.Helper()
	var last metrics
	await(t, what, guestSlack, func() error {
		m, err := d.metrics()
		if err != nil {
			return err
		}
		last = m
		return check(m)
	})
	return last
}

// wantFailure compares a state set of reasons: the reason alone is 1, and none where it
// is empty.
func (m metrics) wantFailure(reason, name string, pairs ...string) error {
	prefix := strings.TrimSuffix(series(name, pairs...), "}") + ","
	var holds []string
	known := 0
	for key, value := range m {
		if strings.HasPrefix(key, prefix) {
			known++
			if value == 1 {
				holds = append(holds, strings.TrimPrefix(key, prefix))
			}
		}
	}
	slices.Sort(holds)
	want := ""
	if reason != "" {
		want = fmt.Sprintf("reason=%q}", reason)
	}
	if got := strings.Join(holds, ""); known < 2 || got != want {
		return fmt.Errorf("%s has %d reasons, of which hold %q, want %q", prefix, known, got, want)
	}
	return nil
}

// wantBetween compares one series with bounds that belong to it.
func (m metrics) wantBetween(low, high float64, name string, pairs ...string) error {
	key := series(name, pairs...)
	if got, ok := m[key]; !ok || got < low || got > high {
		return fmt.Errorf("%s = %g (present: %t), want %g to %g", key, got, ok, low, high)
	}
	return nil
}

// wantAbsent checks that there is no such series.
func (m metrics) wantAbsent(name string, pairs ...string) error {
	key := series(name, pairs...)
	if got, ok := m[key]; ok {
		return fmt.Errorf("%s = %g, want it absent", key, got)
	}
	return nil
}

// wantRule compares the status of a rule.
func (m metrics) wantRule(status, rule, state string) error {
	if got := m.statusOf(rule, state); got != status {
		return fmt.Errorf("rule %s of %s is %q, want %q", rule, state, got, status)
	}
	return nil
}

// about returns the series in whose key the text is, to be shown.
func (m metrics) about(text string) string {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if strings.Contains(key, text) {
			fmt.Fprintf(&b, "%s %g\n", key, m[key])
		}
	}
	return b.String()
}

// initRuns runs a verb of the init program to its end.
func initRuns(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command(guestInit, args...).CombinedOutput(); err != nil {
		t.Fatalf("init %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// worker is a process that executes a verb of init, under a name of its own.
type worker struct {
	*exec.Cmd
	// waiting is closed when its work is done, ended when it has ended.
	waiting, ended chan struct{}
}

// work starts a worker: who is what "init as" calls a person, with a blank between two
// words. It does not wait until the work is done.
func work(t *testing.T, name, who string, args ...string) *worker {
	t.Helper()
	program := filepath.Join(t.TempDir(), name)
	if err := os.Symlink(guestInit, program); err != nil {
		t.Fatal(err)
	}
	command := slices.Concat([]string{"as"}, strings.Fields(who), []string{"--", program}, args)
	w := &worker{exec.Command(guestInit, command...), make(chan struct{}), make(chan struct{})}
	out, err := w.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	w.Stderr = os.Stderr
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(w.ended)
		if lines := bufio.NewScanner(out); lines.Scan() {
			close(w.waiting)
		}
		_ = w.Wait()
	}()
	t.Cleanup(w.kill)
	return w
}

// holds starts a worker and waits until its work is done.
func holds(t *testing.T, name, who string, args ...string) *worker {
	t.Helper()
	w := work(t, name, who, args...)
	select {
	case <-w.waiting:
	case <-w.ended:
		t.Fatalf("%s %q has ended: %s", name, args, w.ProcessState)
	case <-time.After(time.Minute):
		t.Fatalf("%s %q is not done after a minute", name, args)
	}
	return w
}

// kill ends the worker, which may have ended already.
func (w *worker) kill() {
	_ = w.Process.Kill()
	<-w.ended
}

// Vitals runs as any user, in a pod whose root is read-only.
func TestGuestReadOnlyUser(t *testing.T) {
	d := vitalsAs(t, "cgroup=user pod readonly uid=65532", `
		name: memory, cgroup: {}
		name: host, netlink: {interfaces: [lo]}
		name: net-admin, capability: {capabilities: [NET_ADMIN]}
		name: own, process: {}
		name: init, file: {path: /init}`, "")
	d.awaits(t, "all collectors succeed", func(m metrics) error {
		var errs []error
		for _, name := range []string{"memory", "host", "net-admin", "own", "init"} {
			errs = append(errs, m.want(1, "vitals_collector_success", "collector", name))
		}
		return errors.Join(errs...)
	})
	if err := d.want("/alive", http.StatusOK); err != nil {
		t.Error(err)
	}
}
