//go:build e2e

package e2e_test

import (
	"fmt"
	"math"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// ownedDirectory makes a directory of a user that a Debian package creates.
func ownedDirectory(t *testing.T, name string) string {
	t.Helper()
	owner, err := user.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	uid, err := strconv.Atoi(owner.Uid)
	if err != nil {
		t.Fatal(err)
	}
	dir := shortDirectory(t, "")
	if err := os.Chown(dir, uid, -1); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// mariadb is a MariaDB with its data in a directory of its own.
type mariadb struct {
	*tcpServer
	dir string
}

// mariadbServer makes the data and starts the server. root logs in by the Unix socket. Its temporary
// files are in a directory of its own: a server that starts removes those of others.
func mariadbServer(t *testing.T, listen string, options ...string) mariadb {
	t.Helper()
	dir := ownedDirectory(t, "mysql")
	install := exec.Command("mariadb-install-db", "--no-defaults", "--user=mysql", "--datadir="+dir+"/data", "--auth-root-authentication-method=socket", "--skip-test-db")
	install.Env = append(os.Environ(), "TMPDIR="+dir)
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("mariadb-install-db: %v\n%s", err, out)
	}
	m := mariadb{dir: dir}
	m.tcpServer = tcpServe(t, append([]string{"/usr/sbin/mariadbd", "--no-defaults", "--user=mysql", "--datadir=" + dir + "/data", "--socket=" + m.socket(),
		"--tmpdir=" + dir, "--pid-file=" + dir + "/pid", "--bind-address=127.0.0.1", "--port=" + tcpPort(t, listen), "--skip-name-resolve"}, options...)...)
	await(t, "MariaDB serves", tcpWithin, func() error { return m.try("SELECT 1") })
	return m
}

func (m mariadb) socket() string { return filepath.Join(m.dir, "s.sock") }

func (m mariadb) try(sql string) error {
	out, err := exec.Command("mariadb", "--no-defaults", "--socket="+m.socket(), "--execute="+sql).CombinedOutput()
	if err != nil {
		return fmt.Errorf("mariadb: %w\n%s", err, out)
	}
	return nil
}

// execute runs statements as root.
func (m mariadb) execute(t *testing.T, sql string) {
	t.Helper()
	if err := m.try(sql); err != nil {
		t.Fatal(err)
	}
}

const mariadbWell = "-MariaDB"

func TestTCPMySQL(t *testing.T) {
	t.Parallel()
	listen, dir := address(t), shortDirectory(t, "")
	certificates := ownedDirectory(t, "mysql")
	tcpCertificates(t, certificates)
	file := filepath.Join(dir, "password")
	write := func(password string) {
		if err := os.WriteFile(file, []byte(password+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("test-password")
	m := mariadbServer(t, listen, "--ssl-ca="+certificates+"/ca.pem", "--ssl-cert="+certificates+"/cert.pem", "--ssl-key="+certificates+"/key.pem")
	m.execute(t, `CREATE DATABASE nova; CREATE DATABASE keystone;
		CREATE USER vitals@'%' IDENTIFIED BY 'test-password'; GRANT SELECT ON nova.* TO vitals@'%';
		CREATE USER empty@'%'; CREATE USER secure@'%' IDENTIFIED BY 'test-password' REQUIRE SSL; CREATE USER mutual@'%' IDENTIFIED BY 'test-password' REQUIRE X509;
		CREATE USER locked@'%' IDENTIFIED BY 'test-password' ACCOUNT LOCK; CREATE USER expired@'%' IDENTIFIED BY 'test-password' PASSWORD EXPIRE;
		CREATE USER elsewhere@'10.1.2.3' IDENTIFIED BY 'test-password'; CREATE USER stranger@localhost IDENTIFIED VIA unix_socket`)
	const password = ", password: test-password"
	server := func(more string) string { return "address: '" + listen + "', protocol: mysql, " + more }
	socket := func(more string) string { return "address: 'unix:" + m.socket() + "', protocol: mysql" + more }
	tls := ", tls: {ca_file: " + certificates + "/ca.pem"
	own := ", cert_file: " + certificates + "/cert.pem, key_file: " + certificates + "/key.pem}"
	a := tcpAsk(t, map[string]string{
		"mysql":     server("username: vitals, password_file: " + file),
		"schema":    server("username: vitals, database: nova" + password),
		"empty":     server("username: empty"),
		"own":       socket(""),
		"socket":    socket(", username: vitals" + password),
		"other":     socket(", username: stranger"),
		"wrong":     server("username: vitals, password: test-password-wrong"),
		"none":      server("username: vitals"),
		"unknown":   server("username: unknown" + password),
		"locked":    server("username: locked" + password),
		"expired":   server("username: expired" + password),
		"elsewhere": server("username: elsewhere" + password),
		"forbidden": server("username: vitals, database: keystone" + password),
		"missing":   socket(", database: nowhere"),
		"tls":       server("username: secure" + password + tls + "}"),
		"mutual":    server("username: mutual" + password + tls + own),
		"one-sided": server("username: mutual" + password + tls + "}"),
		"name":      server("username: secure" + password + tls + ", server_name: db.example}"),
		"clear":     server("username: secure" + password),
		"cluster":   socket(", galera: true"),
	})
	for _, c := range []struct{ name, collector, reason, note string }{
		{"password file", "mysql", "", "mysql " + listen + " 10."},
		{"database", "schema", "", mariadbWell},
		{"no password", "empty", "", mariadbWell},
		{"own user by the Unix socket", "own", "", "mysql unix:" + m.socket() + " 10."},
		{"password over the Unix socket", "socket", "", mariadbWell},
		{"another user by the Unix socket", "other", "auth", "auth: login: error 1698: Access denied for user 'stranger'@'localhost'"},
		{"wrong password", "wrong", "auth", "auth: login: error 1045: Access denied for user 'vitals'@'127.0.0.1' (using password: YES)"},
		{"password missing", "none", "auth", "(using password: NO)"},
		{"unknown user", "unknown", "auth", "auth: login: error 1045: Access denied for user 'unknown'@'127.0.0.1'"},
		{"locked account", "locked", "auth", "auth: login: error 4151: Access denied, this account is locked"},
		{"expired password", "expired", "auth", "error 1820: You must SET PASSWORD before executing this statement"},
		{"user of another host", "elsewhere", "auth", "Access denied for user 'elsewhere'@'127.0.0.1'"},
		{"database of others", "forbidden", "forbidden", "forbidden: login: error 1044: Access denied for user 'vitals'@'%' to database 'keystone'"},
		{"no such database", "missing", "not_found", "not_found: login: error 1049: Unknown database 'nowhere'"},
		{"TLS", "tls", "", mariadbWell},
		{"client certificate", "mutual", "", mariadbWell},
		{"no client certificate", "one-sided", "auth", "Access denied"},
		{"another name", "name", "tls", "db.example"},
		{"TLS is required", "clear", "auth", "Access denied"},
		{"no cluster", "cluster", "not_found", "not_found: there is no wsrep_local_state"},
	} {
		t.Run(c.name, func(t *testing.T) { a.sees(t, c.collector, c.reason, c.note) })
	}
	t.Run("password rotated", func(t *testing.T) {
		write("test-password-old")
		a.sees(t, "mysql", "auth", "error 1045")
		write("test-password")
		a.sees(t, "mysql", "", mariadbWell)
	})
	t.Run("expiry of the certificate", func(t *testing.T) {
		a.measures(t, `vitals_tls_certificate_expiry_timestamp_seconds{dependency="tls"} 1.`)
	})
	a.faults(t, m.tcpServer, "mysql", mariadbWell)
}

// measures waits for a part of the metrics.
func (a tcpAsking) measures(t *testing.T, want string) {
	t.Helper()
	await(t, want, tcpWithin, func() error {
		_, metrics, err := a.get("/metrics")
		if err == nil && !strings.Contains(metrics, want) {
			err = fmt.Errorf("no %q in\n%s", want, metrics)
		}
		return err
	})
}

// anotherRound waits until a collector has succeeded once more.
func (a tcpAsking) anotherRound(t *testing.T, name string) {
	t.Helper()
	before := math.NaN()
	await(t, name+" is checked again", tcpWithin, func() error {
		m, err := a.metrics()
		if err != nil {
			return err
		}
		at := m[series("vitals_collector_last_success_timestamp_seconds", "collector", name)]
		if math.IsNaN(before) {
			before = at
		}
		if at <= before {
			return fmt.Errorf("last success at %f, want it later", at)
		}
		return nil
	})
}

// A server without TLS does not get the password if the configuration requires TLS.
func TestTCPMySQLWithoutTLS(t *testing.T) {
	t.Parallel()
	listen := address(t)
	m := mariadbServer(t, listen, "--max-connections=10", "--connect-timeout=600")
	m.execute(t, "CREATE USER vitals@'%' IDENTIFIED BY 'test-password'")
	block := "address: '" + listen + "', protocol: mysql, username: vitals, password: test-password"
	a := tcpAsk(t, map[string]string{"mysql": block, "tls": block + ", tls: {insecure_skip_verify: true}"})
	t.Run("TLS to a server without", func(t *testing.T) { a.sees(t, "tls", "tls", "tls: login: the server does not support TLS") })
	t.Run("too many connections", func(t *testing.T) {
		a.sees(t, "mysql", "", mariadbWell)
		var held []net.Conn
		for range 20 {
			conn, err := net.Dial("tcp", listen)
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, conn)
		}
		a.sees(t, "mysql", "server_error", "server_error: login: error 1040: Too many connections")
		for _, conn := range held {
			_ = conn.Close()
		}
		a.sees(t, "mysql", "", mariadbWell)
	})
	t.Run("no connection is left or aborted", func(t *testing.T) {
		// On a busy machine a collection may time out, which does abort its connection.
		await(t, "no client aborts", tcpWithin, func() error {
			m.execute(t, "FLUSH STATUS")
			for range 2 { // what the first aborts is counted at the second
				a.anotherRound(t, "mysql")
			}
			out, err := exec.Command("mariadb", "--no-defaults", "--socket="+m.socket(), "-N", "-e", "SHOW GLOBAL STATUS LIKE 'Aborted_clients'").Output()
			if got := strings.Fields(string(out)); err != nil || len(got) != 2 || got[1] != "0" {
				return fmt.Errorf("SHOW GLOBAL STATUS = %q, %v, want no aborted client", out, err)
			}
			return nil
		})
	})
	t.Run("shutdown", func(t *testing.T) {
		m.signal(t, syscall.SIGTERM)
		a.sees(t, "mysql", "refused", "connection refused")
	})
}

// The states of a node that clustercheck distinguishes, on a cluster of one node.
func TestTCPMySQLGalera(t *testing.T) {
	t.Parallel()
	listen, group, transfer := address(t), address(t), address(t)
	m := mariadbServer(t, listen, "--wsrep-on=ON", "--wsrep-provider=/usr/lib/galera/libgalera_smm.so", "--wsrep-cluster-address=gcomm://",
		"--wsrep-node-address="+group, "--wsrep-provider-options=gmcast.listen_addr=tcp://"+group+";ist.recv_addr="+transfer,
		"--binlog-format=ROW", "--innodb-autoinc-lock-mode=2")
	a := watch(t, map[string]string{"node": "tcp: {address: 'unix:" + m.socket() + "', protocol: mysql, galera: true}"},
		`{alert: NodeReadOnly, expr: vitals_mysql_read_only == 1, labels: {state: ready}}`, `{alert: NodeNotSynced, expr: vitals_mysql_wsrep_local_state != 4, labels: {state: ready}}`)
	a.staysAlive(t)
	const state, readOnly = `vitals_mysql_wsrep_local_state{dependency="node"} `, `vitals_mysql_read_only{dependency="node"} `
	t.Run("synced", func(t *testing.T) {
		a.sees(t, "node", "", " Synced")
		a.measures(t, state+"4\n")
		a.measures(t, readOnly+"0\n")
		a.ready(t, http.StatusOK)
	})
	t.Run("donor", func(t *testing.T) {
		m.execute(t, "SET GLOBAL wsrep_desync=ON")
		a.sees(t, "node", "", "Donor/Desynced")
		a.measures(t, state+"2\n")
		a.fails(t, "NodeNotSynced")
		m.execute(t, "SET GLOBAL wsrep_desync=OFF")
		a.measures(t, state+"4\n")
		a.ready(t, http.StatusOK)
	})
	t.Run("read-only", func(t *testing.T) {
		m.execute(t, "SET GLOBAL read_only=ON")
		a.measures(t, readOnly+"1\n")
		a.fails(t, "NodeReadOnly")
		m.execute(t, "SET GLOBAL read_only=OFF")
		a.measures(t, readOnly+"0\n")
		a.ready(t, http.StatusOK)
	})
	// A node that serves no client still answers SELECT 1: its state shows the failure.
	t.Run("cut off from the cluster", func(t *testing.T) {
		go func() { _ = m.try("SET GLOBAL wsrep_cluster_address='gcomm://127.0.0.1:1'") }() // takes until its search for other nodes ends
		a.sees(t, "node", "", "Initialized")
		a.measures(t, state+"0\n")
		a.fails(t, "NodeNotSynced")
	})
}
