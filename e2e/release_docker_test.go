//go:build e2e

package e2e_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// docker is a Docker daemon in namespaces of its own: the bridge, the ports and /etc/vitals are not
// those of the machine.
type docker struct {
	// dir is where its commands run, state is its own directory, and inside the process whose namespaces
	// are Docker's.
	dir, state, programs string
	inside               int
}

// dockerScript ends as the daemon. Its arguments are its directory and that of /etc/vitals.
const dockerScript = `set -e
mount --make-rprivate /
mount -t tmpfs tmpfs /mnt
cp --archive /etc/. /mnt
mkdir -p /mnt/vitals
mount --bind "$2" /mnt/vitals
mount --rbind /mnt /etc
ip link set lo up
echo '{}' >"$1/daemon.json"
exec dockerd --config-file="$1/daemon.json" --data-root="$1/root" --exec-root="$1/exec" --pidfile="$1/pid" --host="unix://$1/socket" \
    --iptables=false --ip6tables=false --ip-masq=false --storage-driver=vfs`

// startDocker starts a daemon. Commands run in dir, and etc is /etc/vitals for containers.
func startDocker(t *testing.T, dir, etc string) docker {
	t.Helper()
	state := shortDirectory(t, "")
	bin := filepath.Dir(filepath.Dir(cached(t, "docker/usr/sbin/dockerd", "release")))
	node := filepath.Dir(filepath.Dir(cached(t, "node/usr/bin/containerd", "node")))
	d := docker{dir: dir, state: state, programs: strings.Join([]string{
		filepath.Join(bin, "bin"), filepath.Join(bin, "sbin"), filepath.Join(node, "bin"), filepath.Join(node, "sbin"), os.Getenv("PATH"),
	}, ":")}
	log, err := os.Create(filepath.Join(logDirectory(t), "docker.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd := exec.Command("unshare", "--fork", "--pid", "--mount-proc", "--mount", "--net", "--uts", "--ipc", "--kill-child", "sh", "-c", dockerScript, "sh", state, etc)
	cmd.Stdout, cmd.Stderr, cmd.Env = log, log, append(os.Environ(), "PATH="+d.programs)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if d.inside != 0 {
			_, _ = d.run("docker ps --all --quiet | xargs --no-run-if-empty docker rm --force")
			_ = syscall.Kill(d.inside, syscall.SIGTERM)
		}
		end := time.AfterFunc(30*time.Second, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
		defer end.Stop()
		_ = cmd.Wait()
	})
	await(t, "Docker serves", time.Minute, func() error {
		children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", cmd.Process.Pid))
		if err != nil {
			return err
		}
		if _, err := fmt.Sscan(string(children), &d.inside); err != nil {
			return fmt.Errorf("unshare has no child: %w\n%s", err, read(t, log.Name()))
		}
		_, err = d.run("docker version")
		return err
	})
	return d
}

// command is one of a shell in Docker's namespaces. The Compose of Debian 12 is a program of its own.
func (d docker) command(line string) *exec.Cmd {
	line = strings.ReplaceAll(line, "docker compose ", "docker-compose ")
	return exec.Command("nsenter", fmt.Sprintf("--target=%d", d.inside), "--mount", "--net", "--pid", "--uts", "--ipc", "--",
		"env", "PATH="+d.programs, "DOCKER_HOST=unix://"+filepath.Join(d.state, "socket"), "sh", "-c", `cd "$1" && eval "$2"`, "sh", d.dir, line)
}

// run runs a command and returns what it prints on stdout.
func (d docker) run(line string) (string, error) {
	cmd := d.command(line)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s%s", line, err, out, stderr.String())
	}
	return string(out), err
}

