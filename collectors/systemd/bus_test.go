package systemd

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/godbus/dbus/v5"

	"github.com/vitals-health/vitals/collectors/remote"
)

// busPeer accepts a login, writes the last text, and then waits or closes.
func busPeer(conn net.Conn, last string, waits bool) {
	defer conn.Close()
	lines := bufio.NewReader(conn)
	for _, answer := range []string{"REJECTED EXTERNAL\r\n", "OK 00\r\n", last} {
		if _, err := lines.ReadString('\n'); err != nil {
			return
		}
		if _, err := io.WriteString(conn, answer); err != nil {
			return
		}
	}
	if waits {
		_, _ = io.Copy(io.Discard, lines)
	}
}

// A first call that comes when the library has already closed the connection has the reason
// for which it did, as one that was waiting has.
func TestHelloAfterTheEnd(t *testing.T) {
	tests := []struct {
		name, last string
		waits      bool
		want       reason
	}{
		{"the bus leaves", "", false, forbidden},
		{"the time is over", "", true, timeout},
		{"more than is read", strings.Repeat("\x00", 8192), true, protocol},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			client, server := net.Pipe()
			left := make(chan struct{})
			go func() {
				defer close(left)
				busPeer(server, tt.last, tt.waits)
			}()
			bound, stop := remote.Bound(ctx, client, 4096)
			bus, reader, err := newBus(&busConn{bound, stop})
			if err != nil {
				t.Fatal(err)
			}
			if err := authenticate(bus); err != nil {
				t.Fatal(err)
			}
			if tt.want == timeout {
				cancel()
			}
			<-bus.Context().Done()
			err = hello(bus, reader)
			if got := reasonOf(err); got != tt.want || errors.Is(err, dbus.ErrClosed) {
				t.Errorf("hello() = %v, with the reason %s, want what ended the connection, %s", err, got, tt.want)
			}
			_ = bus.Close()
			<-left
		})
	}
}
