package tcp

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
)

// fakeMySQL is a server with the part of the protocol that a login and a few queries need. Source: https://dev.mysql.com/doc/dev/mysql-server/latest/PAGE_PROTOCOL.html
type fakeMySQL struct {
	testing.TB
	// plugin is mysql_native_password, caching_sha2_password with a password in the server's
	// cache, or "full": caching_sha2_password without one in the cache.
	plugin, password string
	// first is the plugin of the greeting if the user has another.
	first string
	// tls is nil for a server without TLS.
	tls *tls.Config
	// instead replaces an answer by an ERR packet: greeting, login, or a query.
	instead map[string]string
	// rows are the answers to queries, without the blanks at their ends.
	rows map[string][]string
	// tables are the answers to queries of a configuration.
	tables map[string]fakeTable
	// statements are the SET statements that the server received.
	statements []string

	conn     net.Conn
	sequence byte
}

// fakeScramble is the challenge of the greeting: 20 bytes.
const fakeScramble = "0123456789abcdefghij"

// ServeGalera serves one client as a node of a cluster that is a donor, for tests in tcp_test.
func ServeGalera(t testing.TB, conn net.Conn) {
	m := &fakeMySQL{TB: t, plugin: mysqlNative, password: "hunter2", rows: mysqlRows()}
	m.rows[mysqlState][1], m.rows[mysqlStateOf][1] = "2", "Donor/Desynced"
	m.serve(conn)
}

// serve answers one client.
func (m *fakeMySQL) serve(conn net.Conn) {
	m.conn = conn
	if m.instead["greeting"] != "" {
		m.send(m.instead["greeting"])
		return
	}
	plugin := m.plugin
	if plugin == "full" {
		plugin = "caching_sha2_password"
	}
	m.send(m.greeting(cmp.Or(m.first, plugin)))
	response, ok := m.receive()
	if ok && m.tls != nil && len(response) == 32 {
		m.conn = tls.Server(m.conn, m.tls)
		response, ok = m.receive()
	}
	if !ok {
		return
	}
	if m.instead["login"] != "" {
		m.send(m.instead["login"])
		return
	}
	if !m.login(plugin, response) {
		m.send(fakeMySQLError(1045, "28000", "Access denied for user 'vitals'@'localhost' (using password: YES)"))
		return
	}
	m.send("\x00\x00\x00\x02\x00\x00\x00")
	for {
		m.sequence = 0
		command, ok := m.receive()
		if !ok || command[0] != 3 { // COM_QUERY
			return
		}
		query := string(command[1:])
		table, listed := m.tables[query]
		switch row, known := m.rows[query]; {
		case m.instead[query] != "":
			m.send(m.instead[query])
		case listed:
			m.table(table)
		case strings.HasPrefix(query, "SET SESSION "):
			m.statements = append(m.statements, query)
			m.send("\x00\x00\x00\x02\x00\x00\x00")
		case !known:
			m.Errorf("the server receives the query %q, want one of %v", query, m.rows)
			return
		default:
			m.result(row)
		}
	}
}

// greeting offers PROTOCOL_41, SECURE_CONNECTION, PLUGIN_AUTH, CONNECT_WITH_DB, and TLS.
func (m *fakeMySQL) greeting(plugin string) string {
	secure := "\x82"
	if m.tls != nil {
		secure = "\x8a"
	}
	return "\x0a8.4.0-fake\x00\x01\x00\x00\x00" + fakeScramble[:8] + "\x00\x08" + secure + "\x21\x02\x00\x08\x00\x15" +
		strings.Repeat("\x00", 10) + fakeScramble[8:] + "\x00" + plugin + "\x00"
}

