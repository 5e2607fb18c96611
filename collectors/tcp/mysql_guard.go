package tcp

import (
	"bytes"
	"crypto/rsa"
	"crypto/x509"
	"encoding/binary"
	"encoding/pem"
	"io"
	"net"
	"slices"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// The first byte of a packet, of https://dev.mysql.com/doc/dev/mysql-server/latest/PAGE_PROTOCOL.html.
const (
	mysqlOK       = 0x00
	mysqlAuthMore = 0x01
	mysqlSwitch   = 0xfe // another plugin for the login
	mysqlERR      = 0xff
)

// The authentication plugins that a server may switch to.
const (
	mysqlNative  = "mysql_native_password"
	mysqlSHA2    = "caching_sha2_password"
	mysqlEd25519 = "client_ed25519"
)

const (
	// mysqlPacket is the size in bytes of the largest packet that is read.
	mysqlPacket = 64 << 10
	// mysqlColumns is how many columns a result may have.
	mysqlColumns = 16
)

// mysqlGuard checks the packets of a server before the driver parses them. The driver panics
// on those that are cut off, and after a panic in the login it leaves a goroutine behind. It also
// allocates what a length announces, and encrypts the password with the key of any server.
// Behind TLS the server is authenticated, and the guard only passes bytes on.
type mysqlGuard struct {
	net.Conn
	tls   bool // the first packet of the client starts TLS
	local bool // the server is on this host

	check  func(payload []byte) error // nil for packets that need none
	began  bool                       // the greeting was read
	opaque bool                       // TLS has started
	plugin string
	noRows bool   // the next command has no result
	unread []byte // of a packet that was checked
	err    error  // the first that Read returned
}

// Read implements net.Conn. It reads whole packets.
func (g *mysqlGuard) Read(b []byte) (n int, err error) {
	defer func() {
		if g.err == nil {
			g.err = err
		}
	}()
	if g.opaque {
		return g.Conn.Read(b)
	}
	if len(g.unread) == 0 {
		if err := g.readPacket(); err != nil {
			return 0, err
		}
	}
	n = copy(b, g.unread)
	g.unread = g.unread[n:]
	return n, nil
}

// Write implements net.Conn. The packet of a command has the number 0.
func (g *mysqlGuard) Write(b []byte) (int, error) {
	n, err := g.Conn.Write(b)
	g.opaque = g.tls
	switch {
	case len(b) < 4 || b[3] != 0:
	case g.noRows:
		g.check, g.noRows = g.checkStatement, false
	default:
		g.check = g.checkResult
	}
	return n, err
}

func (g *mysqlGuard) readPacket() error {
	packet := make([]byte, 4)
	if _, err := io.ReadFull(g.Conn, packet); err != nil {
		return err
	}
	size := binary.LittleEndian.Uint32(packet) & 0xffffff
	if size == 0 || size > mysqlPacket {
		return collectors.Errorf(remote.ReasonProtocol, "packet of %d bytes: expected 1 to %d", size, mysqlPacket)
	}
	packet = slices.Grow(packet, int(size))[:4+size]
	payload := packet[4:]
	if _, err := io.ReadFull(g.Conn, payload); err != nil {
		return err
	}
	g.unread = packet
	return g.checkPacket(payload)
}

func (g *mysqlGuard) checkPacket(payload []byte) error {
	check := g.check
	switch {
	case payload[0] == mysqlERR:
		check = checkMySQLERR
	case !g.began:
		check = g.checkGreeting
		g.began, g.check = true, g.checkLogin
	case check == nil:
		return nil
	}
	return check(payload)
}

func checkMySQLERR(payload []byte) error {
	if len(payload) < 4 || payload[3] == '#' && len(payload) < 9 {
		return collectors.Errorf(remote.ReasonProtocol, "error of the server ends too early")
	}
	return nil
}

// checkGreeting accepts what servers since MySQL 4.1 send.
// Source: https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase_packets_protocol_handshake_v10.html
func (g *mysqlGuard) checkGreeting(payload []byte) error {
	if payload[0] != 10 {
		return collectors.Errorf(remote.ReasonProtocol, "greeting of protocol %d: expected 10", payload[0])
	}
	const size = 44 // of what is between the version of the server and the name of the plugin
	_, rest, ok := bytes.Cut(payload, []byte{0})
	if !ok || len(rest) < size {
		return collectors.Errorf(remote.ReasonProtocol, "greeting is incomplete, or of a server before 4.1")
	}
	plugin, _, _ := bytes.Cut(rest[size:], []byte{0})
	g.plugin = string(plugin)
	return nil
}

func (g *mysqlGuard) checkLogin(payload []byte) error {
	switch kind := payload[0]; {
	case isMySQLOK(payload):
		return nil
	case kind == mysqlSwitch:
		return g.checkSwitch(payload[1:])
	case kind == mysqlAuthMore && g.plugin == mysqlSHA2:
		return g.checkSHA2(payload[1:])
	default:
		return collectors.Errorf(remote.ReasonProtocol, "answer to the login begins with %#x", kind)
	}
}

// isMySQLOK reports whether a packet is the OK of a command without rows and without an insert id.
// It has two bytes of status.
func isMySQLOK(payload []byte) bool {
	return payload[0] == mysqlOK && len(payload) >= 5 && payload[1] < 0xfb && payload[2] < 0xfb
}

// checkStatement checks the answer to a command without a result.
func (g *mysqlGuard) checkStatement(payload []byte) error {
	g.check = nil
	if !isMySQLOK(payload) {
		return collectors.Errorf(remote.ReasonProtocol, "answer of %d bytes to SET, begins with %#x: expected OK", len(payload), payload[0])
	}
	return nil
}

// checkSwitch checks the request for another plugin. Its data is the name and the scramble.
func (g *mysqlGuard) checkSwitch(data []byte) error {
	plugin, scramble, _ := bytes.Cut(data, []byte{0})
	g.plugin = string(plugin)
	switch g.plugin {
	case mysqlNative, mysqlSHA2, mysqlEd25519:
	default:
		return collectors.Errorf(remote.ReasonAuth, "the server requires the plugin %q for the login: expected %s, %s or %s", plugin, mysqlNative, mysqlSHA2, mysqlEd25519)
	}
	if len(scramble) < 20 {
		return collectors.Errorf(remote.ReasonProtocol, "the server switches to %s without a scramble", plugin)
	}
	return nil
}

// checkSHA2 checks the data that caching_sha2_password sends after the first answer. Without
// TLS, the driver encrypts the password with the key that the server sends, and nothing proves
// whose key that is. On this host nothing is between.
// Source: https://dev.mysql.com/doc/dev/mysql-server/latest/page_caching_sha2_authentication_exchanges.html
func (g *mysqlGuard) checkSHA2(data []byte) error {
	const cached, full = 3, 4
	switch {
	case len(data) == 1 && data[0] == cached, len(data) == 1 && data[0] == full && g.local:
		return nil
	case len(data) == 1 && data[0] == full:
		return collectors.Errorf(remote.ReasonAuth, "the server requests the password itself: expected tls, which authenticates the server")
	}
	block, _ := pem.Decode(data)
	if block == nil || !g.local {
		return collectors.Errorf(remote.ReasonProtocol, "the server sends no key")
	}
	public, err := x509.ParsePKIXPublicKey(block.Bytes)
	if _, ok := public.(*rsa.PublicKey); err != nil || !ok {
		return collectors.Errorf(remote.ReasonProtocol, "the server sends a key of type %T: expected RSA", public)
	}
	return nil
}

// checkResult checks the first packet of an answer to a query: the number of columns.
func (g *mysqlGuard) checkResult(payload []byte) error {
	g.check = nil
	if payload[0] == 0 || payload[0] > mysqlColumns {
		return collectors.Errorf(remote.ReasonProtocol, "answer of %d bytes, begins with %#x: expected 1 to %d columns", len(payload), payload[0], mysqlColumns)
	}
	return nil
}
