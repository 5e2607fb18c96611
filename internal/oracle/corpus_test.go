package oracle

import (
	"context"
	"math"
	"path"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/util/teststorage"

	"github.com/vitals-health/vitals/internal/window"
)

// forever is the longest time.Duration.
const forever = time.Duration(math.MaxInt64)

// notRun are the files of Prometheus' corpus that cannot run over a window.
var notRun = map[string]string{
	"start_timestamps.test": "a window stores no start timestamps",
}

// corpus runs Prometheus' test files, except for those in notRun.
type corpus struct {
	*testing.T
	seen map[string]bool
	ran  int
}

func (c *corpus) Run(name string, f func(*testing.T)) bool {
	file := path.Base(name)
	c.seen[file] = true
	if reason, ok := notRun[file]; ok {
		c.Logf("%s is not run: %s", file, reason)
		return true
	}
	c.ran++
	return c.T.Run(name, f)
}

// Every sample of the corpus is stored in and read from a window: floats like those of
// collectors, native histograms like those of simulations.
func TestPrometheusCorpus(t *testing.T) {
	c := &corpus{T: t, seen: map[string]bool{}}
	stored := counts{}
	promqltest.RunBuiltinTestsWithStorage(c, promqltest.NewTestEngine(t, false, 0, promqltest.DefaultMaxSamplesPerQuery), func(t testing.TB) storage.Storage {
		return newStore(t, &stored)
	})
	for file := range notRun {
		if !c.seen[file] {
			t.Errorf("%s is listed as not run and is not in the corpus", file)
		}
	}
	if c.ran < 20 || stored.floats < 5000 || stored.histograms < 500 {
		t.Errorf("ran %d files with %d floats and %d histograms, want at least 20 files with 5000 and 500", c.ran, stored.floats, stored.histograms)
	}
}

type counts struct{ floats, histograms int }

// store is a storage that appends to the window only.
type store struct {
	storage.Storage
	w      *window.Histograms
	source *window.Source
	stored *counts
}

func newStore(t testing.TB, stored *counts) *store {
	w := window.New()
	w.SetRetention(nil, forever)
	return &store{Storage: teststorage.New(t), w: window.WithHistograms(w), source: w.Source(), stored: stored}
}

func (s *store) Querier(mint, maxt int64) (storage.Querier, error) { return s.w.Querier(mint, maxt) }

func (s *store) AppenderV2(ctx context.Context) storage.AppenderV2 {
	return &storeAppender{AppenderV2: s.Storage.AppenderV2(ctx), s: s}
}

type storeAppender struct {
	storage.AppenderV2
	s *store
}

func (a *storeAppender) Append(_ storage.SeriesRef, l labels.Labels, _, t int64, v float64, ih *histogram.Histogram, fh *histogram.FloatHistogram, _ storage.AppendV2Options) (storage.SeriesRef, error) {
	if ih != nil {
		fh = ih.ToFloat(nil)
	}
	if fh != nil {
		a.s.stored.histograms++
		a.s.w.Add(l, t, fh)
		return 0, nil
	}
	a.s.stored.floats++
	// The round is not ended, so that no series is taken for stale.
	a.s.source.Begin(t)
	return 0, a.s.source.Add(l, v, 0)
}
