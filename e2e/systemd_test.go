//go:build e2e

package e2e_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// systemdUnits are services in all states that they may be in, by how they get there.
func systemdUnits() map[string]string {
	service := func(lines ...string) string { return "[Service]\n" + strings.Join(lines, "\n") + "\n" }
	return map[string]string{
		"runs.service":    service("ExecStart=/bin/sleep infinity"),
		"exits.service":   service("ExecStart=/bin/sh -c 'exit 3'"),
		"killed.service":  service("ExecStart=/bin/sh -c 'kill -9 $$$$'"),
		"starts.service":  service("Type=oneshot", "ExecStart=/bin/sleep infinity"),
		"stays.service":   service("Type=oneshot", "RemainAfterExit=yes", "ExecStart=/bin/true"),
		"ends.service":    service("ExecStart=/bin/true"),
		"never.service":   service("ExecStart=/bin/sleep infinity"),
		"late.service":    service("Type=notify", "TimeoutStartSec=200ms", "ExecStart=/bin/sleep infinity"),
		"silent.service":  service("Type=notify", "NotifyAccess=all", "WatchdogSec=300ms", "WatchdogSignal=SIGKILL", "ExecStart=/bin/sh -c 'systemd-notify --ready; exec sleep infinity'"),
		"crashes.service": "[Unit]\nStartLimitIntervalSec=0\n" + service("Restart=always", "RestartSec=300ms", "ExecStart=/bin/false"),
		"limited.service": "[Unit]\nStartLimitIntervalSec=60\nStartLimitBurst=2\n" + service("Restart=always", "RestartSec=0", "ExecStart=/bin/false"),
		// systemd forgets a unit that is inactive and that no other names.
		"e2e.target.d/names.conf": "[Unit]\nWants=condition.service\n",
		"condition.service":       service("ExecCondition=/bin/false", "ExecStart=/bin/sleep infinity"),
		"lingers.service":         service("KillMode=process", "ExecStart=/bin/sh -c 'trap \"\" TERM; sleep infinity & while :; do wait; done'"),
		"reloads.service":         service("ExecStart=/bin/sleep infinity", "ExecReload=/bin/sleep infinity"),
		"broken.service":          service("Type=simple"), // without ExecStart
		"each@.service":           service("ExecStart=/bin/sleep infinity"),
		"listens.socket":          "[Socket]\nListenStream=/run/listens\n",
		"listens.service":         service("ExecStart=/bin/sleep infinity"),
		"tick.timer":              "[Timer]\nOnActiveSec=1h\n",
		"tick.service":            service("ExecStart=/bin/true"),
	}
}

// askSystemd runs Vitals with a collector of the kind systemd and the rules that its page
// shows, behind a command that runs it, or none.
func askSystemd(t *testing.T, bus string, before []string, units ...string) daemon {
	t.Helper()
	dir := shortDirectory(t, "")
	program, err := os.ReadFile(os.Getenv("VITALS_BIN"))
	if err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf("evaluation_interval: 200ms\nrule_files: [rules.yml]\ncollectors:\n  - {name: host, interval: 500ms, timeout: 400ms, systemd: {bus: %s, units: [%s]}}\n", bus, strings.Join(units, ", "))
	rules := regexp.MustCompile(`(?m)^ *for: .*\n`).ReplaceAllString(read(t, filepath.Join("..", "collectors", "systemd", "testdata", "rules.yml")), "")
	err = errors.Join(os.Chmod(dir, 0o755), os.WriteFile(filepath.Join(dir, "vitals"), program, 0o755), // other users may run it
		os.WriteFile(filepath.Join(dir, "vitals.yml"), []byte(config), 0o644), os.WriteFile(filepath.Join(dir, "rules.yml"), []byte(rules), 0o644))
	if err != nil {
		t.Fatal(err)
	}
	listen := address(t)
	d := daemon{launch(t, listen, append(before, filepath.Join(dir, "vitals"), "run", "--config.file="+filepath.Join(dir, "vitals.yml"),
		"--web.listen-address="+listen, "--web.unix-socket=", "--web.shutdown-delay=0s")...)}
	await(t, "vitals listens", systemdWithin, func() error { return d.want("/alive", http.StatusOK) })
	return d
}

