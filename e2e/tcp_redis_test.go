//go:build e2e

package e2e_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// redisServer starts a redis on the address with its files in the directory, and waits
// for its first word.
func redisServer(t *testing.T, address, dir string, options ...string) *tcpServer {
	t.Helper()
	command := append([]string{"/usr/bin/redis-server", "--port", tcpPort(t, address), "--bind", "127.0.0.1", "--dir", dir, "--daemonize", "no"}, options...)
	s := tcpServe(t, command...)
	tcpSay(t, "tcp", address, "PING\r\n", "\r\n")
	return s
}

const redisWell = "+PONG"

// Saved data that takes a redis six seconds to load: 3,000 keys, and a pause at each, in microseconds.
// The pauses are long, because a busy machine adds its own to each. A value of 1 KiB, not
// compressed, is as long as the interval at which the server answers meanwhile.
const (
	redisPopulate  = "CONFIG SET rdbcompression no\r\nDEBUG POPULATE 3000 key 1024\r\nSAVE"
	redisPopulated = "+OK\r\n+OK\r\n+OK"
	redisKeyDelay  = "2000"
)

func TestTCPRedis(t *testing.T) {
	t.Parallel()
	listen, dir := address(t), shortDirectory(t, "")
	s := redisServer(t, listen, dir, "--save", "", "--unixsocket", dir+"/redis.sock")
	a := tcpAsk(t, map[string]string{
		"redis":     "address: '" + listen + "', protocol: redis",
		"localhost": "address: 'localhost:" + tcpPort(t, listen) + "', ip_family: 4, protocol: redis",
		"socket":    "address: 'unix:" + dir + "/redis.sock', protocol: redis",
		"pattern":   "address: 'unix:" + dir + "/*.sock', protocol: redis",
	})
	t.Run("E28 PONG", func(t *testing.T) {
		a.sees(t, "redis", "", "redis "+listen+" "+redisWell)
		a.sees(t, "localhost", "", "redis "+listen+" "+redisWell)
		a.sees(t, "socket", "", "redis unix:"+dir+"/redis.sock "+redisWell)
		a.sees(t, "pattern", "", "redis unix:"+dir+"/redis.sock "+redisWell)
		a.ready(t, http.StatusOK)
	})
	a.faults(t, s, "redis", redisWell)
	t.Run("no socket", func(t *testing.T) {
		s.kill()
		if err := os.Remove(dir + "/redis.sock"); err != nil {
			t.Fatal(err)
		}
		a.sees(t, "socket", "refused", "no such file or directory")
		a.sees(t, "pattern", "missing_endpoint", "0 sockets match")
	})
}

func TestTCPRedisIPv6(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Fatal(err)
	}
	listen := l.Addr().String()
	_ = l.Close()
	tcpServe(t, "/usr/bin/redis-server", "--port", tcpPort(t, listen), "--bind", "::1", "--dir", shortDirectory(t, ""), "--save", "")
	a := tcpAsk(t, map[string]string{"redis": "address: '" + listen + "', protocol: redis", "name": "address: 'localhost:" + tcpPort(t, listen) + "', ip_family: 4, protocol: redis"})
	t.Run("E07 IPv6 literal", func(t *testing.T) {
		a.sees(t, "redis", "", "redis "+listen+" "+redisWell)
		a.sees(t, "name", "refused", "connection refused")
	})
}

