//go:build e2e

package e2e_test

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

const (
	// soakProbers send soakRate probes a second together, and as many requests to a bare
	// server.
	soakProbers, soakRate = 20, 200
	// soakIdle is the number of idle connections.
	soakIdle = 100
	// slowProbe is the latency that one probe in a thousand may exceed. Seconds in which a
	// request to the bare server takes a tenth of that do not count: the machine is busy.
	slowProbe, slowBare = 100 * time.Millisecond, 10 * time.Millisecond
)

// soak is one run.
type soak struct {
	daemon
	t       *testing.T
	clock   *wallClock
	files   *soakFiles
	replay  *replay
	control string
	random  *rand.Rand
	variant int
	idle    atomic.Int64

	// mu guards what follows.
	mu           sync.Mutex
	probes, bare latencies
	excluded     int
	// slow are the probes that took longer than slowProbe, and busy the seconds in which the
	// bare server was slow.
	slow            []request
	busy            map[int64]bool
	errors          []string
	failures        int
	stalledAnswers  int
	actions         map[string]int
	longest, offset time.Duration
	// action is the last disturbance and acted when it began, slowestProbe the probe that took
	// longest.
	action, slowestProbe string
	acted                time.Time
	slowest              time.Duration
}

// TestSoak runs the program for SOAK_TIME (3m) under everything at once: 50 rules over more
// than 1,000 series, dependencies that flap, labels that change, reloads, steps of the clock,
// SIGSTOP, idle connections, and 200 probes a second. It must not grow, its probes must be fast,
// and a replay of its samples must come to the same verdicts. SOAK_SEED repeats a run's choices.
func TestSoak(t *testing.T) {
	t.Parallel()
	length, err := time.ParseDuration(cmp.Or(os.Getenv("SOAK_TIME"), "3m"))
	if err != nil {
		t.Fatal(err)
	}
	seed, err := strconv.ParseUint(cmp.Or(os.Getenv("SOAK_SEED"), fmt.Sprint(time.Now().UnixNano())), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("seed %d, %s", seed, length)
	s, load := newSoak(t, seed)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var wg sync.WaitGroup
	for _, run := range load {
		wg.Go(func() { run(ctx) })
	}
	end := time.After(length)
	progress := time.NewTicker(30 * time.Second)
	defer progress.Stop()
	for begin := time.Now(); ctx.Err() == nil; {
		select {
		case <-progress.C:
			t.Log(s.progress(time.Since(begin)))
		case <-end:
			cancel()
		}
	}
	wg.Wait()
	s.report(min(length/4, 3*time.Minute))
}

// newSoak starts everything. What it returns is to run at the same time.
func newSoak(t *testing.T, seed uint64) (*soak, []func(context.Context)) {
	t.Helper()
	number := uint64(0)
	random := func() *rand.Rand { number++; return rand.New(rand.NewPCG(seed, number)) }
	s := &soak{t: t, random: random(), actions: map[string]int{}, busy: map[int64]bool{}}
	var load []func(context.Context)
	var deps []*dependency
	for i := range soakDependencies {
		d, r := newDependency(t, i), random()
		deps = append(deps, d)
		load = append(load, func(ctx context.Context) { d.flap(ctx, r) })
	}
	var targets []*scrapeTarget
	for i := range soakTargets {
		targets = append(targets, newScrapeTarget(t, i, random()))
	}
	control := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") }))
	t.Cleanup(control.Close)
	s.control = control.URL
	s.files = newSoakFiles(t, deps, targets)
	s.replay = newReplay(s.files.rules, deps)
	s.start()
	for i := range soakProbers {
		load = append(load, func(ctx context.Context) { s.probe(ctx, i) })
	}
	return s, append(load, s.record, s.disturb, func(ctx context.Context) {
		holdIdle(ctx, strings.TrimPrefix(s.url, "http://"), soakIdle, &s.idle)
	})
}

// start runs the program, with a clock that can be stepped.
func (s *soak) start() {
	listen := address(s.t)
	p := &program{url: "http://" + listen, log: filepath.Join(logDirectory(s.t), "soak.log"), cmd: exec.Command(os.Getenv("VITALS_BIN"), "run",
		"--config.file="+s.files.config, "--web.listen-address="+listen, "--web.unix-socket=", "--web.shutdown-delay=0s", "--web.enable-lifecycle")}
	log, err := os.Create(p.log)
	if err != nil {
		s.t.Fatal(err)
	}
	defer log.Close()
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if s.clock, err = startWithClock(p.cmd); err != nil {
		s.t.Fatal(err)
	}
	s.daemon = daemon{p}
	s.t.Cleanup(func() { p.stop(s.t) })
	await(s.t, "vitals has started", time.Minute, func() error { return s.want("/started", http.StatusOK) })
}

// fail keeps the first few failures.
func (s *soak) fail(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures++
	if len(s.errors) < 10 {
		s.errors = append(s.errors, fmt.Sprintf(format, args...))
	}
}

// record reads each generation.
func (s *soak) record(ctx context.Context) {
	last := ""
	for ctx.Err() == nil {
		if _, _, err := s.fetch(ctx, http.MethodHead, s.url+"/api/v1/status?wait="+last); err != nil && ctx.Err() == nil {
			s.fail("wait for a generation: %v", err)
		}
		body, header, err := s.fetch(ctx, http.MethodGet, s.url+"/metrics")
		if err != nil {
			if ctx.Err() == nil {
				s.fail("GET /metrics: %v", err)
			}
			continue
		}
		received := time.Now()
		m, err := parseExposition(body)
		generation, number := strconv.ParseUint(header.Get("X-Vitals-Generation"), 10, 64)
		if err != nil || number != nil {
			s.fail("GET /metrics: %v, generation: %v", err, number)
			continue
		}
		last = header.Get("X-Vitals-Generation")
		s.replay.take(generation, m, received)
	}
}

// fetch returns the body and the header of an answer with the status 200.
func (s *soak) fetch(ctx context.Context, method, url string) (string, http.Header, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		return "", nil, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d: %.200s", res.StatusCode, body)
	}
	return string(body), res.Header, err
}

