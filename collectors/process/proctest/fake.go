// Package proctest writes fake proc(5) file systems for tests.
package proctest

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/collectors/collectortest"
)

// Process is a process in proc(5). The zero value sleeps, has one thread and no children.
type Process struct {
	PID  int
	Comm string // what its stat and comm have
	// State is a letter. Empty is S.
	State  string
	Parent int
	// Start is in ticks of 10 ms after the start of the host.
	Start    int
	Threads  int      // 1 where it is 0
	pages    int      // of memory
	Fds      int      // open descriptors
	MaxFDs   string   // 1024 where it is empty
	Children string   // numbers, as /proc/PID/task/PID/children has them
	Exe      string   // none where it is empty
	Args     []string // argv
	Cgroup   string   // 0::/ where it is empty
	Caps     string   // the lines of the capabilities in status
	Tgid     int      // the process's number where it is 0
	Nspid    string   // its numbers in the PID namespaces that it is in; none where it is empty
	Pidns    string   // where the link to its PID namespace leads; none where it is empty
	Cgroupns string   // and that to its cgroup namespace
	Sockets  []int    // inodes, each with a descriptor behind the fds
	Netns    int      // 1 where it is 0
	// Net has the rows of the tables in /proc/PID/net, by name. A missing table is empty.
	Net map[string]string
}

// caps are the capabilities of a container with NET_ADMIN in its effective and
// ambient sets, and with all in its bounding set.
const caps = "CapInh:\t0000000000000000\nCapPrm:\t00000000a80425fb\nCapEff:\t00000000a80435fb\nCapBnd:\t000001ffffffffff\nCapAmb:\t0000000000001000\n"

// ProcFS creates a fake mount of proc(5) with a process 1 and the given ones. The start of
// the host is 1700000000.
func ProcFS(t testing.TB, processes ...Process) string {
	t.Helper()
	mount := t.TempDir()
	collectortest.Write(t, filepath.Join(mount, "stat"), "cpu  1 2 3 4 5 6 7 8 9 10\nctxt 5\nbtime 1700000000\nprocesses 9\n")
	if err := os.Symlink("1", filepath.Join(mount, "self")); err != nil {
		t.Fatal(err)
	}
	for _, p := range append([]Process{{PID: 1, Comm: "init"}}, processes...) {
		p.Write(t, mount)
	}
	return mount
}

// Write creates the files of the process. It replaces those of one with the same number.
func (p Process) Write(t testing.TB, mount string) {
	t.Helper()
	dir := filepath.Join(mount, strconv.Itoa(p.PID))
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"fd", fmt.Sprintf("task/%d", p.PID)} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	stat := fmt.Sprintf("%d (%s) %s %d 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 %d 0 %d 1000 %d 18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
		p.PID, p.Comm, cmp.Or(p.State, "S"), p.Parent, max(p.Threads, 1), p.Start, p.pages)
	cmdline := ""
	for _, arg := range p.Args {
		cmdline += arg + "\x00"
	}
	for name, text := range map[string]string{
		"stat":                                 stat,
		"comm":                                 p.Comm + "\n",
		"status":                               fmt.Sprintf("Name:\t%s\nTgid:\t%d\nPid:\t%d\n%s", p.Comm, cmp.Or(p.Tgid, p.PID), p.PID, cmp.Or(p.Caps, caps)+p.nspidLine()),
		"cgroup":                               cmp.Or(p.Cgroup, "0::/\n"),
		"cmdline":                              cmdline,
		"limits":                               "Limit                     Soft Limit           Hard Limit           Units     \nMax open files            " + cmp.Or(p.MaxFDs, "1024") + "                 4096                 files     \n",
		fmt.Sprintf("task/%d/children", p.PID): p.Children,
	} {
		collectortest.Write(t, filepath.Join(dir, name), text)
	}
	for fd := range p.Fds {
		collectortest.Write(t, filepath.Join(dir, "fd", strconv.Itoa(fd)), "")
	}
	for name, target := range map[string]string{"pid": p.Pidns, "cgroup": p.Cgroupns} {
		if target != "" {
			if err := errors.Join(os.MkdirAll(filepath.Join(dir, "ns"), 0o755), os.Symlink(target, filepath.Join(dir, "ns", name))); err != nil {
				t.Fatal(err)
			}
		}
	}
	if p.Sockets != nil || p.Net != nil {
		p.writeSockets(t, dir)
	}
	if p.Exe != "" {
		if err := os.Symlink(p.Exe, filepath.Join(dir, "exe")); err != nil {
			t.Fatal(err)
		}
	}
}

