package collectors_test

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// fakeProcess is a process as proc(5) shows it. Its zero value sleeps, has one thread
// and no children.
type fakeProcess struct {
	pid  int
	comm string // what its stat and comm have
	// state is a letter, S where it is empty.
	state  string
	parent int
	// start is in ticks of 10 ms after the host's start.
	start    int
	threads  int      // 1 where it is 0
	pages    int      // of memory
	fds      int      // open descriptors
	maxFDs   string   // 1024 where it is empty
	children string   // numbers, as /proc/PID/task/PID/children has them
	exe      string   // none where it is empty
	args     []string // argv
	cgroup   string   // 0::/ where it is empty
	caps     string   // the lines of the capabilities in status
	tgid     int      // the process's number where it is 0
	nspid    string   // its numbers in the PID namespaces that it is in; none where it is empty
	pidns    string   // where the link to its PID namespace leads; none where it is empty
	cgroupns string   // and that to its cgroup namespace
	sockets  []int    // inodes, each with a descriptor behind the fds
	netns    int      // 1 where it is 0
	// net are the tables in /proc/PID/net by their names: rows below the first line. What
	// is missing is empty.
	net map[string]string
}

// fakeCaps are the capabilities of a container with NET_ADMIN in its effective and
// ambient sets, and with all in its bounding set.
const fakeCaps = "CapInh:\t0000000000000000\nCapPrm:\t00000000a80425fb\nCapEff:\t00000000a80435fb\nCapBnd:\t000001ffffffffff\nCapAmb:\t0000000000001000\n"

// fakeProcFS makes a directory that looks like a mount of proc(5), with a process 1
// beside the given ones. The host was started at 1700000000.
func fakeProcFS(t testing.TB, processes ...fakeProcess) string {
	t.Helper()
	mount := t.TempDir()
	localWrite(t, filepath.Join(mount, "stat"), "cpu  1 2 3 4 5 6 7 8 9 10\nctxt 5\nbtime 1700000000\nprocesses 9\n")
	if err := os.Symlink("1", filepath.Join(mount, "self")); err != nil {
		t.Fatal(err)
	}
	for _, p := range append([]fakeProcess{{pid: 1, comm: "init"}}, processes...) {
		p.write(t, mount)
	}
	return mount
}

// write makes the files of the process, and replaces those of one with its number.
func (p fakeProcess) write(t testing.TB, mount string) {
	t.Helper()
	dir := filepath.Join(mount, strconv.Itoa(p.pid))
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"fd", fmt.Sprintf("task/%d", p.pid)} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	stat := fmt.Sprintf("%d (%s) %s %d 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 %d 0 %d 1000 %d 18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
		p.pid, p.comm, cmp.Or(p.state, "S"), p.parent, max(p.threads, 1), p.start, p.pages)
	cmdline := ""
	for _, arg := range p.args {
		cmdline += arg + "\x00"
	}
	for name, text := range map[string]string{
		"stat":                                 stat,
		"comm":                                 p.comm + "\n",
		"status":                               fmt.Sprintf("Name:\t%s\nTgid:\t%d\nPid:\t%d\n%s", p.comm, cmp.Or(p.tgid, p.pid), p.pid, cmp.Or(p.caps, fakeCaps)+p.nspidLine()),
		"cgroup":                               cmp.Or(p.cgroup, "0::/\n"),
		"cmdline":                              cmdline,
		"limits":                               "Limit                     Soft Limit           Hard Limit           Units     \nMax open files            " + cmp.Or(p.maxFDs, "1024") + "                 4096                 files     \n",
		fmt.Sprintf("task/%d/children", p.pid): p.children,
	} {
		localWrite(t, filepath.Join(dir, name), text)
	}
	for fd := range p.fds {
		localWrite(t, filepath.Join(dir, "fd", strconv.Itoa(fd)), "")
	}
	for name, target := range map[string]string{"pid": p.pidns, "cgroup": p.cgroupns} {
		if target != "" {
			if err := errors.Join(os.MkdirAll(filepath.Join(dir, "ns"), 0o755), os.Symlink(target, filepath.Join(dir, "ns", name))); err != nil {
				t.Fatal(err)
			}
		}
	}
	if p.sockets != nil || p.net != nil {
		p.writeSockets(t, dir)
	}
	if p.exe != "" {
		if err := os.Symlink(p.exe, filepath.Join(dir, "exe")); err != nil {
			t.Fatal(err)
		}
	}
}

