//go:build e2e

package e2e_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// kuryrSource names a checkout of openstack/kuryr-kubernetes. Its HealthRegister then
// replaces the double. Debian has no package of the retired project.
const kuryrSource = "VITALS_E2E_KURYR"

// kuryrProcess is a program of Kuryr that the module of deploy/kuryr runs.
type kuryrProcess struct {
	*parts
	in  io.Writer
	out *bufio.Scanner
}

// startKuryrProcess starts Vitals, and a program of the double with the module.
func startKuryrProcess(t *testing.T, program string, args ...string) *kuryrProcess {
	t.Helper()
	return startKuryrProgram(t, "python3", nil, append([]string{program}, args...)...)
}

// startKuryrProgram is startKuryrProcess with an interpreter and more variables.
func startKuryrProgram(t *testing.T, python string, variables []string, args ...string) *kuryrProcess {
	t.Helper()
	double := t.TempDir()
	if err := os.CopyFS(double, os.DirFS("testdata/kuryr")); err != nil {
		t.Fatal(err)
	}
	if source := os.Getenv(kuryrSource); source != "" {
		const health = "kuryr_kubernetes/handlers/health.py"
		write(t, filepath.Join(double, health), read(t, filepath.Join(source, health)))
	}
	p := startParts(t, "accept: any, deadline: 20s")
	cmd := p.command(python, append([]string{"../deploy/kuryr/vitals_kuryr.py"}, args...)...)
	cmd.Env = append(append(cmd.Env, "PYTHONPATH="+double, "PYTHONDONTWRITEBYTECODE=1"), variables...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	out, outErr := cmd.StdoutPipe()
	if err := errors.Join(err, outErr); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		var ended *exec.ExitError
		if err := cmd.Wait(); err != nil && !errors.As(err, &ended) {
			t.Error(err)
		}
	})
	return &kuryrProcess{p, in, bufio.NewScanner(out)}
}

// line returns the next line of the program's output.
func (k *kuryrProcess) line(t *testing.T) string {
	t.Helper()
	if !k.out.Scan() {
		t.Fatalf("the program ended: %v", k.out.Err())
	}
	return k.out.Text()
}

// does sends a command to the program.
func (k *kuryrProcess) does(t *testing.T, command string) {
	t.Helper()
	if _, err := io.WriteString(k.in, command+"\n"); err != nil {
		t.Fatal(err)
	}
}

// reported returns the components as "NAME alive ready reason", by name.
func (k *kuryrProcess) reported() (map[string]string, error) {
	_, body, err := k.get("/api/v1/status")
	if err != nil {
		return nil, err
	}
	var status struct {
		Components []struct {
			Name, Reason string
			Alive, Ready *bool
		}
	}
	if err := json.Unmarshal([]byte(body), &status); err != nil {
		return nil, err
	}
	found := map[string]string{}
	for _, c := range status.Components {
		found[c.Name] = strings.TrimSpace(shown(c.Alive) + " " + shown(c.Ready) + " " + c.Reason)
	}
	return found, nil
}

// awaitAll waits until exactly these components are reported, and alive fails or not.
func (k *kuryrProcess) awaitAll(t *testing.T, what, aliveFails string, want map[string]string) {
	t.Helper()
	await(t, what, 2*componentSlack, func() error {
		got, err := k.reported()
		if fmt.Sprint(got) != fmt.Sprint(want) {
			err = errors.Join(err, fmt.Errorf("components = %v, want %v", got, want))
		}
		return errors.Join(err, k.probe("alive", aliveFails))
	})
}

const healthyComponent = "true true"

