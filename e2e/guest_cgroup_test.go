//go:build e2e && guest

package e2e_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// controlGroup is the name of a cgroup of version 2.
type controlGroup string

func (c controlGroup) path(elem ...string) string {
	return filepath.Join(append([]string{"/sys/fs/cgroup", string(c)}, elem...)...)
}

// newCgroup makes a cgroup, until the end of the test. Those above it account for memory.
func newCgroup(t *testing.T, name string) controlGroup {
	t.Helper()
	onlyInGuest(t)
	c := controlGroup(name)
	if above := controlGroup(filepath.Dir(name)); above != "." {
		above.set(t, "cgroup.subtree_control", "+memory")
	}
	if err := os.Mkdir(c.path(), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.remove(t) })
	return c
}

// set writes one of its files.
func (c controlGroup) set(t *testing.T, file, value string) {
	t.Helper()
	if err := os.WriteFile(c.path(file), []byte(value), 0); err != nil {
		t.Fatal(err)
	}
}

// remove removes the cgroup. The kernel needs a moment after the last process.
func (c controlGroup) remove(t *testing.T) {
	t.Helper()
	await(t, "cgroup "+string(c)+" is removed", guestSlack, func() error {
		if err := os.Remove(c.path()); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	})
}

// whole returns an error unless everything was measured of a cgroup.
func whole(m metrics, name string) error {
	if err := m.wantFailure("", "vitals_cgroup_failure", "cgroup", name); err != nil {
		return err
	}
	errs := []error{
		m.want(1, "vitals_cgroup_info", "cgroup", name, "version", "v2"),
		m.wantBetween(0, math.MaxFloat64, "vitals_cgroup_memory_usage_bytes", "cgroup", name),
		m.wantBetween(0, math.MaxFloat64, "vitals_cgroup_memory_working_set_bytes", "cgroup", name),
		m.wantBetween(0, math.MaxFloat64, "vitals_cgroup_memory_swap_bytes", "cgroup", name),
		m.wantBetween(0, math.MaxFloat64, "vitals_cgroup_memory_oom_kills_total", "cgroup", name),
		m.wantBetween(0, math.Inf(1), "vitals_cgroup_memory_limit_bytes", "cgroup", name),
	}
	for _, kind := range []string{"some", "full"} {
		errs = append(errs, m.wantBetween(0, math.MaxFloat64, "vitals_cgroup_memory_pressure_seconds_total", "cgroup", name, "kind", kind))
		for _, window := range []string{"10s", "60s", "300s"} {
			errs = append(errs, m.wantBetween(0, 1, "vitals_cgroup_memory_pressure_ratio", "cgroup", name, "kind", kind, "window", window))
		}
	}
	return errors.Join(errs...)
}

func TestGuestCgroupOwn(t *testing.T) {
	c := newCgroup(t, "own")
	c.set(t, "memory.max", "512M")
	d := vitalsAs(t, "cgroup=own", "name: own, cgroup: {}", "")
	m := d.awaits(t, "the own cgroup", func(m metrics) error {
		return errors.Join(whole(m, "own"),
			m.want(512*mebibyte, "vitals_cgroup_memory_limit_bytes", "cgroup", "own"),
			m.want(0, "vitals_cgroup_memory_oom_kills_total", "cgroup", "own"),
			m.wantAbsent("vitals_memory_limit_bytes", "cgroup", "own"),
			m.wantBetween(mebibyte, 512*mebibyte, "vitals_cgroup_memory_working_set_bytes", "cgroup", "own"))
	})
	t.Log(m.about("vitals_cgroup"))
}

