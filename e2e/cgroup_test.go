//go:build e2e

package e2e_test

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

const (
	// cgroupSlack is how far a cgroup's usage may be from what a test has made a process
	// in it use: the kernel charges memory in batches for each processor, and charges
	// page tables and the program itself.
	cgroupSlack = 12 * mebibyte
	// cgroupSoon is what a busy machine may take until something is measured.
	cgroupSoon = time.Minute
)

// remove ends what is in the cgroup and removes it.
func (c memoryCgroup) remove(t *testing.T) {
	t.Helper()
	await(t, "the cgroup is removed", cgroupSoon, func() error { return os.Remove(string(c)) })
}

// version is the version of the interface that the kernel of this machine accounts for
// memory with, as vitals_cgroup_info has it.
func (c memoryCgroup) version(t *testing.T) string {
	t.Helper()
	unified := strings.Contains(read(t, "/proc/self/mountinfo"), " - cgroup2 ")
	if _, err := os.Stat(filepath.Join(string(c), "memory.usage_in_bytes")); err != nil {
		return "v2"
	}
	if unified {
		return "hybrid"
	}
	return "v1"
}

// hog is a process that uses as much memory as it is given.
type hog struct {
	cmd  *exec.Cmd
	feed io.WriteCloser
}

// startHog starts tail, which keeps all that it reads until there is a line break, in a
// command that runs others.
func startHog(t *testing.T, in ...string) *hog {
	t.Helper()
	in = append(in, "tail")
	cmd := exec.Command(in[0], in[1:]...)
	feed, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	h := &hog{cmd, feed}
	t.Cleanup(h.kill)
	return h
}

// eat makes the process use more memory.
func (h *hog) eat(bytes int) error {
	_, err := h.feed.Write([]byte(strings.Repeat("x", bytes)))
	return err
}

func (h *hog) kill() {
	_ = h.cmd.Process.Kill() // it may have been killed
	_ = h.cmd.Wait()
}

// startCgroup runs Vitals with a collector of this configuration and the documented
// rules, without their "for".
func startCgroup(t *testing.T, bin, config string) daemon {
	t.Helper()
	dir := shortDirectory(t, "")
	rules := read(t, "../collectors/cgroup/testdata/rules.yml")
	write(t, filepath.Join(dir, "rules.yml"), regexp.MustCompile(`(?m)^ *for: .*\n`).ReplaceAllString(rules, ""))
	write(t, filepath.Join(dir, "vitals.yml"), "rule_files: [rules.yml]\ncollectors:\n  - {name: memory, interval: 1s, timeout: 1s, cgroup: {"+config+"}}\n")
	return runVitals(t, bin, filepath.Join(dir, "vitals.yml"), dir)
}

// memory compares a gauge of the collector, in MiB.
func (m metrics) memory(name string, want float64) error {
	return m.want(want*mebibyte, name, "cgroup", "memory")
}

// memoryAbout compares one that cannot be exact.
func (m metrics) memoryAbout(name string, want float64) error {
	got, ok := m[series(name, "cgroup", "memory")]
	if !ok || math.Abs(got-want*mebibyte) > cgroupSlack {
		return fmt.Errorf("%s = %.1f MiB (present: %t), want about %g MiB", name, got/mebibyte, ok, want)
	}
	return nil
}

// memoryFails checks that the reason of a failure is exported, and that the usage is absent.
func (m metrics) memoryFails(reason string) error {
	err := m.want(1, "vitals_cgroup_failure", "cgroup", "memory", "reason", reason)
	if got, ok := m[series("vitals_cgroup_memory_usage_bytes", "cgroup", "memory")]; ok {
		err = errors.Join(err, fmt.Errorf("the usage is %g, want it absent", got))
	}
	return err
}

// awaitMemory waits until the metrics satisfy a check.
func (d daemon) awaitMemory(t *testing.T, what string, check func(m metrics) error) {
	t.Helper()
	await(t, what, cgroupSoon, func() error {
		m, err := d.metrics()
		if err != nil {
			return err
		}
		return check(m)
	})
}

