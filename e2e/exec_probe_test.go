//go:build e2e

package e2e_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// notices writes the licences that an image has, as make build does.
func notices(t *testing.T, dir string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "../deploy/notices.sh")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("deploy/notices.sh: %v\n%s", err, stderr.String())
	}
	write(t, filepath.Join(dir, "THIRD_PARTY_NOTICES"), string(text))
	write(t, filepath.Join(dir, "LICENSE"), read(t, "../LICENSE"))
}

// probes builds the exec probe and copies the program next to it, where every user can run
// them, as in an image.
func probes(t *testing.T) (dir string) {
	t.Helper()
	dir = openDirectory(t)
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", filepath.Join(dir, "healthcheck"), "../cmd/healthcheck")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build healthcheck: %v\n%s", err, out)
	}
	vitals, err := os.ReadFile(os.Getenv("VITALS_BIN"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "vitals"), vitals, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// probed runs a command to its end and returns what it printed and its exit code.
func probed(t *testing.T, cmd *exec.Cmd) (string, int) {
	t.Helper()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s: %v", cmd, err)
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

// A user who may not use the socket gets an error with an exit code of its own.
func TestExecProbeE82Forbidden(t *testing.T) {
	t.Parallel()
	probe := filepath.Join(probes(t), "healthcheck")
	socket := socketDaemon(t, fmt.Sprintf("--web.unix-socket-group=%d", groupID))
	for style, code := range map[string]int{"plain": 7, "docker": 1, "sonic": 123, "nagios": 3} {
		out, got := probed(t, as{strangerID, strangerID, nil}.command(t.Context(), probe, "--socket="+socket, "--state=alive", "--style="+style))
		if got != code || !strings.Contains(out, socket+" may not be used: ") {
			t.Errorf("E82: style %s as a stranger = %d %q, want %d with the reason", style, got, out, code)
		}
	}
	for name, user := range map[string]as{"root": {}, "a member of the socket's group": {strangerID, strangerID, []uint32{groupID}}} {
		if out, got := probed(t, user.command(t.Context(), probe, "--socket="+socket, "--state=alive", "--timeout=20s")); got != 0 {
			t.Errorf("E82: %s = %d %q, want 0", name, got, out)
		}
	}
	if err := os.Chmod(filepath.Dir(socket), 0o700); err != nil {
		t.Fatal(err)
	}
	if out, got := probed(t, as{strangerID, strangerID, nil}.command(t.Context(), probe, "--socket="+socket, "--style=plain")); got != 7 {
		t.Errorf("E82: a socket in another's directory = %d %q, want 7", got, out)
	}
}

// A daemon that hangs costs the probe its deadline, which is shorter than a kubelet's.
func TestExecProbeE89Wedged(t *testing.T) {
	t.Parallel()
	probe := filepath.Join(probes(t), "healthcheck")
	socket := stoppedDaemon(t)
	begin := time.Now()
	out, code := probed(t, exec.CommandContext(t.Context(), probe, "--socket="+socket, "--style=plain"))
	if took := time.Since(begin); code != 5 || !strings.HasPrefix(out, "timeout 5 ") || took < 850*time.Millisecond || took > 30*time.Second {
		t.Errorf("E89: a daemon that is stopped = %d %q after %s, want 5 after 900 ms", code, out, took)
	}
}

// inScratch runs Vitals alone in an image: its own processes and mounts, a root that
// cannot be written to, an ordinary user. It returns how to run more there.
func inScratch(t *testing.T) (root string, enter func(user int, args ...string) *exec.Cmd) {
	t.Helper()
	root = probes(t)
	for _, dir := range []string{"proc", "run/vitals"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		"vitals.yml": "rule_files: [rules.yml]\ncollectors: [{name: here, file: {path: /vitals}}]\n",
		"rules.yml":  "groups: [{name: g, rules: [{alert: Gone, expr: vitals_file_exists == 0, labels: {state: ready}}]}]\n",
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	listen := address(t)
	script := fmt.Sprintf(`mount --make-rprivate /
mount --bind %[1]s %[1]s
mount -t proc proc %[1]s/proc
mount -t tmpfs -o mode=755,uid=%[2]d,gid=%[2]d vitals %[1]s/run/vitals
mount -o remount,ro,bind %[1]s
exec chroot --userspec=%[2]d:%[2]d --groups= %[1]s /vitals run --config.file=/vitals.yml --web.listen-address=%[3]s --web.shutdown-delay=0s`, root, strangerID, listen)
	cmd := exec.Command("sh", "-euc", script)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID}
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &program{url: "http://" + listen, cmd: cmd}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("vitals in the image: %v, want exit code 0 on SIGTERM\n%s", err, log.String())
		}
	})
	await(t, "vitals listens in the image", time.Minute, func() error { return daemon{p}.want("/ready", http.StatusOK) })
	return root, func(user int, args ...string) *exec.Cmd {
		return exec.CommandContext(t.Context(), "nsenter", append([]string{"--target", strconv.Itoa(cmd.Process.Pid), "--mount", "--pid", "--",
			"chroot", fmt.Sprintf("--userspec=%d:%d", user, user), "--groups=", root}, args...)...)
	}
}

