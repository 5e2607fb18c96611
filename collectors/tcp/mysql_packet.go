package tcp

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// What a packet begins with, of https://dev.mysql.com/doc/dev/mysql-server/latest/PAGE_PROTOCOL.html.
const (
	mysqlOK    = 0x00
	mysqlMore  = 0x01 // more data of a login
	mysqlEOF   = 0xfe // also: another login is wanted
	mysqlError = 0xff

	mysqlQuit  = 0x01
	mysqlQuery = 0x03
)

const (
	// mysqlPacket is the largest packet in bytes that is read.
	mysqlPacket = 64 << 10
	// mysqlColumns is how many columns an answer may have.
	mysqlColumns = 16
)

// mysqlConn is a connection; secure while nobody between could read a password.
type mysqlConn struct {
	conn     net.Conn
	sequence byte
	secure   bool
}

// send sends one packet.
func (m *mysqlConn) send(payload []byte) error {
	packet := binary.LittleEndian.AppendUint32(nil, uint32(len(payload)))
	packet[3] = m.sequence
	m.sequence++
	_, err := m.conn.Write(append(packet, payload...))
	return err
}

// receive reads one packet, which is never empty, and makes that of an error one.
func (m *mysqlConn) receive() (*mysqlBytes, error) {
	var header [4]byte
	if _, err := io.ReadFull(m.conn, header[:]); err != nil {
		return nil, err
	}
	m.sequence = header[3] + 1
	header[3] = 0
	size := binary.LittleEndian.Uint32(header[:])
	if size == 0 || size > mysqlPacket {
		return nil, collectors.Errorf(remote.ReasonProtocol, "packet of %d bytes: expected 1 to %d", size, mysqlPacket)
	}
	packet := &mysqlBytes{tcpBytes{data: make([]byte, size)}}
	if _, err := io.ReadFull(m.conn, packet.data); err != nil {
		return nil, err
	}
	if packet.data[0] == mysqlError {
		return nil, parseMySQLError(packet)
	}
	return packet, nil
}

// parseMySQLError reads an error. Before the login it has no state.
func parseMySQLError(packet *mysqlBytes) error {
	packet.take(1)
	number := packet.number(2)
	if len(packet.data) >= 6 && packet.data[0] == '#' {
		packet.take(6)
	}
	if packet.short {
		return collectors.Errorf(remote.ReasonProtocol, "error of the server ends too early")
	}
	return mysqlSays(number, string(packet.data))
}

// mysqlBytes is the payload of a packet.
type mysqlBytes struct{ tcpBytes }

// number takes an unsigned number of so many bytes.
func (b *mysqlBytes) number(bytes uint64) (n uint64) {
	for i, c := range b.take(bytes) {
		n |= uint64(c) << (8 * i)
	}
	return n
}

// text takes a string up to a zero byte.
func (b *mysqlBytes) text() string {
	i := bytes.IndexByte(b.data, 0)
	if i < 0 {
		b.data, b.short = nil, true
		return ""
	}
	return string(b.take(uint64(i) + 1)[:i])
}

// sized takes a string with its length before it; NULL is empty.
func (b *mysqlBytes) sized() string {
	size := b.number(1)
	switch size {
	case 0xfb: // NULL
		return ""
	case 0xfc:
		size = b.number(2)
	case 0xfd:
		size = b.number(3)
	case 0xfe:
		size = b.number(8)
	}
	return string(b.take(size))
}
