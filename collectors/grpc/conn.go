package grpc

import (
	"crypto/tls"
	"errors"
	"net"
	"syscall"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// openConn stays open when net/http closes it after an error, so that afterAlert can read.
type openConn struct{ net.Conn }

// Close does nothing: the caller closes Conn.
func (openConn) Close() error { return nil }

// afterAlert returns the TLS alert of a server that ended a call, or else the error of the call,
// which contains no cause. In TLS 1.3, a server rejects a client certificate only after the
// handshake of the client.
func afterAlert(conn *tls.Conn, err error) error {
	// A server that reset the connection may have sent its alert before. Any other read would
	// wait; then only an alert that was read is returned.
	if !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) {
		_ = conn.SetReadDeadline(time.Unix(1, 0))
	}
	_, alert := conn.Read(make([]byte, 1))
	if op, ok := errors.AsType[*net.OpError](alert); ok && op.Op == "remote error" { // crypto/tls
		return collectors.Errorf(remote.ReasonTLS, "after the tls handshake: %w", alert)
	}
	return err
}
