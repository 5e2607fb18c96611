//go:build e2e

package e2e_test

import (
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The shipped units have an exposure below 2, as systemd rates it. The threshold is that times ten.
func TestSystemdSecurity(t *testing.T) {
	out, err := exec.Command("systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=19", "../deploy/systemd/vitals.service").CombinedOutput()
	if err != nil {
		t.Errorf("systemd-analyze security: %v, want an exposure of at most 1.9\n%s", err, out)
	}
}

// With vitals.socket, systemd keeps the port: the first connection starts the service, and
// connections during a restart wait for it.
func TestSystemdSocket(t *testing.T) {
	b, d := vitalsService(t)
	listen := strings.TrimPrefix(d.url, "http://")
	b.unit(t, "vitals.socket", strings.Replace(read(t, "../deploy/systemd/vitals.socket"), "ListenStream=8080", "ListenStream="+listen, 1))
	dropIn := read(t, "../deploy/systemd/socket.conf")
	b.unit(t, "vitals.service.d/test2.conf", strings.ReplaceAll(strings.Replace(dropIn, "/usr/local/bin/vitals", "/mnt/vitals", 1), "/etc/vitals/vitals.yml", "/mnt/vitals.yml"))
	b.ctl(t, "daemon-reload")
	b.ctl(t, "start", "vitals.socket")
	if got := b.show(t, "vitals.service", "ActiveState"); got != "inactive" {
		t.Fatalf("the service is %s before the first connection, want inactive", got)
	}
	await(t, "the first connection starts the service", systemdWithin, func() error { return d.want("/started", http.StatusOK) })
	before := b.show(t, "vitals.service", "MainPID")
	for range 3 {
		restarted := make(chan error, 1)
		go func() { restarted <- b.try("restart", "vitals.service") }()
		for done := false; !done; {
			conn, err := net.DialTimeout("tcp", listen, systemdWithin)
			if err != nil {
				t.Fatalf("a connection during the restart: %v, want one that waits", err)
			}
			_ = conn.Close()
			select {
			case err := <-restarted:
				if done = true; err != nil {
					t.Fatal(err)
				}
			case <-time.After(10 * time.Millisecond):
			}
		}
	}
	if after := b.show(t, "vitals.service", "MainPID"); after == before {
		t.Errorf("MainPID = %s before and after, want another process", after)
	}
	await(t, "it serves after the restarts", systemdWithin, func() error { return d.want("/ready", http.StatusOK) })
	if text := read(t, filepath.Join(b.dir, "vitals.log")); strings.Contains(text, "address already in use") {
		t.Errorf("the service opens the port itself:\n%s", text)
	}
}

// systemd finds no mistake in the unit of a user.
func TestSystemdUserUnit(t *testing.T) {
	unit := filepath.Join(shortDirectory(t, ""), "vitals.service")
	write(t, unit, strings.Replace(read(t, "../deploy/systemd/user/vitals.service"), "/usr/local/bin/vitals", "/bin/true", 1))
	out, err := exec.Command("env", "XDG_RUNTIME_DIR="+filepath.Dir(unit), "systemd-analyze", "verify", "--user", unit).CombinedOutput()
	if err != nil || strings.Contains(string(out), "vitals.service") {
		t.Errorf("systemd-analyze verify: %v, want no finding\n%s", err, out)
	}
}
