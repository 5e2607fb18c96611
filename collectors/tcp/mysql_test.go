package tcp

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"maps"
	"net"
	"net/http/httptest"
	"os/user"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/collectors/remote/query"
)

// The queries of a check.
const (
	mysqlAlive    = "SELECT 1, VERSION()"
	mysqlReadOnly = "SELECT @@GLOBAL.read_only"
	mysqlState    = `SHOW GLOBAL STATUS LIKE 'wsrep\_local\_state'`
	mysqlStateOf  = `SHOW GLOBAL STATUS LIKE 'wsrep\_local\_state\_comment'`
)

// mysqlRows are the answers of a healthy server.
func mysqlRows() map[string][]string {
	return map[string][]string{
		mysqlAlive: {"1", "8.4.0-fake"}, mysqlReadOnly: {"0"},
		mysqlState: {"wsrep_local_state", "4"}, mysqlStateOf: {"wsrep_local_state_comment", "Synced"},
	}
}

// mysqlCheck runs a check against a server in memory, and returns its gauges, too.
func mysqlCheck(t *testing.T, server *fakeMySQL, peer peer) (note string, gauges map[string]float64, err error) {
	t.Helper()
	server.TB = t
	if server.password == "" {
		server.password = "hunter2"
	}
	if server.plugin == "" {
		server.plugin = "mysql_native_password"
	}
	ctx, conn := serveOnce(t, patience, server.serve)
	gauges = map[string]float64{}
	peer.conn, peer.host, peer.measured = conn, cmp.Or(peer.host, "localhost"), func(metric *collectors.Def, value float64) { gauges[metric.Desc().Name] = value }
	peer.login = &credentials{"vitals", "hunter2"}
	note, err = checkMySQL(ctx, &peer)
	return note, gauges, err
}

func TestMySQLLogins(t *testing.T) {
	for _, plugin := range []string{"mysql_native_password", "caching_sha2_password", "full"} {
		t.Run(plugin, func(t *testing.T) {
			defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
			note, gauges, err := mysqlCheck(t, &fakeMySQL{plugin: plugin, rows: mysqlRows()}, peer{database: "nova"})
			if note != "8.4.0-fake" || err != nil || len(gauges) > 0 {
				t.Errorf("checkMySQL() = %q, %v, gauges %v, want the version", note, err, gauges)
			}
			_, _, err = mysqlCheck(t, &fakeMySQL{plugin: plugin, password: "other"}, peer{})
			if reasonOf(err) != remote.ReasonAuth || !strings.Contains(err.Error(), "login: error 1045: Access denied") {
				t.Errorf("checkMySQL() with a wrong password = %v, want auth", err)
			}
		})
	}
}

