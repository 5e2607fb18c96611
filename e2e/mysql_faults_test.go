//go:build e2e

package e2e_test

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A MariaDB that fails, that is slow and that is full: each has its reason, ready follows, and
// alive stays.
func TestMySQLFaults(t *testing.T) {
	t.Parallel()
	listen, file := address(t), filepath.Join(shortDirectory(t, ""), "password")
	write := func(password string) {
		if err := os.WriteFile(file, []byte(password+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("test-password")
	m := mariadbServer(t, listen, "--max-connections=10", "--connect-timeout=600")
	m.execute(t, "CREATE USER vitals@'%' IDENTIFIED BY 'test-password'")
	a := tcpAsk(t, map[string]string{"mysql": "address: '" + listen + "', protocol: mysql, username: vitals, password_file: " + file})
	a.staysAlive(t)
	recovers := func(t *testing.T) {
		t.Helper()
		await(t, "MariaDB serves", startsWithin, func() error { return m.try("SELECT 1") })
		a.recovers(t, "mysql", mariadbWell, time.Now())
	}
	recovers(t)
	t.Run("wrong credentials", func(t *testing.T) {
		write("test-password-old")
		a.breaks(t, "mysql", "auth", "error 1045")
		write("test-password")
		recovers(t)
	})
	t.Run("slow", func(t *testing.T) {
		m.execute(t, "SET GLOBAL init_connect='DO SLEEP(3)'") // root's sessions do not run it
		a.breaks(t, "mysql", "timeout", "timeout")
		m.execute(t, "SET GLOBAL init_connect=''")
		recovers(t)
	})
	t.Run("connections used up", func(t *testing.T) {
		var held []net.Conn
		for range 20 {
			conn, err := net.Dial("tcp", listen)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = conn.Close() })
			held = append(held, conn)
		}
		a.breaks(t, "mysql", "server_error", "error 1040: Too many connections")
		for _, conn := range held {
			_ = conn.Close()
		}
		recovers(t)
	})
	t.Run("frozen", func(t *testing.T) {
		m.signal(t, syscall.SIGSTOP)
		a.breaks(t, "mysql", "timeout", "timeout")
		m.signal(t, syscall.SIGCONT)
		recovers(t)
	})
	t.Run("stopped", func(t *testing.T) {
		m.kill()
		a.breaks(t, "mysql", "refused", "connection refused")
		m.start(t)
		recovers(t)
	})
	a.ready(t, http.StatusOK)
}
