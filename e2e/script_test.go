//go:build e2e

package e2e_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestScriptFirstProcess runs Vitals as the first process of a PID namespace, as in a
// container without an init: what scripts leave behind becomes its children, daemons in
// sessions of their own too, and none of them stays, zombies included.
func TestScriptFirstProcess(t *testing.T) {
	t.Parallel()
	dir := shortDirectory(t, "")
	write(t, filepath.Join(dir, "vitals.yml"), `evaluation_interval: 100ms
collectors:
  - {name: leaves, interval: 200ms, timeout: 200ms, script: {command: [/bin/sh, -c, "(sleep 1000 & sleep 0.01) & (true &) ; exit 3"]}}
  - {name: hangs, interval: 200ms, timeout: 200ms, script: {command: [/bin/sh, -c, "(sleep 1000 & sleep 1000) & sleep 1000"]}}
  - {name: daemons, interval: 200ms, timeout: 200ms, script: {command: [/bin/sh, -c, "setsid sleep 0.2 >/dev/null 2>&1 & exit 3"]}}
`)
	listen := address(t)
	var log bytes.Buffer
	cmd := exec.Command("/bin/sh", "-c", `mount --make-rprivate / && mount -t proc proc /proc && exec "$0" "$@"`,
		os.Getenv("VITALS_BIN"), "run", "--config.file="+filepath.Join(dir, "vitals.yml"),
		"--web.listen-address="+listen, "--web.unix-socket=", "--web.shutdown-delay=0s")
	cmd.Stdout, cmd.Stderr = &log, &log
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("vitals: %v, want exit code 0 on SIGTERM\n%s", err, log.String())
		}
	})
	d := daemon{&program{url: "http://" + listen, cmd: cmd}}
	await(t, "vitals listens", time.Minute, func() error { return d.want("/alive", http.StatusOK) })
	for _, name := range []string{"leaves", "hangs", "daemons"} {
		await(t, name+" has run", supervisorWithin, func() error {
			m, err := d.metrics()
			if err != nil {
				return err
			}
			if name == "hangs" {
				return m.want(1, "vitals_script_failure", "script", name, "reason", "timeout")
			}
			return m.want(3, "vitals_script_exit_code", "script", name)
		})
	}
	// A sample may contain a script that runs, and a daemon is a zombie for 1.5 s. A process
	// left behind would be in all samples.
	seen := map[string]int{}
	const samples = 40
	for range samples {
		for _, child := range childrenOf(t, cmd.Process.Pid) {
			seen[child]++
		}
		<-time.After(150 * time.Millisecond)
	}
	for child, times := range seen {
		if times > samples/2 {
			t.Errorf("process %s was a child of Vitals in %d of %d samples, want none to stay", child, times, samples)
		}
	}
}

// childrenOf are the children of a process and what they are, as in "1234 sleep Z".
func childrenOf(t *testing.T, pid int) []string {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil || len(files) == 0 {
		t.Fatalf("children of process %d: %v, want a file for each thread", pid, err)
	}
	var all []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, syscall.ESRCH) {
			t.Fatal(err)
		}
		for _, child := range strings.Fields(string(text)) {
			if stat, err := os.ReadFile("/proc/" + child + "/stat"); err == nil {
				all = append(all, strings.Join(strings.Fields(string(stat))[:3], " "))
			}
		}
	}
	return all
}