// TestCgroupGrowsPastTheLimit has a process use more and more memory under the documented
// rules: the trend warns first, alive fails when the limit is exceeded and not before,
// and all is over with the process.
func TestCgroupGrowsPastTheLimit(t *testing.T) {
	t.Parallel()
	c := newMemoryCgroup(t)
	d := startCgroup(t, os.Getenv("VITALS_BIN"), fmt.Sprintf("path: %s, limit: 96MiB", c))
	p := startHog(t, c.inside()...)
	d.awaitMemory(t, "measured", func(m metrics) error {
		return errors.Join(m.memoryAbout("vitals_cgroup_memory_working_set_bytes", 0), m.memory("vitals_memory_limit_bytes", 96),
			m.memory("vitals_cgroup_memory_limit_bytes", math.Inf(1)), m.want(1, "vitals_cgroup_info", "cgroup", "memory", "version", c.version(t)))
	})
	warned := false
	for used := 8; used <= 80; used += 8 {
		if err := p.eat(8 * mebibyte); err != nil {
			t.Fatal(err)
		}
		d.awaitMemory(t, fmt.Sprintf("%d MiB", used), func(m metrics) error {
			warned = warned || m.statusOf("MemoryReachesLimit", "ready") == "failing"
			return errors.Join(m.memoryAbout("vitals_cgroup_memory_working_set_bytes", float64(used)), d.want("/alive", http.StatusOK), d.want("/ready", http.StatusOK))
		})
	}
	if !warned {
		t.Error("no warning of the trend before the limit, want one")
	}
	if err := p.eat(32 * mebibyte); err != nil {
		t.Fatal(err)
	}
	d.awaitMemory(t, "more than the limit", func(m metrics) error {
		_, body, err := d.get("/alive?verbose")
		if !strings.Contains(body, "[-]MemoryOverLimit failing") {
			err = errors.Join(err, fmt.Errorf("GET /alive?verbose = %q, want MemoryOverLimit failing", body))
		}
		return errors.Join(err, m.memoryAbout("vitals_cgroup_memory_usage_bytes", 112), d.want("/alive", http.StatusServiceUnavailable))
	})
	p.kill()
	d.awaitMemory(t, "below the limit again", func(m metrics) error {
		return errors.Join(m.memoryAbout("vitals_cgroup_memory_working_set_bytes", 0), d.want("/alive", http.StatusOK))
	})
}

