//go:build e2e

package e2e_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const (
	// soakDependencies are servers that flap, each with a rule about it.
	soakDependencies = 20
	// soakTargets export soakSeries series each, of which soakChurn have labels that change with
	// every scrape.
	soakTargets = 5
	soakSeries  = 200
	soakChurn   = 20
	// soakShards is the number of groups in which each target has its queues.
	soakShards = 5
	// queueLimit is the sum over a shard's queues above which a rule fails, and queueTop the
	// greatest length of one queue.
	queueLimit, queueTop = 180, 11
)

// The ways in which a dependency behaves.
const (
	works int32 = iota
	refusesWork
	hangs
	resets
)

// dependency is a server that flaps.
type dependency struct {
	name string
	mode atomic.Int32
	// since is when its health changed, in nanoseconds since the epoch.
	since  atomic.Int64
	server *httptest.Server
}

func newDependency(t *testing.T, i int) *dependency {
	d := &dependency{name: fmt.Sprintf("d%02d", i)}
	d.since.Store(time.Now().UnixNano())
	d.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch d.mode.Load() {
		case works:
			_, _ = io.WriteString(w, "ok")
		case refusesWork:
			http.Error(w, "out of order", http.StatusInternalServerError)
		case hangs:
			<-r.Context().Done()
		case resets:
			panic(http.ErrAbortHandler)
		}
	}))
	t.Cleanup(d.server.Close)
	return d
}

// flap changes the dependency at random times. A third of the times are shorter than an interval.
func (d *dependency) flap(ctx context.Context, r *rand.Rand) {
	for {
		pause := time.Duration(2+r.IntN(18)) * time.Second
		if r.IntN(3) == 0 {
			pause = time.Duration(100+r.IntN(900)) * time.Millisecond
		}
		if !pauseFor(ctx, pause) {
			return
		}
		mode := works
		if r.IntN(6) == 0 {
			mode = 1 + r.Int32N(resets)
		}
		if before := d.mode.Swap(mode); (before == works) != (mode == works) {
			d.since.Store(time.Now().UnixNano())
		}
	}
}

// pauseFor waits, and reports whether the context goes on.
func pauseFor(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// scrapeTarget exports queues whose lengths change, series whose labels change, and a component
// that fails now and then. At times it does not answer.
type scrapeTarget struct {
	number int
	// mu guards what follows.
	mu      sync.Mutex
	random  *rand.Rand
	scrapes int
	// high is the shard whose queues are long, silent and dead how many scrapes do not answer
	// and have the component fail.
	high, silent, dead int
	server             *httptest.Server
}

func newScrapeTarget(t *testing.T, i int, r *rand.Rand) *scrapeTarget {
	s := &scrapeTarget{number: i, random: r, high: -1}
	s.server = httptest.NewServer(s)
	t.Cleanup(s.server.Close)
	return s
}

func (s *scrapeTarget) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scrapes++
	s.change()
	if s.silent > 0 {
		http.Error(w, "busy", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	alive := 1
	if s.dead > 0 {
		alive = 0
	}
	_, _ = fmt.Fprintf(w, "soak_component_up{target=\"t%d\"} %d\n", s.number, alive)
	for i := range soakSeries - soakChurn - 1 {
		shard := i % soakShards
		length := s.random.IntN(queueTop / 2)
		if shard == s.high {
			length = queueTop/2 + s.random.IntN(queueTop/2+1)
		}
		_, _ = fmt.Fprintf(w, "soak_queue{target=\"t%d\",shard=\"%d\",queue=\"%d\"} %d\n", s.number, shard, i, length)
	}
	for i := range soakChurn {
		_, _ = fmt.Fprintf(w, "soak_request{target=\"t%d\",id=\"%d\"} 1\n", s.number, s.scrapes*soakChurn+i)
	}
}

// change draws what is different from the next scrape on.
func (s *scrapeTarget) change() {
	s.silent, s.dead = max(0, s.silent-1), max(0, s.dead-1)
	switch s.random.IntN(60) {
	case 0, 1, 2, 3, 4:
		s.high = s.random.IntN(soakShards+2) - 2
	case 5, 6:
		s.silent = 1 + s.random.IntN(2)
	case 7:
		s.dead = 1 + s.random.IntN(5)
	}
}

// holdIdle keeps connections open that send nothing, or one request and then nothing, and opens
// each again when the server closes it.
func holdIdle(ctx context.Context, address string, connections int, opened *atomic.Int64) {
	var wg sync.WaitGroup
	for i := range connections {
		wg.Go(func() {
			for ctx.Err() == nil {
				opened.Add(1)
				idleOnce(ctx, address, i%2 == 0)
				if !pauseFor(ctx, time.Second) {
					return
				}
			}
		})
	}
	wg.Wait()
}

func idleOnce(ctx context.Context, address string, request bool) {
	conn, err := (&net.Dialer{Timeout: 10 * time.Second}).DialContext(ctx, "tcp", address)
	if err != nil {
		return
	}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	defer conn.Close()
	text := "GET /alive HTTP/1.1\r\n" // a header that never ends
	if request {
		text += "Host: soak\r\n\r\n"
	}
	if _, err := io.WriteString(conn, text); err == nil {
		_, _ = io.Copy(io.Discard, conn)
	}
}
