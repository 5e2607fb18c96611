package server_test

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/server"
)

// Scrapes of a generation share what was rendered and packed for the first. The process'
// own metrics are at most a second old, also where generations are rare.
func TestScrapesShareAResponse(t *testing.T) {
	snap, now := healthy(), noon()
	var gathered atomic.Uint64
	o := fixed(snap)
	o.Snapshot = func() *evaluator.Snapshot { return snap }
	o.Now = func() time.Time { return now }
	o.Process.DroppedLogLines = func() uint64 { return gathered.Add(1) }
	h := server.New(o).Handler()
	scrapes := func(want uint64, headers ...string) {
		t.Helper()
		var all sync.WaitGroup
		for range 8 { // as many as may be in flight
			all.Go(func() {
				if r := request(t, h, http.MethodGet, "/metrics", "", headers...); r.StatusCode != http.StatusOK {
					t.Errorf("GET /metrics = %d, want 200", r.StatusCode)
				}
			})
		}
		all.Wait()
		if got := gathered.Load(); got != want {
			t.Errorf("the metrics were gathered %d times, want %d", got, want)
		}
	}
	scrapes(1)
	scrapes(1, "Accept-Encoding", "gzip")
	scrapes(2, "Accept", acceptOpenMetrics)
	scrapes(2, "Accept", acceptOpenMetrics, "Accept-Encoding", "gzip")
	now = now.Add(time.Second - 1)
	scrapes(2)
	now = now.Add(1)
	scrapes(3)
	now = now.Add(-time.Minute) // a step of the clock
	scrapes(4)
	snap = failing()
	scrapes(5)
	if body := text(t, request(t, h, http.MethodGet, "/metrics", "")); !strings.Contains(body, "vitals_log_dropped_lines_total 5\n") {
		t.Errorf("GET /metrics = %s, want vitals_log_dropped_lines_total 5 of the last time", body)
	}
}
