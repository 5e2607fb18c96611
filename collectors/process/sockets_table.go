package process

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
)

// The used states of a TCP socket, numbered as in
// include/net/tcp_states.h.
const (
	tcpTimeWait = 6
	tcpListen   = 10
)

// tcpStates are the states of a TCP socket by their number. None has the number 0.
func tcpStates() [len(tcpCounts{})]string {
	return [...]string{
		"", "established", "syn_sent", "syn_recv", "fin_wait1", "fin_wait2", "time_wait", "close",
		"close_wait", "last_ack", "listen", "closing", "new_syn_recv",
	}
}

// Text in the first lines of the tables.
const (
	inetHeader = "local_address"
	unixHeader = "Inode Path"
)

// socketTable reads the tables of /proc/PID/net as streams: they have a row for each
// connection of the network namespace.
type socketTable struct{ rows *bufio.Reader }

// newSocketTable makes a reader whose buffer holds the longest row many times: a Unix
// socket's name has 108 bytes, and the rest of a row less than 200.
func newSocketTable() socketTable { return socketTable{bufio.NewReaderSize(nil, 64<<10)} }

// each calls do for every row after the first line, until do fails or ctx ends.
// The bytes of a row are valid until do returns.
func (t socketTable) each(ctx context.Context, path, header string, do func(row []byte) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	t.rows.Reset(f)
	for number := 1; ; number++ {
		row, err := t.rows.ReadSlice('\n')
		switch {
		case ctx.Err() != nil:
			err = context.Cause(ctx)
		case errors.Is(err, io.EOF) && number > 1 && len(row) == 0:
			return nil
		case err != nil && !errors.Is(err, io.EOF):
		case number > 1:
			err = do(bytes.TrimSuffix(row, []byte("\n")))
		case bytes.Contains(row, []byte(header)):
			err = nil
		default:
			err = fmt.Errorf("%.64q: expected a first line with %q", row, header)
		}
		if err != nil {
			return fmt.Errorf("read %s, line %d: %w", path, number, err)
		}
	}
}

// inetRow is a row of the tables tcp, tcp6, udp and udp6, without the addresses: IPv4, IPv6
// and IPv4 mapped into IPv6 are treated alike.
type inetRow struct {
	local, remote uint16 // ports
	state         uint8  // see tcpStates
	// inode is 0 for a socket without a process and for one that is not accepted yet.
	inode uint64
}

// parseInetRow parses a row, see Documentation/networking/proc_net_tcp.rst of the kernel.
// Numbers are hexadecimal except for the inode.
func parseInetRow(row []byte) (inetRow, error) {
	const local, remote, state, inode = 1, 2, 3, 9
	var fields [inode + 1][]byte
	n := 0
	for field := range bytes.FieldsSeq(row) {
		fields[n] = field
		if n++; n == len(fields) {
			break
		}
	}
	var r inetRow
	var errs [4]error
	var number uint64
	r.local, errs[0] = parseInetPort(fields[local])
	r.remote, errs[1] = parseInetPort(fields[remote])
	number, errs[2] = strconv.ParseUint(string(fields[state]), 16, 8)
	r.state = uint8(number)
	r.inode, errs[3] = strconv.ParseUint(string(fields[inode]), 10, 64)
	if errors.Join(errs[:]...) != nil {
		return inetRow{}, fmt.Errorf("%.128q: expected a row of a socket", row)
	}
	return r, nil
}

// parseInetPort reads the port of an address: the four digits after the colon.
func parseInetPort(address []byte) (uint16, error) {
	_, port, _ := bytes.Cut(address, []byte(":"))
	if len(port) != 4 {
		return 0, errors.New("no port")
	}
	v, err := strconv.ParseUint(string(port), 16, 16)
	return uint16(v), err
}

// unixRow is a row of the table unix.
type unixRow struct {
	inode uint64
	// open is whether the socket listens or is a datagram socket.
	open bool
	// path is the bound path, or @ and an abstract name; empty for an unbound socket, such
	// as the client end of a connection.
	path string
}

// parseUnixRow parses a row, see /proc/net/unix in proc_net(5). It returns false for other
// lines, which exist because the kernel does not escape line breaks in a name.
func parseUnixRow(row []byte) (unixRow, bool) {
	const flags, kind, inode = 3, 4, 6
	const listens, datagram = 1 << 16, 2 // __SO_ACCEPTCON in include/linux/net.h; SOCK_DGRAM
	var r unixRow
	for n := range inode + 1 {
		var field []byte
		field, row, _ = bytes.Cut(bytes.TrimLeft(row, " "), []byte(" "))
		var v uint64
		var err error
		switch n {
		case flags:
			v, err = strconv.ParseUint(string(field), 16, 32)
			r.open = v&listens != 0
		case kind:
			v, err = strconv.ParseUint(string(field), 16, 16)
			r.open = r.open || v == datagram
		case inode:
			r.inode, err = strconv.ParseUint(string(field), 10, 64)
		}
		if err != nil || len(field) == 0 {
			return unixRow{}, false
		}
	}
	r.path = string(row)
	return r, true
}
