package collectors_test

import (
	"testing"

	"github.com/vitals-health/vitals/collectors"
)

func TestCapabilityExposition(t *testing.T) {
	c := localNew(t, "net-admin", "{capabilities: [NET_ADMIN, cap_chown], process: {name: kuryr-daemon, procfs: "+fakeProcFS(t, fakeKuryr()...)+"}}", &collectors.CapabilityConfig{})
	samples, err := localCollect(t, c)
	if err != nil {
		t.Fatalf("Collect() = %v, want no error", err)
	}
	localGolden(t, "capability/metrics.prom", localExposition(samples, c.Describe()))
}

func TestCapabilityProblems(t *testing.T) {
	tests := []struct{ name, config, want string }{
		{"none", "{}", `capabilities: no capabilities: expected at least one name, such as NET_ADMIN`},
		{"nearly a name", "capabilities: [NET_ADMN]", `capabilities[0]: capability "NET_ADMN": did you mean NET_ADMIN?`},
		{"nearly a name, as the kernel writes it", "capabilities: [cap_net_admi]", `capabilities[0]: capability "cap_net_admi": did you mean NET_ADMIN?`},
		{"no name at all", "capabilities: [root]", `capabilities[0]: capability "root": expected a name of capabilities(7), such as NET_ADMIN`},
		{"a number", "capabilities: ['12']", `capabilities[0]: capability "12": expected a name of capabilities(7), such as NET_ADMIN`},
		{"twice", "capabilities: [NET_ADMIN, cap_net_admin]", `capabilities[1]: capability "cap_net_admin": expected each once`},
		{"two ways to say which process", "{capabilities: [KILL], process: {pid: 1, name: x}}", `process: pid, name: expected at most one of pid, pid_file, name, exe, cgroup`},
		{"every way to write it", "capabilities: [CAP_NET_ADMIN, net_raw, Sys_Admin]", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := localProblems(t, tt.config, &collectors.CapabilityConfig{}); got != tt.want {
				t.Errorf("Problems() = %q, want %q", got, tt.want)
			}
		})
	}
}
