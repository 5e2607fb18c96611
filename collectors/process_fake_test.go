package collectors_test

import (
	"cmp"
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
	state string
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
	stat := fmt.Sprintf("%d (%s) %s 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 %d 0 %d 1000 %d 18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
		p.pid, p.comm, cmp.Or(p.state, "S"), max(p.threads, 1), p.start, p.pages)
	cmdline := ""
	for _, arg := range p.args {
		cmdline += arg + "\x00"
	}
	for name, text := range map[string]string{
		"stat":                                 stat,
		"comm":                                 p.comm + "\n",
		"status":                               fmt.Sprintf("Name:\t%s\nTgid:\t%d\nPid:\t%d\n%s", p.comm, cmp.Or(p.tgid, p.pid), p.pid, cmp.Or(p.caps, fakeCaps)),
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
	if p.exe != "" {
		if err := os.Symlink(p.exe, filepath.Join(dir, "exe")); err != nil {
			t.Fatal(err)
		}
	}
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
