package main

import (
	"testing"

	"github.com/vitals-health/vitals/collectors/kinds"
	"github.com/vitals-health/vitals/collectors/netlink"
	"github.com/vitals-health/vitals/internal/config"
)

// startKernelLab runs the profile with the real netlink data of the kernel.
func startKernelLab(t *testing.T, interfaces []string, netns string) *kuryrLab {
	t.Helper()
	return startCNILab(t, labOptions{adjust: func(c *config.Config) {
		for i := range c.Collectors {
			if c.Collectors[i].Name == "netlink" {
				n := &netlink.Config{}
				n.SetDefaults()
				n.Interfaces, n.NetNS = interfaces, netns
				c.Collectors[i].Kinds = kinds.Kinds{Netlink: n}
			}
		}
	}})
}

func TestCNINetlinkOfTheKernel(t *testing.T) {
	t.Parallel()
	lab := startKernelLab(t, []string{"lo", "no-such-link"}, "")
	lab.await(t, "ready", fails("InterfaceMissing failing: The interface no-such-link does not exist."))
	lab.await(t, "alive", verdict{})
	series(`vitals_netlink_up{netlink="netlink"}`, "1", `vitals_netlink_interface_present{interface="lo",netlink="netlink"}`, "1")(t, lab)
}

// A namespace that is gone does not restart the daemon.
func TestCNINetlinkOfANamespaceThatIsGone(t *testing.T) {
	t.Parallel()
	lab := startKernelLab(t, nil, "/run/netns/no-such-namespace")
	lab.await(t, "ready", fails(netlinkDown))
	lab.await(t, "alive", verdict{})
	series(`vitals_netlink_failure{netlink="netlink",reason="namespace"}`, "1")(t, lab)
}

// The fake of the kernel in the tests has the same reasons as the collector.
func TestCNINetlinkReasonsAreThoseOfTheCollector(t *testing.T) {
	t.Parallel()
	lab := startKernelLab(t, nil, "")
	for _, reason := range netlinkReasons() {
		series(`vitals_netlink_failure{netlink="netlink",reason="`+reason+`"}`, "0")(t, lab)
	}
}