// TestCgroupRemoved removes the cgroup under the collector, and makes it again.
func TestCgroupRemoved(t *testing.T) {
	t.Parallel()
	c := newMemoryCgroup(t)
	d := startCgroup(t, os.Getenv("VITALS_BIN"), fmt.Sprintf("path: %s, limit: 96MiB", c))
	d.staysAlive(t)
	for range 3 {
		d.awaitMemory(t, "measured", func(m metrics) error {
			return errors.Join(m.memoryAbout("vitals_cgroup_memory_usage_bytes", 0), m.want(0, "vitals_cgroup_failure", "cgroup", "memory", "reason", "missing"))
		})
		c.remove(t)
		d.awaitMemory(t, "missing", func(m metrics) error {
			return errors.Join(m.memoryFails("missing"), m.memory("vitals_memory_limit_bytes", 96))
		})
		if err := os.Mkdir(string(c), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCgroupOOMKill lets the kernel kill processes that use more than the kernel's limit.
// Only a warning depends on that.
func TestCgroupOOMKill(t *testing.T) {
	t.Parallel()
	c := newMemoryCgroup(t)
	c.limit(t, 32)
	d := startCgroup(t, os.Getenv("VITALS_BIN"), "path: "+string(c))
	d.staysAlive(t)
	for kills := range 2 {
		d.awaitMemory(t, fmt.Sprintf("%d kills", kills), func(m metrics) error {
			return errors.Join(m.want(float64(kills), "vitals_cgroup_memory_oom_kills_total", "cgroup", "memory"), m.memory("vitals_cgroup_memory_limit_bytes", 32))
		})
		if err := startHog(t, c.inside()...).eat(64 * mebibyte); err == nil {
			t.Fatal("a process used 64 MiB in a cgroup of 32 MiB, want it killed")
		}
	}
	d.awaitMemory(t, "killed twice", func(m metrics) error {
		err := m.want(2, "vitals_cgroup_memory_oom_kills_total", "cgroup", "memory")
		if status := m.statusOf("MemoryKilled", "ready"); status != "failing" {
			err = errors.Join(err, fmt.Errorf("MemoryKilled is %q, want it failing", status))
		}
		return errors.Join(err, d.want("/ready", http.StatusOK))
	})
}

// TestCgroupOfAProcess follows a process from one cgroup to the next, and to its end.
func TestCgroupOfAProcess(t *testing.T) {
	t.Parallel()
	first, second := newMemoryCgroup(t), newMemoryCgroup(t)
	first.limit(t, 64)
	second.limit(t, 80)
	p := startHog(t, first.inside()...)
	d := startCgroup(t, os.Getenv("VITALS_BIN"), fmt.Sprintf("process: {pid: %d}", p.cmd.Process.Pid))
	d.awaitMemory(t, "in the first", func(m metrics) error { return m.memory("vitals_cgroup_memory_limit_bytes", 64) })
	write(t, filepath.Join(string(second), "cgroup.procs"), fmt.Sprint(p.cmd.Process.Pid))
	d.awaitMemory(t, "in the second", func(m metrics) error { return m.memory("vitals_cgroup_memory_limit_bytes", 80) })
	p.kill()
	d.awaitMemory(t, "ended", func(m metrics) error { return m.memoryFails("process") })
}

// container is a command that runs another as a container runtime does: in the cgroup, in
// a cgroup namespace that begins there, with a mount of that part of the hierarchy alone,
// and without a capability.
func (c memoryCgroup) container(t *testing.T, without string) []string {
	t.Helper()
	kind := "cgroup -o memory"
	if c.version(t) == "v2" {
		kind = "cgroup2"
	}
	return append(c.inside(), "unshare", "--cgroup", "--mount", "sh", "-e", "-c", `umount -l "$0"; mount -t `+kind+` none "$0"; exec "$@"`,
		filepath.Dir(string(c)), "setpriv", "--bounding-set", "-"+without)
}

// TestCgroupOfContainers runs Vitals in one container and a workload in another, both in
// cgroup namespaces and in one PID namespace, as in a pod with shareProcessNamespace.
func TestCgroupOfContainers(t *testing.T) {
	t.Parallel()
	sidecar, workload := newMemoryCgroup(t), newMemoryCgroup(t)
	sidecar.limit(t, 512)
	workload.limit(t, 64)
	p := startHog(t, workload.container(t, "sys_chroot")...)
	if err := p.eat(24 * mebibyte); err != nil {
		t.Fatal(err)
	}
	process := fmt.Sprintf("process: {pid: %d}", p.cmd.Process.Pid)
	tests := []struct {
		name, config, without string
		check                 func(m metrics) error
	}{
		{"own cgroup", "", "sys_ptrace", func(m metrics) error { return m.memory("vitals_cgroup_memory_limit_bytes", 512) }},
		{"workload", process, "sys_chroot", func(m metrics) error {
			return errors.Join(m.memory("vitals_cgroup_memory_limit_bytes", 64), m.memoryAbout("vitals_cgroup_memory_usage_bytes", 24))
		}},
		{"workload, without the right to trace it", process, "sys_ptrace", func(m metrics) error { return m.memoryFails("forbidden") }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bin := filepath.Join(shortDirectory(t, ""), "vitals")
			script := "#!/bin/sh\nexec '" + strings.Join(append(sidecar.container(t, tt.without), os.Getenv("VITALS_BIN")), "' '") + "' \"$@\"\n"
			if err := os.WriteFile(bin, []byte(script), 0o755); err != nil {
				t.Fatal(err)
			}
			startCgroup(t, bin, tt.config).awaitMemory(t, tt.name, tt.check)
		})
	}
}
