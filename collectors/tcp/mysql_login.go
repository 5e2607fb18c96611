package tcp

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/pem"
	"fmt"
	"os"
	"os/user"
	"slices"
	"strings"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// What both sides can do. Without local files, a server cannot ask for one.
// See https://dev.mysql.com/doc/dev/mysql-server/latest/group__group__cs__capabilities__flags.html.
const (
	mysqlLongPassword = 0x1
	mysqlWithDatabase = 0x8
	mysqlProtocol41   = 0x200
	mysqlTLS          = 0x800
	mysqlSecureLogin  = 0x8000
	mysqlPlugins      = 0x80000
)

// The ways to log in.
const (
	mysqlNative = "mysql_native_password"
	mysqlSHA2   = "caching_sha2_password"
)

// mysqlUTF8 is the number of utf8mb3_general_ci, which all versions know.
const mysqlUTF8 = 33

// mysqlGreeting is what a server says first.
type mysqlGreeting struct {
	capabilities uint64
	plugin       string
	scramble     []byte // of 20 bytes
}

// login reads the greeting, starts TLS where it is configured, and logs in. A Unix socket
// and the loopback interface have nobody between.
func (m *mysqlConn) login(ctx context.Context, peer *peer) error {
	packet, err := m.receive()
	if err != nil {
		return err
	}
	hello, err := parseMySQLGreeting(packet)
	if err != nil {
		return err
	}
	login, err := mysqlLogin(peer.login)
	if err != nil {
		return err
	}
	m.secure = remote.LocalHost(peer.host)
	if peer.tls != nil {
		if err := m.startTLS(ctx, hello, peer.tls); err != nil {
			return err
		}
	}
	response, err := hello.response(peer, login)
	if err != nil {
		return err
	}
	if err := m.send(response); err != nil {
		return err
	}
	return m.authenticate(hello, login)
}

// mysqlLogin is the login that is configured, with the user of this process where it names
// none, as the client mysql does it: the server may know him by the Unix socket alone.
func mysqlLogin(configured *tcpLogin) (*tcpLogin, error) {
	login := &tcpLogin{}
	if configured != nil {
		*login = *configured
	}
	if login.Username == "" && os.Geteuid() == 0 {
		login.Username = "root"
	}
	if login.Username == "" {
		own, err := user.Current()
		if err != nil {
			return nil, collectors.Errorf(remote.ReasonAuth, "no username is configured, and that of this process is not known: %w", err)
		}
		login.Username = own.Username
	}
	return login, nil
}

// parseMySQLGreeting reads the greeting of version 10.
// Source: https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase_packets_protocol_handshake_v10.html
func parseMySQLGreeting(b *mysqlBytes) (h mysqlGreeting, err error) {
	if version := b.number(1); version != 10 {
		return h, collectors.Errorf(remote.ReasonProtocol, "greeting of protocol %d: expected 10", version)
	}
	b.text()  // version of the server
	b.take(4) // number of the connection
	h.scramble = bytes.Clone(b.take(8))
	b.take(1)
	h.capabilities = b.number(2)
	b.take(3) // character set and status
	h.capabilities |= b.number(2) << 16
	b.take(11) // length of the scramble, and what is reserved
	h.scramble = append(h.scramble, b.take(12)...)
	b.take(1)
	h.plugin = mysqlNative
	if h.capabilities&mysqlPlugins != 0 && !b.short {
		h.plugin = b.text()
	}
	if b.short || h.capabilities&mysqlProtocol41 == 0 || h.capabilities&mysqlSecureLogin == 0 {
		return h, collectors.Errorf(remote.ReasonProtocol, "greeting is incomplete, or of a server before 4.1")
	}
	return h, nil
}

// mysqlHead is how the answer to a greeting begins.
func mysqlHead(capabilities uint32) []byte {
	head := binary.LittleEndian.AppendUint32(nil, capabilities)
	head = binary.LittleEndian.AppendUint32(head, mysqlPacket)
	return append(append(head, mysqlUTF8), make([]byte, 23)...)
}

// startTLS makes the handshake before anything secret is sent.
func (m *mysqlConn) startTLS(ctx context.Context, hello mysqlGreeting, settings *tls.Config) error {
	if hello.capabilities&mysqlTLS == 0 {
		return collectors.Errorf(remote.ReasonTLS, "the server does no TLS")
	}
	if err := m.send(mysqlHead(mysqlLongPassword | mysqlProtocol41 | mysqlTLS | mysqlSecureLogin | mysqlPlugins)); err != nil {
		return err
	}
	secured := tls.Client(m.conn, settings)
	if err := secured.HandshakeContext(ctx); err != nil {
		return fmt.Errorf("tls handshake: %w", err)
	}
	m.conn, m.secure = secured, true
	return nil
}

