package main

import (
	"net"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"
)

// serviceManager is the socket of a service serviceManager.
type serviceManager struct {
	t    *testing.T
	conn *net.UnixConn
}

// listenAsManager listens as systemd does, and puts the socket into the environment.
func listenAsManager(t *testing.T, socket string) *serviceManager {
	t.Helper()
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	t.Setenv("NOTIFY_SOCKET", socket)
	return &serviceManager{t, conn}
}

// next is the next message, or "" after a while without any.
func (m *serviceManager) next(within time.Duration) string {
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

// wants skips heartbeats and wants a message that an expression matches as a whole.
func (m *serviceManager) wants(expr string) {
	m.t.Helper()
	got := m.next(patience)
	for got == "WATCHDOG=1" {
		got = m.next(patience)
	}
	if !regexp.MustCompile(`^(?:` + expr + `)$`).MatchString(got) {
		m.t.Fatalf("message = %q, want %s", got, expr)
	}
}

// wantsBeat waits for a heartbeat.
func (m *serviceManager) wantsBeat() {
	m.t.Helper()
	eventually(m.t, "a heartbeat", func() bool { return m.next(patience) == "WATCHDOG=1" })
}

func TestNotifyServiceManager(t *testing.T) {
	m := listenAsManager(t, filepath.Join(shortDir(t), "notify"))
	t.Setenv("WATCHDOG_USEC", "100000")
	dir, config := markerConfig(t)
	p := launch(t, "run", "--config.file="+config, "--web.listen-address=127.0.0.1:0", "--web.unix-socket=", "--web.shutdown-delay=300ms", "--config.poll-interval=0")

	eventually(t, "ready", func() bool { // earlier messages report that there is no data yet
		return m.next(patience) == "STATUS=ready pass, alive pass\nREADY=1"
	})
	m.wantsBeat()
	m.wantsBeat()
	write(t, dir, "bad", "")
	m.wants(`STATUS=ready fail \(Bad\), alive pass`)

	const reload = `RELOADING=1\nMONOTONIC_USEC=[0-9]{6,}`
	p.signal(syscall.SIGHUP)
	m.wants(reload)
	m.wants("READY=1")
	write(t, dir, "rules.yml", "groups: {}")
	p.signal(syscall.SIGHUP) // the bad file changes nothing, and that is over as well
	m.wants(reload)
	m.wants("READY=1")
	m.wantsBeat()

	p.signal(syscall.SIGTERM)
	m.wants("STOPPING=1")
	m.wants(`STATUS=ready fail \(shutting down, Bad\), alive pass`)
	if code := p.exit(); code != exitOK {
		t.Errorf("exit code = %d, want 0", code)
	}
}
