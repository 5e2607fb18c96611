package server_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/server"
)

// bare is what every probe is measured against.
func bare() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") })
}

// live is a server with the real clock over a snapshot that stays fresh.
func live(s *evaluator.Snapshot) server.Options {
	s.At, s.MaxAge = time.Now(), 24*time.Hour
	return server.Options{Snapshot: func() *evaluator.Snapshot { return s }}
}

// discard is a response writer that allocates nothing.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) WriteHeader(int)             {}
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
func (d *discard) WriteString(s string) (int, error) {
	return len(s), nil
}

// TestProbeAllocatesNothing holds the budget: a plain probe costs no allocation
// beyond those of net/http.
func TestProbeAllocatesNothing(t *testing.T) {
	for name, snap := range map[string]*evaluator.Snapshot{"ok": healthy(), "failing": failing()} {
		h := server.New(fixed(snap)).Handler()
		for target, accept := range map[string]string{"/ready": "*/*", "/livez": ""} {
			r := httptest.NewRequest("GET", target, nil)
			r.Header.Set("Accept", accept)
			w := &discard{http.Header{}}
			if n := testing.AllocsPerRun(100, func() { h.ServeHTTP(w, r) }); n != 0 {
				t.Errorf("%s: GET %s makes %v allocations, want 0", name, target, n)
			}
		}
	}
}

func BenchmarkProbeHandler(b *testing.B) {
	for _, bm := range []struct {
		name string
		h    http.Handler
	}{{"bare", bare()}, {"ready", server.New(live(healthy())).Handler()}, {"failing", server.New(live(failing())).Handler()}} {
		b.Run(bm.name, func(b *testing.B) {
			r := httptest.NewRequest("GET", "/ready", nil)
			r.Header.Set("Accept", "*/*")
			w := &discard{http.Header{}}
			b.ReportAllocs()
			for b.Loop() {
				bm.h.ServeHTTP(w, r)
			}
		})
	}
}