func (p Process) nspidLine() string {
	if p.Nspid == "" {
		return ""
	}
	return "NSpid:\t" + p.Nspid + "\n"
}

// Self links self of a fake proc(5) to a process; 0 removes the link.
func Self(t testing.TB, mount string, pid int) {
	t.Helper()
	link := filepath.Join(mount, "self")
	err := os.Remove(link)
	if pid != 0 {
		err = errors.Join(err, os.Symlink(strconv.Itoa(pid), link))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// The first lines of the tables of sockets.
const (
	InetHeader = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
	UnixHeader = "Num       RefCount Protocol Flags    Type St Inode Path\n"
)

func (p Process) writeSockets(t testing.TB, dir string) {
	t.Helper()
	for _, d := range []string{"ns", "net"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	links := map[string]string{"ns/net": fmt.Sprintf("net:[%d]", max(p.Netns, 1)), "fd/990": "/dev/null", "fd/991": "anon_inode:[eventpoll]", "fd/992": "pipe:[7]"}
	for i, inode := range p.Sockets {
		links[fmt.Sprintf("fd/%d", 10+i)] = fmt.Sprintf("socket:[%d]", inode)
	}
	for name, target := range links {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, table := range []string{"tcp", "tcp6", "udp", "udp6"} {
		collectortest.Write(t, filepath.Join(dir, "net", table), InetHeader+p.Net[table])
	}
	collectortest.Write(t, filepath.Join(dir, "net/unix"), UnixHeader+p.Net["unix"])
}

// Inet is a row of the tables of IPv4, as the kernel writes it. The state is one of
// its numbers.
func Inet(local, remote, state, inode int) string {
	return fmt.Sprintf("   0: 0100007F:%04X 0100007F:%04X %02X 00000000:00000000 00:00000000 00000000     0        0 %d 1 000000009bd65495 100 0 0 10 0\n", local, remote, state, inode)
}

// Inet6 is a row of a table of IPv6, from an address to itself.
func Inet6(address string, local, remote, state, inode int) string {
	return fmt.Sprintf("   1: %[1]s:%04[2]X %[1]s:%04[3]X %02[4]X 00000000:00000000 00:00000000 00000000     0        0 %[5]d 2 000000009bd65495\n", address, local, remote, state, inode)
}

// Unix is a row of the table unix: an open socket where listens is true.
func Unix(listens bool, kind, inode int, path string) string {
	flags, state := "00000000", "03"
	if listens {
		flags, state = "00010000", "01"
	}
	if path != "" {
		path = " " + path
	}
	return fmt.Sprintf("000000002cebb57b: 00000002 00000000 %s %04d %s %5d%s\n", flags, kind, state, inode, path)
}

// Kuryr returns a daemon of two processes and other processes of its host.
func Kuryr() []Process {
	return []Process{
		{PID: 40, Comm: "kuryr-daemon", Start: 4200, Threads: 5, pages: 1000, Fds: 7, Children: "41 42 43 ", Exe: "/usr/bin/python3.12", Args: []string{"/usr/bin/python3", "/usr/bin/kuryr-daemon"}, Cgroup: "0::/system.slice/kuryr.service\n"},
		{PID: 41, Comm: "kuryr-daemon", Start: 4300, Threads: 2, pages: 500, Fds: 6, MaxFDs: "64", Exe: "/usr/bin/python3.12", Cgroup: "0::/system.slice/kuryr.service/worker\n"},
		{PID: 42, Comm: "ip", Start: 5000, State: "Z"},
		{PID: 43, Comm: "ip", Start: 5001, Exe: "/usr/sbin/ip (deleted)"},
		{PID: 44, Comm: "kworker/0:1", State: "I"},
	}
}

// fakePages renders the memory of so many pages as an exposition does.
func fakePages(pages int) string { return fmt.Sprintf("%v", float64(pages*os.Getpagesize())) }

// Replace replaces values that differ from machine to machine.
func Replace(got string, pages int) string {
	return strings.ReplaceAll(got, fakePages(pages), fmt.Sprintf("%v", float64(pages*4096)))
}