// progress is one line about the run so far.
func (s *soak) progress(after time.Duration) string {
	s.mu.Lock()
	probes, p999, failures := len(s.probes), s.probes.quantile(0.999), s.failures
	s.mu.Unlock()
	s.replay.mu.Lock()
	defer s.replay.mu.Unlock()
	r := s.replay
	for _, line := range r.problems[r.printed:] {
		s.t.Log(line)
	}
	r.printed = len(r.problems)
	return fmt.Sprintf("%5s  %d probes, p99.9 %s; generation %d, %d statuses replayed, %d contradictions, %d failures; %.0f goroutines, %.0f descriptors",
		after.Round(time.Second), probes, p999.Round(time.Millisecond/10), r.last, r.judged, r.contradictions, failures,
		r.latest["go_goroutines"], r.latest["process_open_fds"])
}

// report prints the table and compares it with what is promised.
func (s *soak) report(warmUp time.Duration) {
	compared, unknown := s.replay.finish()
	r, p999, bare := s.replay, s.probes.quantile(0.999), s.bare.quantile(0.999)
	slow := s.slowWithoutCause()
	table, grown := growth(r.usage, warmUp)
	table = append(table,
		fmt.Sprintf("%-16s %9s p50 %9s p99.9 %9s max; %d, and %d while it was stopped", "probes", s.probes.quantile(0.5).Round(time.Microsecond), p999.Round(time.Microsecond), s.probes.quantile(1).Round(time.Microsecond), len(s.probes), s.excluded),
		fmt.Sprintf("%-16s %d over %s, %d of them while the bare server was fast; it was slow in %d seconds", "slow probes", len(s.slow), slowProbe, len(slow), len(s.busy)),
		fmt.Sprintf("%-16s %s", "slowest probe", s.slowestProbe),
		fmt.Sprintf("%-16s %9s p50 %9s p99.9 %9s max; %d", "bare server", s.bare.quantile(0.5).Round(time.Microsecond), bare.Round(time.Microsecond), s.bare.quantile(1).Round(time.Microsecond), len(s.bare)),
		fmt.Sprintf("%-16s %d recorded, %d missed; ready failed in %d, alive in %d", "generations", r.recorded, r.missed, r.failed["ready"], r.failed["alive"]),
		fmt.Sprintf("%-16s %d statuses judged, %d not; %d answers of probes judged, %d not; %d stalled; %d measurements of dependencies; %d contradictions", "replay", r.judged, r.unjudged, compared, unknown, s.stalledAnswers, r.measured, r.contradictions),
		fmt.Sprintf("%-16s %v; stopped for at most %s; %d idle connections opened", "disturbances", s.actions, s.longest, s.idle.Load()),
		fmt.Sprintf("%-16s %d bytes, %d steps of the clock", "log", len(read(s.t, s.log)), strings.Count(read(s.t, s.log), "the clock stepped")))
	s.t.Logf("\n%s", strings.Join(table, "\n"))
	for _, line := range grown {
		s.t.Errorf("grown: %s", line)
	}
	for _, line := range append(s.errors, r.problems...) {
		s.t.Error(line)
	}
	if len(slow)*1000 > len(s.probes) {
		s.t.Errorf("%d of %d probes took longer than %s, want at most one in a thousand", len(slow), len(s.probes), slowProbe)
	}
	if r.unjudged > r.judged || unknown > compared || compared == 0 {
		s.t.Error("too much was not judged: the replay has become weak")
	}
	if r.failed["ready"] == 0 || r.failed["ready"] == r.recorded || r.failed["alive"] == r.recorded {
		s.t.Error("a state never changed: the soak has become weak")
	}
	if text := read(s.t, s.log); strings.Contains(text, "panic") {
		s.t.Errorf("the log has a panic:\n%s", text)
	}
}

