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

// Every float of the corpus is stored in and read from a window. Native histograms,
// which a window does not store, come from Prometheus' own storage beside it.
func TestPrometheusCorpus(t *testing.T) {
	c := &corpus{T: t, seen: map[string]bool{}}
	floats := 0
	promqltest.RunBuiltinTestsWithStorage(c, promqltest.NewTestEngine(t, false, 0, promqltest.DefaultMaxSamplesPerQuery), func(t testing.TB) storage.Storage {
		return newHybrid(t, &floats)
	})
	for file := range notRun {
		if !c.seen[file] {
			t.Errorf("%s is listed as not run and is not in the corpus", file)
		}
	}
	if c.ran < 20 || floats < 5000 {
		t.Errorf("ran %d files with %d floats, want at least 20 files with 5000", c.ran, floats)
	}
}

// hybrid is a storage of floats in a window and of histograms in the embedded one.
type hybrid struct {
	storage.Storage
	w          *window.Window
	source     *window.Source
	histograms bool
	floats     *int
}

func newHybrid(t testing.TB, floats *int) *hybrid {
	w := window.New()
	w.SetRetention(nil, forever)
	return &hybrid{Storage: teststorage.New(t), w: w, source: w.Source(), floats: floats}
}

func (h *hybrid) Querier(mint, maxt int64) (storage.Querier, error) {
	ours, err := h.w.Querier(mint, maxt)
	if err != nil || !h.histograms {
		return ours, err
	}
	theirs, err := h.Storage.Querier(mint, maxt)
	if err != nil {
		return nil, err
	}
	return storage.NewMergeQuerier([]storage.Querier{ours, theirs}, nil, storage.ChainedSeriesMerge), nil
}

func (h *hybrid) AppenderV2(ctx context.Context) storage.AppenderV2 {
	return &hybridAppender{AppenderV2: h.Storage.AppenderV2(ctx), h: h}
}

type hybridAppender struct {
	storage.AppenderV2
	h *hybrid
}

func (a *hybridAppender) Append(ref storage.SeriesRef, l labels.Labels, st, t int64, v float64, ih *histogram.Histogram, fh *histogram.FloatHistogram, o storage.AppendV2Options) (storage.SeriesRef, error) {
	if ih != nil || fh != nil {
		a.h.histograms = true
		return a.AppenderV2.Append(ref, l, st, t, v, ih, fh, o)
	}
	*a.h.floats++
	// The round is not ended, so that no series is taken for stale.
	a.h.source.Round(t)
	return 0, a.h.source.Add(l, v, 0)
}
