//go:build e2e

package e2e_test

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// podman runs containers whose storage, network and cgroups do not depend on what the
// machine has: no systemd, no overlay file system, no bridge.
type podman struct{ dir string }

func newPodman(t *testing.T) podman {
	t.Helper()
	p := podman{shortDirectory(t, "")}
	t.Cleanup(func() {
		_, _ = p.run("rm", "--all", "--force", "--time=1")
		_, _ = p.run("rmi", "--all", "--force")
	})
	return p
}

// run runs podman and returns what it prints on stdout.
func (p podman) run(args ...string) (string, error) {
	cmd := exec.Command("podman", append([]string{
		"--storage-driver=vfs", "--root=" + filepath.Join(p.dir, "root"), "--runroot=" + filepath.Join(p.dir, "run"),
		"--cgroup-manager=cgroupfs", "--events-backend=file", "--runtime=runc",
	}, args...)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("podman %s: %w\n%s%s", args[0], err, out, stderr.String())
	}
	return string(out), err
}

// start runs a container of the image. Without systemd there are no timers, so that
// checks are run by podman healthcheck run alone.
func (p podman) start(t *testing.T, name, image string, args ...string) {
	t.Helper()
	at := slices.Index(args, "--")
	all := slices.Concat([]string{
		"run", "--detach", "--name=" + name, "--network=host", "--read-only", "--user=65532:65532", "--cap-drop=all",
		"--health-interval=disable", "--ulimit=nofile=1024:1024", "--ulimit=nproc=1024:1024",
	}, args[:at], []string{image}, args[at+1:])
	if _, err := p.run(all...); err != nil {
		t.Fatal(err)
	}
}

// podmanHealth is what podman keeps of the checks of a container.
type podmanHealth struct {
	Status string
	Log    []struct {
		ExitCode int
		Output   string
	}
}

// check runs the container's health check and returns the state in podman.
func (p podman) check(name string) (podmanHealth, error) {
	_, _ = p.run("healthcheck", "run", name) // its code is in the log, too
	out, err := p.run("inspect", name, "--format={{json .State.Health}}")
	if err != nil {
		return podmanHealth{}, err
	}
	var h podmanHealth
	return h, json.Unmarshal([]byte(out), &h)
}

// awaitHealth checks until the container is in the state, and the output of its last check contains text.
func (p podman) awaitHealth(t *testing.T, name, status string, code int, text string) {
	t.Helper()
	await(t, name+" is "+status, time.Minute, func() error {
		h, err := p.check(name)
		if err != nil {
			return err
		}
		if n := len(h.Log); n == 0 || h.Status != status || h.Log[n-1].ExitCode != code || !strings.Contains(h.Log[n-1].Output, text) {
			return fmt.Errorf("health is %+v, want %s by %d and %q", h, status, code, text)
		}
		return nil
	})
}

const podmanConfig = `
rule_files: [rules.yml]
collectors:
  - name: work
    interval: 200ms
    timeout: 100ms
    file: {path: /work/done}
`

const podmanRules = `
groups:
  - name: work
    rules:
      - alert: WorkNotDone
        expr: vitals_file_exists{file="work"} == 0
        labels: {state: ready, severity: critical}
        annotations: {summary: The work is not done.}
`

// checkedImage builds the image of deploy/container as it stands, on an empty base.
func (p podman) checkedImage(t *testing.T) string {
	t.Helper()
	dir := shortDirectory(t, "")
	for _, name := range []string{"vitals", "healthcheck"} {
		build := exec.Command("go", "build", "-trimpath", "-tags", "grpcnotrace", "-ldflags", "-s -w", "-o", filepath.Join(dir, name), "../cmd/"+name)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("build %s: %v\n%s", name, err, out)
		}
	}
	notices(t, dir)
	if out, err := p.run("build", "--format=docker", "--file=../deploy/container/Dockerfile", "--tag=checked", dir); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return "checked"
}