func (p fakeProcess) nspidLine() string {
	if p.nspid == "" {
		return ""
	}
	return "NSpid:\t" + p.nspid + "\n"
}

// fakeSelf makes a process of a directory that looks like proc(5) the one that asks; with
// the number 0 none is.
func fakeSelf(t testing.TB, mount string, pid int) {
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
	fakeInetHeader = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
	fakeUnixHeader = "Num       RefCount Protocol Flags    Type St Inode Path\n"
)

func (p fakeProcess) writeSockets(t testing.TB, dir string) {
	t.Helper()
	for _, d := range []string{"ns", "net"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	links := map[string]string{"ns/net": fmt.Sprintf("net:[%d]", max(p.netns, 1)), "fd/990": "/dev/null", "fd/991": "anon_inode:[eventpoll]", "fd/992": "pipe:[7]"}
	for i, inode := range p.sockets {
		links[fmt.Sprintf("fd/%d", 10+i)] = fmt.Sprintf("socket:[%d]", inode)
	}
	for name, target := range links {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, table := range []string{"tcp", "tcp6", "udp", "udp6"} {
		localWrite(t, filepath.Join(dir, "net", table), fakeInetHeader+p.net[table])
	}
	localWrite(t, filepath.Join(dir, "net/unix"), fakeUnixHeader+p.net["unix"])
}

// fakeInet is a row of the tables of IPv4, as the kernel writes it. The state is one of
// its numbers.
func fakeInet(local, remote, state, inode int) string {
	return fmt.Sprintf("   0: 0100007F:%04X 0100007F:%04X %02X 00000000:00000000 00:00000000 00000000     0        0 %d 1 000000009bd65495 100 0 0 10 0\n", local, remote, state, inode)
}

// fakeInet6 is one of the tables of IPv6, from an address to itself.
func fakeInet6(address string, local, remote, state, inode int) string {
	return fmt.Sprintf("   1: %[1]s:%04[2]X %[1]s:%04[3]X %02[4]X 00000000:00000000 00:00000000 00000000     0        0 %[5]d 2 000000009bd65495\n", address, local, remote, state, inode)
}

// fakeUnix is a row of the table unix: an open socket where listens is true.
func fakeUnix(listens bool, kind, inode int, path string) string {
	flags, state := "00000000", "03"
	if listens {
		flags, state = "00010000", "01"
	}
	if path != "" {
		path = " " + path
	}
	return fmt.Sprintf("000000002cebb57b: 00000002 00000000 %s %04d %s %5d%s\n", flags, kind, state, inode, path)
}

// fakeKuryr is a daemon of two processes, and what else runs on its host.
func fakeKuryr() []fakeProcess {
	return []fakeProcess{
		{pid: 40, comm: "kuryr-daemon", start: 4200, threads: 5, pages: 1000, fds: 7, children: "41 42 43 ", exe: "/usr/bin/python3.12", args: []string{"/usr/bin/python3", "/usr/bin/kuryr-daemon"}, cgroup: "0::/system.slice/kuryr.service\n"},
		{pid: 41, comm: "kuryr-daemon", start: 4300, threads: 2, pages: 500, fds: 6, maxFDs: "64", exe: "/usr/bin/python3.12", cgroup: "0::/system.slice/kuryr.service/worker\n"},
		{pid: 42, comm: "ip", start: 5000, state: "Z"},
		{pid: 43, comm: "ip", start: 5001, exe: "/usr/sbin/ip (deleted)"},
		{pid: 44, comm: "kworker/0:1", state: "I"},
	}
}

// fakePages renders the memory of so many pages as an exposition does.
func fakePages(pages int) string { return fmt.Sprintf("%v", float64(pages*os.Getpagesize())) }

func fakeReplace(got string, pages int) string {
	return strings.ReplaceAll(got, fakePages(pages), fmt.Sprintf("%v", float64(pages*4096)))
}
