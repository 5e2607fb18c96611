//go:build e2e

package e2e_test

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// systemdWithin bounds what systemd does, and what then shows with the next collections.
const systemdWithin = time.Minute

// booted is a systemd that is the first process of namespaces of its own, with a D-Bus
// daemon and no other units than those of the test.
type booted struct {
	// dir is /mnt in there: its directories are units, and run, which is /run.
	dir string
	// init is systemd's number out here, and cgroup the root of its cgroups.
	init   int
	cgroup string
}

// systemdBase are the units that any other needs. The rest of the host's stays outside.
func systemdBase() map[string]string {
	const alone = "[Unit]\nDefaultDependencies=no\n"
	return map[string]string{
		"sysinit.target": alone, "basic.target": alone, "shutdown.target": alone, "network.target": alone, "multi-user.target": alone,
		"dbus.socket":  alone + "[Socket]\nListenStream=/run/dbus/system_bus_socket\n",
		"dbus.service": alone + "Requires=dbus.socket\n[Service]\nType=notify\nExecStart=/usr/bin/dbus-daemon --system --address=systemd: --nofork --nopidfile --systemd-activation --syslog-only\n",
		"e2e.target":   alone + "Requires=dbus.service\nAfter=dbus.service\n",
	}
}

// bootScript ends as systemd: the host's file systems are seen as they are, except for
// what systemd writes to.
const bootScript = `set -e
mount --make-rprivate /
mount -t cgroup2 none /sys/fs/cgroup
mount --bind "$1" /mnt
mount --bind /mnt/run /run
mount -t tmpfs tmpfs /tmp
mount -t tmpfs tmpfs /var/tmp
mount -t tmpfs tmpfs /usr/local/bin
exec env -i container=e2e PATH=/usr/sbin:/usr/bin:/sbin:/bin SYSTEMD_UNIT_PATH=/mnt/units SYSTEMD_LOG_TARGET=console \
    /lib/systemd/systemd --system --unit=e2e.target --show-status=0`

// boot starts systemd with units, and waits until it has started them.
func boot(t *testing.T, units map[string]string) *booted {
	t.Helper()
	b := &booted{dir: shortDirectory(t, "")}
	if err := errors.Join(os.Chmod(b.dir, 0o755), os.Mkdir(filepath.Join(b.dir, "units"), 0o755), os.Mkdir(filepath.Join(b.dir, "run"), 0o755)); err != nil {
		t.Fatal(err)
	}
	for name, text := range systemdBase() {
		b.unit(t, name, text)
	}
	for name, text := range units {
		b.unit(t, name, text)
	}
	cgroup := ownCgroup(t)
	b.cgroup = cgroup.Name()
	log, err := os.Create(filepath.Join(logDirectory(t), strings.ReplaceAll(t.Name(), "/", "-")+"-systemd.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd := exec.Command("unshare", "--fork", "--pid", "--mount-proc", "--mount", "--uts", "--ipc", "--cgroup", "--kill-child", "/bin/sh", "-c", bootScript, "sh", b.dir)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(cgroup.Fd()), Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if b.init != 0 {
			_ = syscall.Kill(b.init, syscall.SIGKILL) // and with it, all others
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			text, _ := os.ReadFile(log.Name())
			t.Logf("log of systemd:\n%s", text)
		}
	})
	await(t, "systemd has booted", systemdWithin, func() error {
		children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", cmd.Process.Pid))
		if err != nil {
			return err
		}
		if _, err := fmt.Sscan(string(children), &b.init); err != nil {
			return fmt.Errorf("unshare has no child: %w", err)
		}
		return b.try("is-active", "e2e.target")
	})
	return b
}

// ownCgroup makes a cgroup of version 2 for systemd to be the root of.
func ownCgroup(t *testing.T) *os.File {
	t.Helper()
	mounts, err := os.Open("/proc/self/mounts")
	if err != nil {
		t.Fatal(err)
	}
	defer mounts.Close()
	for lines := bufio.NewScanner(mounts); lines.Scan(); {
		mount := strings.Fields(lines.Text())
		if mount[2] != "cgroup2" {
			continue
		}
		dir, err := os.MkdirTemp(mount[1], "vitals-e2e")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { removeCgroups(t, dir) })
		f, err := os.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	t.Fatal("there is no cgroup2 in /proc/self/mounts, want one")
	return nil
}

// removeCgroups removes a cgroup and those in it, once the kernel has buried their processes.
func removeCgroups(t *testing.T, dir string) {
	t.Helper()
	await(t, "the cgroups are empty", systemdWithin, func() error {
		var all []string
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() {
				all = append(all, path)
			}
			return err
		})
		for _, path := range slices.Backward(all) {
			err = errors.Join(err, syscall.Rmdir(path))
		}
		return err
	})
}

// unit writes a unit, or with the name of a directory before it, a part of one.
func (b *booted) unit(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(b.dir, "units", name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// inside is a command among systemd's processes.
func (b *booted) inside(command ...string) *exec.Cmd {
	return exec.Command("nsenter", append([]string{"--target", fmt.Sprint(b.init), "--all", "--"}, command...)...)
}

func (b *booted) try(args ...string) error {
	out, err := b.inside(append([]string{"systemctl", "--no-pager"}, args...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("systemctl %q: %w\n%s", args, err, out)
	}
	return nil
}

// ctl runs systemctl.
func (b *booted) ctl(t *testing.T, args ...string) {
	t.Helper()
	if err := b.try(args...); err != nil {
		t.Fatal(err)
	}
}

// show returns a property of a unit.
func (b *booted) show(t *testing.T, unit, property string) string {
	t.Helper()
	out, err := b.inside("systemctl", "show", "--property="+property, "--value", unit).Output()
	if err != nil {
		t.Fatalf("systemctl show %s: %v", unit, err)
	}
	return strings.TrimSpace(string(out))
}

// signal sends a signal to all processes of a service.
func (b *booted) signal(t *testing.T, service string, signal syscall.Signal) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(b.cgroup, "system.slice", service, "cgroup.procs"))
	if err != nil || len(text) == 0 {
		t.Fatalf("the processes of %s are %q, %v, want some", service, text, err)
	}
	for pid := range strings.FieldsSeq(string(text)) {
		n, err := strconv.Atoi(pid)
		if err == nil {
			err = syscall.Kill(n, signal)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// bus is the socket of the D-Bus daemon, as it is seen from here.
func (b *booted) bus() string { return filepath.Join(b.dir, "run/dbus/system_bus_socket") }
