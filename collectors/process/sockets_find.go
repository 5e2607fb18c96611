package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/vitals-health/vitals/collectors"
)

// netNamespace is a network namespace and the processes in it.
type netNamespace struct {
	processes []foundProcess
	// held has the inodes of the open sockets of the processes. The value is whether the
	// row was counted: a table that changes while it is read can contain it twice.
	held map[uint64]bool
}

// take reports whether the processes hold a socket that was not counted yet.
func (n *netNamespace) take(inode uint64) bool {
	taken, held := n.held[inode]
	if held {
		n.held[inode] = true
	}
	return held && !taken
}

// tcpCounts has the number of sockets by the number of their state.
type tcpCounts [13]int

// socketSearch is the search of one collection.
type socketSearch struct {
	files *ProcReader
	table socketTable

	// The results by port or path, with an entry for each configured one.
	connections map[uint16]*tcpCounts
	listening   map[uint16]bool
	udp         map[uint16]bool
	unix        map[string]bool
}

func newSocketSearch(s Sockets, files *ProcReader) *socketSearch {
	search := &socketSearch{
		files: files, table: newSocketTable(),
		connections: make(map[uint16]*tcpCounts),
		listening:   make(map[uint16]bool), udp: make(map[uint16]bool), unix: make(map[string]bool),
	}
	for _, port := range s.Connections {
		search.connections[uint16(port)] = new(tcpCounts)
	}
	for _, port := range s.Listen {
		search.listening[uint16(port)] = false
	}
	for _, port := range s.UDP {
		search.udp[uint16(port)] = false
	}
	for _, path := range s.UnixSockets {
		search.unix[path] = false
	}
	return search
}

