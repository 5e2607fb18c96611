//go:build e2e

package e2e_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// memcachedItems stores so many items of 10,000 bytes.
func memcachedItems(t *testing.T, address string, items int) {
	t.Helper()
	var text strings.Builder
	for i := range items {
		fmt.Fprintf(&text, "set key%d 0 0 10000 noreply\r\n%s\r\n", i, strings.Repeat("x", 10_000))
	}
	tcpSay(t, "tcp", address, text.String()+"version\r\n", "VERSION ")
}

// Each fault has its reason, ready follows, and alive stays.
func TestMemcached(t *testing.T) {
	t.Parallel()
	listen, secured, dir := address(t), address(t), shortDirectory(t, "")
	if err := os.Chmod(dir, 0o755); err != nil { // the server runs as another user
		t.Fatal(err)
	}
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	password := write("password", "test-password")
	s := memcached(t, "-l", "127.0.0.1", "-p", tcpPort(t, listen), "-m", "2", "-c", "64")
	memcached(t, "-l", "127.0.0.1", "-p", tcpPort(t, secured), "-Y", write("users", "vitals:test-password"))
	a := watch(t, map[string]string{
		"cache":   "memcached: {address: '" + listen + "'}",
		"secured": "memcached: {address: '" + secured + "', username: vitals, password_file: " + password + "}",
		"none":    "memcached: {address: '" + secured + "'}",
	},
		`{alert: MemcachedDown, expr: 'vitals_dependency_up{dependency=~"cache|secured"} == 0', labels: {state: ready}}`,
		`{alert: MemcachedEvicts, expr: 'increase(vitals_memcached_evictions_total{dependency="cache"}[15s]) > 0', labels: {state: ready}, annotations: {no_data: pass}}`)
	a.staysAlive(t)
	const well = " 1." // the version begins so
	t.Run("healthy", func(t *testing.T) {
		a.sees(t, "secured", "", well)
		a.recovers(t, "cache", well, time.Now())
		a.exports(t, `vitals_memcached_memory_limit_bytes{dependency="cache"} 2.097152e+06`, `vitals_memcached_connections_limit{dependency="cache"} 64`)
	})
	t.Run("wrong credentials", func(t *testing.T) {
		a.sees(t, "none", "login_required", "unauthenticated")
		write("password", "test-password-old")
		a.breaks(t, "secured", "auth", "authenticat")
		write("password", "test-password")
		a.recovers(t, "secured", well, time.Now())
	})
	t.Run("frozen", func(t *testing.T) {
		s.signal(t, syscall.SIGSTOP)
		a.breaks(t, "cache", "timeout", "timeout")
		s.signal(t, syscall.SIGCONT)
		a.recovers(t, "cache", well, time.Now())
	})
	t.Run("stopped", func(t *testing.T) {
		s.kill()
		a.breaks(t, "cache", "refused", "connection refused")
		s.start(t)
		tcpSay(t, "tcp", listen, "version\r\n", "VERSION ")
		a.recovers(t, "cache", well, time.Now())
	})
	t.Run("memory is full", func(t *testing.T) {
		memcachedItems(t, listen, 600)
		a.fails(t, "MemcachedEvicts")
		a.sees(t, "cache", "", well)
		a.ready(t, http.StatusOK) // some seconds after the last eviction
	})
	t.Run("connections used up", func(t *testing.T) {
		// Its limit of open files is that of connections. If it meets that one first, it stops
		// to accept, in place of an answer.
		release := a.useUp(t, "cache", listen, 64, "too_many_connections", "timeout")
		release()
		a.recovers(t, "cache", well, time.Now())
	})
}
