package window_test

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"

	"github.com/vitals-health/vitals/internal/window"
)

var stale = math.Float64frombits(value.StaleNaN)

func up(job string) labels.Labels { return labels.FromStrings("__name__", "up", "job", job) }

// write writes one batch of a source: a sample with value v for every job.
func write(t testing.TB, s *window.Source, at int64, v float64, jobs ...string) {
	t.Helper()
	s.Begin(at)
	for _, job := range jobs {
		if err := s.Add(up(job), v, 0); err != nil {
			t.Fatalf("Add(%s) = %v, want nil", job, err)
		}
	}
	s.End()
}

// dump writes all samples of a window, a series a line: "job 10:1 20:2 30:stale".
func dump(t testing.TB, w *window.Window) string {
	t.Helper()
	return dumpBetween(t, w, math.MinInt64, math.MaxInt64)
}

func dumpBetween(t testing.TB, w *window.Window, mint, maxt int64) string {
	t.Helper()
	q, err := w.Querier(mint, maxt)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	var it chunkenc.Iterator
	set := q.Select(context.Background(), true, nil, labels.MustNewMatcher(labels.MatchEqual, "__name__", "up"))
	for set.Next() {
		line := set.At().Labels().Get("job")
		for it = set.At().Iterator(it); it.Next() == chunkenc.ValFloat; {
			at, v := it.At()
			if value.IsStaleNaN(v) {
				line += fmt.Sprintf(" %d:stale", at)
			} else {
				line += fmt.Sprintf(" %d:%g", at, v)
			}
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func TestBatches(t *testing.T) {
	tests := []struct {
		name  string
		given func(t *testing.T, w *window.Window, a, b *window.Source)
		want  string
	}{
		{"a series that is not exported any more is marked stale", func(t *testing.T, w *window.Window, a, b *window.Source) {
			write(t, a, 10, 1, "x", "y")
			write(t, a, 20, 2, "y")
			write(t, a, 30, 3, "y")
		}, "x 10:1 20:stale\ny 10:1 20:2 30:3"},
		{"a series that comes back goes on", func(t *testing.T, w *window.Window, a, b *window.Source) {
			write(t, a, 10, 1, "x")
			write(t, a, 20, 2)
			write(t, a, 30, 3, "x")
		}, "x 10:1 20:stale 30:3"},
		{"a failed batch marks everything stale, once", func(t *testing.T, w *window.Window, a, b *window.Source) {
			write(t, a, 10, 1, "x", "y")
			a.Stale(20)
			a.Stale(30)
			write(t, a, 40, 4, "y")
		}, "x 10:1 20:stale\ny 10:1 20:stale 40:4"},
		{"a batch that is not ended marks nothing", func(t *testing.T, w *window.Window, a, b *window.Source) {
			write(t, a, 10, 1, "x", "y")
			a.Begin(20)
			write(t, a, 30, 3, "x", "y")
		}, "x 10:1 30:3\ny 10:1 30:3"},
		{"a series stays as long as one of two sources exports it", func(t *testing.T, w *window.Window, a, b *window.Source) {
			write(t, a, 10, 1, "x")
			write(t, b, 20, 2, "x")
			write(t, b, 30, 3)
			a.Stale(40)
		}, "x 10:1 20:2 40:stale"},
		{"the last of two sources wins at the same time", func(t *testing.T, w *window.Window, a, b *window.Source) {
			write(t, a, 10, 1, "x")
			write(t, b, 10, 2, "x")
		}, "x 10:2"},
		{"a value replaces the marker of the same time", func(t *testing.T, w *window.Window, a, b *window.Source) {
			write(t, a, 10, 1, "x")
			write(t, a, 20, 1)
			write(t, b, 20, 2, "x")
		}, "x 10:1 20:2"},
		{"the last of two samples of one batch wins", func(t *testing.T, w *window.Window, a, b *window.Source) {
			write(t, a, 10, 1, "x", "x")
			write(t, a, 20, 2)
		}, "x 10:1 20:stale"},
		{"a batch from the past is dropped", func(t *testing.T, w *window.Window, a, b *window.Source) {
			write(t, a, 20, 2, "x")
			write(t, a, 10, 1, "x")
		}, "x 20:2"},
		{"explicit timestamps are kept, in order, and never marked stale", func(t *testing.T, w *window.Window, a, b *window.Source) {
			a.Begin(100)
			for i, at := range []int64{50, 60, 60, 55, 70} {
				if err := a.Add(up("x"), float64(i), at); err != nil {
					t.Fatal(err)
				}
			}
			a.End()
			write(t, a, 110, 1)
			a.Stale(120)
		}, "x 50:0 60:1 70:4"},
		{"a source that is closed leaves nothing behind", func(t *testing.T, w *window.Window, a, b *window.Source) {
			a.Begin(100)
			for series, explicitT := range map[string]int64{"past": 50, "future": 500, "shared": 50, "now": 0} {
				if err := a.Add(up(series), 1, explicitT); err != nil {
					t.Fatal(err)
				}
			}
			a.End()
			b.Begin(100)
			if err := b.Add(up("shared"), 2, 60); err != nil {
				t.Fatal(err)
			}
			b.End()
			a.Close(110)
			a.Close(120)
		}, "now 100:1 110:stale\nshared 50:1 60:2"},
		{"an explicit timestamp beyond all retention makes no series", func(t *testing.T, w *window.Window, a, b *window.Source) {
			a.Begin(10_000_000)
			for _, age := range []time.Duration{time.Hour, time.Hour - time.Millisecond} {
				if err := a.Add(up(age.String()), 1, 10_000_000-age.Milliseconds()); err != nil {
					t.Fatal(err)
				}
			}
			a.End()
		}, "59m59.999s 6400001:1"},
		{"a marker that the source exports itself", func(t *testing.T, w *window.Window, a, b *window.Source) {
			write(t, a, 10, stale, "x")
			write(t, a, 20, 1, "x")
		}, "x 10:stale 20:1"},
		{"a step of the clock moves everything", func(t *testing.T, w *window.Window, a, b *window.Source) {
			write(t, a, 10_000, 1, "x", "y")
			write(t, a, 20_000, 2, "x")
			w.Shift(-9 * time.Second)
			write(t, a, 12_000, 3, "x", "y")
			w.Shift(time.Hour)
			write(t, a, 3_613_000, 4, "x")
		}, "x 3601000:1 3611000:2 3612000:3 3613000:4\ny 3601000:1 3611000:stale 3612000:3 3613000:stale"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := window.New()
			w.SetRetention(map[string]time.Duration{"up": time.Hour}, 0)
			tt.given(t, w, w.Source(), w.Source())
			if diff := cmp.Diff(tt.want, dump(t, w)); diff != "" {
				t.Errorf("samples differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRetention(t *testing.T) {
	w := window.New()
	s := w.Source()
	set := func(d time.Duration) { w.SetRetention(map[string]time.Duration{"up": d}, 0) }
	check := func(when, want string) {
		t.Helper()
		if got := dump(t, w); got != want {
			t.Errorf("%s: samples = %q, want %q", when, got, want)
		}
	}
	write(t, s, 1000, 1, "x")
	write(t, s, 2000, 2, "x")
	check("last values only", "x 2000:2")
	set(3 * time.Second)
	for at := int64(3000); at <= 6000; at += 1000 {
		write(t, s, at, float64(at)/1000, "x")
	}
	check("3 s: (3000, 6000]", "x 4000:4 5000:5 6000:6")
	set(1001 * time.Millisecond)
	check("lowered", "x 5000:5 6000:6")
	write(t, s, 7000, 7, "y")
	check("a marker needs a place too", "x 6000:6 7000:stale\ny 7000:7")
	set(0)
	check("lowered to last values", "y 7000:7")
	s.Stale(8000)
	check("stale without history", "")
	if w.Len() != 0 {
		t.Errorf("Len() = %d, want 0", w.Len())
	}
}

func TestSeriesWithoutASourceExpire(t *testing.T) {
	for _, c := range []struct{ retention, lookback time.Duration }{
		{0, window.Lookback}, {time.Minute, window.Lookback}, {10 * time.Minute, window.Lookback}, {time.Minute, 20 * time.Minute},
	} {
		t.Run(c.retention.String()+" "+c.lookback.String(), func(t *testing.T) {
			w := window.New()
			w.SetRetention(nil, c.retention)
			w.SetLookback(c.lookback)
			s, other := w.Source(), w.Source()
			s.Begin(1000)
			if err := s.Add(up("explicit"), 1, 1000); err != nil {
				t.Fatal(err)
			}
			s.End()
			s.Stale(2000)
			lasts := max(c.retention, c.lookback).Milliseconds()
			write(t, other, 1000+lasts-1, 1)
			other.End()
			if got := w.Len(); got != 1 {
				t.Errorf("Len() = %d just before the series expires, want 1", got)
			}
			write(t, other, 1000+lasts+60_000, 1)
			if got := w.Len(); got != 0 {
				t.Errorf("Len() = %d after the series expired, want 0", got)
			}
		})
	}
}

func TestQuerierBounds(t *testing.T) {
	w := window.New()
	w.SetRetention(nil, time.Hour)
	s := w.Source()
	for at := int64(10); at <= 30; at += 10 {
		write(t, s, at, float64(at), "x")
	}
	for _, tt := range []struct {
		mint, maxt int64
		want       string
	}{
		{10, 30, "x 10:10 20:20 30:30"}, {11, 29, "x 20:20"}, {20, 20, "x 20:20"}, {31, 99, ""}, {0, 9, ""}, {11, 19, ""}, {30, 10, ""}, {0, 10, "x 10:10"}, {30, 99, "x 30:30"},
	} {
		if got := dumpBetween(t, w, tt.mint, tt.maxt); got != tt.want {
			t.Errorf("samples of [%d, %d] = %q, want %q", tt.mint, tt.maxt, got, tt.want)
		}
	}
}

func TestIteratorSeeks(t *testing.T) {
	w := window.New()
	w.SetRetention(nil, time.Hour)
	s := w.Source()
	for at := int64(10); at <= 50; at += 10 {
		write(t, s, at, float64(at), "x")
	}
	q, _ := w.Querier(0, 100)
	set := q.Select(context.Background(), false, nil, labels.MustNewMatcher(labels.MatchEqual, "job", "x"))
	if !set.Next() {
		t.Fatal("Next() = false, want a series")
	}
	it := set.At().Iterator(nil)
	for _, tt := range []struct{ seek, want int64 }{{5, 10}, {10, 10}, {1, 10}, {11, 20}, {40, 40}, {20, 40}, {41, 50}} {
		if got := it.Seek(tt.seek); got != chunkenc.ValFloat || it.AtT() != tt.want {
			t.Errorf("Seek(%d) = %v at %d, want a float at %d", tt.seek, got, it.AtT(), tt.want)
		}
	}
	if got := it.Next(); got != chunkenc.ValNone {
		t.Errorf("Next() after the last = %v, want none", got)
	}
	if got := it.Seek(10); got != chunkenc.ValNone {
		t.Errorf("Seek() after the end = %v, want none", got)
	}
}

func TestLabelsOfWhatIsThere(t *testing.T) {
	w := window.New()
	s := w.Source()
	write(t, s, 10, 1, "x", "y", "z")
	q, _ := w.Querier(0, 100)
	ctx, y := context.Background(), labels.MustNewMatcher(labels.MatchNotEqual, "job", "y")
	values, _, _ := q.LabelValues(ctx, "job", nil, y)
	names, _, _ := q.LabelNames(ctx, nil)
	limited, _, _ := q.LabelValues(ctx, "job", &storage.LabelHints{Limit: 1})
	if diff := cmp.Diff([][]string{{"x", "z"}, {"__name__", "job"}, {"x"}}, [][]string{values, names, limited}); diff != "" {
		t.Errorf("labels differ (-want +got):\n%s", diff)
	}
}

func TestLive(t *testing.T) {
	w := window.New()
	w.SetRetention(nil, time.Hour)
	s := w.Source()
	write(t, s, 10, 1, "x", "y")
	write(t, s, 20, 1, "y")
	for _, tt := range []struct {
		job          string
		mint, maxt   int64
		live, ranged bool
	}{
		{"x", 0, 10, true, true}, {"x", 0, 20, false, true}, {"x", 10, 20, false, false}, {"x", 9, 19, true, true}, {"y", 10, 20, true, true}, {"y", 20, 30, false, false}, {"z", 0, 99, false, false},
		{"x", math.MinInt64, math.MaxInt64, false, true}, {"y", math.MaxInt64, math.MaxInt64, false, false},
	} {
		matchers := []*labels.Matcher{labels.MustNewMatcher(labels.MatchEqual, "__name__", "up"), labels.MustNewMatcher(labels.MatchEqual, "job", tt.job)}
		live, ranged := w.Live(matchers, tt.mint, tt.maxt), w.LiveRange(matchers, tt.mint, tt.maxt)
		if live != tt.live || ranged != tt.ranged {
			t.Errorf("Live, LiveRange(%s, %d, %d) = %v, %v, want %v, %v", tt.job, tt.mint, tt.maxt, live, ranged, tt.live, tt.ranged)
		}
	}
}

func TestChurnIsBounded(t *testing.T) {
	const batches, each = 1000, 1000
	for _, retention := range []time.Duration{0, 10 * time.Second} {
		t.Run(retention.String(), func(t *testing.T) {
			before := heap()
			w := window.New()
			w.SetRetention(nil, retention)
			s := w.Source()
			peak := 0
			for r := range batches {
				s.Begin(int64(r) * 1000)
				for i := range each {
					if err := s.Add(labels.FromStrings("__name__", "churn_"+strconv.Itoa(i%10), "id", strconv.Itoa(r*each+i)), 1, 0); err != nil {
						t.Fatal(err)
					}
				}
				s.End()
				peak = max(peak, w.Len())
			}
			// Between two sweeps, 30 batches add up.
			if limit := each * (int(retention/time.Second) + 32); peak > limit {
				t.Errorf("%d series at most, want %d at most", peak, limit)
			}
			if grown := heap() - before; grown > 32<<20 {
				t.Errorf("heap has grown by %d bytes, want 32 MiB at most", grown)
			}
			runtime.KeepAlive(w)
		})
	}
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func Example() {
	w := window.New()
	source := w.Source()
	source.Begin(1_700_000_000_000)
	if err := source.Add(labels.FromStrings("__name__", "vitals_dependency_up", "dependency", "keystone"), 0, 0); err != nil {
		fmt.Println(err)
	}
	source.End()

	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1000, Timeout: time.Second})
	result, err := instant(engine, w, "vitals_dependency_up == 0", 1_700_000_000_000)
	fmt.Println(result, err)
	// Output: {__name__="vitals_dependency_up", dependency="keystone"} => 0 @[1700000000000] <nil>
}
