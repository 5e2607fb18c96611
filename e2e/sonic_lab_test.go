//go:build e2e

package e2e_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// sonicImage is what an image of a SONiC container has of Vitals.
type sonicImage struct{ dir string }

// newSonicImage builds the programs, with the probe under SONiC's name.
func newSonicImage(t *testing.T) sonicImage {
	t.Helper()
	dir := probes(t)
	if err := os.Symlink("healthcheck", filepath.Join(dir, "readiness_probe.sh")); err != nil {
		t.Fatal(err)
	}
	return sonicImage{dir}
}

// sonicBox is a container of such an image: with a supervisord, a hook and files of its own.
type sonicBox struct {
	image sonicImage
	dir   string
	// set are the variables of the profile.
	set map[string]string
}

// newSonicBox makes a container. It has no hook, and its file of critical programs is
// empty.
func newSonicBox(t *testing.T, image sonicImage, supervisor string, set map[string]string) *sonicBox {
	t.Helper()
	b := &sonicBox{image, shortDirectory(t, ""), map[string]string{"socket": supervisor}}
	b.set["hook"], b.set["critical_processes"] = filepath.Join(b.dir, "hook"), filepath.Join(b.dir, "critical_processes")
	write(t, b.set["critical_processes"], "")
	maps.Copy(b.set, set)
	return b
}

func (b *sonicBox) socket() string { return filepath.Join(b.dir, "vitals.sock") }

// run runs the daemon until the test ends.
func (b *sonicBox) run(t *testing.T) daemon {
	t.Helper()
	listen := address(t)
	args := []string{filepath.Join(b.image.dir, "vitals"), "run", "--profile=sonic", "--web.listen-address=" + listen,
		"--web.unix-socket=" + b.socket(), "--web.shutdown-delay=0s"}
	for _, name := range slices.Sorted(maps.Keys(b.set)) {
		args = append(args, "--set="+name+"="+b.set[name])
	}
	return daemon{launch(t, listen, args...)}
}

// probe calls the probe by SONiC's name. It queries the daemon, with a longer timeout than
// the default: the machine is busy.
func (b *sonicBox) probe(t *testing.T, flags ...string) (string, int) {
	t.Helper()
	flags = append([]string{"--socket=" + b.socket(), "--timeout=20s"}, flags...)
	return probed(t, exec.CommandContext(t.Context(), filepath.Join(b.image.dir, "readiness_probe.sh"), flags...))
}

// probeAlone calls the probe where there is no daemon, with the profile in the environment.
func (b *sonicBox) probeAlone(t *testing.T, flags ...string) (string, int) {
	t.Helper()
	flags = append([]string{"--socket=" + filepath.Join(b.dir, "none.sock"), "--timeout=20s"}, flags...)
	cmd := exec.CommandContext(t.Context(), filepath.Join(b.image.dir, "readiness_probe.sh"), flags...)
	cmd.Env = append(os.Environ(), "VITALS_PROFILE=sonic")
	for name, value := range b.set {
		cmd.Env = append(cmd.Env, "VITALS_SET_"+strings.ToUpper(name)+"="+value)
	}
	return probed(t, cmd)
}

// sonicAnswer is what the probe answers: a code, and words of its first line.
type sonicAnswer struct {
	code  int
	words []string
}

func (a sonicAnswer) check(out string, code int) error {
	first, _, _ := strings.Cut(out, "\n")
	for _, words := range append(a.words, fmt.Sprintf(" %d ", a.code)) {
		if !strings.Contains(first, words) {
			return fmt.Errorf("readiness_probe.sh = %d without %q:\n%s", code, words, out)
		}
	}
	if code != a.code {
		return fmt.Errorf("readiness_probe.sh = %d, want %d:\n%s", code, a.code, out)
	}
	return nil
}

// await waits until the daemon's answer is this one.
func (b *sonicBox) await(t *testing.T, a sonicAnswer, flags ...string) {
	t.Helper()
	await(t, fmt.Sprintf("the probe answers %d", a.code), supervisorWithin, func() error { return a.check(b.probe(t, flags...)) })
}

// both checks that the probe answers so with a daemon and without.
func (b *sonicBox) both(t *testing.T, a sonicAnswer) {
	t.Helper()
	if err := a.check(b.probeAlone(t)); err != nil {
		t.Errorf("without a daemon: %v", err)
	}
	b.run(t)
	b.await(t, a)
}
