package icmp

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/net/icmp"
	"golang.org/x/sys/unix"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
)

// permitted reports whether another library can open a socket for ICMP here.
func permitted() bool {
	for _, network := range []string{"udp4", "ip4:icmp"} {
		if conn, err := icmp.ListenPacket(network, "127.0.0.1"); err == nil {
			_ = conn.Close()
			return true
		}
	}
	return false
}

// Loopback answers where the environment allows ICMP. Elsewhere there is the reason and the cure.
func TestLoopback(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	c := collectortest.New(t, "gateway", "{address: 127.0.0.1, count: 2, interval: 1ms, payload_size: 1KiB}", &Config{})
	samples, err := collectortest.Collect(t, c)
	if !permitted() {
		if collectortest.Reason(samples) != "permission" || err == nil || !strings.Contains(err.Error(), "NET_RAW") {
			t.Errorf("Collect() = %q, %v, want the reason permission", collectortest.Reason(samples), err)
		}
		return
	}
	if err != nil || value(samples, "icmp_replies_received") != 2 || value(samples, "icmp_reply_ttl") < 1 {
		t.Errorf("Collect() = %v with %v replies of the TTL %v, want 2", err, value(samples, "icmp_replies_received"), value(samples, "icmp_reply_ttl"))
	}
}

func TestPermissionError(t *testing.T) {
	for _, tt := range []struct {
		unprivileged, raw error
		want              string
	}{
		{unix.EACCES, unix.EPERM, "no group of this process is in net.ipv4.ping_group_range, and it has no capability NET_RAW: add its group there, or add NET_RAW"},
		{unix.EPROTONOSUPPORT, unix.EPERM, "the kernel has no unprivileged ICMP (protocol not supported), and it has no capability NET_RAW: add NET_RAW"},
		{unix.EACCES, unix.ESOCKTNOSUPPORT, "no group of this process is in net.ipv4.ping_group_range, and there is no raw ICMP (socket type not supported): add its group there, or add NET_RAW"},
	} {
		err := permissionError(tt.unprivileged, tt.raw)
		if err.Error() != tt.want || collectors.ReasonOf(err, classify) != reasonPermission {
			t.Errorf("permissionError(%v, %v) = %q, want %q", tt.unprivileged, tt.raw, err, tt.want)
		}
		if note := fmt.Sprintf("icmp gateway.example %s: %v", reasonPermission, err); len(note) > collectors.MaxNote {
			t.Errorf("the note %q has %d bytes, want at most %d", note, len(note), collectors.MaxNote)
		}
	}
	if _, err := sockaddr(newFake("fe80::1%nonexistent0").peer); err == nil || errors.Is(err, unix.EACCES) {
		t.Errorf("sockaddr() of an unknown interface = %v, want an error", err)
	}
}
