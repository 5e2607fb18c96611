//go:build e2e

package e2e_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	// memoryLimit is max_memory_usage, and memoryKernelLimit what the kernel enforces.
	memoryLimit, memoryKernelLimit = 64, 128

	mebibyte = 1 << 20
	// memoryTrend is the range of the forecast in these tests. As shipped it is half an
	// hour; it predicts twice as far ahead, and measurements have to cover a third of it.
	memoryTrend = 15 * time.Second
)

// memoryCgroup is a cgroup of version 1 or 2 that a test made for itself.
type memoryCgroup string

// newMemoryCgroup makes a cgroup whose memory is accounted for. It is removed with the
// test, once its processes are gone.
func newMemoryCgroup(t *testing.T) memoryCgroup {
	t.Helper()
	root := "/sys/fs/cgroup/memory"
	if _, err := os.Stat(root); err != nil {
		root = "/sys/fs/cgroup"
		write(t, filepath.Join(root, "cgroup.subtree_control"), "+memory")
	}
	c := memoryCgroup(filepath.Join(root, filepath.Base(shortDirectory(t, ""))))
	if err := os.Mkdir(string(c), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		await(t, "the cgroup is removed", cniWithin, func() error { return os.Remove(string(c)) })
	})
	return c
}

// limit makes the kernel enforce a limit, without a way out into swap.
func (c memoryCgroup) limit(t *testing.T, mebibytes int) {
	t.Helper()
	for file, text := range map[string]string{
		"memory.limit_in_bytes": strconv.Itoa(mebibytes * mebibyte), "memory.swappiness": "0", // version 1
		"memory.max": strconv.Itoa(mebibytes * mebibyte), "memory.swap.max": "0", // version 2
	} {
		path := filepath.Join(string(c), file)
		if _, err := os.Stat(path); err == nil {
			write(t, path, text)
		}
	}
}

// countSockets makes the kernel count the buffers of sockets, for which version 1 needs a limit.
func (c memoryCgroup) countSockets(t *testing.T) {
	t.Helper()
	path := filepath.Join(string(c), "memory.kmem.tcp.limit_in_bytes")
	if _, err := os.Stat(path); err == nil {
		write(t, path, strconv.Itoa(1<<40))
	}
}

