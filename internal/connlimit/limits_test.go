package connlimit

import (
	"net"
	"strings"
	"testing"
)

func TestOriginOf(t *testing.T) {
	for address, want := range map[string]string{
		"10.0.0.1":         "10.0.0.0/24 10.0.0.1/32",
		"::ffff:10.0.0.1":  "10.0.0.0/24 10.0.0.1/32",
		"127.0.0.1":        "127.0.0.0/8 127.0.0.0/8",
		"127.1.2.3":        "127.0.0.0/8 127.0.0.0/8",
		"2001:db8::1":      "2001:db8::/48 2001:db8::/64",
		"2001:db8::2:0:1":  "2001:db8::/48 2001:db8::/64",
		"2001:db8:0:1::1":  "2001:db8::/48 2001:db8:0:1::/64",
		"fe80::1%loopback": "fe80::/48 fe80::/64",
	} {
		ip, zone, _ := strings.Cut(address, "%")
		o := originOf(&net.TCPAddr{IP: net.ParseIP(ip), Zone: zone, Port: 1})
		if got := o.network.String() + " " + o.address.String(); got != want {
			t.Errorf("originOf(%s) = %s, want %s", address, got, want)
		}
	}
	if got := originOf(&net.UnixAddr{Net: "unix"}); got != (origin{}) {
		t.Errorf("originOf() of a Unix socket = %+v, want none", got)
	}
}

func TestLimits(t *testing.T) {
	const mebibyte = 1 << 20
	for _, tt := range []struct {
		files  uint64
		pools  int
		memory int64
		want   Limits
	}{
		{64, 1, 1 << 40, Limits{16, 16}},
		{64, 2, 1 << 40, Limits{8, 16}},
		{64, 3, 1 << 40, Limits{5, 15}},
		{10, 3, 1 << 40, Limits{least, least}},
		{1024, 2, 1 << 40, Limits{128, 256}},
		{1 << 20, 3, 1 << 40, Limits{maxServed, maxWaiting}},
		{1 << 20, 3, 1<<63 - 1, Limits{maxServed, maxWaiting}},
		{1<<64 - 1, 1, 1 << 40, Limits{maxServed, maxWaiting}}, // unlimited
		{1 << 20, 3, 128 * mebibyte, Limits{85, 1024}},
		{1 << 20, 3, mebibyte, Limits{least, 8}},
	} {
		if got := limitsOf(tt.files, tt.pools, tt.memory); got != tt.want {
			t.Errorf("limitsOf(%d, %d, %d) = %+v, want %+v", tt.files, tt.pools, tt.memory, got, tt.want)
		}
	}
	if l, err := LimitsOf(3, 128*mebibyte); err != nil || l.Served < least || l.Waiting < least {
		t.Errorf("LimitsOf() = %+v, %v, want at least %d each", l, err, least)
	}
}
