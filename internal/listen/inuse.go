package listen

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
)

const (
	// tcpListen is the state TCP_LISTEN of the kernel, see include/net/tcp_states.h.
	tcpListen = 10
	// maxSearch bounds the search for the process that listens.
	maxSearch = time.Second
)

// inUse describes the failure to listen at an address: where its port is in use, with the
// process that listens and the flag that changes the port.
func inUse(address, flag string, err error) error {
	host, text, split := net.SplitHostPort(address)
	port, wrong := net.LookupPort("tcp", text)
	if !errors.Is(err, syscall.EADDRINUSE) || split != nil || wrong != nil {
		return fmt.Errorf("listen on %s: %w", address, err)
	}
	by := ""
	if pid, name := listening(port); pid > 0 {
		by = fmt.Sprintf(" by the process %d (%s)", pid, name)
	}
	other := port + 1
	if other > 65535 {
		other = port - 1
	}
	return fmt.Errorf("listen on %s: %w%s: stop that, or choose another port, such as --%s=%s", address, syscall.EADDRINUSE, by, flag, net.JoinHostPort(host, strconv.Itoa(other)))
}

// listening returns the process that listens on a TCP port in the network namespace of this one,
// and its name. The pid is 0 if there is none that this user may see.
func listening(port int) (pid int, name string) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return 0, ""
	}
	sockets := map[string]bool{}
	//lint:ignore SA1019 sockets over netlink need a build of their own for Linux; after an error, the slower file will do
	for _, read := range []func() (procfs.NetTCP, error){fs.NetTCP, fs.NetTCP6} {
		lines, _ := read() // a kernel without IPv6 has no tcp6
		for _, line := range lines {
			if line.LocalPort == uint64(port) && line.St == tcpListen {
				sockets[fmt.Sprintf("socket:[%d]", line.Inode)] = true
			}
		}
	}
	processes, err := fs.AllProcs()
	if err != nil || len(sockets) == 0 {
		return 0, ""
	}
	end := time.Now().Add(maxSearch)
	for _, p := range processes {
		targets, _ := p.FileDescriptorTargets() // fails for the processes of others
		for _, target := range targets {
			if sockets[target] {
				name, _ := p.Comm()
				return p.PID, name
			}
		}
		if time.Now().After(end) {
			break
		}
	}
	return 0, ""
}