func TestMySQLGalera(t *testing.T) {
	const state, readOnly = "vitals_mysql_wsrep_local_state", "vitals_mysql_read_only"
	for _, c := range []struct {
		name string
		rows map[string][]string // that differ from mysqlRows
		note string
		want map[string]float64
		fail string // the error
	}{
		{"synced", nil, "8.4.0-fake Synced", map[string]float64{state: 4, readOnly: 0}, ""},
		{"donor that is read-only", map[string][]string{mysqlReadOnly: {"1"}, mysqlState: {"wsrep_local_state", "2"}, mysqlStateOf: {"wsrep_local_state_comment", "Donor/Desynced"}},
			"8.4.0-fake Donor/Desynced", map[string]float64{state: 2, readOnly: 1}, ""},
		{"since MariaDB 12", map[string][]string{mysqlReadOnly: {"OFF"}}, "8.4.0-fake Synced", map[string]float64{state: 4, readOnly: 0}, ""},
		{"since MariaDB 12, read-only", map[string][]string{mysqlReadOnly: {"NO_LOCK"}}, "8.4.0-fake Synced", map[string]float64{state: 4, readOnly: 1}, ""},
		{"no cluster", map[string][]string{mysqlState: nil}, "", map[string]float64{readOnly: 0}, "there is no wsrep_local_state: expected a node of a Galera cluster"},
		{"no number", map[string][]string{mysqlState: {"wsrep_local_state", "Synced"}}, "", map[string]float64{readOnly: 0}, `wsrep_local_state is "Synced": expected a number`},
	} {
		t.Run(c.name, func(t *testing.T) {
			rows := mysqlRows()
			maps.Copy(rows, c.rows)
			note, gauges, err := mysqlCheck(t, &fakeMySQL{rows: rows}, peer{galera: true})
			if text := errorText(err); note != c.note || text != c.fail {
				t.Errorf("checkMySQL() = %q, %q, want %q, %q", note, text, c.note, c.fail)
			}
			if diff := gocmp.Diff(c.want, gauges); diff != "" {
				t.Errorf("gauges (-want +got):\n%s", diff)
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestMySQLFailures(t *testing.T) {
	fails := func(at string, number uint16, state, text string) *fakeMySQL {
		return &fakeMySQL{rows: mysqlRows(), instead: map[string]string{at: fakeMySQLError(number, state, text)}}
	}
	for _, c := range []struct {
		name   string
		server *fakeMySQL
		reason remote.Reason
		text   string
	}{
		{"too many connections", fails("greeting", 1040, "08004", "Too many connections"), remote.ReasonServerError, "login: error 1040: Too many connections"},
		{"host is blocked", fails("greeting", 1129, "HY000", "Host '10.0.0.1' is blocked because of many connection errors"), remote.ReasonForbidden, ""},
		{"host may not connect", fails("greeting", 1130, "HY000", "Host '10.0.0.1' is not allowed to connect to this MariaDB server"), remote.ReasonForbidden, ""},
		{"unknown user", fails("login", 1698, "28000", "Access denied for user 'vitals'@'localhost'"), remote.ReasonAuth, "login: error 1698: Access denied for user 'vitals'@'localhost'"},
		{"locked account", fails("login", 4151, "HY000", "Access denied, this account is locked"), remote.ReasonAuth, ""},
		{"expired password", fails("login", 1862, "HY000", "Your password has expired"), remote.ReasonAuth, ""},
		{"requires TLS", fails("login", 3159, "HY000", "Connections using insecure transport are prohibited"), remote.ReasonTLS, ""},
		{"database of others", fails("login", 1044, "42000", "Access denied to database 'nova'"), remote.ReasonForbidden, ""},
		{"no such database", fails("login", 1049, "42000", "Unknown database 'nova'"), remote.ReasonNotFound, ""},
		{"shuts down", fails(mysqlAlive, 1053, "08S01", "Server shutdown in progress"), remote.ReasonServerError, `query "SELECT 1, VERSION()": error 1053: Server shutdown in progress`},
		{"node is not prepared", fails(mysqlAlive, 1047, "08S01", "WSREP has not yet prepared node for application use"), remote.ReasonServerError, ""},
		{"expired password at the query", fails(mysqlAlive, 1820, "HY000", "You must SET PASSWORD before executing this statement"), remote.ReasonAuth, ""},
		{"bad handshake", fails("login", 1043, "08S01", "Bad handshake"), remote.ReasonProtocol, ""},
		{"error is cut", &fakeMySQL{instead: map[string]string{"greeting": "\xff\x10"}}, remote.ReasonProtocol, "login: error of the server ends too early"},
		{"error without a state", &fakeMySQL{instead: map[string]string{"greeting": "\xff\x10\x04Too many connections"}}, remote.ReasonServerError, "login: error 1040: Too many connections"},
		{"greeting is cut", &fakeMySQL{instead: map[string]string{"greeting": "\x0a8.4.0-fake\x00\x01\x00"}}, remote.ReasonProtocol, "login: greeting is incomplete, or of a server before 4.1"},
		{"greeting of version 9", &fakeMySQL{instead: map[string]string{"greeting": "\x093.20\x00"}}, remote.ReasonProtocol, "login: greeting of protocol 9: expected 10"},
		{"switch without a scramble", &fakeMySQL{instead: map[string]string{"login": "\xfemysql_native_password\x00abc"}}, remote.ReasonProtocol, ""},
		{"more of a login that has no more", &fakeMySQL{instead: map[string]string{"login": "\x01\x04"}}, remote.ReasonProtocol, "login: answer to the login begins with 0x1"},
		{"an update for an answer", &fakeMySQL{instead: map[string]string{mysqlAlive: "\x00\x00\x00\x02\x00\x00\x00"}}, remote.ReasonProtocol, ""},
		{"requests a file", &fakeMySQL{instead: map[string]string{mysqlAlive: "\xfb/etc/passwd"}}, remote.ReasonProtocol, ""},
		{"a thousand columns", &fakeMySQL{instead: map[string]string{mysqlAlive: "\xfc\xe8\x03"}}, remote.ReasonProtocol, ""},
		{"two for one", &fakeMySQL{rows: map[string][]string{mysqlAlive: {"2", "8.4.0-fake"}}}, remote.ReasonProtocol, `answer to SELECT 1 is "2 8.4.0-fake": expected 1`},
		{"nothing for one", &fakeMySQL{rows: map[string][]string{mysqlAlive: nil}}, remote.ReasonProtocol, `answer to SELECT 1 is "": expected 1`},
		{"requests the password in the clear", &fakeMySQL{instead: map[string]string{"login": "\xfemysql_clear_password\x00"}}, remote.ReasonAuth, ""},
		{"requests the password as before 4.1", &fakeMySQL{instead: map[string]string{"login": "\xfe"}}, remote.ReasonAuth, ""},
		{"an unknown plugin", &fakeMySQL{instead: map[string]string{"login": "\xfedialog\x00Password: "}}, remote.ReasonAuth, `login: the server requires the plugin "dialog" for the login: expected mysql_native_password, caching_sha2_password or client_ed25519`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := mysqlCheck(t, c.server, peer{})
			if got, text := reasonOf(err), errorText(err); got != c.reason || c.text != "" && text != c.text || strings.Contains(text, "hunter2") {
				t.Errorf("checkMySQL() = reason %q, %s, want reason %q, %s", got, text, c.reason, c.text)
			}
		})
	}
}

// A user may have another plugin than the greeting names.
func TestMySQLSwitchesThePlugin(t *testing.T) {
	for _, c := range []struct{ first, then string }{{mysqlSHA2, mysqlNative}, {mysqlNative, mysqlSHA2}, {"unix_socket", mysqlNative}} {
		note, _, err := mysqlCheck(t, &fakeMySQL{first: c.first, plugin: c.then, rows: mysqlRows()}, peer{})
		if note != "8.4.0-fake" || err != nil {
			t.Errorf("%s, then %s: checkMySQL() = %q, %v, want the version", c.first, c.then, note, err)
		}
	}
}

// The default username is that of this process.
func TestMySQLDefaultUser(t *testing.T) {
	own, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		configured *credentials
		want       credentials
	}{
		"nothing":  {nil, credentials{Username: own.Username}},
		"password": {&credentials{Password: "p"}, credentials{own.Username, "p"}},
		"username": {&credentials{Username: "u"}, credentials{Username: "u"}},
		"both":     {&credentials{"u", "p"}, credentials{"u", "p"}},
	} {
		got, err := mysqlLogin(c.configured)
		if err != nil || *got != c.want {
			t.Errorf("%s: mysqlLogin() = %v, %v, want %v", name, got, err, c.want)
		}
	}
}

// The password itself is sent only behind TLS, or encrypted with a key to a server on this host.
func TestMySQLPasswordItself(t *testing.T) {
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	trusted := x509.NewCertPool()
	trusted.AddCert(s.Certificate())
	settings := &tls.Config{ServerName: "example.com", RootCAs: trusted}
	for _, c := range []struct {
		name   string
		server *fakeMySQL
		peer   peer
		reason remote.Reason
	}{
		{"behind TLS", &fakeMySQL{plugin: "full", tls: s.TLS}, peer{host: "10.0.0.1", tls: settings}, ""},
		{"behind TLS, with another plugin", &fakeMySQL{plugin: mysqlNative, tls: s.TLS}, peer{host: "10.0.0.1", tls: settings}, ""},
		{"on this host", &fakeMySQL{plugin: "full"}, peer{host: "127.0.0.1"}, ""},
		{"over the network", &fakeMySQL{plugin: "full"}, peer{host: "10.0.0.1"}, remote.ReasonAuth},
		{"certificate is not trusted", &fakeMySQL{plugin: "full", tls: s.TLS}, peer{host: "10.0.0.1", tls: &tls.Config{ServerName: "example.com"}}, remote.ReasonTLS},
		{"another name", &fakeMySQL{plugin: "full", tls: s.TLS}, peer{host: "10.0.0.1", tls: &tls.Config{ServerName: "db", RootCAs: trusted}}, remote.ReasonTLS},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.server.rows = mysqlRows()
			_, _, err := mysqlCheck(t, c.server, c.peer)
			if got := reasonOf(err); got != c.reason {
				t.Errorf("checkMySQL() = %v, reason %q, want %q", err, got, c.reason)
			}
		})
	}
}

// To a server without TLS, nothing is sent.
func TestMySQLWithoutTLS(t *testing.T) {
	_, _, err := mysqlCheck(t, &fakeMySQL{}, peer{tls: &tls.Config{ServerName: "localhost"}})
	if reasonOf(err) != remote.ReasonTLS {
		t.Errorf("checkMySQL() = %v, want tls", err)
	}
}

// A server that hangs is a timeout, and a check leaves no goroutine behind.
func TestMySQLConnections(t *testing.T) {
	hangs := collectortest.Drain
	greets := func(conn net.Conn) {
		m := &fakeMySQL{TB: t, plugin: mysqlNative, instead: map[string]string{"login": "\x01"}}
		m.serve(conn)
		hangs(conn)
	}
	for name, c := range map[string]struct {
		serve  func(net.Conn)
		reason remote.Reason
		text   string
	}{
		"never greets":                  {hangs, remote.ReasonTimeout, ""},
		"continues in another protocol": {greets, remote.ReasonProtocol, "login: answer to the login begins with 0x1"},
		"closes":                        {func(net.Conn) {}, remote.ReasonProtocol, "login: EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			collectortest.NoLeaks(t)
			timeout := patience
			if c.reason == remote.ReasonTimeout {
				timeout = 200 * time.Millisecond
			}
			ctx, conn := serveOnce(t, timeout, c.serve)
			_, err := checkMySQL(ctx, &peer{conn: conn, login: &credentials{"vitals", "hunter2"}})
			if got := remote.ReasonUntil(ctx, err); got != c.reason || c.text != "" && err.Error() != c.text {
				t.Errorf("checkMySQL() = reason %q, %v, want reason %q, %s", got, err, c.reason, c.text)
			}
		})
	}
}