// foreground runs a command that stays, while check repeats until it succeeds. It ends with its containers.
func (d docker) foreground(t *testing.T, line string, check func() error) {
	t.Helper()
	log, err := os.Create(filepath.Join(shortDirectory(t, ""), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd := d.command(line)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	defer func() {
		if t.Failed() {
			t.Logf("%s prints\n%s", line, read(t, log.Name()))
		}
		_, err := d.run("docker ps --quiet | xargs docker kill")
		select {
		case <-done:
		case <-time.After(time.Minute):
			_ = cmd.Process.Kill()
			t.Errorf("%s does not end with its containers (docker kill: %v), want it to", line, err)
		}
	}()
	await(t, line, time.Minute, func() error {
		select {
		case err := <-done:
			done <- err
			t.Fatalf("%s: %v\n%s", line, err, read(t, log.Name()))
		default:
		}
		return check()
	})
}

// serves is a check that the port of the README serves a path with status 200.
func (d docker) serves(path string) error {
	_, err := d.run("curl --silent --fail --max-time 5 http://127.0.0.1:8080" + path)
	return err
}

// health fails unless Docker has checked the only container of an image: its state, and the last output.
func (d docker) health(status string, code int, text string) error {
	out, err := d.run(`docker inspect "$(docker ps --quiet)" --format='{{json .State.Health}}'`)
	if err != nil {
		return err
	}
	var h podmanHealth
	if err := json.Unmarshal([]byte(out), &h); err != nil {
		return err
	}
	if n := len(h.Log); n == 0 || h.Status != status || h.Log[n-1].ExitCode != code || !strings.Contains(h.Log[n-1].Output, text) {
		return fmt.Errorf("health is %+v, want %s by %d and %q", h, status, code, text)
	}
	return nil
}

// dockerHealth is a second file for Compose: checks each second instead of each half minute.
const dockerHealth = `services: {vitals: {healthcheck: {interval: 1s, retries: 1}}}
`

// releasedWithDocker runs the commands of README.md and of the guide with Docker. Each release is
// loaded, runs, and goes unhealthy, healthy and unhealthy again in Compose.
func releasedWithDocker(t *testing.T, dist string) {
	dir, etc := filepath.Dir(dist), shortDirectory(t, "")
	deploy, err := filepath.Abs("../deploy")
	if err = errors.Join(err, os.Symlink(deploy, filepath.Join(dir, "deploy")), os.Chmod(etc, 0o755)); err != nil {
		t.Fatal(err)
	}
	done := filepath.Join(etc, "done")
	config := strings.Replace(podmanConfig, "/work/done", "/etc/vitals/done", 1)
	if err := errors.Join(os.WriteFile(filepath.Join(etc, "vitals.yml"), []byte(config), 0o644), os.WriteFile(filepath.Join(etc, "rules.yml"), []byte(podmanRules), 0o644)); err != nil {
		t.Fatal(err)
	}
	d := startDocker(t, dir, etc)
	d.foreground(t, installLine(t, dockerLine), func() error { return d.serves("/alive") })

	_, guide, _ := strings.Cut(read(t, "../docs/guides/install.md"), "\ndocker load ")
	_, guide, _ = strings.Cut(guide, "\n")
	guide, _, _ = strings.Cut(guide, "\n")
	write(t, done, "yes")
	d.foreground(t, guide, func() error { return d.serves("/ready") })
	if err := os.Remove(done); err != nil {
		t.Fatal(err)
	}

	// Docker's containerd imports the files as that of a kubelet does.
	for _, name := range []string{"vitals-image.tar", "vitals-" + releaseVersion + ".linux-amd64.image.tar"} {
		ctr := "ctr --address=" + filepath.Join(d.state, "exec/containerd/containerd.sock") + " --namespace=k8s.io images "
		out, err := d.run(ctr + "import dist/" + name + " && " + ctr + "ls --quiet && " + ctr + "rm docker.io/library/vitals:" + releaseVersion)
		if err != nil || !strings.Contains(out, "\ndocker.io/library/vitals:"+releaseVersion+"\n") {
			t.Errorf("%s: ctr prints %q, %v, want the name of the image", name, out, err)
		}
	}

	write(t, filepath.Join(dir, "health.yaml"), dockerHealth)
	line := strings.Replace(installLine(t, composeLine), "compose.yaml", "compose.yaml -f health.yaml", 1)
	d.foreground(t, line, func() error {
		if err := d.health("unhealthy", 1, "WorkNotDone failing: The work is not done. (value 0"); err != nil {
			return err
		}
		write(t, done, "yes")
		await(t, "the container is healthy", time.Minute, func() error { return d.health("healthy", 0, "ok 0 ready: 1 rule") })
		return errors.Join(os.Remove(done), d.serves("/alive"))
	})
}
