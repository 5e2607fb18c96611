package http_test

import (
	"net"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/vitals-health/vitals/collectors/collectortest"
)

// fullPort returns a port whose queue of connections is full and never read, so that connecting
// neither succeeds nor fails.
func fullPort(t testing.TB) string {
	t.Helper()
	_, address := collectortest.Backlog(t)
	for range 10 {
		conn, err := net.DialTimeout("tcp", address, time.Second)
		if err != nil {
			return address
		}
		t.Cleanup(func() { _ = conn.Close() })
	}
	t.Fatalf("%s still takes connections, want its queue full", address)
	return ""
}

// net/http would continue to connect for a request that was cancelled.
func TestDeadlineWhileConnecting(t *testing.T) {
	defer goleak.VerifyNone(t)
	address := fullPort(t)
	c := newCollector(t, "http://"+address+"/", "")
	start := time.Now()
	samples, err := collectortest.Outlast(t, c, collectortest.ErrorContains("in the phase connect"))
	if took := time.Since(start); took < collectortest.Brief {
		t.Errorf("Collect() took %s, want the deadline, %s", took, collectortest.Brief)
	}
	if got := failureReason(t, samples); got != "timeout" || !strings.Contains(errorText(err), "no answer in time, in the phase connect") {
		t.Errorf("reason = %q, error %v, want timeout in the phase connect", got, err)
	}
	checkNote(t, c, "000 "+address+" SECONDS seconds: timeout")
}
