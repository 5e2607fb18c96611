//go:build e2e

package e2e_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// addFailures is how many failures of CNI ADD in a row are fine: cni_failures_count, as
// the CNI daemon has it by default.
const addFailures = 3

// cniServer is the server of the CNI daemon, with the state that the health manager has of it.
type cniServer struct {
	*cniManager
	*part
	// counted is what has been reported so far, by its result.
	counted map[string]float64
}

// add lets requests end and waits until each of them is counted.
func (s *cniServer) add(t *testing.T, n int, result, class, counted string, inRow float64) {
	t.Helper()
	for range n {
		s.send(t, "add", result, class)
	}
	s.counted[counted] += float64(n)
	await(t, fmt.Sprintf("%d requests: %s %s", n, result, class), cniWithin, func() error {
		return errors.Join(
			s.has(inRow, "vitals_component_consecutive_failures", "component", "server", "event", "cni_add"),
			s.has(s.counted[counted], "vitals_component_events_total", "component", "server", "event", "cni_add", "result", counted))
	})
}

// TestCNIAddFailures lets CNI ADD fail for real, reported in each way that has words. As
// many as are fine leave the verdict alone, a success ends the row, errors that are
// excused never count, and one failure too many in a row fails liveness, until the next
// success or until the process that failed is another one.
func TestCNIAddFailures(t *testing.T) {
	t.Parallel()
	for _, way := range cniWays()[1:] {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			components := strings.Replace(way.components, "watcher, ", "", 1)
			m := startCNI(t, cniOptions{collectors: "components: {components: {" + components + "}}"})
			s := &cniServer{m, newPart(t, "server", nil, m.environment("server", way.name)...), map[string]float64{}}
			await(t, "healthy", cniWithin, m.healthy)
			if err := m.has(addFailures, "vitals_component_consecutive_failures_limit", "event", "cni_add"); err != nil {
				t.Error(err)
			}

			s.add(t, addFailures, "failure", "netlink", "failure", addFailures)
			s.add(t, 1, "success", "", "success", 0)
			s.add(t, addFailures, "failure", "internal", "failure", addFailures)
			for _, class := range []string{"malformed", "pod_gone", "timeout"} {
				s.add(t, 2, "failure", class, "excused", addFailures)
			}
			m.steady(t, 3*time.Second, m.healthy)

			s.add(t, 1, "failure", "netlink", "failure", addFailures+1)
			took := await(t, "one failure too many", partFlips, func() error {
				return errors.Join(m.state("alive", "CNIAddFailing failing: ", fmt.Sprintf("%d ", addFailures+1)), m.state("ready", "not alive"))
			})
			t.Logf("not alive %s after it was counted", took.Round(100*time.Millisecond))
			s.add(t, 3, "failure", "pod_gone", "excused", addFailures+1)
			s.add(t, 1, "success", "", "success", 0)
			await(t, "a success", partFlips, m.healthy)

			s.add(t, addFailures+1, "failure", "unforeseen", "failure", addFailures+1)
			await(t, "too many again", partFlips, func() error { return m.state("alive", "CNIAddFailing failing: ") })
			s.kill(t)
			s.start(t)
			await(t, "the server is another process", partFlips, m.healthy)
		})
	}
}
