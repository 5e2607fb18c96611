//go:build e2e

package e2e_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// serviceConfig is for a Vitals inside, where a marker makes ready fail.
const serviceConfig = `
evaluation_interval: 200ms
rule_files: [rules.yml]
collectors:
  - {name: marker, interval: 500ms, timeout: 400ms, file: {path: /mnt/bad}}
  - {name: links, interval: 500ms, timeout: 400ms, netlink: {interfaces: [lo]}}
  - {name: self, interval: 500ms, timeout: 400ms, process: {}}
`

const serviceRules = `groups: [{name: g, rules: [
  {alert: Bad, expr: 'vitals_file_exists == 1', labels: {state: ready}},
  {alert: CollectorFails, expr: 'vitals_collector_success == 0', labels: {state: ready}}]}]`

// serviceHealthy is the status of a Vitals whose states pass.
const serviceHealthy = "ready ok, alive ok"

// vitalsService installs the shipped unit, with other files, a port and short times.
func vitalsService(t *testing.T) (b *booted, d daemon) {
	t.Helper()
	listen := address(t)
	command := "/mnt/vitals run --config.file=/mnt/vitals.yml --web.listen-address=" + listen + " --web.shutdown-delay=200ms"
	b = boot(t, map[string]string{
		"vitals.service":             read(t, filepath.Join("..", "deploy", "systemd", "vitals.service")),
		"vitals.service.d/test.conf": "[Service]\nExecStart=\nExecStart=" + command + "\nWatchdogSec=5s\nTimeoutAbortSec=1s\nRestartSec=5s\nStandardError=append:/mnt/vitals.log\n",
	})
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("log of vitals:\n%s", read(t, filepath.Join(b.dir, "vitals.log")))
		}
	})
	binary, err := os.ReadFile(os.Getenv("VITALS_BIN"))
	if err = errors.Join(err, os.WriteFile(filepath.Join(b.dir, "vitals"), binary, 0o755), os.WriteFile(filepath.Join(b.dir, "vitals.yml"), []byte(serviceConfig), 0o644),
		os.WriteFile(filepath.Join(b.dir, "rules.yml"), []byte(serviceRules), 0o644)); err != nil {
		t.Fatal(err)
	}
	return b, daemon{&program{url: "http://" + listen}}
}

// shows waits until properties of the service have values.
func (b *booted) shows(t *testing.T, within time.Duration, want map[string]string) {
	t.Helper()
	await(t, fmt.Sprint(want), within, func() error {
		var errs []error
		for property, value := range want {
			if got := b.show(t, "vitals.service", property); got != value {
				errs = append(errs, fmt.Errorf("%s = %q, want %q", property, got, value))
			}
		}
		return errors.Join(errs...)
	})
}

func TestSystemdService(t *testing.T) {
	b, d := vitalsService(t)
	const good, bad = serviceHealthy, "ready failing (Bad), alive ok"
	t.Run("start returns once it is ready", func(t *testing.T) {
		b.ctl(t, "start", "vitals.service")
		if err := d.want("/started", http.StatusOK); err != nil {
			t.Error(err)
		}
		b.shows(t, systemdWithin, map[string]string{"ActiveState": "active", "StatusText": good, "WatchdogUSec": "5s", "NRestarts": "0"})
	})
	t.Run("the verdict is the status", func(t *testing.T) {
		marker := filepath.Join(b.dir, "bad")
		if err := os.WriteFile(marker, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		b.shows(t, systemdWithin, map[string]string{"StatusText": bad})
		if err := os.Remove(marker); err != nil {
			t.Fatal(err)
		}
		b.shows(t, systemdWithin, map[string]string{"StatusText": good})
	})
	t.Run("reload returns once it is over", func(t *testing.T) {
		if err := os.WriteFile(filepath.Join(b.dir, "rules.yml"), []byte(strings.ReplaceAll(serviceRules, "Bad", "Worse")), 0o644); err != nil {
			t.Fatal(err)
		}
		b.ctl(t, "reload", "vitals.service")
		b.shows(t, systemdWithin, map[string]string{"ActiveState": "active", "SubState": "running"})
		await(t, "the new rule", systemdWithin, func() error { return d.want("/ready/Worse", http.StatusOK) })
	})
	t.Run("it has no rights", func(t *testing.T) {
		status := read(t, "/proc/"+strings.Fields(read(t, filepath.Join(b.cgroup, "system.slice", "vitals.service", "cgroup.procs")))[0]+"/status")
		for _, want := range []string{"CapEff:\t0000000000000000\n", "CapBnd:\t0000000000000000\n", "NoNewPrivs:\t1\n", "Seccomp:\t2\n"} {
			if !strings.Contains(status, want) {
				t.Errorf("status =\n%s\nwant %q", status, want)
			}
		}
		if strings.Contains(status, "Uid:\t0\t") {
			t.Errorf("it runs as root, want another user")
		}
	})
}

func TestSystemdServiceEnds(t *testing.T) {
	b, _ := vitalsService(t)
	b.ctl(t, "start", "vitals.service")
	observer := askSystemd(t, b.bus(), nil, "vitals.service")
	t.Run("stopped by SIGSTOP, and started again by the watchdog", func(t *testing.T) {
		before := b.show(t, "vitals.service", "MainPID")
		b.signal(t, "vitals.service", syscall.SIGSTOP)
		observer.seesUnit(t, "vitals.service", "loaded", "activating", "watchdog")
		b.shows(t, systemdWithin, map[string]string{"ActiveState": "active", "NRestarts": "1", "StatusText": serviceHealthy})
		if after := b.show(t, "vitals.service", "MainPID"); after == before {
			t.Errorf("MainPID = %s before and after, want another process", after)
		}
		await(t, "the kind systemd sees it", systemdWithin, func() error {
			m, err := observer.metrics()
			if err != nil {
				return err
			}
			name, pairs := systemdMetric("restarts_total", "vitals.service")
			return m.want(1, name, pairs...)
		})
	})
	t.Run("killed", func(t *testing.T) {
		b.signal(t, "vitals.service", syscall.SIGKILL)
		b.shows(t, systemdWithin, map[string]string{"ActiveState": "active", "NRestarts": "2", "StatusText": serviceHealthy})
	})
	t.Run("stop", func(t *testing.T) {
		b.ctl(t, "stop", "vitals.service")
		b.shows(t, systemdWithin, map[string]string{"ActiveState": "inactive", "Result": "success"})
	})
	t.Run("a mistake is not tried again", func(t *testing.T) {
		if err := os.WriteFile(filepath.Join(b.dir, "vitals.yml"), []byte("collectors: [{}]\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := b.try("start", "vitals.service"); err == nil {
			t.Error("systemctl start with a mistake in the configuration = nil, want an error")
		}
		b.shows(t, systemdWithin, map[string]string{"ActiveState": "failed", "Result": "exit-code", "ExecMainStatus": "3", "NRestarts": "0"})
	})
}
