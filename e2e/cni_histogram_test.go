//go:build e2e

package e2e_test

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"
)

// scrapedServer is a server that reports nothing, and what its histogram has counted.
type scrapedServer struct {
	*cniManager
	*part
	failures, successes int
}

// add lets requests end and waits until the health manager has judged the histogram that
// counts them.
func (s *scrapedServer) add(t *testing.T, n int, result, class string) {
	t.Helper()
	for range n {
		s.send(t, "add", result, class)
	}
	answer, count := "True", &s.failures
	if result == "success" {
		answer, count = "False", &s.successes
	}
	*count += n
	line := fmt.Sprintf(`kuryr_cni_request_duration_seconds_count{command="ADD",component="cni-metrics",error="%s"} %d`+"\n", answer, *count)
	await(t, fmt.Sprintf("%d more: %s", n, result), cniWithin, func() error {
		_, body, err := s.get("/metrics")
		if err == nil && !strings.Contains(body, line) {
			err = fmt.Errorf("no line %q", line)
		}
		return err
	})
}

// TestCNIAddFailuresScraped is the same sequence with a daemon that reports nothing: only
// the counts of its exported histogram are available. Of the excused failures, they show
// only those that took as long as a timeout.
func TestCNIAddFailuresScraped(t *testing.T) {
	t.Parallel()
	exporter := address(t)
	_, port, err := net.SplitHostPort(exporter)
	if err != nil {
		t.Fatal(err)
	}
	m := startCNI(t, cniOptions{collectors: `cni-metrics: {scrape: {url: "http://` + exporter + `/metrics"}}`})
	s := &scrapedServer{cniManager: m, part: newPart(t, "server", nil, append(m.environment("server", "silent"), "CNI_EXPORTER_PORT="+port)...)}
	tooMany := func() error { return m.state("alive", "CNIAddFailingByHistogram failing: ") }
	await(t, "healthy before the first request", cniWithin, m.healthy)
	s.add(t, addFailures, "failure", "internal")
	s.add(t, 1, "success", "")
	s.add(t, addFailures, "failure", "internal")
	s.add(t, 2, "failure", "timeout")
	m.steady(t, 3*time.Second, m.healthy)

	s.add(t, 1, "failure", "internal")
	await(t, "one failure too many", partFlips, tooMany)
	s.add(t, 1, "success", "")
	await(t, "a success", partFlips, m.healthy)

	s.add(t, addFailures+1, "failure", "internal")
	await(t, "too many again", partFlips, tooMany)
	s.kill(t)
	s.start(t)
	await(t, "the server is another process", partFlips, m.healthy)
}
