package evaluator

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/rules"
)

// ageCollector exports when it last ran, by a clock that the test moves.
type ageCollector struct {
	now   func() time.Time
	takes time.Duration
	ran   atomic.Int64
}

func (c *ageCollector) Collect(ctx context.Context) ([]collectors.Sample, error) {
	select {
	case <-time.After(c.takes):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	c.ran.Add(1)
	return []collectors.Sample{{Labels: labels.FromStrings(model.MetricNameLabel, "ran_timestamp_seconds"), Value: collectors.EpochSeconds(c.now())}}, nil
}

func (*ageCollector) Describe() []collectors.Desc { return nil }

const ageRules = `
groups:
  - name: g
    rules:
      - {alert: Outdated, expr: time() - ran_timestamp_seconds > 20, labels: {state: alive}}
`

// After the process was stopped, the first evaluation has collections of the time after. It does
// not wait for slow ones.
func TestEvaluationAfterAStop(t *testing.T) {
	for name, tt := range map[string]struct {
		takes time.Duration
		ran   int64 // before the first evaluation
	}{
		"fast collectors": {time.Millisecond, 2},
		"slow collectors": {2 * time.Second, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				// The clocks are behind until the process continues: Run sees both jump, as after
				// a stop, and timers are late.
				var behind atomic.Int64
				behind.Store(int64(time.Hour))
				now := func() time.Time { return time.Now().Add(-time.Duration(behind.Load())) }
				file, errs := rules.Parse("rules.yml", []byte(ageRules), []string{Ready, Alive, Started})
				if len(errs) > 0 {
					t.Fatal(errs)
				}
				c := &ageCollector{now: now}
				var log bytes.Buffer
				e, err := New(Config{
					Interval: time.Second, Files: []*rules.File{file},
					Sources: []Source{{Name: "c", Interval: 10 * time.Second, Timeout: 5 * time.Second, Collector: c}},
				}, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
				if err != nil {
					t.Fatal(err)
				}
				e.clock = now
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan struct{})
				go func() { defer close(done); e.Run(ctx) }()
				time.Sleep(3500 * time.Millisecond)
				synctest.Wait()

				c.takes = tt.takes
				before := e.Snapshot()
				behind.Store(0)
				changed := e.Changed()
				time.Sleep(500 * time.Millisecond) // Run has its next event: the ticker's
				synctest.Wait()
				begin := time.Now()
				<-changed
				if took := time.Since(begin); took > resumeTime+coalesce {
					t.Errorf("the next generation came after %s, want it after at most %s", took, resumeTime+coalesce)
				}
				after := e.Snapshot()
				if got := after.States[1].Verdict; got != Pass || before.States[1].Verdict != Pass {
					t.Errorf("alive was %v and is %v, want pass", before.States[1].Verdict, got)
				}
				if got := c.ran.Load(); got != tt.ran {
					t.Errorf("the collector ran %d times before the first evaluation, want %d", got, tt.ran)
				}
				cancel()
				<-done
				if got := strings.Count(log.String(), "the process was stopped"); got != 1 {
					t.Errorf("%d stops are logged, want one:\n%s", got, log.String())
				}
			})
		})
	}
}
