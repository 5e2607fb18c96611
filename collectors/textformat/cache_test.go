package textformat

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"pgregory.net/rapid"
)

func newParser(testing.TB) *Parser {
	return New(Options{Component: "target", Own: "vitals_scrape_", HonorTimestamps: true, SampleLimit: 2000, LabelLimit: 64, LengthLimit: 2048})
}

func parseText(p *Parser, body string) (Exposition, error) {
	return p.Parse(context.Background(), []byte(body), ContentType, time.Now())
}

func TestCacheEvicts(t *testing.T) {
	p := newParser(t)
	texts := []struct {
		body string
		want int
	}{
		{"a 1\nb 1\n", 2},
		{"a 1\n", 2},
		{"a 1\n", 1},
		{"a 1\nc 1\nbroken\n", 2},
		{"broken\n", 2},
		{"broken\n", 0},
	}
	for i, r := range texts {
		_, _ = parseText(p, r.body)
		if len(p.byText) != r.want || len(p.byHash) != r.want {
			t.Errorf("text %d: %d texts and %d series are cached, want %d", i, len(p.byText), len(p.byHash), r.want)
		}
	}
}

func TestCacheIsBoundedByTheLimits(t *testing.T) {
	p := newParser(t)
	p.SampleLimit = 10
	for n := range 100 {
		var body strings.Builder
		for i := range 1000 {
			fmt.Fprintf(&body, "a{b=\"%d-%d\"} 1\n", n, i)
		}
		if _, err := parseText(p, body.String()); err == nil {
			t.Fatal("Parse() = no error, want one about sample_limit")
		}
		if len(p.byText) > 2*p.SampleLimit || len(p.byHash) > 2*p.SampleLimit {
			t.Fatalf("text %d: %d texts and %d series are cached, want at most %d", n, len(p.byText), len(p.byHash), 2*p.SampleLimit)
		}
	}
}

func TestCacheCostsNoLabels(t *testing.T) {
	body := bodyOf(1000)
	p := newParser(t)
	if _, err := parseText(p, body); err != nil {
		t.Fatal(err)
	}
	allocs := testing.AllocsPerRun(10, func() { _, _ = parseText(p, body) })
	if allocs > 100 {
		t.Errorf("%v allocations for 1,000 cached series, want at most 100", allocs)
	}
}

// With any content of the cache, an answer has the same samples.
func TestCacheChangesNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		line := rapid.Custom(func(rt *rapid.T) string {
			text := rapid.SampledFrom([]string{"a", "b", "a_total"}).Draw(rt, "name")
			if n := rapid.IntRange(0, 2).Draw(rt, "labels"); n > 0 {
				text += "{" + strings.Join(rapid.Permutation([]string{`x="1"`, `y="2"`}).Draw(rt, "order")[:n], ",") + "}"
			}
			return text + rapid.SampledFrom([]string{" 1", " 2 1000", " 3 2000", "", " NaN"}).Draw(rt, "rest") + "\n"
		})
		warm := newParser(t)
		for _, lines := range rapid.SliceOfN(rapid.SliceOfN(line, 0, 6), 1, 6).Draw(rt, "texts") {
			body := strings.Join(lines, "")
			got, gotErr := parseText(warm, body)
			want, wantErr := parseText(newParser(t), body)
			if fmt.Sprint(got, gotErr) != fmt.Sprint(want, wantErr) {
				rt.Fatalf("Parse(%q) = %v, %v, want %v, %v", body, got, gotErr, want, wantErr)
			}
		}
	})
}

// For every answer, there is no panic, and no samples with an error.
func TestParseOfAnyText(t *testing.T) {
	p := newParser(t)
	rapid.Check(t, func(rt *rapid.T) {
		pieces := rapid.OneOf(
			rapid.SampledFrom([]string{"a", "{", "}", "b=", "\"x\"", ",", " ", "1", "\n", "# TYPE ", "# HELP ", "counter", "# EOF\n", "\\", "NaN", "\xff"}),
			rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 20), func(b []byte) string { return string(b) }),
		)
		body := strings.Join(rapid.SliceOfN(pieces, 0, 40).Draw(rt, "body"), "")
		for _, contentType := range []string{ContentType, openMetrics + "; version=1.0.0"} {
			got, err := p.Parse(context.Background(), []byte(body), contentType, time.Now())
			if err != nil && len(got.Samples) > 0 {
				rt.Fatalf("Parse() = %d samples and %v, want none with an error", len(got.Samples), err)
			}
			for _, s := range got.Samples {
				if s.Labels.Get(model.MetricNameLabel) == "" || s.Labels.Get("component") == "" {
					rt.Fatalf("Parse() = %s, want a name and a component", s.Labels)
				}
			}
		}
	})
}

func TestParseStopsAtTheDeadline(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := newParser(t).Parse(ctx, []byte("a 1\n"), ContentType, time.Now()); err == nil {
		t.Error("Parse() = no error, want one about the context")
	}
}

func bodyOf(series int) string {
	var body strings.Builder
	body.WriteString("# HELP node_cpu_seconds_total Seconds the CPUs spent.\n# TYPE node_cpu_seconds_total counter\n")
	for i := range series {
		fmt.Fprintf(&body, "node_cpu_seconds_total{cpu=\"%d\",mode=\"idle\",instance=\"node-%d.example\"} %d.25\n", i, i%7, i)
	}
	return body.String()
}

func BenchmarkParse(b *testing.B) {
	for _, series := range []int{1000, 10000} {
		body := bodyOf(series)
		b.Run(fmt.Sprint("known/", series), func(b *testing.B) {
			p := newParser(b)
			p.SampleLimit = series
			b.ReportAllocs()
			for b.Loop() {
				_, _ = parseText(p, body)
			}
		})
		b.Run(fmt.Sprint("new/", series), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p := newParser(b)
				p.SampleLimit = series
				_, _ = parseText(p, body)
			}
		})
	}
}