// A container of an image without anything but the two programs goes healthy,
// unhealthy and healthy again: with Vitals inside, and with checks without a
// daemon. It runs as an ordinary user, read-only, and without capabilities.
func TestPodman(t *testing.T) {
	t.Parallel()
	p := newPodman(t)
	image := p.checkedImage(t)
	config, work := shortDirectory(t, ""), shortDirectory(t, "")
	for _, dir := range []string{config, work} {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"vitals.yml": podmanConfig, "rules.yml": podmanRules} {
		if err := os.WriteFile(filepath.Join(config, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p.hasLicences(t, image)
	volumes := []string{"--volume=" + config + ":/etc/vitals:ro", "--volume=" + work + ":/work:ro"}

	t.Run("daemon", func(t *testing.T) {
		listen := address(t)
		args := append(slices.Clone(volumes), "--tmpfs=/run/vitals:mode=1777", "--",
			"/usr/local/bin/vitals", "run", "--config.file=/etc/vitals/vitals.yml", "--web.listen-address="+listen)
		p.start(t, "daemon", image, args...)
		p.roundTrip(t, "daemon", filepath.Join(work, "done"))
	})
	t.Run("standalone", func(t *testing.T) {
		// The workload does not report to Vitals; the demo is one that lasts.
		args := append(slices.Clone(volumes), "--", "/usr/local/bin/vitals", "demo", "--web.listen-address="+address(t), "--web.unix-socket=")
		p.start(t, "standalone", image, args...)
		p.roundTrip(t, "standalone", filepath.Join(work, "done"))
	})
}

// hasLicences fails unless the image has the licences of Vitals, of Go and of every module that
// is linked into its program.
func (p podman) hasLicences(t *testing.T, image string) {
	t.Helper()
	dir := shortDirectory(t, "")
	for _, args := range [][]string{
		{"create", "--name=licences", image, "/usr/local/bin/vitals"},
		{"cp", "licences:/licenses/vitals", dir},
		{"cp", "licences:/usr/local/bin/vitals", filepath.Join(dir, "program")},
		{"rm", "licences"},
	} {
		if _, err := p.run(args...); err != nil {
			t.Fatal(err)
		}
	}
	if got := read(t, filepath.Join(dir, "vitals", "LICENSE")); got != read(t, "../LICENSE") {
		t.Errorf("the image has a LICENSE of %d bytes, want that of the repository", len(got))
	}
	linked, err := buildinfo.ReadFile(filepath.Join(dir, "program"))
	if err != nil || len(linked.Deps) == 0 {
		t.Fatalf("modules of the program: %v, %v", linked, err)
	}
	want := []string{"Go " + linked.GoVersion}
	for _, m := range linked.Deps {
		want = append(want, m.Path+" "+m.Version)
	}
	texts := strings.Split(read(t, filepath.Join(dir, "vitals", "THIRD_PARTY_NOTICES")), "\n"+strings.Repeat("=", 80)+"\n")
	for _, w := range want {
		i := slices.IndexFunc(texts, func(text string) bool { return strings.HasPrefix(text, w+"\n") })
		if i < 0 || !strings.Contains(strings.ToLower(texts[i]), "copyright") {
			t.Errorf("THIRD_PARTY_NOTICES has no licence of %s, want one", w)
		}
	}
}

// roundTrip breaks and heals what the container's check tests.
func (p podman) roundTrip(t *testing.T, name, done string) {
	t.Helper()
	p.awaitHealth(t, name, "unhealthy", 1, "WorkNotDone failing: The work is not done. (value 0")
	write(t, done, "yes")
	p.awaitHealth(t, name, "healthy", 0, "ok 0 ready: 1 rule")
	if err := os.Remove(done); err != nil {
		t.Fatal(err)
	}
	p.awaitHealth(t, name, "unhealthy", 1, "WorkNotDone failing")
}
