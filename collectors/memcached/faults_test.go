package memcached_test

import (
	"strings"
	"testing"

	"github.com/vitals-health/vitals/collectors/collectortest"
)

func TestHostileServers(t *testing.T) {
	waits := map[string]string{"never answers": "timeout", "a byte at a time": "timeout"}
	collectortest.Hostile().Run(t, "protocol", waits, func(t *testing.T, address, reason string) {
		c := newCollector(t, address, ", username: vitals, password: hunter2")
		collectortest.Fails(t, c, reason, "")
		if note := collectortest.Note(c); strings.Contains(note, "hunter2") {
			t.Errorf("the password is shown: %q", note)
		}
	})
}

// The same servers after the version: the server is up, and its statistics unknown.
func TestHostileStatistics(t *testing.T) {
	servers := collectortest.Hostile().With(collectortest.Servers{
		"endless statistics":     collectortest.Forever("STAT bytes 1\r\n"),
		"half of the statistics": collectortest.Once("STAT bytes 1\r\nSTAT evic"),
	})
	servers.After("version\r\n", "VERSION 1.6.18\r\n").Run(t, "", nil, func(t *testing.T, address, _ string) {
		collectortest.Incomplete(t, newCollector(t, address, ""), "vitals_memcached_")
	})
}