func TestGuestCgroupByPathAndProcess(t *testing.T) {
	newCgroup(t, "kuryr")
	newCgroup(t, "kuryr/cni")
	w := holds(t, "kuryr-daemon", "cgroup=kuryr/cni", "hold", "40")
	d := vitalsAs(t, "", fmt.Sprintf(`
		name: directory, cgroup: {path: /sys/fs/cgroup/kuryr/cni, limit: 1GiB}
		name: name, cgroup: {path: /kuryr/cni}
		name: above, cgroup: {path: /kuryr, cgroupfs: /sys/fs/cgroup}
		name: process, cgroup: {process: {name: kuryr-daemon}}
		name: pid, cgroup: {process: {pid: %d}}
		name: member, cgroup: {process: {cgroup: /kuryr}}`, w.Process.Pid), "")
	d.awaits(t, "the same cgroup by all means", func(m metrics) error {
		errs := []error{m.want(1<<30, "vitals_memory_limit_bytes", "cgroup", "directory")}
		for _, name := range []string{"directory", "name", "above", "process", "pid", "member"} {
			errs = append(errs, whole(m, name),
				m.wantBetween(40*mebibyte, 60*mebibyte, "vitals_cgroup_memory_usage_bytes", "cgroup", name),
				m.wantBetween(40*mebibyte, 60*mebibyte, "vitals_cgroup_memory_working_set_bytes", "cgroup", name),
				m.want(math.Inf(1), "vitals_cgroup_memory_limit_bytes", "cgroup", name))
		}
		return errors.Join(errs...)
	})
	w.kill()
	d.awaits(t, "the process is gone", func(m metrics) error {
		return errors.Join(whole(m, "directory"),
			m.wantFailure("process", "vitals_cgroup_failure", "cgroup", "process"),
			m.wantFailure("process", "vitals_cgroup_failure", "cgroup", "pid"),
			m.wantAbsent("vitals_cgroup_memory_usage_bytes", "cgroup", "process"))
	})
}

// A pod has a cgroup namespace: its cgroup is the root of all that it sees. One that
// measures a process of the host has the host's mount as well.
func TestGuestCgroupOfPod(t *testing.T) {
	newCgroup(t, "pods")
	newCgroup(t, "pods/pod").set(t, "memory.max", "500M")
	newCgroup(t, "host")
	holds(t, "kuryr-daemon", "cgroup=host", "hold", "40")
	d := vitalsAs(t, "cgroup=pods/pod pod host", `
		name: own, cgroup: {}
		name: daemon, cgroup: {process: {name: kuryr-daemon, pid_namespace: any}}
		name: path, cgroup: {path: /host/sys/fs/cgroup/host}`, "")
	d.awaits(t, "cgroups inside and outside of the pod", func(m metrics) error {
		return errors.Join(whole(m, "own"), whole(m, "daemon"), whole(m, "path"),
			m.want(500*mebibyte, "vitals_cgroup_memory_limit_bytes", "cgroup", "own"),
			m.wantBetween(40*mebibyte, 60*mebibyte, "vitals_cgroup_memory_usage_bytes", "cgroup", "daemon"),
			m.wantBetween(40*mebibyte, 60*mebibyte, "vitals_cgroup_memory_usage_bytes", "cgroup", "path"))
	})
}

func TestGuestCgroupNestedLimits(t *testing.T) {
	above := newCgroup(t, "above")
	middle := newCgroup(t, "above/middle")
	newCgroup(t, "above/middle/below")
	d := vitalsAs(t, "", "name: below, cgroup: {path: /above/middle/below}", "")
	for _, step := range []struct {
		of    controlGroup
		value string
		want  float64
	}{
		{above, "max", math.Inf(1)}, {above, "64M", 64 * mebibyte}, {middle, "128M", 64 * mebibyte}, {middle, "32M", 32 * mebibyte}, {middle, "max", 64 * mebibyte},
	} {
		step.of.set(t, "memory.max", step.value)
		d.awaits(t, fmt.Sprintf("memory.max of %s is %s", step.of, step.value), func(m metrics) error {
			return errors.Join(whole(m, "below"), m.want(step.want, "vitals_cgroup_memory_limit_bytes", "cgroup", "below"))
		})
	}
}

