//go:build e2e

package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// chronyd runs Debian's chronyd as a server that does not touch the clock of the host, with more
// lines in its configuration.
func chronyd(t *testing.T, listen, dir, more string) *tcpServer {
	t.Helper()
	file := filepath.Join(dir, "chrony-"+tcpPort(t, listen)+".conf")
	writeChrony(t, file, listen, more)
	return tcpServe(t, "/usr/sbin/chronyd", "-x", "-d", "-u", "root", "-f", file)
}

func writeChrony(t *testing.T, file, listen, more string) {
	t.Helper()
	config := fmt.Sprintf("bindaddress 127.0.0.1\nport %s\ncmdport 0\nbindcmdaddress /\npidfile %s.pid\n%s\n", tcpPort(t, listen), file, more)
	if err := os.WriteFile(file, []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestNTP(t *testing.T) {
	t.Parallel()
	listen, unsynchronized, closed, dir := address(t), address(t), address(t), shortDirectory(t, "")
	const serving = "allow 127.0.0.1\nlocal stratum 5"
	s := chronyd(t, listen, dir, serving)
	chronyd(t, unsynchronized, dir, "allow 127.0.0.1")
	chronyd(t, closed, dir, "local stratum 5\nallow 192.0.2.1")
	a := serverAsk(t, "ntp", map[string]string{
		"clock":          "server: '" + listen + "'",
		"name":           "server: 'localhost:" + tcpPort(t, listen) + "'",
		"unsynchronized": "server: '" + unsynchronized + "'",
		"closed":         "server: '" + closed + "'",
	})
	a.staysAlive(t)
	for _, c := range []struct{ name, collector, reason, note string }{
		{"serves time", "clock", "", "stratum 5"},
		{"by its name", "name", "", "stratum 5"},
		{"is not synchronized", "unsynchronized", "server_error", "not synchronized"},
		{"ignores the client", "closed", "timeout", "timeout"},
	} {
		t.Run(c.name, func(t *testing.T) { a.sees(t, c.collector, c.reason, c.note) })
	}
	t.Run("metrics", func(t *testing.T) {
		a.exports(t, `vitals_ntp_stratum{dependency="clock"} 5`, `vitals_ntp_leap{dependency="clock",leap="none"} 1`, `vitals_ntp_leap{dependency="unsynchronized",leap="unsynchronized"} 1`)
		_, metrics, err := a.get("/metrics")
		if err != nil || !strings.Contains(metrics, `vitals_ntp_offset_seconds{dependency="clock"} `) || strings.Contains(metrics, `vitals_ntp_offset_seconds{dependency="unsynchronized"} `) {
			t.Errorf("the metrics (%v) have no offset of clock, or one of unsynchronized", err)
		}
	})
	a.faults(t, s, "clock", "stratum 5")
	t.Run("started without a time", func(t *testing.T) {
		s.kill()
		writeChrony(t, filepath.Join(dir, "chrony-"+tcpPort(t, listen)+".conf"), listen, "allow 127.0.0.1")
		s.start(t)
		a.sees(t, "clock", "server_error", "not synchronized")
	})
}

// The verdict follows the server, and liveness does not.
func TestNTPVerdict(t *testing.T) {
	t.Parallel()
	listen := address(t)
	s := chronyd(t, listen, shortDirectory(t, ""), "allow 127.0.0.1\nlocal stratum 5")
	a := serverAsk(t, "ntp", map[string]string{"clock": "server: '" + listen + "'"})
	a.staysAlive(t)
	a.verdict(t, s, "clock", "stratum 5")
}
