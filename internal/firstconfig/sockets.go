package firstconfig

import (
	"bytes"
	"encoding/hex"
	"io"
	"io/fs"
	"maps"
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"
)

// maxTable is how many bytes of a table of sockets are read.
const maxTable = 8 << 20

// The values of a listening socket: its state in the table tcp, as in include/net/tcp_states.h,
// and its flag in the table unix, as in include/uapi/linux/net.h.
const (
	tcpListen  = "0A"
	unixListen = 1 << 16
)

// listener is a listening socket.
type listener struct {
	address netip.AddrPort
	inode   string
}

// parseInet returns the listening sockets of the table tcp or tcp6: see
// Documentation/networking/proc_net_tcp.rst of the kernel. Other rows are ignored.
func parseInet(table []byte) []listener {
	var all []listener
	for line := range bytes.Lines(table) {
		fields := strings.Fields(string(line))
		if len(fields) < 10 || fields[3] != tcpListen {
			continue
		}
		if address, ok := parseAddress(fields[1]); ok {
			all = append(all, listener{address, fields[9]})
		}
	}
	return all
}

// parseAddress parses an address of the table: words of 32 bits in the order of bytes of the
// machine, which is little-endian on all supported ones, and a port.
func parseAddress(text string) (netip.AddrPort, bool) {
	ip, port, ok := strings.Cut(text, ":")
	data, err := hex.DecodeString(ip)
	number, bad := strconv.ParseUint(port, 16, 16)
	if !ok || err != nil || bad != nil || len(data)%4 != 0 {
		return netip.AddrPort{}, false
	}
	for word := range slices.Chunk(data, 4) {
		slices.Reverse(word)
	}
	address, ok := netip.AddrFromSlice(data)
	return netip.AddrPortFrom(address.Unmap(), uint16(number)), ok
}

// parseUnix returns the paths of the listening sockets of the table unix. Abstract ones have
// none.
func parseUnix(table []byte) []string {
	var paths []string
	for line := range bytes.Lines(table) {
		fields := strings.Fields(string(line))
		if len(fields) != 8 || !strings.HasPrefix(fields[7], "/") {
			continue
		}
		if flags, err := strconv.ParseUint(fields[3], 16, 32); err == nil && flags&unixListen != 0 {
			paths = append(paths, fields[7])
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// sockets adds collectors for the services that listen.
func (f *Found) sockets(h Host, programs map[string]string) {
	at := map[uint16]listener{}
	for _, table := range []string{"proc/net/tcp6", "proc/net/tcp"} { // a socket of IPv4 counts
		for _, l := range parseInet(h.read(table, maxTable)) {
			at[l.address.Port()] = l
		}
	}
	named := map[string]bool{}
	for _, port := range slices.Sorted(maps.Keys(at)) {
		l := at[port]
		address, program := reachable(l.address), programs[l.inode]
		of := ""
		if program != "" {
			of = " (" + program + ")"
		}
		s, known := byPort(port, program)
		if !known || named[s.name] && s.port != port { // or another port of a program
			f.Others = append(f.Others, address+of)
			continue
		}
		c := s.collect(address)
		c.Name, c.Source = s.name, "it listens on "+address+of
		named[s.name] = true
		f.add(c)
	}
	for _, file := range parseUnix(h.read("proc/net/unix", maxTable)) {
		here := h.has(strings.TrimPrefix(path.Clean(file), "/")) // and not that of another mount namespace
		if s, known := byPath(file); known && here && !named[s.name] {
			c := s.collect("unix:" + file)
			c.Name, c.Source = s.name, "it listens on "+file
			named[s.name] = true
			f.add(c)
		}
	}
}

// reachable returns an address by which a listener is reached from its host.
func reachable(a netip.AddrPort) string {
	ip := a.Addr()
	if ip.IsUnspecified() {
		ip = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	return netip.AddrPortFrom(ip, a.Port()).String()
}

// maxProcesses is how many processes are searched for sockets.
const maxProcesses = 4096

// processes returns the names of the processes by the inodes of their sockets, as far as
// this process may read them.
func (h Host) processes() map[string]string {
	programs := map[string]string{}
	folders, _ := fs.Glob(h.Root, "proc/[0-9]*")
	for _, folder := range folders[:min(len(folders), maxProcesses)] {
		name := strings.TrimSpace(string(h.read(path.Join(folder, "comm"), 64)))
		entries, err := fs.ReadDir(h.Root, path.Join(folder, "fd"))
		if err != nil {
			continue
		}
		for _, e := range entries {
			link, err := fs.ReadLink(h.Root, path.Join(folder, "fd", e.Name()))
			if inode, ok := strings.CutPrefix(link, "socket:["); ok && err == nil {
				programs[strings.TrimSuffix(inode, "]")] = name
			}
		}
	}
	return programs
}

// read returns the beginning of a file, or nothing.
func (h Host) read(name string, limit int64) []byte {
	file, err := h.Root.Open(name)
	if err != nil {
		return nil
	}
	defer file.Close()
	data, _ := io.ReadAll(io.LimitReader(file, limit))
	return data
}