// Every element of the HealthRegister is a component with its last exception, and nothing
// that Kuryr does not latch latches.
func TestKuryrModuleController(t *testing.T) {
	t.Parallel()
	k := startKuryrProcess(t, "kuryr-k8s-controller", "--config-dir", "/etc/kuryr")
	if got := k.line(t); got != "['kuryr-k8s-controller', '--config-dir', '/etc/kuryr']" {
		t.Errorf("the program has the arguments %s, want its own", got)
	}
	want := map[string]string{
		"kuryr-k8s-controller": healthyComponent, "Watcher": healthyComponent,
		"KuryrPortHandler": healthyComponent, "NamespaceHandler": healthyComponent,
	}
	k.awaitAll(t, "healthy", "", want)
	k.does(t, "dead KuryrPortHandler spec")
	want["KuryrPortHandler"] = "false false KeyError: 'spec'"
	k.awaitAll(t, "dead handler", "ComponentDead failing: Component KuryrPortHandler is not alive.", want)
	k.does(t, "alive KuryrPortHandler http://kuryr:s3cret@cloud:5000 failed")
	want["KuryrPortHandler"] = "true true KeyError: 'http://cloud:5000 failed'"
	k.awaitAll(t, "alive handler, with its last exception", "", want)
	k.does(t, "ready Watcher false")
	want["Watcher"] = "true false"
	k.awaitAll(t, "watcher that is not ready", "", want)
}

// A controller whose event loop hangs reports nothing, and all its components are dead.
// When it goes on, they are alive again. The interpreter is Debian's, which has the
// package python3-eventlet.
func TestKuryrModuleEventLoop(t *testing.T) {
	t.Parallel()
	k := startKuryrProgram(t, "/usr/bin/python3", []string{"DOUBLE_EVENTLET=1"}, "kuryr-k8s-controller")
	k.line(t)
	alive := func(want string) func() error {
		return func() error {
			got, err := k.reported()
			for _, name := range []string{"kuryr-k8s-controller", "Watcher"} {
				if !strings.HasPrefix(got[name], want) {
					err = errors.Join(err, fmt.Errorf("%s = %q, want %q", name, got[name], want))
				}
			}
			return err
		}
	}
	await(t, "healthy", componentSlack, alive(healthyComponent))
	k.does(t, "hang Watcher")
	await(t, "event loop that hangs", 2*componentSlack, alive("false false no report for "))
	k.does(t, "goes on")
	await(t, "event loop that goes on", componentSlack, alive(healthyComponent))
}

// Each service process of the CNI daemon and its components are components, and so is the
// boolean that they share. A process that is killed reports nothing any more.
func TestKuryrModuleDaemon(t *testing.T) {
	t.Parallel()
	k := startKuryrProcess(t, "kuryr-daemon")
	pids := []string{k.line(t), k.line(t)}
	want := map[string]string{
		"kuryr-daemon": healthyComponent, "PodWatcherService": healthyComponent, "CNIDaemonExporterService": healthyComponent,
		"PodWatcherService.Watcher": healthyComponent, "PodWatcherService.CNIPodHandler": healthyComponent, "shared-boolean": healthyComponent,
	}
	k.awaitAll(t, "healthy", "", want)
	k.does(t, "false")
	want["shared-boolean"] = "false false"
	k.awaitAll(t, "boolean that is false", "ComponentDead failing: Component shared-boolean is not alive.", want)
	k.does(t, "true")
	want["shared-boolean"] = healthyComponent
	k.awaitAll(t, "boolean that is true again", "", want)
	signalProcess(t, pids[0], syscall.SIGUSR1)
	want["PodWatcherService.Watcher"] = "false false"
	k.awaitAll(t, "dead watcher of a process", "ComponentDead failing: Component PodWatcherService.Watcher is not alive.", want)
	signalProcess(t, pids[1], syscall.SIGKILL)
	await(t, "killed process", 2*componentSlack, func() error {
		got, err := k.reported()
		if !strings.HasPrefix(got["CNIDaemonExporterService"], "false false no report for ") {
			err = errors.Join(err, fmt.Errorf("components = %v, want CNIDaemonExporterService without a report", got))
		}
		return err
	})
}

func signalProcess(t *testing.T, pid string, s syscall.Signal) {
	t.Helper()
	n, err := strconv.Atoi(pid)
	if err == nil {
		err = syscall.Kill(n, s)
	}
	if err != nil {
		t.Fatal(err)
	}
}