// systemdMetric is a series of a unit.
func systemdMetric(metric, unit string, more ...string) (string, []string) {
	return "vitals_systemd_unit_" + metric, append([]string{"systemd", "host", "unit", unit}, more...)
}

// seesUnit waits until a unit has a load state, a state, and a result ("" for none).
func (d daemon) seesUnit(t *testing.T, unit, load, state, result string) {
	t.Helper()
	await(t, unit+" is "+state, systemdWithin, func() error {
		m, err := d.metrics()
		if err != nil {
			return err
		}
		var errs []error
		for _, w := range [][3]string{{"load_state", "state", load}, {"state", "state", state}, {"result", "result", result}} {
			if w[2] == "" {
				continue
			}
			name, pairs := systemdMetric(w[0], unit, w[1], w[2])
			errs = append(errs, m.want(1, name, pairs...))
		}
		return errors.Join(errs...)
	})
}

// seesSystemd waits until the collector has a reason, "" for none.
func (d daemon) seesSystemd(t *testing.T, reason string) {
	t.Helper()
	await(t, "systemd is "+reason, systemdWithin, func() error {
		m, err := d.metrics()
		if err != nil {
			return err
		}
		up := 0.0
		if reason == "" {
			up = 1
		}
		err = m.want(up, "vitals_systemd_up", "systemd", "host")
		if reason != "" {
			err = errors.Join(err, m.want(1, "vitals_systemd_failure", "systemd", "host", "reason", reason))
		}
		return err
	})
}

func TestSystemdUnits(t *testing.T) {
	b := boot(t, systemdUnits())
	if err := errors.Join(os.Symlink("/dev/null", b.dir+"/units/masked.service"), os.Symlink("runs.service", b.dir+"/units/alias.service")); err != nil {
		t.Fatal(err)
	}
	d := askSystemd(t, b.bus(), nil, "runs.service", "alias.service", "exits.service", "killed.service", "starts.service", "stays.service", "ends.service",
		"never.service", "late.service", "silent.service", "crashes.service", "limited.service", "condition.service", "lingers.service", "reloads.service",
		"broken.service", "each@1.service", "listens.socket", "tick.timer", "masked.service", "missing.service", "e2e.target")
	d.seesUnit(t, "runs.service", "loaded", "inactive", "success")
	b.ctl(t, "start", "--no-block", "runs.service", "exits.service", "killed.service", "starts.service", "stays.service", "ends.service", "late.service", "silent.service",
		"crashes.service", "limited.service", "lingers.service", "reloads.service", "each@1.service", "listens.socket", "tick.timer")
	for _, c := range []struct{ unit, load, state, result string }{
		{"runs.service", "loaded", "active", "success"},
		{"alias.service", "loaded", "active", "success"},
		{"exits.service", "loaded", "failed", "exit_code"},
		{"killed.service", "loaded", "failed", "signal"},
		{"starts.service", "loaded", "activating", "success"},
		{"stays.service", "loaded", "active", "success"},
		{"ends.service", "loaded", "inactive", "success"},
		{"never.service", "loaded", "inactive", "success"},
		{"late.service", "loaded", "failed", "timeout"},
		{"silent.service", "loaded", "failed", "watchdog"},
		{"limited.service", "loaded", "failed", "exit_code"},
		{"condition.service", "loaded", "inactive", "exec_condition"},
		{"broken.service", "bad_setting", "inactive", ""},
		{"each@1.service", "loaded", "active", "success"},
		{"listens.socket", "loaded", "active", "success"},
		{"tick.timer", "loaded", "active", "success"},
		{"masked.service", "masked", "inactive", ""},
		{"missing.service", "not_found", "inactive", ""},
		{"e2e.target", "loaded", "active", ""},
	} {
		t.Run(c.unit, func(t *testing.T) { d.seesUnit(t, c.unit, c.load, c.state, c.result) })
	}
	t.Run("stopping", func(t *testing.T) {
		b.ctl(t, "stop", "--no-block", "lingers.service")
		d.seesUnit(t, "lingers.service", "loaded", "deactivating", "")
	})
	t.Run("reloading", func(t *testing.T) {
		b.ctl(t, "reload", "--no-block", "reloads.service")
		d.seesUnit(t, "reloads.service", "loaded", "reloading", "")
	})
	t.Run("restarts", func(t *testing.T) {
		await(t, "crashes.service is restarted", systemdWithin, func() error {
			m, err := d.metrics()
			if err != nil {
				return err
			}
			name, pairs := systemdMetric("restarts_total", "crashes.service")
			if got := m[series(name, pairs...)]; got < 3 {
				return fmt.Errorf("crashes.service was restarted %g times, want at least 3", got)
			}
			return nil
		})
	})
	t.Run("since when", func(t *testing.T) {
		m, err := d.metrics()
		if err != nil {
			t.Fatal(err)
		}
		name, pairs := systemdMetric("start_timestamp_seconds", "runs.service")
		usec, err := strconv.ParseFloat(strings.TrimSuffix(b.show(t, "runs.service", "ActiveEnterTimestampMonotonic"), "\n"), 64)
		if got := m[series(name, pairs...)]; err != nil || got < 1.5e9 || usec <= 0 {
			t.Errorf("start = %f, active since %f us after the boot, %v, want a time", got, usec, err)
		}
		name, pairs = systemdMetric("start_timestamp_seconds", "exits.service")
		if got, ok := m[series(name, pairs...)]; ok {
			t.Errorf("start of a failed unit = %f, want none", got)
		}
	})
	t.Run("rules", func(t *testing.T) {
		await(t, "rules", systemdWithin, func() error {
			_, body, err := d.get("/ready")
			for _, want := range []string{"UnitNotActive failing: ", "UnitNotLoaded failing: ", "exits.service failed: exit_code 3"} {
				if !strings.Contains(body, want) {
					err = errors.Join(err, fmt.Errorf("no %q in\n%s", want, body))
				}
			}
			return err
		})
	})
	t.Run("removed while it runs", func(t *testing.T) {
		if err := os.Remove(b.dir + "/units/each@.service"); err != nil {
			t.Fatal(err)
		}
		b.ctl(t, "daemon-reload")
		d.seesUnit(t, "each@1.service", "not_found", "active", "")
	})
}