func TestGuestCgroupOutOfMemory(t *testing.T) {
	c := newCgroup(t, "small")
	c.set(t, "memory.max", "32M")
	c.set(t, "memory.swap.max", "0")
	d := vitalsAs(t, "", "name: memory, cgroup: {path: /small}", documentedRules(t, "cgroup"))
	d.staysAlive(t)
	d.awaits(t, "no process is killed yet", func(m metrics) error {
		return errors.Join(whole(m, "memory"), m.want(0, "vitals_cgroup_memory_oom_kills_total", "cgroup", "memory"), m.wantRule("ok", "MemoryKilled", "ready"))
	})
	for kills := 1.0; kills <= 2; kills++ {
		<-work(t, "greedy", "cgroup=small", "grow", "64", "0").ended
		d.awaits(t, "a process is killed", func(m metrics) error {
			return errors.Join(whole(m, "memory"), m.want(kills, "vitals_cgroup_memory_oom_kills_total", "cgroup", "memory"), m.wantRule("failing", "MemoryKilled", "ready"))
		})
	}
}

func TestGuestCgroupPressure(t *testing.T) {
	c := newCgroup(t, "throttled")
	c.set(t, "memory.high", "16M")
	d := vitalsAs(t, "", "name: memory, cgroup: {path: /throttled}", "")
	work(t, "throttled", "cgroup=throttled", "grow", "128", "0")
	m := d.awaits(t, "processes wait for memory", func(m metrics) error {
		return errors.Join(whole(m, "memory"),
			m.wantBetween(0.01, 1, "vitals_cgroup_memory_pressure_ratio", "cgroup", "memory", "kind", "some", "window", "10s"),
			m.wantBetween(0.01, 1, "vitals_cgroup_memory_pressure_ratio", "cgroup", "memory", "kind", "full", "window", "10s"),
			m.wantBetween(0.1, 600, "vitals_cgroup_memory_pressure_seconds_total", "cgroup", "memory", "kind", "full"))
	})
	t.Log(m.about("pressure"))
}

// The page cache is of a block device: what is read of one is in the cache of its file.
func TestGuestCgroupPageCache(t *testing.T) {
	newCgroup(t, "reader")
	holds(t, "reader", "cgroup=reader", "read", "/dev/ram0")
	d := vitalsAs(t, "", "name: memory, cgroup: {path: /reader}", "")
	m := d.awaits(t, "page cache is used and not in the working set", func(m metrics) error {
		return errors.Join(whole(m, "memory"),
			m.wantBetween(128*mebibyte, 160*mebibyte, "vitals_cgroup_memory_usage_bytes", "cgroup", "memory"),
			m.wantBetween(0, 24*mebibyte, "vitals_cgroup_memory_working_set_bytes", "cgroup", "memory"))
	})
	t.Log(m.about("vitals_cgroup_memory"))
}

func TestGuestCgroupSwap(t *testing.T) {
	swapOn(t, "/dev/ram1", 128*mebibyte)
	c := newCgroup(t, "swapped")
	c.set(t, "memory.max", "24M")
	holds(t, "swapped", "cgroup=swapped", "hold", "64")
	d := vitalsAs(t, "", "name: memory, cgroup: {path: /swapped}", "")
	m := d.awaits(t, "swap is counted apart", func(m metrics) error {
		return errors.Join(whole(m, "memory"),
			m.wantBetween(32*mebibyte, 70*mebibyte, "vitals_cgroup_memory_swap_bytes", "cgroup", "memory"),
			m.wantBetween(0, 24*mebibyte, "vitals_cgroup_memory_usage_bytes", "cgroup", "memory"),
			m.wantBetween(0, 24*mebibyte, "vitals_cgroup_memory_working_set_bytes", "cgroup", "memory"))
	})
	t.Log(m.about("vitals_cgroup_memory"))
}

// swapOn swaps to a device until the end of the test. Its first page is union
// swap_header of include/linux/swap.h.
func swapOn(t *testing.T, device string, size int) {
	t.Helper()
	page := make([]byte, os.Getpagesize())
	binary.NativeEndian.PutUint32(page[1024:], 1)
	binary.NativeEndian.PutUint32(page[1028:], uint32(size/len(page)-1))
	copy(page[len(page)-10:], "SWAPSPACE2")
	if err := os.WriteFile(device, page, 0); err != nil {
		t.Fatal(err)
	}
	path, err := unix.BytePtrFromString(device)
	if err != nil {
		t.Fatal(err)
	}
	if err := swap(unix.SYS_SWAPON, path); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := swap(unix.SYS_SWAPOFF, path); err != nil {
			t.Error(err)
		}
	})
}