// An image with nothing but the two programs is enough, read-only and without root.
func TestExecProbeE90Scratch(t *testing.T) {
	t.Parallel()
	root, enter := inScratch(t)
	for name, tt := range map[string]struct {
		cmd  *exec.Cmd
		want string
		code int
	}{
		"the daemon's user":      {enter(strangerID, "/healthcheck", "--style=plain", "--timeout=20s"), "ok 0 ready: 1 rule, since ", 0},
		"another user":           {enter(writerID, "/healthcheck", "--style=plain"), "forbidden 7 /run/vitals/vitals.sock may not be used: ", 7},
		"without the daemon":     {enter(writerID, "/healthcheck", "--style=plain", "--standalone", "--config.file=/vitals.yml", "--timeout=10s"), "ok 0 ready: 1 rule", 0},
		"waiting":                {enter(strangerID, "/vitals", "wait", "ready"), "ok 0 ready: 1 rule, since ", 0},
		"a root that is no root": {exec.CommandContext(t.Context(), "nsenter", "--target", firstPID(t, enter), "--mount", "--", "sh", "-c", "echo > "+root+"/written"), "sh: ", 2},
	} {
		if out, code := probed(t, tt.cmd); code != tt.code || !strings.HasPrefix(out, tt.want) {
			t.Errorf("E90: %s = %d %q, want %d %q", name, code, out, tt.code, tt.want)
		}
	}
}

// firstPID is the process that enter enters.
func firstPID(t *testing.T, enter func(user int, args ...string) *exec.Cmd) string {
	t.Helper()
	args := enter(0).Args
	return args[slices.Index(args, "--target")+1]
}

// children are the processes whose parent is this one, as far as they are alive.
func children(t *testing.T) []string {
	t.Helper()
	lists, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil || len(lists) == 0 {
		t.Fatalf("/proc/self/task/*/children: %v, %v", lists, err)
	}
	var alive []string
	for _, list := range lists {
		pids, err := os.ReadFile(list)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ESRCH) { // the thread has ended
			t.Fatal(err)
		}
		for _, pid := range strings.Fields(string(pids)) {
			stat, err := os.ReadFile("/proc/" + pid + "/stat")
			if _, rest, ok := bytes.Cut(stat, []byte(") ")); err == nil && ok && rest[0] != 'Z' {
				alive = append(alive, pid+" "+string(stat[:bytes.IndexByte(stat, ')')+1]))
			}
		}
	}
	return alive
}

// Whatever becomes of a probe, no process of it goes on. What it left behind would be
// this process' child, which takes the place of a container's first one.
func TestExecProbeE35NoChildren(t *testing.T) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	// Orphans of other tests are not to become zombies of this process.
	t.Cleanup(func() {
		if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0); err != nil {
			t.Error(err)
		}
	})
	probe := filepath.Join(probes(t), "healthcheck")
	dir := shortDirectory(t, "")
	config := filepath.Join(dir, "vitals.yml")
	text := "collectors: [{name: hook, script: {command: [/bin/sh, -c, 'sleep 600 & sleep 600']}}]\n" +
		"rule_files: [rules.yml]\n"
	rules := "groups: [{name: g, rules: [{alert: HookFails, expr: vitals_script_exit_code != 0, labels: {state: ready}}]}]\n"
	if err := errors.Join(os.WriteFile(config, []byte(text), 0o600), os.WriteFile(filepath.Join(dir, "rules.yml"), []byte(rules), 0o600)); err != nil {
		t.Fatal(err)
	}
	ctx, kill := context.WithCancel(t.Context())
	socket := silentSocket(t, kill)
	before := children(t)
	for name, tt := range map[string]struct {
		args  []string
		codes []int
		ctx   context.Context
	}{
		"no daemon": {[]string{"--socket=/nowhere/s", "--config.file=/nowhere", "--timeout=1m"}, []int{4}, t.Context()},
		"without a daemon, and a hook that hangs": {[]string{"--standalone", "--config.file=" + config, "--timeout=1s"}, []int{2, 5}, t.Context()}, // without data, or without a result
		"a probe that is killed while it waits":   {[]string{"--socket=" + socket, "--timeout=1m"}, []int{-1}, ctx},
	} {
		out, code := probed(t, exec.CommandContext(tt.ctx, probe, append([]string{"--style=plain"}, tt.args...)...))
		if !slices.Contains(tt.codes, code) {
			t.Errorf("E35: %s = %d %q, want %v", name, code, out, tt.codes)
		}
		await(t, "E35: "+name+" leaves no process", time.Minute, func() error {
			if left := slices.DeleteFunc(children(t), func(c string) bool { return slices.Contains(before, c) }); len(left) > 0 {
				return fmt.Errorf("there are %q", left)
			}
			return nil
		})
	}
}

// silentSocket is a socket without answers. It calls connected at the first connection.
func silentSocket(t *testing.T, connected func()) string {
	t.Helper()
	path := filepath.Join(shortDirectory(t, ""), "s")
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		if c, err := ln.Accept(); err == nil {
			connected()
			<-t.Context().Done()
			_ = c.Close()
		}
	}()
	return path
}

// stoppedDaemon is the socket of a daemon that hangs.
func stoppedDaemon(t *testing.T) string {
	t.Helper()
	dir := shortDirectory(t, "")
	config := filepath.Join(dir, "vitals.yml")
	if err := os.WriteFile(config, []byte("collectors: []\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := runVitals(t, os.Getenv("VITALS_BIN"), config, dir)
	if err := d.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.cmd.Process.Signal(syscall.SIGCONT) })
	return filepath.Join(dir, "vitals.sock")
}
