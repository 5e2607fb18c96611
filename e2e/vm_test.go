//go:build e2e

package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	// vmTimeout bounds the life of the virtual machine where the processor has to be
	// imitated, which takes several times as long as with KVM.
	vmTimeout = 6 * time.Minute
	// vmMemory is what the machine has, in MiB.
	vmMemory = "1536"
)

// TestVM runs the tests that begin with TestGuest in a virtual machine with Debian's
// kernel: cgroup v2 with pressure, the link drivers dummy, veth and bridge, and nothing
// that a mistake could break. Each of them is a subtest; one that was not run to its end
// fails. The part of -run behind the slash selects among them.
func TestVM(t *testing.T) {
	stack(t, "install", "vm")
	_, pattern, _ := strings.Cut(flag.Lookup("test.run").Value.String(), "/")
	vm := newMachine(t, "^TestGuest.*("+pattern+")")
	names := vm.tests(t)
	if len(names) == 0 {
		t.Fatalf("no test of the guest matches %q", pattern)
	}
	findings := vm.run(t)
	for _, name := range names {
		t.Run(strings.TrimPrefix(name, "TestGuest"), func(t *testing.T) {
			f, ok := findings[name]
			if !ok {
				t.Fatalf("%s did not run", name)
			}
			t.Log(f.output.String())
			if f.result != "pass" {
				t.Errorf("%s: result %q, want pass", name, f.result)
			}
		})
	}
	if t.Failed() {
		t.Logf("the end of the console:\n%s", vm.tail())
	}
}

// machine is a virtual machine that runs once.
type machine struct {
	program
	// pattern selects the tests that run in it.
	pattern string
	dir     string
}

// newMachine builds everything that the machine boots.
func newMachine(t *testing.T, pattern string) *machine {
	t.Helper()
	m := &machine{program{log: filepath.Join(logDirectory(t), "vm-console.log")}, pattern, t.TempDir()}
	for _, args := range [][]string{
		{"build", "-trimpath", "-tags", "grpcnotrace,e2e", "-o", m.path("init"), "./vm/init"},
		{"test", "-c", "-trimpath", "-tags", "grpcnotrace,e2e,guest", "-o", m.path("e2e.test"), "."},
	} {
		build := exec.Command("go", args...)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	return m
}

func (m *machine) path(name string) string { return filepath.Join(m.dir, name) }

// tests are the names of the tests that the machine is going to run.
func (m *machine) tests(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command(m.path("e2e.test"), "-test.list", m.pattern).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(out))
}

// finding is the result of one test of the guest.
type finding struct {
	result string
	output strings.Builder
}

// run boots the machine, waits until it is switched off, and reads what the tests
// printed on the second serial line.
func (m *machine) run(t *testing.T) map[string]*finding {
	t.Helper()
	kernel := cached(t, "kernel", "vm")
	writeImage(t, m.path("initramfs"), kernel, m.path("init"), m.path("e2e.test"))
	accelerator := accelerator(t)
	ctx, cancel := context.WithTimeout(t.Context(), vmTimeout)
	defer cancel()
	start := time.Now()
	qemu := exec.CommandContext(ctx, "qemu-system-x86_64",
		"-accel", accelerator, "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-nic", "none",
		"-smp", "2", "-m", vmMemory,
		"-serial", "file:"+m.log, "-serial", "file:"+m.path("results"),
		"-kernel", match(t, filepath.Join(kernel, "boot", "vmlinuz-*")), "-initrd", m.path("initramfs"),
		"-append", "console=ttyS0 loglevel=4 panic=-1 psi=1 -- -test.v=test2json -test.timeout=5m -test.run="+m.pattern)
	qemu.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := qemu.CombinedOutput()
	t.Logf("the machine ran for %s with %s: %v %s", time.Since(start).Round(100*time.Millisecond), accelerator, err, bytes.TrimSpace(out))
	results, err := os.Open(m.path("results"))
	if err != nil {
		t.Fatalf("the machine did not start: %v", err)
	}
	defer results.Close()
	convert := exec.Command("go", "tool", "test2json")
	convert.Stdin = results
	events, err := convert.Output()
	if err != nil {
		t.Fatalf("test2json: %v", err)
	}
	return parseFindings(t, events)
}

// accelerator is kvm where the processor itself can do it, and otherwise tcg, which
// imitates a processor. A /dev/kvm without that is slower than tcg, and may not get
// through the boot.
func accelerator(t *testing.T) string {
	t.Helper()
	if chosen := os.Getenv("VITALS_E2E_ACCELERATOR"); chosen != "" {
		return chosen
	}
	kvm, err := os.OpenFile("/dev/kvm", os.O_RDWR, 0)
	if err != nil {
		return "tcg"
	}
	defer kvm.Close()
	if regexp.MustCompile(`(?m)^flags\s*:.*\b(vmx|svm)\b`).MatchString(read(t, "/proc/cpuinfo")) {
		return "kvm"
	}
	return "tcg"
}

// parseFindings sorts the events of test2json by the test without its subtests.
func parseFindings(t *testing.T, events []byte) map[string]*finding {
	t.Helper()
	findings := map[string]*finding{}
	for line := range bytes.Lines(events) {
		var event struct{ Action, Test, Output string }
		if err := json.Unmarshal(line, &event); err != nil {
			t.Fatalf("test2json printed %q: %v", line, err)
		}
		name, _, sub := strings.Cut(event.Test, "/")
		f := findings[name]
		if f == nil {
			f = &finding{result: "none"}
			findings[name] = f
		}
		f.output.WriteString(strings.ReplaceAll(event.Output, "\r", ""))
		if !sub && (event.Action == "pass" || event.Action == "fail" || event.Action == "skip") {
			f.result = event.Action
		}
	}
	return findings
}

// match returns the only file of the pattern.
func match(t *testing.T, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: found %q, want one file: %v", pattern, found, err)
	}
	return found[0]
}