func TestGuestCgroupRemoved(t *testing.T) {
	c := newCgroup(t, "short")
	d := vitalsAs(t, "", "name: memory, cgroup: {path: /sys/fs/cgroup/short, limit: 64MiB}", documentedRules(t, "cgroup"))
	d.staysAlive(t)
	d.awaits(t, "the cgroup is measured", func(m metrics) error { return whole(m, "memory") })
	c.remove(t)
	d.awaits(t, "the cgroup is missing", func(m metrics) error {
		return errors.Join(m.wantFailure("missing", "vitals_cgroup_failure", "cgroup", "memory"),
			m.wantAbsent("vitals_cgroup_memory_working_set_bytes", "cgroup", "memory"),
			m.want(64*mebibyte, "vitals_memory_limit_bytes", "cgroup", "memory"),
			m.wantRule("unknown", "MemoryOverLimit", "alive"))
	})
	newCgroup(t, "short")
	d.awaits(t, "the cgroup is there again", func(m metrics) error {
		return errors.Join(whole(m, "memory"), m.wantRule("ok", "MemoryOverLimit", "alive"))
	})
}

func TestGuestCgroupWithoutController(t *testing.T) {
	parent := newCgroup(t, "parent")
	newCgroup(t, "parent/child")
	parent.set(t, "cgroup.subtree_control", "-memory")
	d := vitalsAs(t, "", `
		name: child, cgroup: {path: /parent/child}
		name: root, cgroup: {path: /sys/fs/cgroup}
		name: own, cgroup: {}`, documentedRules(t, "cgroup"))
	d.staysAlive(t)
	d.awaits(t, "no memory controller", func(m metrics) error {
		var errs []error
		for _, name := range []string{"child", "root", "own"} {
			errs = append(errs, m.wantFailure("no_memory_controller", "vitals_cgroup_failure", "cgroup", name),
				m.wantAbsent("vitals_cgroup_memory_usage_bytes", "cgroup", name))
		}
		return errors.Join(errs...)
	})
	parent.set(t, "cgroup.subtree_control", "+memory")
	d.awaits(t, "the memory controller is enabled", func(m metrics) error { return whole(m, "child") })
}

// A workload grows past the limit of the configuration: the trend warns before, and
// then it is to be restarted.
func TestGuestCgroupLimitOfConfiguration(t *testing.T) {
	t.Parallel()
	newCgroup(t, "growing")
	d := vitalsAs(t, "", "name: memory, cgroup: {path: /growing, limit: 48MiB}", documentedRules(t, "cgroup"))
	work(t, "growing", "cgroup=growing", "grow", "64", "12")
	m := d.awaits(t, "the trend warns", func(m metrics) error { return m.wantRule("failing", "MemoryReachesLimit", "ready") })
	if err := errors.Join(m.wantRule("ok", "MemoryOverLimit", "alive"), d.want("/alive", http.StatusOK)); err != nil {
		t.Errorf("with the warning: %v", err)
	}
	await(t, "the limit is passed", guestSlack, func() error { return d.want("/alive", http.StatusInternalServerError) })
	if m, err := d.metrics(); err != nil {
		t.Error(err)
	} else if err := m.wantBetween(48*mebibyte, 70*mebibyte, "vitals_cgroup_memory_working_set_bytes", "cgroup", "memory"); err != nil {
		t.Error(err)
	}
}

// swap calls swapon(2) or swapoff(2).
func swap(call uintptr, path *byte) error {
	if _, _, errno := unix.Syscall(call, uintptr(unsafe.Pointer(path)), 0, 0); errno != 0 {
		return os.NewSyscallError("swapon or swapoff", errno)
	}
	return nil
}
