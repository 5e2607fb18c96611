package server_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/server"
)

func TestStatusIsTheWholeSnapshot(t *testing.T) {
	o := fixed(failing())
	alive := true
	o.Components = func() []server.ComponentStatus {
		return []server.ComponentStatus{{Name: "watcher", Alive: &alive, Reason: "resync", LastReport: noon()}, {Name: "server", Events: []server.EventStatus{
			{Event: "cni_add", Success: 3000, Failure: 4, Excused: 2, ConsecutiveFailures: 1, Limit: new(0)}, {Event: "cni_del"},
		}}}
	}
	o.ExternalExtra = map[string]http.Handler{"/demo/faults": http.NotFoundHandler()}
	r := request(t, server.New(o).Handler(), "GET", "/api/v1/status", "")
	body := text(t, r)
	golden(t, "status.json", body)
	checkHeaders(t, r, "application/json", len(body))

	o = fixed(&evaluator.Snapshot{Generation: 7})
	body = text(t, request(t, server.New(o).Handler(), "GET", "/api/v1/status", ""))
	golden(t, "status_empty.json", body)
}

func TestStatusWaitsForAnotherGeneration(t *testing.T) {
	tests := []struct {
		name, query string
		// after is when the next generation comes; 0: never.
		after    time.Duration
		stopping bool
		want     uint64
		waited   time.Duration
	}{
		{"a query without wait", "", time.Second, false, 7, 0},
		{"another generation than the current one", "?wait=3", time.Second, false, 7, 0},
		{"the next one comes", "?wait=7", time.Second, false, 8, time.Second},
		{"the next one does not come", "?wait=7", 0, false, 7, 4 * time.Second},
		{"a process that shuts down does not wait", "?wait=7", 0, true, 7, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPublisher(healthy())
				p.current.ShuttingDown = tt.stopping
				h := server.New(p.options()).Handler()
				if tt.after > 0 {
					next := healthy()
					next.Generation = 8
					timer := time.AfterFunc(tt.after, func() { p.publish(next) })
					defer timer.Stop()
				}
				start := time.Now()
				r := request(t, h, "GET", "/api/v1/status"+tt.query, "")
				var got server.Status
				if err := json.Unmarshal([]byte(text(t, r)), &got); err != nil {
					t.Fatal(err)
				}
				if got.Generation != tt.want || time.Since(start) != tt.waited {
					t.Errorf("generation = %d after %v, want %d after %v", got.Generation, time.Since(start), tt.want, tt.waited)
				}
				if r.Header.Get("X-Vitals-Generation") != strconv.FormatUint(tt.want, 10) {
					t.Errorf("X-Vitals-Generation = %s, want %d", r.Header.Get("X-Vitals-Generation"), tt.want)
				}
			})
		})
	}
}

func TestStatusWaitersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := server.New(newPublisher(healthy()).options()).Handler()
		waits := make(chan time.Duration, 80)
		for range cap(waits) {
			go func() {
				start := time.Now()
				request(t, h, "GET", "/api/v1/status?wait=7", "")
				waits <- time.Since(start)
			}()
		}
		waited := 0
		for range cap(waits) {
			if <-waits > 0 {
				waited++
			}
		}
		if waited != 64 {
			t.Errorf("%d requests waited, want 64", waited)
		}
	})
}

func TestStatusWithAWaitThatIsNoGeneration(t *testing.T) {
	r := request(t, server.New(fixed(healthy())).Handler(), "GET", "/api/v1/status?wait=now", "")
	want := "wait \"now\": expected a generation, as in the header X-Vitals-Generation\n"
	if body := text(t, r); r.StatusCode != 400 || body != want {
		t.Errorf("= %d %q, want 400 %q", r.StatusCode, body, want)
	}
}

// The state has passed for an hour, and warns since its oldest warning.
func TestStatusOfAWarning(t *testing.T) {
	s := healthy()
	for i, ago := range map[int]time.Duration{3: time.Minute, 4: 5 * time.Minute} {
		s.Rules[i].Status, s.Rules[i].Warns, s.Rules[i].Since = evaluator.Failing, true, noon().Add(-ago)
	}
	s.States[0].Verdict, s.States[0].Deciding = evaluator.Warn, []int{3, 4}
	var got server.Status
	if err := json.Unmarshal([]byte(text(t, request(t, server.New(fixed(s)).Handler(), "GET", "/api/v1/status", ""))), &got); err != nil {
		t.Fatal(err)
	}
	if ready, alive := got.States[0], got.States[1]; !ready.WarnsSince.Equal(noon().Add(-5*time.Minute)) || !ready.Since.Equal(noon().Add(-time.Hour)) || !alive.WarnsSince.IsZero() {
		t.Errorf("ready since %v, warns since %v; alive warns since %v; want 11:00, 11:55 and none", ready.Since, ready.WarnsSince, alive.WarnsSince)
	}
}
