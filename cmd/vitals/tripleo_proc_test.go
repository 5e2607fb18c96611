package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// The states of TCP sockets, as the kernel numbers them (include/net/tcp_states.h). A
// socket of UDP that is bound is closed.
const (
	tcpEstablished = 1
	tcpSynSent     = 2
	tcpTimeWait    = 6
	tcpClosed      = 7
	tcpCloseWait   = 8
	tcpListen      = 10
)

// labSocket is a socket of a container's network, as /proc/PID/net shows it.
type labSocket struct {
	// table is tcp, tcp6, udp, udp6 or unix.
	table                string
	local, remote, state int
	// path is that of a Unix socket.
	path string
	// foreign is set where none of the processes holds it.
	foreign bool
}

func connected(port, state int) labSocket {
	return labSocket{table: "tcp", local: 40000, remote: port, state: state}
}

func listening(port int) labSocket  { return labSocket{table: "tcp", local: port, state: tcpListen} }
func bound(port int) labSocket      { return labSocket{table: "udp", local: port, state: tcpClosed} }
func holding(path string) labSocket { return labSocket{table: "unix", path: path} }

// labProcess is a process of a container.
type labProcess struct {
	comm    string
	args    []string
	sockets []labSocket
}

// writeProc makes a directory in the form of a mount of proc(5) with these processes.
func writeProc(t *testing.T, dir string, all []labProcess) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	tables := map[string]string{
		"tcp":  "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n",
		"unix": "Num       RefCount Protocol Flags    Type St Inode Path\n",
	}
	tables["tcp6"], tables["udp"], tables["udp6"] = tables["tcp"], tables["tcp"], tables["tcp"]
	inode := 1000
	for i := range all {
		for _, s := range all[i].sockets {
			inode++
			tables[s.table] += s.row(inode)
		}
	}
	inode = 1000
	files := map[string]string{"stat": "cpu  1 2 3 4 5 6 7 8 9 10\nbtime 1700000000\n"}
	links := map[string]string{"self": "1"}
	for i, p := range append([]labProcess{{comm: "dumb-init", args: []string{"dumb-init", "--single-child", "--", "kolla_start"}}}, all...) {
		pid := strconv.Itoa(i + 1)
		p.describe(pid, files)
		links[pid+"/ns/net"] = "net:[4026531840]"
		links[pid+"/fd/0"] = "/dev/null"
		for n, s := range p.sockets {
			inode++
			if !s.foreign {
				links[fmt.Sprintf("%s/fd/%d", pid, n+3)] = fmt.Sprintf("socket:[%d]", inode)
			}
		}
		for name, text := range tables {
			files[pid+"/net/"+name] = text
		}
	}
	for name, text := range files {
		labFile(t, filepath.Join(dir, name), text)
	}
	for name, target := range links {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, path); err != nil {
			t.Fatal(err)
		}
	}
}

// row is the socket's line in its table. One without a process has no inode.
func (s labSocket) row(inode int) string {
	if s.foreign {
		inode = 0
	}
	switch s.table {
	case "unix":
		return fmt.Sprintf("0000000000000000: 00000002 00000000 00010000 0001 01 %d %s\n", inode, s.path)
	case "tcp6", "udp6":
		const loopback = "00000000000000000000000001000000"
		return fmt.Sprintf("   0: %[1]s:%04[2]X %[1]s:%04[3]X %02[4]X 00000000:00000000 00:00000000 00000000     0        0 %[5]d 1 0 100 0 0 10 0\n", loopback, s.local, s.remote, s.state, inode)
	}
	return fmt.Sprintf("   0: 0100007F:%04X 0100007F:%04X %02X 00000000:00000000 00:00000000 00000000     0        0 %d 1 0 100 0 0 10 0\n", s.local, s.remote, s.state, inode)
}

// describe writes the files of proc(5) of a process, without its sockets.
func (p labProcess) describe(pid string, files map[string]string) {
	files[pid+"/stat"] = fmt.Sprintf("%s (%s) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 500 1000 200 18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n", pid, p.comm)
	files[pid+"/comm"] = p.comm + "\n"
	files[pid+"/status"] = fmt.Sprintf("Name:\t%s\nTgid:\t%s\nPid:\t%s\nNSpid:\t%s\n", p.comm, pid, pid, pid)
	files[pid+"/cgroup"] = "0::/\n"
	files[pid+"/cmdline"] = strings.Join(p.args, "\x00") + "\x00"
	files[pid+"/limits"] = "Limit                     Soft Limit           Hard Limit           Units     \nMax open files            1024                 4096                 files     \n"
	files[pid+"/task/"+pid+"/children"] = ""
}

// labFile writes a file and the directories above it.
func labFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, text)
}
