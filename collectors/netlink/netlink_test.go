package netlink_test

import (
	"strings"
	"testing"

	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/netlink"
)

func TestProblems(t *testing.T) {
	long := strings.Repeat("x", 128)
	tests := []struct{ name, config, want string }{
		{"nothing", "{}", ""},
		{"everything", "{netns: /run/netns/x, interfaces: [br-int, eth0.100], socket: held, write_test: veth}", ""},
		{"off is no boolean", "write_test: off", ""},
		{"relative path", "netns: x", `netns: path "x": expected an absolute path`},
		{"empty name", `interfaces: [""]`, `interfaces[0]: interface "": expected 1 to 127 bytes without blanks, '/' and ':'`},
		{"name with a slash", "interfaces: [lo, a/b]", `interfaces[1]: interface "a/b": expected 1 to 127 bytes without blanks, '/' and ':'`},
		{"name with a blank", "interfaces: [a b]", `interfaces[0]: interface "a b": expected 1 to 127 bytes without blanks, '/' and ':'`},
		{"name with a colon", `interfaces: ["eth0:1"]`, `interfaces[0]: interface "eth0:1": expected 1 to 127 bytes without blanks, '/' and ':'`},
		{"name that is a directory", "interfaces: [.]", `interfaces[0]: interface ".": expected 1 to 127 bytes without blanks, '/' and ':'`},
		{"name that is too long", "interfaces: [" + long + "]", `interfaces[0]: interface "` + long + `": expected 1 to 127 bytes without blanks, '/' and ':'`},
		{"longest name", "interfaces: [" + long[1:] + "]", ""},
		{"name twice", "interfaces: [lo, lo]", `interfaces[1]: interface "lo" is named twice`},
		{"unknown socket", "socket: warm", `socket: socket "warm": expected one of fresh, held`},
		{"unknown type", "write_test: vlan", `write_test: write_test "vlan": expected one of off, dummy, veth, bridge`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := collectortest.Problems(t, tt.config, &netlink.Config{}); got != tt.want {
				t.Errorf("Problems() = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestIsLocal(t *testing.T) {
	c := &netlink.Config{}
	if c.External() || c.Uses() != nil {
		t.Errorf("External(), Uses() = %v, %v, want false, nil", c.External(), c.Uses())
	}
}
