//go:build e2e

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	// results is the serial line for the results of the tests. The kernel
	// logs on the first one.
	results = "/dev/ttyS1"
	// tests is the program of the tests. They run in the folder of their data.
	tests, testsDirectory = "/e2e.test", "/vitals/e2e"
)

// boot prepares the machine, runs the tests, and switches the machine off. Process 1 has
// no parent to return an error to: failures are on the console, and tests that did not run
// are missing in the results.
func boot(console io.Writer) {
	err := prepare()
	if err == nil {
		err = run()
	}
	fmt.Fprintln(console, "init: tests have ended:", err)
	unix.Sync()
	fmt.Fprintln(console, "init: power off:", unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF))
}

// prepare makes the machine what a node is after its boot, as far as the tests need it.
func prepare() error {
	for _, m := range []struct{ kind, on string }{
		{"proc", "/proc"}, {"sysfs", "/sys"}, {"devtmpfs", "/dev"}, {"cgroup2", "/sys/fs/cgroup"},
	} {
		if err := os.MkdirAll(m.on, 0o755); err != nil {
			return err
		}
		if err := unix.Mount(m.kind, m.on, m.kind, 0, ""); err != nil {
			return fmt.Errorf("mount %s: %w", m.on, err)
		}
	}
	if err := os.Mkdir("/dev/shm", 0o777); err != nil {
		return err
	}
	// The module of the kind veth is loaded by a test that needs it absent at first.
	for _, m := range []struct{ name, parameters string }{
		{"llc", ""}, {"stp", ""}, {"bridge", ""}, {"dummy", "numdummies=0"}, {"brd", "rd_nr=2 rd_size=131072"},
	} {
		if err := load(m.name, m.parameters); err != nil {
			return err
		}
	}
	if err := os.WriteFile("/sys/fs/cgroup/cgroup.subtree_control", []byte("+memory"), 0); err != nil {
		return fmt.Errorf("enable the memory controller: %w", err)
	}
	return setLink("lo", true)
}

// load loads a module out of the initial file system, unless it is there already.
func load(name, parameters string) error {
	f, err := os.Open(filepath.Join("/modules", name+".ko"))
	if err != nil {
		return err
	}
	defer f.Close()
	if err := unix.FinitModule(int(f.Fd()), parameters, 0); err != nil && !errors.Is(err, unix.EEXIST) {
		return fmt.Errorf("load module %s: %w", name, err)
	}
	return nil
}

// run runs the tests with what the kernel's command line has for them after "--", which
// the kernel hands over as arguments. Orphans that end meanwhile are buried.
func run() error {
	out, err := os.OpenFile(results, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer out.Close()
	cmd := exec.Command(tests, os.Args[1:]...)
	cmd.Dir = testsDirectory
	cmd.Stdout, cmd.Stderr = out, out
	cmd.Env = []string{"VITALS_BIN=/bin/vitals", "VITALS_E2E_GUEST=1", "PATH=/bin", "TMPDIR=/tmp", "HOME=/tmp"}
	if err := cmd.Start(); err != nil {
		return err
	}
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return fmt.Errorf("wait for %s: %w", strings.Join(cmd.Args, " "), err)
		case pid == cmd.Process.Pid && status.Exited():
			return fmt.Errorf("exit code %d", status.ExitStatus())
		case pid == cmd.Process.Pid:
			return fmt.Errorf("ended by %s", status.Signal())
		}
	}
}
