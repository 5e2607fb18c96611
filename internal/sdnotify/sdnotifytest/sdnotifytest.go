// Package sdnotifytest is a fake service manager for tests of sd_notify(3).
package sdnotifytest

import (
	"net"
	"regexp"
	"testing"
	"time"
)

// patience bounds the wait for a message, on a slow machine too.
const patience = 2 * time.Minute

// Manager receives the messages to a service manager.
type Manager struct {
	t    testing.TB
	conn *net.UnixConn
}

// Listen listens on a socket until the test ends, and sets NOTIFY_SOCKET to it.
func Listen(t testing.TB, socket string) *Manager {
	t.Helper()
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("NOTIFY_SOCKET", socket)
	m := &Manager{t, conn}
	t.Cleanup(m.Close)
	return m
}

// Close closes the socket. It may be called more than once.
func (m *Manager) Close() { _ = m.conn.Close() }

// Next returns the next message, or "" if none arrives in time.
func (m *Manager) Next(within time.Duration) string {
	m.t.Helper()
	if err := m.conn.SetReadDeadline(time.Now().Add(within)); err != nil {
		m.t.Fatal(err)
	}
	buffer := make([]byte, 4096)
	n, err := m.conn.Read(buffer)
	if err != nil {
		return ""
	}
	return string(buffer[:n])
}

// Want fails the test unless expr matches the next message as a whole. It ignores
// heartbeats.
func (m *Manager) Want(expr string) {
	m.t.Helper()
	got := m.Next(patience)
	for got == "WATCHDOG=1" {
		got = m.Next(patience)
	}
	if !regexp.MustCompile(`^(?:` + expr + `)$`).MatchString(got) {
		m.t.Fatalf("message = %q, want %s", got, expr)
	}
}

// Await ignores messages until the given one arrives.
func (m *Manager) Await(message string) {
	m.t.Helper()
	for end := time.Now().Add(patience); m.Next(time.Until(end)) != message; {
		if time.Now().After(end) {
			m.t.Fatalf("no message %q within %s", message, patience)
		}
	}
}

// AwaitHeartbeat ignores messages until a heartbeat arrives.
func (m *Manager) AwaitHeartbeat() {
	m.t.Helper()
	m.Await("WATCHDOG=1")
}
