package once_test

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/once"
)

// cutOff is a collector that ends when its time does.
type cutOff struct{}

func (cutOff) Collect(ctx context.Context) ([]collectors.Sample, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (cutOff) Describe() []collectors.Desc { return nil }

// A collector that times out at the same moment as the command has no result, whichever of
// the two is scheduled first.
func TestRunEndsBeforeWhatItCutsOff(t *testing.T) {
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			source := evaluator.Source{Name: "slow", Interval: time.Minute, Timeout: time.Second, Collector: cutOff{}}
			eval, err := evaluator.New(evaluator.Config{Sources: []evaluator.Source{source}}, evaluator.Options{Logger: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			once.Run(eval, time.Second, func(_ context.Context, _ *evaluator.Evaluator, seen *evaluator.Snapshot) {
				if got := once.Unfinished(seen); !slices.Equal(got, []string{"slow"}) {
					t.Errorf("Unfinished() = %q, want the collector that was cut off", got)
				}
			})
		})
	}
}