// find reads the sockets of the processes. It ignores those that have ended in the
// meantime; found is false if all have.
func (s *socketSearch) find(ctx context.Context, running []foundProcess) (found bool, err error) {
	namespaces := make(map[string]*netNamespace)
	for _, p := range running {
		if err := s.unlessEnded(p, s.inodes(ctx, p, namespaces)); err != nil {
			return false, fmt.Errorf("read sockets of process %d: %w", p.PID, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(namespaces)) {
		if err := s.tables(ctx, namespaces[name]); err != nil {
			return false, fmt.Errorf("find sockets in %s: %w", name, err)
		}
	}
	return len(namespaces) > 0, nil
}

// unlessEnded returns an error about a file of a process, but nil if the process has ended.
// A missing file of a running process is unreadable: the kernel shows no sockets of one
// with only its first thread ended.
func (s *socketSearch) unlessEnded(p foundProcess, err error) error {
	if ReasonOf(err) != Gone {
		return err
	}
	if now, gone := s.files.Stat(p.PID); gone != nil || now.start != p.start || now.Ended() {
		return nil
	}
	return &Error{Reason: unreadable, Err: err}
}

// inodes adds the sockets that a process has open to those of its network namespace.
func (s *socketSearch) inodes(ctx context.Context, p foundProcess, namespaces map[string]*netNamespace) error {
	const batch = 256
	name, err := os.Readlink(s.files.path(p.PID, "ns/net"))
	if err != nil {
		return err
	}
	path := s.files.path(p.PID, "fd")
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	defer dir.Close()
	namespace := namespaces[name]
	if namespace == nil {
		namespace = &netNamespace{held: make(map[uint64]bool)}
		namespaces[name] = namespace
	}
	namespace.processes = append(namespace.processes, p)
	for {
		names, err := dir.Readdirnames(batch)
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, name := range names {
			link, err := os.Readlink(path + "/" + name)
			if err != nil && !errors.Is(err, fs.ErrNotExist) { // it is closed already
				return err
			}
			if inode, ok := socketInode(link); ok {
				namespace.held[inode] = false
			}
		}
	}
}

// socketInode reads the link of a descriptor that is a socket: socket:[4026], see
// /proc/PID/fd in proc_pid_fd(5).
func socketInode(link string) (uint64, bool) {
	text, ok := strings.CutPrefix(link, "socket:[")
	text, closed := strings.CutSuffix(text, "]")
	inode, err := strconv.ParseUint(text, 10, 64)
	return inode, ok && closed && err == nil
}

// tables reads the required tables of a network namespace.
func (s *socketSearch) tables(ctx context.Context, n *netNamespace) error {
	before := make(map[uint64]unixRow)
	tcp := func(row []byte) error { return s.tcpRow(n, row) }
	udp := func(row []byte) error { return s.udpRow(n, row) }
	unix := func(row []byte) error { return s.unixRow(n, before, row) }
	for _, table := range []struct {
		name, header string
		wanted       int
		do           func(row []byte) error
	}{
		{"tcp", inetHeader, len(s.connections) + len(s.listening), tcp},
		{"tcp6", inetHeader, len(s.connections) + len(s.listening), tcp},
		{"udp", inetHeader, len(s.udp), udp},
		{"udp6", inetHeader, len(s.udp), udp},
		{"unix", unixHeader, len(s.unix), unix},
	} {
		if table.wanted == 0 {
			continue
		}
		if err := s.rows(ctx, n, table.name, table.header, table.do); err != nil {
			return err
		}
	}
	return nil
}

// rows reads a table from the directory of the first running process. A kernel without IPv6
// has tcp and no tcp6.
func (s *socketSearch) rows(ctx context.Context, n *netNamespace, table, header string, do func(row []byte) error) error {
	for _, p := range n.processes {
		err := s.table.each(ctx, s.files.path(p.PID, "net/"+table), header, do)
		if err == nil {
			return nil
		}
		if first, six := strings.CutSuffix(table, "6"); six && ReasonOf(err) == Gone {
			if _, err := os.Lstat(s.files.path(p.PID, "net/"+first)); err == nil {
				return nil
			}
		}
		if err := s.unlessEnded(p, err); err != nil {
			return err
		}
	}
	return nil
}

// tcpRow counts a row of tcp or tcp6. Connections in TIME_WAIT have no process: those of
// the whole namespace are counted.
func (s *socketSearch) tcpRow(n *netNamespace, text []byte) error {
	row, err := parseInetRow(text)
	if err != nil {
		return err
	}
	counts := s.connections[row.remote]
	_, listens := s.listening[row.local]
	switch {
	case row.state == tcpTimeWait:
		if counts != nil {
			counts[row.state]++
		}
	case row.state == tcpListen:
		if listens && n.take(row.inode) {
			s.listening[row.local] = true
		}
	case counts != nil && int(row.state) < len(counts) && n.take(row.inode):
		counts[row.state]++
	}
	return nil
}

// udpRow counts a row of udp or udp6.
func (s *socketSearch) udpRow(n *netNamespace, text []byte) error {
	row, err := parseInetRow(text)
	if err != nil {
		return err
	}
	for _, port := range []uint16{row.local, row.remote} {
		if _, wanted := s.udp[port]; wanted {
			if _, held := n.held[row.inode]; held {
				s.udp[port] = true
			}
		}
	}
	return nil
}

// unixRow counts a row of unix. A line break in the name of a socket can fake a row. It is
// detected as a second row of a socket that differs from the first.
func (s *socketSearch) unixRow(n *netNamespace, before map[uint64]unixRow, text []byte) error {
	row, ok := parseUnixRow(text)
	if _, held := n.held[row.inode]; !ok || !held {
		return nil
	}
	if first, twice := before[row.inode]; twice && first != row {
		return collectors.Errorf(unreadable, "two rows of the socket %d differ: one of them may be a name with a line break", row.inode)
	}
	before[row.inode] = row
	if _, wanted := s.unix[row.path]; wanted && row.open {
		s.unix[row.path] = true
	}
	return nil
}
