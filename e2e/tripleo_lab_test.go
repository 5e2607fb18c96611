//go:build e2e

package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

// tripleoWithin bounds what shows with the next collections of the profile, every 10 s,
// and with the "for" of its rules.
const tripleoWithin = time.Minute

// tripleoLab is a container of TripleO: files below a directory, a link in the place of
// its script, and real servers on loopback.
type tripleoLab struct {
	dir string
	// probe is /openstack/healthcheck.
	probe string
}

// newTripleoLab makes one with these files.
func newTripleoLab(t *testing.T, files map[string]string) *tripleoLab {
	t.Helper()
	lab := &tripleoLab{dir: shortDirectory(t, "")}
	for path, text := range files {
		lab.write(t, path, text)
	}
	programs := probes(t)
	lab.probe = filepath.Join(lab.dir, "openstack/healthcheck")
	if err := os.MkdirAll(filepath.Dir(lab.probe), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(programs, "healthcheck"), lab.probe); err != nil {
		t.Fatal(err)
	}
	return lab
}

// write writes a file of the container.
func (l *tripleoLab) write(t *testing.T, path, text string) {
	t.Helper()
	path = filepath.Join(l.dir, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (l *tripleoLab) socket() string { return filepath.Join(l.dir, "v.sock") }

// serve runs vitals run --profile=tripleo for a service of the container.
func (l *tripleoLab) serve(t *testing.T, service string, settings ...string) daemon {
	t.Helper()
	listen := address(t)
	command := []string{os.Getenv("VITALS_BIN"), "run", "--profile=tripleo", "--set=service=" + service, "--set=root=" + l.dir,
		"--web.listen-address=" + listen, "--web.unix-socket=" + l.socket(), "--web.shutdown-delay=0s"}
	for _, s := range settings {
		command = append(command, "--set="+s)
	}
	d := daemon{launch(t, listen, command...)}
	t.Cleanup(func() { d.keepsSecrets(t) })
	await(t, "vitals listens", time.Minute, func() error {
		_, _, err := d.get("/alive")
		return err
	})
	return d
}

// check calls /openstack/healthcheck, which queries the daemon.
func (l *tripleoLab) check(t *testing.T) (out string, code int) {
	t.Helper()
	return probed(t, exec.Command(l.probe, "--socket="+l.socket()))
}

// alone calls /openstack/healthcheck where there is no daemon, as TripleO does: with the
// service in the environment and arguments behind the path.
func (l *tripleoLab) alone(t *testing.T, service string, arguments ...string) (out string, code int) {
	t.Helper()
	cmd := exec.Command(l.probe, arguments...)
	cmd.Env = append(os.Environ(), "VITALS_PROFILE=tripleo", "VITALS_SET_SERVICE="+service, "VITALS_SET_ROOT="+l.dir,
		"VITALS_HEALTHCHECK_SOCKET="+filepath.Join(l.dir, "none.sock"), "HEALTHCHECK_CURL_MAX_TIME=2")
	return probed(t, cmd)
}

// ends waits until the check ends with a code and prints the expected line, with and without
// a daemon.
func (l *tripleoLab) ends(t *testing.T, service string, arguments []string, code int, line string) {
	t.Helper()
	want := regexp.MustCompile(line)
	for name, check := range map[string]func() (string, int){
		"with a daemon": func() (string, int) { return l.check(t) },
		"alone":         func() (string, int) { return l.alone(t, service, arguments...) },
	} {
		await(t, "the check "+name, tripleoWithin, func() error {
			if out, got := check(); got != code || !want.MatchString(out) {
				return fmt.Errorf("healthcheck = %d %q, want %d %s", got, out, code, line)
			}
			return nil
		})
	}
}
