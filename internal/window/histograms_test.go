package window_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"

	"github.com/vitals-health/vitals/internal/window"
)

// both is a window with histograms that keeps everything.
type both struct {
	*window.Histograms
	t      *testing.T
	floats *window.Source
}

func newBoth(t *testing.T) *both {
	w := window.New()
	w.SetRetention(nil, math.MaxInt64)
	return &both{window.WithHistograms(w), t, w.Source()}
}

// play adds the samples of a series as test files write them, a second apart from 0 on.
func (b *both) play(series string) {
	b.t.Helper()
	ls, values, err := parser.NewParser(parser.Options{}).ParseSeriesDesc(series)
	if err != nil {
		b.t.Fatal(err)
	}
	for i, v := range values {
		switch t := int64(i) * 1000; {
		case v.Omitted:
		case v.Histogram != nil:
			b.Add(ls, t, v.Histogram)
		default:
			b.floats.Begin(t)
			if err := b.floats.Add(ls, v.Value, 0); err != nil {
				b.t.Fatal(err)
			}
		}
	}
}

func matching(t *testing.T, selector string) []*labels.Matcher {
	t.Helper()
	m, err := parser.NewParser(parser.Options{}).ParseMetricSelector(selector)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// read is all samples from mint to maxt, a line a series.
func (b *both) read(selector string, mint, maxt int64) string {
	b.t.Helper()
	q, err := b.Querier(mint, maxt)
	if err != nil {
		b.t.Fatal(err)
	}
	defer q.Close()
	var lines []string
	set := q.Select(context.Background(), true, nil, matching(b.t, selector)...)
	for set.Next() {
		line := set.At().Labels().String() + ":"
		it := set.At().Iterator(nil)
		for kind := it.Next(); kind != chunkenc.ValNone; kind = it.Next() {
			line += fmt.Sprintf(" %d=%s", it.AtT(), shown(it, kind))
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func shown(it chunkenc.Iterator, kind chunkenc.ValueType) string {
	if kind == chunkenc.ValFloat {
		_, v := it.At()
		if value.IsStaleNaN(v) {
			return "stale"
		}
		return fmt.Sprint(v)
	}
	_, h := it.AtFloatHistogram(nil)
	return h.TestExpression()
}

func TestHistogramsTellResets(t *testing.T) {
	for _, c := range []struct{ name, series, want string }{
		{"counts on", "h {{count:1}} {{count:2}} {{count:2}}", "0={{count:1}} 1000={{count:2 counter_reset_hint:not_reset}} 2000={{count:2 counter_reset_hint:not_reset}}"},
		{"counts less", "h {{count:2}} {{count:1}} {{count:2}}", "0={{count:2}} 1000={{count:1}} 2000={{count:2 counter_reset_hint:not_reset}}"},
		{"has a hint of its own", "h {{count:1}} {{count:2 counter_reset_hint:reset}}", "0={{count:1}} 1000={{count:2}}"},
		{"gauge", "h {{count:2 counter_reset_hint:gauge}} {{count:1 counter_reset_hint:gauge}}", "0={{count:2 counter_reset_hint:gauge}} 1000={{count:1 counter_reset_hint:gauge}}"},
		{"interrupted", "h {{count:1}} stale {{count:2}} {{count:3}}", "0={{count:1}} 1000=stale 2000={{count:2}} 3000={{count:3 counter_reset_hint:not_reset}}"},
		{"after floats", "h 7 {{count:1}} {{count:2}}", "0=7 1000={{count:1}} 2000={{count:2 counter_reset_hint:not_reset}}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBoth(t)
			b.play(c.series)
			if got, want := b.read("h", 0, 10_000), `{__name__="h"}: `+c.want; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestHistogramsAreSelected(t *testing.T) {
	b := newBoth(t)
	b.play(`h{i="2"} {{count:1}} {{count:2}} {{count:3}} {{count:4}}`)
	b.play(`h{i="1"} _ {{count:5}}`)
	b.play(`g{i="1"} 1 2 3`)
	for _, c := range []struct {
		selector   string
		mint, maxt int64
		want       []string
	}{
		{"h", 1000, 2000, []string{
			`{__name__="h", i="1"}: 1000={{count:5}}`,
			`{__name__="h", i="2"}: 1000={{count:2 counter_reset_hint:not_reset}} 2000={{count:3 counter_reset_hint:not_reset}}`,
		}},
		{"h", 1001, 1999, nil},
		{"h", 3000, 9000, []string{`{__name__="h", i="2"}: 3000={{count:4 counter_reset_hint:not_reset}}`}},
		{`{i="1"}`, 0, 1000, []string{`{__name__="g", i="1"}: 0=1 1000=2`, `{__name__="h", i="1"}: 1000={{count:5}}`}},
		{`{i="3"}`, 0, 9000, nil},
	} {
		if diff := cmp.Diff(strings.Join(c.want, "\n"), b.read(c.selector, c.mint, c.maxt)); diff != "" {
			t.Errorf("%s from %d to %d (-want +got):\n%s", c.selector, c.mint, c.maxt, diff)
		}
	}
	q, err := b.Querier(0, 9000)
	if err != nil {
		t.Fatal(err)
	}
	values, _, err := q.LabelValues(t.Context(), "i", &storage.LabelHints{}, matching(t, `{__name__=~".+"}`)...)
	if diff := cmp.Diff([]string{"1", "2"}, values); diff != "" || err != nil {
		t.Errorf("LabelValues(i): %v (-want +got):\n%s", err, diff)
	}
	names, _, err := q.LabelNames(t.Context(), &storage.LabelHints{Limit: 1})
	if diff := cmp.Diff([]string{"__name__"}, names); diff != "" || err != nil {
		t.Errorf("LabelNames(): %v (-want +got):\n%s", err, diff)
	}
}

func TestHistogramsAreSought(t *testing.T) {
	b := newBoth(t)
	b.play("h {{count:1}} {{count:2}} {{count:3}}")
	q, err := b.Querier(0, 9000)
	if err != nil {
		t.Fatal(err)
	}
	set := q.Select(t.Context(), false, nil, matching(t, "h")...)
	if !set.Next() {
		t.Fatal("Select() has no series, want h")
	}
	it := set.At().Iterator(nil)
	for _, c := range []struct {
		seek, want int64
	}{{1, 1000}, {1000, 1000}, {0, 1000}, {1001, 2000}} {
		if kind := it.Seek(c.seek); kind != chunkenc.ValFloatHistogram || it.AtT() != c.want {
			t.Errorf("Seek(%d) = %v at %d, want a histogram at %d", c.seek, kind, it.AtT(), c.want)
		}
	}
	// What was read may be changed, and what is read into takes the sample.
	var into histogram.FloatHistogram
	_, read := it.AtFloatHistogram(&into)
	read.Count = 99
	if _, again := it.AtFloatHistogram(nil); again.Count != 3 || into.Count != 99 {
		t.Errorf("the histogram has the count %g once a copy is changed, want 3", again.Count)
	}
	if kind := it.Next(); kind != chunkenc.ValNone {
		t.Errorf("Next() = %v at the end, want none", kind)
	}
	if kind := it.Seek(2001); kind != chunkenc.ValNone {
		t.Errorf("Seek(2001) = %v, want none", kind)
	}
}

func TestHistogramsLive(t *testing.T) {
	for _, c := range []struct {
		series          string
		from, to        int64
		live, liveRange bool
	}{
		{"m {{count:1}}", -1, 0, true, true},
		{"m {{count:1}}", 0, 1000, false, false},
		{"m {{count:1}} stale", -1, 500, true, true},
		{"m {{count:1}} stale", -1, 1000, false, true},
		{"m {{count:1}} stale", 0, 1000, false, false},
		{"m {{count:1}} stale {{count:1}}", 0, 2000, true, true},
		{"m 1 {{count:1}}", 0, 2000, true, true},
		{"m stale", -1, 2000, false, false},
		{"m 1", -1, 2000, true, true},
		{"m {{count:1}}", math.MaxInt64, math.MaxInt64, false, false},
		{"other {{count:1}}", -1, 2000, false, false},
	} {
		for _, others := range []bool{false, true} {
			b := newBoth(t)
			b.play(c.series)
			if others { // then histograms are looked through also where m has none
				b.play("unrelated {{count:1}}")
			}
			if got := b.Live(matching(t, "m"), c.from, c.to); got != c.live {
				t.Errorf("%q: Live(%d, %d) = %t, want %t", c.series, c.from, c.to, got, c.live)
			}
			if got := b.LiveRange(matching(t, "m"), c.from, c.to); got != c.liveRange {
				t.Errorf("%q: LiveRange(%d, %d) = %t, want %t", c.series, c.from, c.to, got, c.liveRange)
			}
		}
	}
}