func TestMySQLHostile(t *testing.T) { hostile(t, checkMySQL) }

// playedConn has all answers in advance.
type playedConn struct {
	net.Conn
	answers bytes.Reader
}

func (c *playedConn) Read(b []byte) (int, error)  { return c.answers.Read(b) }
func (c *playedConn) Write(b []byte) (int, error) { return len(b), nil }
func (c *playedConn) Close() error                { return nil }

// packets are the payloads with their lengths; each begins with its number.
func packets(payloads ...string) (all []byte) {
	for _, p := range payloads {
		all = append(append(all, byte(len(p)-1), byte((len(p)-1)>>8), 0), p...)
	}
	return all
}

// The driver panics on packets that are cut off. No goroutine may stay behind.
func TestMySQLCutPackets(t *testing.T) {
	const ok, columns = "\x02\x00\x00\x00\x02\x00\x00\x00", "\x01\x02"
	greeting := "\x00" + (&fakeMySQL{}).greeting(mysqlNative)
	column := func(number string) string { return number + fakeColumn("c") }
	for name, answers := range map[string][]byte{
		"greeting":                packets(greeting[:60]),
		"greeting of sha256":      packets("\x00"+(&fakeMySQL{}).greeting("sha256_password"), "\x02\x01-----BEGIN PUBLIC KEY-----"),
		"OK of the login":         packets(greeting, "\x02\x00\x00"),
		"OK with huge numbers":    packets(greeting, "\x02\x00\xfe\xff\x00\x00\x00\x00"),
		"error":                   packets(greeting, "\x02\xff\x15\x04#280"),
		"error of a query":        packets(greeting, ok, "\x01\xff\x15"),
		"column":                  packets(greeting, ok, columns, "\x02\xfc"),
		"column of negative size": packets(greeting, ok, columns, "\x02\xfe\xff\xff\xff\xff\xff\xff\xff\xff"),
		"row":                     packets(greeting, ok, columns, column("\x02"), column("\x03"), "\x04\xfe\x00\x00\x02\x00", "\x05\x05"),
		"end of the rows":         packets(greeting, ok, columns, column("\x02"), column("\x03"), "\x04\xfe\x00\x00\x02\x00", "\x05\xfe"),
	} {
		t.Run(name, func(t *testing.T) {
			before := goleak.IgnoreCurrent()
			conn := &playedConn{}
			conn.answers.Reset(answers)
			_, err := checkMySQL(t.Context(), &peer{conn: conn, login: &credentials{"vitals", "hunter2"}})
			if reasonOf(err) != remote.ReasonProtocol {
				t.Errorf("checkMySQL() = %v, want protocol", err)
			}
			goleak.VerifyNone(t, before)
		})
	}
}