// disturb does one of the disturbances at random times.
func (s *soak) disturb(ctx context.Context) {
	for pauseFor(ctx, time.Duration(3+s.random.IntN(5))*time.Second) {
		name, act := s.disturbance()
		s.mu.Lock()
		s.actions[name]++
		s.action, s.acted = name, time.Now()
		s.mu.Unlock()
		if err := act(ctx); err != nil && ctx.Err() == nil {
			s.fail("%s: %v", name, err)
		}
	}
}

func (s *soak) disturbance() (string, func(context.Context) error) {
	switch s.random.IntN(5) {
	case 0:
		return "clock step", s.stepClock
	case 1:
		return "SIGSTOP", s.stopAndContinue
	case 2:
		return "reload", s.reloadGood
	case 3:
		return "bad reload", s.reloadBad
	}
	return "SIGHUP", s.hangUp
}

// stepClock sets the clock of the process to an hour, a month or a few seconds from the host's.
func (s *soak) stepClock(context.Context) error {
	s.offset = pick(s.random, -time.Hour, time.Hour, -10*time.Second, 10*time.Second, -720*time.Hour, 720*time.Hour, 0)
	s.replay.stepped(s.offset)
	return s.clock.set(s.offset)
}

// stopAndContinue stops the process for up to eight seconds: longer than a snapshot may be old.
func (s *soak) stopAndContinue(context.Context) error {
	d := time.Duration(500+s.random.IntN(7500)) * time.Millisecond
	s.longest = max(s.longest, d)
	from := time.Now()
	s.replay.stopped(from, from.Add(time.Hour))
	if err := s.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	pauseFor(context.Background(), d) // to its end, or the process stays stopped
	err := s.cmd.Process.Signal(syscall.SIGCONT)
	s.replay.continued(time.Now())
	return err
}
