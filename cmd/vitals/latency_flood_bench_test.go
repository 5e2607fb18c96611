package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// floodSeries, floodRules and floodConnections are the size of a flood of explanations.
const floodSeries, floodRules, floodConnections = 24_000, 30, 8

// maxFloodRatio bounds the median latency during a flood, as a multiple of the latency without one.
const maxFloodRatio = 10

// seriesOfFlood returns samples of floodSeries series, and rules that read all of them.
func seriesOfFlood() (series, rules string) {
	var s, r strings.Builder
	for i := range floodSeries {
		fmt.Fprintf(&s, "jobs{job=\"%d\",shard=\"%d\"} %d\n", i, i%floodRules, i%7)
	}
	for i := range floodRules {
		fmt.Fprintf(&r, "      - {alert: Jobs%d, expr: 'sum by (shard) (jobs) > %d', labels: {state: ready, severity: warning}}\n", i, 1_000_000+i)
	}
	return s.String(), r.String()
}

// BenchmarkReportUnderExplanations is the time from a component's report to the changed answer of
// /ready: without other requests, and while clients request explanations without a pause, of one
// rule or of all. The evaluator has no part in a flood of /api/v1/rules: it shows what the requests
// alone cost.
func BenchmarkReportUnderExplanations(b *testing.B) {
	series, rules := seriesOfFlood()
	r := startReporting(b, "  - {name: jobs, interval: 1h, textfile: {path: %[1]s/series.prom}}\n", rules, series)
	r.await(b, http.StatusOK)
	quiet := r.changes(b)
	slices.Sort(quiet)
	for _, f := range []struct{ name, path string }{{"rules", "/api/v1/rules?x=%d"}, {"rule", "/api/v1/explain/ready?rule=Jobs%d"}, {"all", "/api/v1/explain/ready?all&x=%d"}} {
		b.Run(f.name, func(b *testing.B) {
			var took []float64
			for b.Loop() {
				stop := r.flood(b, f.path)
				took = append(took, r.changes(b)...)
				if stop() == 0 {
					b.Fatal("no request of the flood got 200, so nothing was measured")
				}
			}
			slices.Sort(took)
			ratio := took[len(took)/2] / quiet[len(quiet)/2]
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(took[len(took)/2], "p50-ms")
			b.ReportMetric(took[len(took)-1], "max-ms")
			b.ReportMetric(ratio, "ratio")
			if ratio > maxFloodRatio {
				b.Errorf("%.1f times the latency without a flood, want at most %d", ratio, maxFloodRatio)
			}
		})
	}
}

// changes reports 40 times and returns how long each change took, in milliseconds.
func (r *reporting) changes(b *testing.B) (took []float64) {
	b.Helper()
	pause := time.NewTicker(137 * time.Millisecond)
	defer pause.Stop()
	for i := range 40 {
		<-pause.C
		took = append(took, milliseconds(r.change(b, i%2 == 1, reportByHTTP)))
	}
	return took
}

// flood requests a path with a number from several connections until stop, which returns how many
// were served.
func (r *reporting) flood(b *testing.B, path string) (stop func() int64) {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context())
	target := strings.TrimSuffix(r.probe, "/ready") + path
	var all sync.WaitGroup
	var served atomic.Int64
	for c := range floodConnections {
		all.Go(func() {
			for i := c; ctx.Err() == nil; i++ {
				req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf(target, i%floodRules), http.NoBody)
				if err != nil {
					return
				}
				resp, err := http.DefaultClient.Do(req)
				if err != nil {
					return
				}
				if resp.StatusCode == http.StatusOK {
					served.Add(1)
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
			}
		})
	}
	return func() int64 {
		cancel()
		all.Wait()
		return served.Load()
	}
}
