package postgres

import (
	"bytes"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/remote"
)

// sentConn has all answers in advance, and keeps what is sent. The library also writes when it
// closes, in a goroutine of its own.
type sentConn struct {
	net.Conn
	mu   sync.Mutex
	sent bytes.Buffer
}

func (c *sentConn) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sent.Write(b)
}

func (c *sentConn) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sent.String()
}

// A server that requests the password itself gets it only on this host, or behind TLS that
// authenticates the server.
func TestPasswordIsNotSentInTheClear(t *testing.T) {
	for host, want := range map[string]bool{"127.0.0.1": true, "10.0.0.1": false, "db.example": false} {
		conn := &sentConn{Conn: collectortest.Played("R\x00\x00\x00\x08\x00\x00\x00\x03")}
		c := &collector{config: Config{SSLMode: sslPrefer}, address: remote.Address{Host: host, Port: "5432"}}
		_, err := c.startup(t.Context(), conn, &collection{username: "vitals", password: "hunter2"})
		if got := strings.Contains(conn.text(), "hunter2"); got != want {
			t.Errorf("%s: the password is sent: %t, want %t", host, got, want)
		}
		if got := remote.ReasonUntil(t.Context(), serverError(err)); !want && got != remote.ReasonAuth {
			t.Errorf("%s: %v, reason %q, want auth", host, err, got)
		}
	}
}

func TestWhatAuthenticatesTheServer(t *testing.T) {
	file := &TLS{CAFile: "/ca.pem"}
	for _, c := range []struct {
		mode string
		tls  *TLS
		want bool
	}{
		{sslDisable, nil, false}, {sslAllow, file, false}, {sslPrefer, file, false}, {sslRequire, nil, false},
		{sslRequire, &TLS{}, false}, {sslRequire, file, true}, {sslVerifyCA, nil, true}, {sslVerifyFull, nil, true},
	} {
		if got := (&collector{config: Config{SSLMode: c.mode, TLS: c.tls}}).verifiesAuthority(); got != c.want {
			t.Errorf("verifiesAuthority() of %s with %v = %t, want %t", c.mode, c.tls, got, c.want)
		}
	}
}
