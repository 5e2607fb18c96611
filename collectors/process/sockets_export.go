package process

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/text"
)

// export appends the samples of all configured sockets.
func (s *socketSearch) export(b *collectors.Batch, process string, wanted Sockets) {
	for _, port := range wanted.Connections {
		for state, n := range s.connections[uint16(port)] {
			if name := tcpStates()[state]; name != "" {
				b.Set(connectionsMetric, float64(n), process, strconv.Itoa(port), name)
			}
		}
	}
	for _, port := range wanted.Listen {
		b.Set(listeningMetric, collectors.Number(s.listening[uint16(port)]), process, strconv.Itoa(port), "tcp")
	}
	for _, port := range wanted.UDP {
		b.Set(listeningMetric, collectors.Number(s.udp[uint16(port)]), process, strconv.Itoa(port), "udp")
	}
	for _, path := range wanted.UnixSockets {
		b.Set(unixSocketMetric, collectors.Number(s.unix[path]), process, path)
	}
}

// note describes the found sockets in the order of the configuration: "process 40 and 1 more:
// port 5672: 2 established, 1 close_wait".
func (s *socketSearch) note(wanted Sockets, running []foundProcess) string {
	who := fmt.Sprintf("process %d", running[0].PID)
	if more := len(running) - 1; more > 0 {
		who += fmt.Sprintf(" and %d more", more)
	}
	var seen []string
	for _, port := range wanted.Connections {
		seen = append(seen, fmt.Sprintf("port %d: %s", port, s.states(uint16(port))))
	}
	for _, port := range wanted.Listen {
		seen = append(seen, fmt.Sprintf("TCP %d: %s", port, text.Either(s.listening[uint16(port)], "listens", "does not listen")))
	}
	for _, port := range wanted.UDP {
		seen = append(seen, fmt.Sprintf("UDP %d: %s", port, text.Either(s.udp[uint16(port)], "found", "missing")))
	}
	for _, path := range wanted.UnixSockets {
		seen = append(seen, fmt.Sprintf("%s: %s", path, text.Either(s.unix[path], "found", "missing")))
	}
	return text.Clip(who+": "+strings.Join(seen, ", "), collectors.MaxNote)
}

// states describes the connections to a port by state. Those in time_wait are separate,
// because they can be of other processes.
func (s *socketSearch) states(port uint16) string {
	counts := *s.connections[port]
	left := ""
	if n := counts[tcpTimeWait]; n > 0 {
		counts[tcpTimeWait], left = 0, fmt.Sprintf(" (and %d time_wait of any process)", n)
	}
	var seen []string
	for state, n := range counts {
		if n > 0 {
			seen = append(seen, fmt.Sprintf("%d %s", n, tcpStates()[state]))
		}
	}
	if len(seen) == 0 {
		return "no connection" + left
	}
	return strings.Join(seen, " ") + left
}

// missed describes the expected sockets after an error.
func (s Sockets) missed(err error) string {
	var expected []string
	for _, list := range []struct {
		what  string
		ports []int
	}{{"connections to ", s.Connections}, {"TCP listening on ", s.Listen}, {"UDP ", s.UDP}} {
		if len(list.ports) > 0 {
			expected = append(expected, list.what+strings.Trim(fmt.Sprint(list.ports), "[]"))
		}
	}
	expected = append(expected, s.UnixSockets...)
	return text.Clip(fmt.Sprintf("%v, expected %s", err, strings.Join(expected, ", ")), collectors.MaxNote)
}