func TestSystemdBus(t *testing.T) {
	b := boot(t, systemdUnits())
	b.ctl(t, "start", "runs.service")
	d := askSystemd(t, b.bus(), nil, "runs.service")
	d.seesUnit(t, "runs.service", "loaded", "active", "success")
	stopped := func(name string, signal func(syscall.Signal)) {
		t.Run(name, func(t *testing.T) {
			signal(syscall.SIGSTOP)
			d.seesSystemd(t, "timeout")
			signal(syscall.SIGCONT)
			d.seesSystemd(t, "")
		})
	}
	stopped("E06 the bus is stopped by SIGSTOP", func(s syscall.Signal) { b.signal(t, "dbus.service", s) })
	stopped("E06 systemd is stopped by SIGSTOP", func(s syscall.Signal) {
		if err := syscall.Kill(b.init, s); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("the bus is killed", func(t *testing.T) {
		b.ctl(t, "kill", "--signal=SIGKILL", "dbus.service")
		d.seesSystemd(t, "") // its socket starts it again
	})
	t.Run("no process listens", func(t *testing.T) {
		b.ctl(t, "stop", "dbus.socket", "dbus.service")
		d.seesSystemd(t, "refused")
	})
	t.Run("no socket", func(t *testing.T) {
		if err := os.Remove(b.bus()); err != nil {
			t.Fatal(err)
		}
		d.seesSystemd(t, "missing")
		b.ctl(t, "start", "dbus.socket", "dbus.service")
		d.seesSystemd(t, "")
	})
	t.Run("socket of others", func(t *testing.T) {
		stranger := askSystemd(t, b.bus(), []string{"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"}, "runs.service")
		stranger.seesUnit(t, "runs.service", "loaded", "active", "success")
		if err := os.Chmod(b.bus(), 0o600); err != nil {
			t.Fatal(err)
		}
		stranger.seesSystemd(t, "forbidden")
	})
}