// response is the login.
func (h mysqlGreeting) response(peer *peer, login *tcpLogin) ([]byte, error) {
	capabilities := uint32(mysqlLongPassword | mysqlProtocol41 | mysqlSecureLogin | mysqlPlugins)
	database := ""
	if peer.database != "" {
		capabilities |= mysqlWithDatabase
		database = peer.database + "\x00"
	}
	if peer.tls != nil {
		capabilities |= mysqlTLS
	}
	if strings.ContainsRune(login.Username+peer.database, 0) {
		return nil, collectors.Errorf(remote.ReasonProtocol, "username or database has a zero byte: expected none")
	}
	plugin := h.plugin
	if plugin != mysqlSHA2 { // one that is not known may be switched to another for this user
		plugin = mysqlNative
	}
	proof := mysqlProof(plugin, login.Password.Value(), h.scramble)
	return slices.Concat(mysqlHead(capabilities), []byte(login.Username+"\x00"),
		[]byte{byte(len(proof))}, proof, []byte(database+plugin+"\x00")), nil
}

// mysqlProof proves that one knows the password, without the password. It has at most 32
// bytes, and none for no password.
func mysqlProof(plugin, password string, scramble []byte) []byte {
	if password == "" {
		return nil
	}
	if plugin == mysqlSHA2 {
		once := sha256.Sum256([]byte(password))
		twice := sha256.Sum256(once[:])
		mask := sha256.Sum256(append(twice[:], scramble...))
		return mysqlXOR(once[:], mask[:])
	}
	once := sha1.Sum([]byte(password))
	twice := sha1.Sum(once[:])
	mask := sha1.Sum(append(bytes.Clone(scramble), twice[:]...))
	return mysqlXOR(once[:], mask[:])
}

// mysqlXOR repeats the mask as often as it takes.
func mysqlXOR(data, mask []byte) []byte {
	out := make([]byte, len(data))
	for i := range data {
		out[i] = data[i] ^ mask[i%len(mask)]
	}
	return out
}

// authenticate answers the server until it is content. A user may have another plugin
// than the server; that is asked for once.
func (m *mysqlConn) authenticate(hello mysqlGreeting, login *tcpLogin) error {
	plugin, scramble := hello.plugin, hello.scramble
	for range 8 { // a login takes five packets at most
		packet, err := m.receive()
		if err != nil {
			return err
		}
		var answer []byte
		switch kind := packet.number(1); {
		case kind == mysqlOK:
			return nil
		case kind == mysqlEOF:
			plugin = packet.text()
			if plugin != mysqlNative && plugin != mysqlSHA2 {
				return collectors.Errorf(remote.ReasonAuth, "the server wants a login by %q: expected %s or %s", plugin, mysqlNative, mysqlSHA2)
			}
			if len(packet.data) < 20 {
				return collectors.Errorf(remote.ReasonProtocol, "the server switches to %s without a scramble", plugin)
			}
			scramble = packet.take(20)
			answer = mysqlProof(plugin, login.Password.Value(), scramble)
		case kind == mysqlMore && plugin == mysqlSHA2:
			if answer, err = m.sha2(packet.data, login.Password.Value(), scramble); err != nil {
				return err
			}
			if answer == nil {
				continue
			}
		default:
			return collectors.Errorf(remote.ReasonProtocol, "answer to the login begins with %#x", kind)
		}
		if err := m.send(answer); err != nil {
			return err
		}
	}
	return collectors.Errorf(remote.ReasonProtocol, "the login does not come to an end")
}

// sha2 is the answer to more data of caching_sha2_password, nil where none is wanted. A
// server that has not the password in its cache wants all of it.
// Source: https://dev.mysql.com/doc/dev/mysql-server/latest/page_caching_sha2_authentication_exchanges.html
func (m *mysqlConn) sha2(data []byte, password string, scramble []byte) ([]byte, error) {
	const cached, all, key = 3, 4, 2
	secret := []byte(password + "\x00")
	_, encrypted := m.conn.(*tls.Conn)
	switch {
	case len(data) == 1 && data[0] == cached:
		return nil, nil
	case len(data) == 1 && data[0] == all && encrypted:
		return secret, nil
	case len(data) == 1 && data[0] == all && m.secure:
		return []byte{key}, nil
	case len(data) == 1 && data[0] == all:
		return nil, collectors.Errorf(remote.ReasonAuth, "the server wants the password itself: expected tls, as nobody vouches for the server's key without")
	}
	block, _ := pem.Decode(data)
	if block == nil || !m.secure {
		return nil, collectors.Errorf(remote.ReasonProtocol, "the server sends no key")
	}
	public, err := x509.ParsePKIXPublicKey(block.Bytes)
	rsaKey, ok := public.(*rsa.PublicKey)
	if err != nil || !ok {
		return nil, collectors.Errorf(remote.ReasonProtocol, "the server sends a key of type %T: expected RSA", public)
	}
	answer, err := rsa.EncryptOAEP(sha1.New(), rand.Reader, rsaKey, mysqlXOR(secret, scramble), nil)
	if err != nil {
		return nil, collectors.Errorf(remote.ReasonProtocol, "encrypt for the server's key: %w", err)
	}
	return answer, nil
}
