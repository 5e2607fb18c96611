//go:build e2e

package e2e_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// userID is that of Debian's user and group without rights.
const userID = 65534

// userManager starts the systemd of a user, as user@.service does it.
const userManager = `[Unit]
DefaultDependencies=no
[Service]
Type=notify
User=65534
Group=65534
Delegate=yes
RuntimeDirectory=user
RuntimeDirectoryMode=0700
Environment=HOME=/mnt/home XDG_RUNTIME_DIR=/run/user
UnsetEnvironment=SYSTEMD_UNIT_PATH
ExecStart=/lib/systemd/systemd --user
StandardError=append:/mnt/user.log
`

// session is that of a user of a machine with systemd.
type session struct {
	*booted
	// home is the directory of the user, as it is seen from here.
	home string
}

// logIn boots a machine in which a user has the unit, a configuration and the programs.
func logIn(t *testing.T, unit string) session {
	t.Helper()
	b := boot(t, map[string]string{"user.service": userManager})
	u := session{b, filepath.Join(b.dir, "home")}
	t.Cleanup(func() {
		if text, _ := os.ReadFile(filepath.Join(b.dir, "user.log")); t.Failed() {
			t.Logf("log of the user's systemd:\n%s", text)
		}
	})
	for name, text := range map[string]string{
		".config/systemd/user/vitals.service": unit,
		".config/vitals/vitals.yml":           "evaluation_interval: 200ms\nrule_files: [rules.yml]\ncollectors: [{name: marker, interval: 500ms, timeout: 400ms, file: {path: /mnt/bad}}]\n",
		".config/vitals/rules.yml":            serviceRules,
	} {
		path := filepath.Join(u.home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, path, text)
	}
	binary, err := os.ReadFile(os.Getenv("VITALS_BIN"))
	// The cgroups are readable on any machine; those of the test are root's alone.
	err = errors.Join(err, os.Chmod(b.cgroup, 0o755), os.WriteFile(filepath.Join(b.dir, "vitals"), binary, 0o755), filepath.WalkDir(u.home, func(path string, _ os.DirEntry, err error) error {
		return errors.Join(err, os.Chown(path, userID, userID))
	}))
	if err != nil {
		t.Fatal(err)
	}
	if out, err := b.inside("cp", "/mnt/vitals", "/usr/local/bin/vitals").CombinedOutput(); err != nil {
		t.Fatalf("cp: %v\n%s", err, out)
	}
	b.ctl(t, "start", "user.service")
	return u
}

// command is a line of the user's shell.
func (u session) command(line string) *exec.Cmd {
	id := fmt.Sprint(userID)
	return u.inside("setpriv", "--reuid="+id, "--regid="+id, "--clear-groups", "env", "HOME=/mnt/home", "XDG_RUNTIME_DIR=/run/user", "sh", "-c", line)
}

// run runs a line of the user's shell.
func (u session) run(t *testing.T, line string) string {
	t.Helper()
	out, err := u.command(line).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return strings.TrimSpace(string(out))
}

// shows waits until properties of the service have values.
func (u session) shows(t *testing.T, want map[string]string) {
	t.Helper()
	await(t, fmt.Sprint(want), systemdWithin, func() error {
		var errs []error
		for property, value := range want {
			out, err := u.command("systemctl --user show --value --property=" + property + " vitals").Output()
			if got := strings.TrimSpace(string(out)); err != nil || got != value {
				errs = append(errs, fmt.Errorf("%s = %q, %v, want %q", property, got, err, value))
			}
		}
		return errors.Join(errs...)
	})
}

// The commands of the guide start the unit of a user in the systemd of a user: it starts, reports its verdict,
// is started again after a kill, and stops.
func TestSystemdUserService(t *testing.T) {
	const shipped = "127.0.0.1:8080"
	unit, listen := read(t, "../deploy/systemd/user/vitals.service"), address(t)
	if !strings.Contains(unit, shipped) {
		t.Fatalf("the unit is\n%s\nwant one that listens on %s", unit, shipped)
	}
	u := logIn(t, strings.Replace(unit, shipped, listen, 1))
	_, guide, _ := strings.Cut(read(t, "../docs/guides/systemd.md"), "\n## A service of a user\n")
	_, guide, _ = strings.Cut(guide, "```sh\n")
	guide, _, _ = strings.Cut(guide, "```")
	if out := u.run(t, "set -e\n"+guide); !strings.Contains(out, "ready") {
		t.Errorf("the commands of the guide print\n%s\nwant an explanation of ready", out)
	}
	d := daemon{&program{url: "http://" + listen}}
	if err := d.want("/started", http.StatusOK); err != nil {
		t.Error(err)
	}
	u.shows(t, map[string]string{"ActiveState": "active", "UnitFileState": "enabled", "StatusText": serviceHealthy, "WatchdogUSec": "30s", "NRestarts": "0"})
	pid := u.run(t, "systemctl --user show --value --property=MainPID vitals")
	if status := u.run(t, "cat /proc/"+pid+"/status"); !strings.Contains(status, "NoNewPrivs:\t1\n") || !strings.Contains(status, "Seccomp:\t2\n") {
		t.Errorf("status =\n%s\nwant no new privileges, and a filter of system calls", status)
	}
	marker := filepath.Join(u.dir, "bad")
	write(t, marker, "")
	u.shows(t, map[string]string{"StatusText": "ready failing (Bad), alive ok"})
	if err := os.Remove(marker); err != nil {
		t.Fatal(err)
	}
	u.run(t, "kill -s KILL "+pid)
	u.shows(t, map[string]string{"ActiveState": "active", "NRestarts": "1", "StatusText": serviceHealthy})
	u.run(t, "systemctl --user reload vitals && systemctl --user stop vitals")
	u.shows(t, map[string]string{"ActiveState": "inactive", "Result": "success"})
}