// login reports whether the response proves the password.
func (m *fakeMySQL) login(plugin string, response []byte) bool {
	if m.first != "" {
		m.send("\xfe" + plugin + "\x00" + fakeScramble + "\x00")
		var ok bool
		if response, ok = m.receive(); !ok {
			return false
		}
	}
	switch plugin {
	case "mysql_native_password":
		return bytes.Contains(response, fakeNative(m.password))
	case "caching_sha2_password":
		if !bytes.Contains(response, fakeSHA2(m.password)) {
			return false
		}
	}
	if m.plugin != "full" {
		m.send("\x01\x03") // the password is cached
		return true
	}
	m.send("\x01\x04")
	want, ok := m.receive()
	if m.tls != nil {
		return ok && string(want) == m.password+"\x00"
	}
	if !ok || string(want) != "\x02" { // the client requests the key
		return false
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		m.Error(err)
		return false
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		m.Error(err)
		return false
	}
	m.send("\x01" + string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})))
	secret, ok := m.receive()
	if !ok {
		return false
	}
	plain, err := rsa.DecryptOAEP(sha1.New(), nil, key, secret, nil)
	for i := range plain {
		plain[i] ^= fakeScramble[i%len(fakeScramble)]
	}
	return err == nil && string(plain) == m.password+"\x00"
}

// fakeNative is SHA1(password) XOR SHA1(scramble, SHA1(SHA1(password))).
func fakeNative(password string) []byte {
	first := sha1.Sum([]byte(password))
	second := sha1.Sum(first[:])
	third := sha1.Sum(append([]byte(fakeScramble), second[:]...))
	for i := range first {
		first[i] ^= third[i]
	}
	return first[:]
}

// fakeSHA2 is SHA256(password) XOR SHA256(SHA256(SHA256(password)), scramble).
func fakeSHA2(password string) []byte {
	first := sha256.Sum256([]byte(password))
	second := sha256.Sum256(first[:])
	third := sha256.Sum256(append(second[:], fakeScramble...))
	for i := range first {
		first[i] ^= third[i]
	}
	return first[:]
}

// result sends one row of strings, or none for nil.
func (m *fakeMySQL) result(row []string) {
	const eof = "\xfe\x00\x00\x02\x00"
	columns := len(row)
	if row == nil {
		columns = 2
	}
	m.send(string([]byte{byte(columns)}))
	for i := range columns {
		name := fmt.Sprint("c", i)
		m.send(fakeColumn(name))
	}
	m.send(eof)
	if row != nil {
		var packet string
		for _, value := range row {
			packet += fakeText(value)
		}
		m.send(packet)
	}
	m.send(eof)
}

// fakeTable is the result of a query. A cell with NULL is NULL.
type fakeTable struct {
	columns []string
	rows    [][]string
}

// table sends a result of any size.
func (m *fakeMySQL) table(t fakeTable) {
	const eof = "\xfe\x00\x00\x02\x00"
	m.send(string([]byte{byte(len(t.columns))}))
	for _, name := range t.columns {
		m.send(fakeColumn(name))
	}
	m.send(eof)
	for _, row := range t.rows {
		var packet string
		for _, value := range row {
			if value == "NULL" {
				packet += "\xfb"
				continue
			}
			packet += fakeText(value)
		}
		m.send(packet)
	}
	m.send(eof)
}

// fakeColumn is the definition of a column of type VAR_STRING.
func fakeColumn(name string) string {
	return "\x03def\x00\x00\x00" + fakeText(name) + "\x00\x0c\x21\x00\x40\x00\x00\x00\xfd\x00\x00\x00\x00\x00"
}

func fakeText(text string) string { return string([]byte{byte(len(text))}) + text }

// fakeMySQLError is an ERR packet.
func fakeMySQLError(number uint16, state, text string) string {
	return string(binary.LittleEndian.AppendUint16([]byte{0xff}, number)) + "#" + state + text
}

// send writes one packet. The client may have left.
func (m *fakeMySQL) send(payload string) {
	n := len(payload)
	_, _ = m.conn.Write(slices.Concat([]byte{byte(n), byte(n >> 8), byte(n >> 16), m.sequence}, []byte(payload)))
	m.sequence++
}

// receive reads one packet.
func (m *fakeMySQL) receive() (payload []byte, ok bool) {
	var header [4]byte
	if _, err := io.ReadFull(m.conn, header[:]); err != nil {
		return nil, false
	}
	payload = make([]byte, int(header[0])|int(header[1])<<8|int(header[2])<<16)
	_, err := io.ReadFull(m.conn, payload)
	m.sequence = header[3] + 1
	return payload, err == nil && len(payload) > 0
}