func TestTCPRedisPassword(t *testing.T) {
	t.Parallel()
	listen, dir := address(t), shortDirectory(t, "")
	file := filepath.Join(dir, "password")
	write := func(password string) {
		if err := os.WriteFile(file, []byte(password+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("test-password")
	redisServer(t, listen, dir, "--save", "", "--requirepass", "test-password")
	tcpSay(t, "tcp", listen, "AUTH test-password\r\nACL SETUSER vitals on >test-password-2 +ping\r\nACL SETUSER mute on >test-password-3 -@all\r\n", "+OK\r\n+OK\r\n+OK\r\n")
	a := tcpAsk(t, map[string]string{
		"without": "address: '" + listen + "', protocol: redis",
		"file":    "address: '" + listen + "', protocol: redis, password_file: " + file,
		"wrong":   "address: '" + listen + "', protocol: redis, password: test-password-wrong",
		"user":    "address: '" + listen + "', protocol: redis, username: vitals, password: test-password-2",
		"mute":    "address: '" + listen + "', protocol: redis, username: mute, password: test-password-3",
		"unknown": "address: '" + listen + "', protocol: redis, username: stranger, password: test-password-2",
	})
	for _, c := range []struct{ name, collector, reason, note string }{
		{"E28 NOAUTH", "without", "auth", "auth: answer to PING: NOAUTH Authentication required."},
		{"requirepass", "file", "", redisWell},
		{"E28 wrong password", "wrong", "auth", "auth: answer to AUTH: WRONGPASS "},
		{"ACL user", "user", "", redisWell},
		{"ACL user who may not ping", "mute", "auth", "auth: answer to PING: NOPERM "},
		{"unknown ACL user", "unknown", "auth", "auth: answer to AUTH: WRONGPASS "},
	} {
		t.Run(c.name, func(t *testing.T) { a.sees(t, c.collector, c.reason, c.note) })
	}
	t.Run("E28 the note has the reason", func(t *testing.T) {
		a := tcpAsk(t, map[string]string{"without": "address: '" + listen + "', protocol: redis"})
		a.sees(t, "without", "auth", "NOAUTH")
		await(t, "ready fails", tcpWithin, func() error {
			status, body, err := a.get("/ready")
			if err == nil && (status != http.StatusServiceUnavailable || !strings.Contains(body, "without is down.") || !strings.Contains(body, "NOAUTH Authentication required.")) {
				err = fmt.Errorf("GET /ready = %d %q, want the note", status, body)
			}
			return err
		})
	})
	t.Run("password rotated", func(t *testing.T) {
		write("test-password-old")
		a.sees(t, "file", "auth", "WRONGPASS")
		write("test-password")
		a.sees(t, "file", "", redisWell)
	})
	t.Run("password file gone", func(t *testing.T) {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		a.sees(t, "file", "auth", "read password: open "+file)
	})
}

func TestTCPRedisTLS(t *testing.T) {
	t.Parallel()
	plain, secured, dir := address(t), address(t), shortDirectory(t, "")
	tcpCertificates(t, dir)
	redisServer(t, plain, dir, "--save", "", "--tls-port", tcpPort(t, secured), "--tls-cert-file", dir+"/cert.pem",
		"--tls-key-file", dir+"/key.pem", "--tls-ca-cert-file", dir+"/ca.pem")
	block := func(address, tls string) string {
		return "address: '" + address + "', protocol: redis, tls: {ca_file: " + dir + "/ca.pem" + tls + "}"
	}
	own := ", cert_file: " + dir + "/cert.pem, key_file: " + dir + "/key.pem"
	a := tcpAsk(t, map[string]string{
		"mutual":  block(secured, own),
		"missing": block(secured, ""),
		"other":   block(secured, own+", server_name: redis.example"),
		"plain":   block(plain, own),
		"clear":   "address: '" + secured + "', protocol: redis",
	})
	t.Run("client certificate", func(t *testing.T) {
		a.sees(t, "mutual", "", redisWell)
		await(t, "expiry", tcpWithin, func() error {
			_, metrics, err := a.get("/metrics")
			if err == nil && !strings.Contains(metrics, `vitals_tls_certificate_expiry_timestamp_seconds{dependency="mutual"} 1.`) {
				err = fmt.Errorf("no expiry in\n%s", metrics)
			}
			return err
		})
	})
	t.Run("no client certificate", func(t *testing.T) { a.sees(t, "missing", "tls", "tls: ") })
	t.Run("another name", func(t *testing.T) { a.sees(t, "other", "tls", "redis.example") })
	// Redis waits for the end of the line.
	t.Run("TLS to a port without", func(t *testing.T) { a.sees(t, "plain", "timeout", "tls handshake") })
	t.Run("plain text to a port with TLS", func(t *testing.T) { a.sees(t, "clear", "protocol", "protocol: ") })
}

// What redis answers while it cannot serve.
func TestTCPRedisCannotServe(t *testing.T) {
	t.Parallel()
	t.Run("E28 LOADING", func(t *testing.T) {
		listen, dir := address(t), shortDirectory(t, "")
		s := redisServer(t, listen, dir, "--enable-debug-command", "local")
		tcpSay(t, "tcp", listen, redisPopulate+"\r\n", redisPopulated)
		s.kill()
		redisServer(t, listen, dir, "--key-load-delay", redisKeyDelay, "--loading-process-events-interval-bytes", "1024")
		a := tcpAsk(t, map[string]string{"redis": "address: '" + listen + "', protocol: redis"})
		a.sees(t, "redis", "server_error", "server_error: answer to PING: LOADING Redis is loading the dataset in memory")
		a.seesWithin(t, startsWithin, "redis", "", redisWell)
	})
	t.Run("E28 MASTERDOWN", func(t *testing.T) {
		listen, gone := address(t), address(t)
		redisServer(t, listen, shortDirectory(t, ""), "--save", "", "--replicaof", "127.0.0.1 "+tcpPort(t, gone), "--replica-serve-stale-data", "no")
		a := tcpAsk(t, map[string]string{"redis": "address: '" + listen + "', protocol: redis"})
		a.sees(t, "redis", "server_error", "MASTERDOWN")
	})
	t.Run("E28 BUSY", func(t *testing.T) {
		listen := address(t)
		redisServer(t, listen, shortDirectory(t, ""), "--save", "", "--busy-reply-threshold", "50")
		a := tcpAsk(t, map[string]string{"redis": "address: '" + listen + "', protocol: redis"})
		a.sees(t, "redis", "", redisWell)
		conn, err := net.Dial("tcp", listen)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := fmt.Fprint(conn, "EVAL \"while true do end\" 0\r\n"); err != nil {
			t.Fatal(err)
		}
		a.sees(t, "redis", "server_error", "BUSY")
		tcpSay(t, "tcp", listen, "SCRIPT KILL\r\n", "+OK")
		a.sees(t, "redis", "", redisWell)
	})
	t.Run("E28 MISCONF", func(t *testing.T) {
		listen, dir := address(t), shortDirectory(t, "")
		redisServer(t, listen, dir, "--save", "1000 1000")
		a := tcpAsk(t, map[string]string{"redis": "address: '" + listen + "', protocol: redis"})
		a.sees(t, "redis", "", redisWell)
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		tcpSay(t, "tcp", listen, "BGSAVE\r\n", "+Background saving started")
		a.sees(t, "redis", "server_error", "MISCONF")
	})
	t.Run("E28 too many clients", func(t *testing.T) {
		listen := address(t)
		redisServer(t, listen, shortDirectory(t, ""), "--save", "", "--maxclients", "1")
		conn, err := net.Dial("tcp", listen)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		a := tcpAsk(t, map[string]string{"redis": "address: '" + listen + "', protocol: redis"})
		a.sees(t, "redis", "server_error", "max number of clients reached")
	})
}