// BenchmarkProbeAgainstBare compares /ready with a bare handler on the same server, and with
// one on a server without any limits. Short blocks of requests take turns, so that all see
// the same machine. The metrics ready/bare and ready/unlimited are ratios of requests in a
// second of processor time, that of the clients included, which is the same for all: a busy
// machine changes the time of the clock by more than is compared. Each is the median of
// several rounds. One operation is all of them.
func BenchmarkProbeAgainstBare(b *testing.B) {
	const budget, noise = 0.9, 0.06
	addresses := [3]string{serve(b, server.New(live(healthy())).Handler()), serve(b, bare()), serveWith(b, &http.Server{Handler: bare()})}
	for i := range addresses {
		addresses[i] = strings.TrimPrefix(addresses[i], "http://")
	}
	for _, bm := range []struct {
		name  string
		query func(address string) error
	}{{"keep-alive", keepAlive}, {"new connection a request", newConnections}} {
		b.Run(bm.name, func(b *testing.B) {
			var perSecond, toBare, toUnlimited []float64
			for b.Loop() {
				for range rounds {
					used, took := probeRound(b, addresses, bm.query)
					perSecond = append(perSecond, roundBlocks*blockRequests*blockClients/took.Seconds())
					toBare = append(toBare, used[1].Seconds()/used[0].Seconds())
					toUnlimited = append(toUnlimited, used[2].Seconds()/used[0].Seconds())
				}
			}
			if r := median(toBare); r < budget-noise {
				b.Errorf("ready/bare = %.2f, want at least %.1f", r, budget)
			}
			b.ReportMetric(median(toBare), "ready/bare")
			b.ReportMetric(median(toUnlimited), "ready/unlimited")
			b.ReportMetric(median(perSecond), "req/s")
			b.ReportMetric(0, "ns/op")
		})
	}
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

const (
	blockRequests = 25
	blockClients  = 4
	// A round has several collections of garbage, and there are enough rounds for a median
	// that differs little from run to run.
	roundBlocks = 16
	rounds      = 15
)

// probeRound returns the processor time of blocks of requests to each address, and the time
// of the clock of those to the first.
func probeRound(b *testing.B, addresses [3]string, query func(string) error) (used [3]time.Duration, took time.Duration) {
	b.Helper()
	for i := range roundBlocks {
		for j := range addresses { // None may always come first.
			k := (i + j) % len(addresses)
			before, begin := collectortest.CPU(b), time.Now()
			block(b, addresses[k], query)
			used[k] += collectortest.CPU(b) - before
			if k == 0 {
				took += time.Since(begin)
			}
		}
	}
	return used, took
}

// block sends the requests of a block from several clients at once.
func block(b *testing.B, address string, query func(string) error) {
	b.Helper()
	var wg sync.WaitGroup
	for range blockClients {
		wg.Go(func() {
			if err := query(address); err != nil {
				b.Error(err)
			}
		})
	}
	wg.Wait()
}

func keepAlive(address string) error {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer c.Close()
	for range blockRequests {
		if err := exchange(c, "keep-alive"); err != nil {
			return err
		}
	}
	return nil
}

func newConnections(address string) error {
	for range blockRequests {
		c, err := net.Dial("tcp", address)
		if err != nil {
			return err
		}
		if err := exchange(c, "close"); err != nil {
			return err
		}
		if err := c.Close(); err != nil {
			return err
		}
	}
	return nil
}

// exchange sends what a kubelet sends and reads the answer, which fits into one read.
func exchange(c net.Conn, connection string) error {
	const request = "GET /ready HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: kube-probe/1.37\r\nAccept: */*\r\nConnection: "
	if _, err := io.WriteString(c, request+connection+"\r\n\r\n"); err != nil {
		return err
	}
	var answer [2048]byte
	n, err := c.Read(answer[:])
	if err != nil {
		return err
	}
	if !strings.HasPrefix(string(answer[:n]), "HTTP/1.1 200") || !strings.HasSuffix(string(answer[:n]), "ok") {
		return fmt.Errorf("answer = %q", answer[:n])
	}
	return nil
}

// largeSnapshot has n series.
func largeSnapshot(n int) *evaluator.Snapshot {
	snap := healthy()
	batch := evaluator.Batch{Descs: []collectors.Desc{{Name: "x", Help: "Help.", Type: model.MetricTypeGauge}}}
	for i := range n {
		batch.Samples = append(batch.Samples, collectors.Sample{Labels: labels.FromStrings(model.MetricNameLabel, "x", "i", fmt.Sprint(i)), Value: 1})
	}
	snap.Batches = []evaluator.Batch{batch}
	return snap
}

func BenchmarkMetrics(b *testing.B) {
	for _, n := range []int{500, 10_000} {
		b.Run(fmt.Sprintf("%d series", n), func(b *testing.B) {
			snap := largeSnapshot(n)
			b.ReportAllocs()
			for b.Loop() {
				h := server.New(fixed(snap)).Handler() // A new one each time: nothing is rendered yet.
				h.ServeHTTP(&discard{http.Header{}}, httptest.NewRequest("GET", "/metrics", nil))
			}
		})
	}
}

// BenchmarkScrape compares a scrape of a new generation with one that shares its response,
// packed as Prometheus requests it. The metric rendered/shared is the ratio of their times:
// many scrapes at a time cost little more than one.
func BenchmarkScrape(b *testing.B) {
	const least = 20
	generations := [2]*evaluator.Snapshot{largeSnapshot(500), largeSnapshot(500)}
	current := generations[0]
	o := fixed(current)
	o.Snapshot = func() *evaluator.Snapshot { return current }
	h := server.New(o).Handler()
	r := httptest.NewRequest("GET", "/metrics", nil)
	r.Header.Set("Accept-Encoding", "gzip")
	scrape := func() time.Duration {
		start := time.Now()
		h.ServeHTTP(&discard{http.Header{}}, r)
		return time.Since(start)
	}
	var ratios []float64
	for i := 0; b.Loop(); i++ {
		current = generations[i%2]
		rendered := scrape()
		const shared = 20
		var took time.Duration
		for range shared {
			took += scrape()
		}
		ratios = append(ratios, rendered.Seconds()*shared/took.Seconds())
	}
	if ratio := median(ratios); ratio < least {
		b.Errorf("rendered/shared = %.1f, want at least %d", ratio, least)
	}
	b.ReportMetric(median(ratios), "rendered/shared")
	b.ReportMetric(0, "ns/op")
}