func FuzzMySQLAnswers(f *testing.F) {
	greeting := "\x00" + (&fakeMySQL{}).greeting(mysqlSHA2)
	const ok = "\x00\x00\x00\x02\x00\x00\x00"
	column := func(number string) string { return number + fakeColumn("c") }
	f.Add(packets(greeting, "\x02\x01\x03", "\x03"+ok, "\x01\x02", column("\x02"), column("\x03"), "\x04\xfe\x00\x00\x02\x00", "\x05\x011\x038.4", "\x06\xfe\x00\x00\x02\x00"))
	f.Add(packets(greeting, "\x02\x01\x03", "\x03"+ok, "\x01\x02", "\x02\xfc", "\x03\xfc")) // cut columns
	f.Add(packets(greeting, "\x02\x01\x04", "\x04\x01-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----\n"))
	f.Add(packets(greeting, "\x02\xfemysql_native_password\x00"+fakeScramble))
	f.Add(packets("\x00\xff\x10\x04#08004Too many connections"))
	f.Fuzz(func(t *testing.T, answers []byte) {
		conn := &playedConn{}
		conn.answers.Reset(answers)
		peer := &peer{conn: conn, host: "localhost", login: &credentials{"vitals", "hunter2"}, galera: true, measured: func(*collectors.Def, float64) {},
			queries: query.Queries{"a": {SQL: "a", Labels: []string{"c"}}, "b": {SQL: "b"}}, answered: func() {}, ran: func(string, query.Outcome) {}}
		note, err := checkMySQL(t.Context(), peer)
		if text := note + errorText(err); strings.Contains(text, "hunter2") && !bytes.Contains(answers, []byte("hunter2")) {
			t.Fatalf("checkMySQL() shows the password: %q", text)
		}
		if err == nil && len(note) > len(answers) {
			t.Fatalf("checkMySQL() = %q, want no more than was sent", note)
		}
	})
}