// sockets returns the buffers of sockets in bytes.
func (c memoryCgroup) sockets(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(string(c), "memory.kmem.tcp.usage_in_bytes"))
	if err != nil { // version 2
		_, text, _ = bytes.Cut([]byte(read(t, filepath.Join(string(c), "memory.stat"))), []byte("\nsock "))
		text, _, _ = bytes.Cut(text, []byte("\n"))
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// inside is a command that puts itself into the cgroup and then becomes another.
func (c memoryCgroup) inside() []string {
	return []string{"sh", "-e", "-c", `echo $$ >"$0/cgroup.procs"; exec "$@"`, string(c)}
}

// uses compares the working set in MiB with its bounds. The memory of
// the interpreter adds to the memory that the process was sent to allocate.
func (m *cniManager) uses(least, most float64) error {
	got, err := m.metrics()
	if err != nil {
		return err
	}
	used, ok := got[series("vitals_cgroup_memory_working_set_bytes", "cgroup", "memory")]
	if used /= mebibyte; !ok || used < least || used > most {
		return fmt.Errorf("the working set is %.1f MiB (present: %t), want %g to %g", used, ok, least, most)
	}
	return nil
}

// rule compares a rule's status.
func (m *cniManager) rule(name, state, status string) error {
	got, err := m.metrics()
	if err != nil {
		return err
	}
	if s := got.statusOf(name, state); s != status {
		return fmt.Errorf("rule %s of %s is %q, want %q", name, state, s, status)
	}
	return nil
}

// startMemory runs the health manager of a CNI daemon in the cgroup.
func startMemory(t *testing.T, c memoryCgroup) *cniManager {
	t.Helper()
	return startCNI(t, cniOptions{
		collectors: fmt.Sprintf("memory: {cgroup: {path: %s, limit: %dMiB}}", c, memoryLimit),
		rules:      []string{"[30m]", "[15s]", ", 3600)", ", 30)", "[20m] offset 10m", "[10s] offset 5s"},
		more:       "kuryr-cni-memory",
	})
}

// TestCNIMemory lets a real process in a real cgroup grow. The file cache does
// not count, the forecast warns before the limit is exceeded, the limit fails liveness, and
// the end of the process heals it.
func TestCNIMemory(t *testing.T) {
	t.Parallel()
	c := newMemoryCgroup(t)
	c.limit(t, memoryKernelLimit)
	m := startMemory(t, c)
	p := newPart(t, "grow", c.inside())
	p.send(t, "10")
	await(t, "steady", cniWithin, func() error {
		return errors.Join(m.healthy(), m.uses(10, 40), m.has(memoryLimit*mebibyte, "vitals_memory_limit_bytes", "cgroup", "memory"),
			m.has(memoryKernelLimit*mebibyte, "vitals_cgroup_memory_limit_bytes", "cgroup", "memory"))
	})
	cached := filepath.Join(shortDirectory(t, "/var/tmp"), "cached")
	p.send(t, "cache", "80", cached)
	await(t, "the file cache", cniWithin, func() error {
		got, err := m.metrics()
		usage := got[series("vitals_cgroup_memory_usage_bytes", "cgroup", "memory")] / mebibyte
		if err == nil && usage < 80 {
			err = fmt.Errorf("the usage is %.1f MiB, want 80 or more", usage)
		}
		return err
	})
	m.steady(t, memoryTrend+2*time.Second, func() error { return errors.Join(m.healthy(), m.uses(10, 40)) })
	if err := m.rule("MemoryGrowsToLimit", "alive", "ok"); err != nil {
		t.Error(err)
	}

	grown := 10
	took := await(t, "the forecast warns", 4*memoryTrend, func() error {
		if grown < memoryLimit-20 {
			p.send(t, "1")
			grown++
		}
		return m.rule("MemoryGrowsToLimit", "alive", "failing")
	})
	if err := errors.Join(m.healthy(), m.uses(10, memoryLimit), m.rule("MemoryLimitExceeded", "alive", "ok")); err != nil {
		t.Errorf("when the forecast warns: %v", err)
	}
	t.Logf("warned %s after the growth began, with %d of %d MiB", took.Round(100*time.Millisecond), grown, memoryLimit)

	p.send(t, strconv.Itoa(memoryLimit-grown+5))
	took = await(t, "the limit is exceeded", cniWithin, func() error {
		return errors.Join(m.state("alive", "MemoryLimitExceeded failing: "), m.state("ready", "not alive"), m.uses(memoryLimit, memoryKernelLimit))
	})
	t.Logf("not alive %s after the limit was exceeded", took.Round(100*time.Millisecond))
	p.kill(t)
	await(t, "the process has ended", cniWithin, func() error { return errors.Join(m.healthy(), m.uses(0, 20)) })
}

// TestCNIMemoryOutOf lets the kernel kill a process that wants more than it may have.
// The kernel has done what a restart would do, so that is a warning.
func TestCNIMemoryOutOf(t *testing.T) {
	t.Parallel()
	c := newMemoryCgroup(t)
	c.limit(t, memoryKernelLimit)
	m := startMemory(t, c)
	p := newPart(t, "grow", c.inside())
	p.send(t, "10")
	await(t, "steady", cniWithin, func() error {
		return errors.Join(m.healthy(), m.uses(10, 40), m.has(0, "vitals_cgroup_memory_oom_kills_total", "cgroup", "memory"))
	})
	p.send(t, strconv.Itoa(2*memoryKernelLimit))
	if err := p.cmd.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Errorf("the process that wants too much: %v, want it to be killed", err)
	}
	p.cmd = nil
	await(t, "the kernel killed it", cniWithin, func() error {
		return errors.Join(m.has(1, "vitals_cgroup_memory_oom_kills_total", "cgroup", "memory"), m.rule("OutOfMemory", "ready", "failing"), m.healthy())
	})
}

// TestCNIMemoryCgroupRemoved removes the measured cgroup: an unknown usage restarts
// nothing, and a rule warns if there is a limit.
func TestCNIMemoryCgroupRemoved(t *testing.T) {
	t.Parallel()
	c := newMemoryCgroup(t)
	m := startMemory(t, c)
	await(t, "steady", cniWithin, func() error { return errors.Join(m.healthy(), m.uses(0, 1)) })
	m.staysAlive(t)
	if err := os.Remove(string(c)); err != nil {
		t.Fatal(err)
	}
	await(t, "the cgroup is gone", cniWithin, func() error {
		return errors.Join(m.has(1, "vitals_cgroup_failure", "cgroup", "memory", "reason", "missing"), m.rule("MemoryUnmeasured", "alive", "failing"), m.want("/ready", http.StatusOK))
	})
	if err := os.Mkdir(string(c), 0o755); err != nil {
		t.Fatal(err)
	}
	await(t, "the cgroup is there again", cniWithin, func() error { return errors.Join(m.rule("MemoryUnmeasured", "alive", "ok"), m.uses(0, 1)) })
}
