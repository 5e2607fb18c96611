//go:build e2e

package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// stopGrace is the time after a stop in which answers may be late or report the stall.
const stopGrace = 2 * time.Second

// probe sends its share of the probes, each tenth on a new connection.
func (s *soak) probe(ctx context.Context, number int) {
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 2}}
	defer client.CloseIdleConnections()
	if !pauseFor(ctx, time.Duration(number)*time.Second/soakRate) {
		return
	}
	tick := time.NewTicker(time.Second * soakProbers / soakRate)
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		s.probeOnce(client, i)
		s.probeBare(client)
	}
}

// request is one answer and how long it took.
type request struct {
	status   int
	body     string
	header   http.Header
	from, to time.Time
}

func send(client *http.Client, url string, fresh bool) (request, error) {
	req, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return request{}, err
	}
	req.Close = fresh
	from := time.Now()
	res, err := client.Do(req)
	if err != nil {
		return request{}, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return request{res.StatusCode, string(body), res.Header, from, time.Now()}, err
}

func (s *soak) probeOnce(client *http.Client, i int) {
	path := [...]string{"/ready", "/alive", "/readyz?verbose", "/livez"}[i%4]
	begin := time.Now()
	got, err := send(client, s.url+path, i%10 == 0)
	// Beside idle connections, one of the same address is kept for 50 ms without a byte. A busy
	// machine may need longer, which is judged as a slow probe is.
	if took := time.Since(begin); lostConnection(err) && took > attackPatience {
		s.mu.Lock()
		s.noteSlow(request{from: begin, to: begin.Add(max(took, slowProbe+1))}, path)
		s.mu.Unlock()
		return
	}
	if err != nil {
		s.fail("GET %s: %v", path, err)
		return
	}
	stopped := s.replay.whileStopped(got.from, got.to, stopGrace)
	s.mu.Lock()
	if stopped {
		s.excluded++
	} else {
		s.probes = append(s.probes, got.to.Sub(got.from))
		s.noteSlow(got, path)
	}
	s.mu.Unlock()
	if strings.Contains(got.body, "evaluator stalled") {
		s.stalled(path, stopped)
		return
	}
	generation, err := strconv.ParseUint(got.header.Get("X-Vitals-Generation"), 10, 64)
	if err != nil {
		s.fail("GET %s = %d %q: %v", path, got.status, got.body, err)
		return
	}
	s.replay.probed(answer{generation, i%2 == 1, got.status})
}

// lostConnection reports whether the server has closed the connection of a request, in each of the
// moments at which it may: net/http has no error to compare for the last one.
func lostConnection(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, io.EOF) ||
		err != nil && strings.Contains(err.Error(), "server closed idle connection")
}

// noteSlow keeps a slow probe, and what was done before the slowest. mu is held.
func (s *soak) noteSlow(got request, path string) {
	took := got.to.Sub(got.from)
	if took > slowProbe {
		s.slow = append(s.slow, got)
	}
	if took > s.slowest {
		s.slowest = took
		s.slowestProbe = fmt.Sprintf("GET %s at %s, %s after %s", path, got.from.Format("15:04:05.000"), got.from.Sub(s.acted).Round(time.Millisecond), s.action)
	}
}

// slowWithoutCause returns the slow probes during which the bare server was fast.
func (s *soak) slowWithoutCause() []request {
	return slices.DeleteFunc(slices.Clone(s.slow), func(r request) bool {
		for second := r.from.Unix() - 1; second <= r.to.Unix()+1; second++ {
			if s.busy[second] {
				return true
			}
		}
		return false
	})
}

// stalled counts an answer of a process that has just been stopped; any other is a failure.
func (s *soak) stalled(path string, stopped bool) {
	if !stopped || strings.Contains(path, "live") || strings.Contains(path, "alive") {
		s.fail("GET %s: evaluator stalled, while it was stopped: %t", path, stopped)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stalledAnswers++
}

func (s *soak) probeBare(client *http.Client) {
	got, err := send(client, s.control, false)
	if err != nil {
		s.fail("the bare server: %v", err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bare = append(s.bare, got.to.Sub(got.from))
	if got.to.Sub(got.from) > slowBare {
		s.replay.slowed(got.to)
		for second := got.from.Unix(); second <= got.to.Unix(); second++ {
			s.busy[second] = true
		}
	}
}

// continued ends the stop that began last.
func (r *replay) continued(at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stops[len(r.stops)-1].to = at
}

// reload posts a reload and compares the status.
func (s *soak) reload(ctx context.Context, want int) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/-/reload", nil)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != want {
		err = fmt.Errorf("POST /-/reload = %d %.300s, want %d", res.StatusCode, body, want)
	}
	return err
}

// reloadGood loads another variant of the rules.
func (s *soak) reloadGood(ctx context.Context) error {
	s.variant = pick(s.random, 0, 0, 7, 11, 13)
	s.files.write(s.t, s.variant)
	if err := s.reload(ctx, http.StatusOK); err != nil {
		return err
	}
	return s.loaded(ctx)
}

// reloadBad has a mistake refused, which must change nothing, and corrects it.
func (s *soak) reloadBad(ctx context.Context) error {
	s.files.spoil(s.t)
	err := s.reload(ctx, http.StatusInternalServerError)
	if err == nil {
		err = s.loaded(ctx)
	}
	s.files.write(s.t, s.variant)
	return errors.Join(err, s.reload(ctx, http.StatusOK))
}

// hangUp loads another variant of the rules by SIGHUP.
func (s *soak) hangUp(ctx context.Context) error {
	s.variant = pick(s.random, 0, 0, 7, 11, 13)
	s.files.write(s.t, s.variant)
	if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		return err
	}
	return s.loaded(ctx)
}

// loaded waits until exactly the rules of the variant have a status.
func (s *soak) loaded(ctx context.Context) error {
	var want, got []string
	for i, r := range s.files.rules {
		if !s.files.lacks(i, s.variant) {
			want = append(want, r.name)
		}
	}
	slices.Sort(want)
	for range 100 {
		s.replay.mu.Lock()
		got = names(statuses(s.replay.latest))
		s.replay.mu.Unlock()
		if slices.Equal(got, want) {
			return nil
		}
		if !pauseFor(ctx, pollEvery) {
			return ctx.Err()
		}
	}
	return fmt.Errorf("%d rules have a status, want %d of the variant %d", len(got), len(want), s.variant)
}
