package evaluator_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/evaluator"
)

// Requested collections do not delay the regular ones: a collector may export an earlier result
// for its own requests.
func TestRequestsDoNotDelayRegularCollections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var regular atomic.Int64
		c := &stub{
			collect: func(ctx context.Context) ([]collectors.Sample, error) {
				if !collectors.Requested(ctx) {
					regular.Add(1)
				}
				return nil, nil
			},
			run: func(ctx context.Context, changed func()) {
				often := time.NewTicker(7 * time.Second)
				defer often.Stop()
				for {
					select {
					case <-ctx.Done():
						return
					case <-often.C:
						changed()
					}
				}
			},
		}
		_, stop := start(t, evaluator.Config{Sources: []evaluator.Source{source("c", c)}})
		time.Sleep(10 * time.Minute)
		if n := regular.Load(); n < 55 || n > 66 {
			t.Errorf("regular collections in 10 min = %d, want one every 10 s", n)
		}
		stop()
	})
}
