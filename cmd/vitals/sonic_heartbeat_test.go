//go:build !race

package main

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/components"
	"github.com/vitals-health/vitals/evaluator"
)

// heartbeats is a container without faults other than missing heartbeats, with the intervals
// of the profile. Use it in a synctest bubble.
type heartbeats struct {
	parts *components.Collector
	eval  *evaluator.Evaluator
	// supervisord reports on orchagent; an empty state is none.
	supervisord *programStatus
	// again reloads with a collector that has no heartbeat yet, as with another
	// file of programs.
	again func(*testing.T)
}

// programStatus is a collector that reports on one program: in which state it is, and since when
// it runs. In the state "out", supervisord does not answer.
type programStatus struct {
	mu    sync.Mutex
	state string
	since time.Time
}

// become changes the state now.
func (o *programStatus) become(state string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.state, o.since = state, time.Now()
}

// Collect implements collectors.Collector.
func (o *programStatus) Collect(context.Context) ([]collectors.Sample, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.state == "" {
		return nil, nil
	}
	sample := func(name string, value float64, more ...string) collectors.Sample {
		return collectors.Sample{Labels: labels.FromStrings(append(more, model.MetricNameLabel, name, "supervisor", "supervisor", "group", "swss", "program", "orchagent")...), Value: value}
	}
	up := collectors.Sample{Labels: labels.FromStrings(model.MetricNameLabel, "vitals_supervisor_up", "supervisor", "supervisor")}
	if o.state == "out" {
		return []collectors.Sample{up}, nil
	}
	up.Value = 1
	running := o.state == "running"
	samples := []collectors.Sample{up, sample("vitals_supervisor_process_state", map[bool]float64{true: 1}[running], "state", "running")}
	if running {
		samples = append(samples, sample("vitals_supervisor_process_uptime_seconds", time.Since(o.since).Seconds()))
	}
	return samples, nil
}

// Describe implements collectors.Collector.
func (o *programStatus) Describe() []collectors.Desc { return nil }

// beat is a heartbeat of a program.
func (h *heartbeats) beat(t *testing.T, program string) {
	t.Helper()
	if err := h.parts.Report(program, collectors.Report{Alive: new(true)}); err != nil {
		t.Fatal(err)
	}
}

// aliveVerdict returns the verdict of alive, and the summary of the rule that decides.
func (h *heartbeats) aliveVerdict() string {
	time.Sleep(maxReportLatency)
	s := h.eval.Snapshot()
	st, _ := s.State(evaluator.Alive, time.Now())
	text := st.Verdict.String()
	for _, i := range st.Deciding {
		text += fmt.Sprintf(" %s: %s", s.Rules[i].Name, s.Rules[i].Summary)
	}
	return text
}

// playHeartbeats runs the profile with a file of programs with heartbeats.
func playHeartbeats(t *testing.T, set map[string]string, play func(*testing.T, *heartbeats)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "watchdog_processes")
	writeFile(t, path, "\nprogram:orchagent\n")
	p := &program{profile: "sonic", set: map[string]string{"watchdog_processes": path}}
	for name, value := range set {
		p.set[name] = value
	}
	l, errs := p.load()
	if len(errs) > 0 {
		t.Fatalf("load() = %v, want no mistakes", errs)
	}
	synctest.Test(t, func(t *testing.T) {
		h := &heartbeats{supervisord: &programStatus{}}
		supervisord := evaluator.Source{Name: "supervisor", Interval: time.Second, Timeout: time.Second, Collector: h.supervisord}
		fresh := func(t *testing.T) evaluator.Config {
			t.Helper()
			config := collectorNamed(l, "heartbeats")
			c, err := config.Components.New(collectors.Env{Name: config.Name, Logger: discard()})
			if err != nil {
				t.Fatal(err)
			}
			h.parts, _ = c.(*components.Collector)
			source := evaluator.Source{Name: config.Name, Interval: time.Duration(config.Interval), Timeout: time.Duration(config.Timeout), Collector: c}
			return evaluator.Config{Files: l.Rules, Sources: []evaluator.Source{source, supervisord}}
		}
		eval, err := evaluator.New(fresh(t), evaluator.Options{Logger: discard()})
		if err != nil {
			t.Fatal(err)
		}
		h.eval = eval
		h.again = func(t *testing.T) {
			t.Helper()
			if err := eval.Apply(fresh(t)); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		var ended sync.WaitGroup
		ended.Go(func() { eval.Run(ctx) })
		play(t, h)
		cancel()
		ended.Wait()
	})
}

const (
	stuck     = "fail HeartbeatLost: The program orchagent is stuck, its last heartbeat came "
	neverBeat = "fail HeartbeatNeverSeen: The program orchagent has not sent any heartbeat."
)

// The maximum time between two heartbeats of a program is --set heartbeat.
func TestSonicHeartbeats(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		set    map[string]string
		silent time.Duration
		want   string
	}{
		{"E60 silent for 59 s", nil, 59 * time.Second, "pass"},
		{"E60 silent for 61 s", nil, 61 * time.Second, stuck},
		{"E60 silent for ten minutes", nil, 10 * time.Minute, stuck},
		{"E60 silent for 11 s of 10", map[string]string{"heartbeat": "10s"}, 11 * time.Second, stuck},
		{"E62 silent for ten minutes, with heartbeat=0", map[string]string{"heartbeat": "0"}, 10 * time.Minute, "pass"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			playHeartbeats(t, tt.set, func(t *testing.T, h *heartbeats) {
				h.beat(t, "orchagent")
				time.Sleep(tt.silent)
				if got := h.aliveVerdict(); !strings.HasPrefix(got, tt.want) {
					t.Errorf("alive is %q, want %q", got, tt.want)
				}
				h.beat(t, "orchagent")
				if got := h.aliveVerdict(); got != "pass" {
					t.Errorf("alive is %q after a heartbeat, want pass", got)
				}
			})
		})
	}
}

// A program that never sent a heartbeat has two minutes; SONiC never notices it.
func TestSonicHeartbeatNeverSeen(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		set  map[string]string
		late string
	}{
		"E61 never seen":                   {nil, neverBeat},
		"E62 never seen, with heartbeat=0": {map[string]string{"heartbeat": "0"}, "pass"},
	} {
		t.Run(name, func(t *testing.T) {
			playHeartbeats(t, tt.set, func(t *testing.T, h *heartbeats) {
				time.Sleep(time.Minute + 55*time.Second)
				if got := h.aliveVerdict(); got != "pass" {
					t.Errorf("alive is %q before two minutes are over, want pass", got)
				}
				time.Sleep(15 * time.Second)
				if got := h.aliveVerdict(); got != tt.late {
					t.Errorf("alive is %q after two minutes, want %q", got, tt.late)
				}
				h.beat(t, "orchagent")
				if got := h.aliveVerdict(); got != "pass" {
					t.Errorf("alive is %q after a heartbeat, want pass", got)
				}
			})
		})
	}
}

// A reload with other programs begins anew: earlier heartbeats do not count, and
// each has its two minutes again.
func TestSonicHeartbeatsAfterReload(t *testing.T) {
	t.Parallel()
	playHeartbeats(t, nil, func(t *testing.T, h *heartbeats) {
		for range 20 {
			h.beat(t, "orchagent")
			time.Sleep(10 * time.Second)
		}
		h.again(t)
		for _, wait := range []time.Duration{0, 10 * time.Second, time.Minute, 45 * time.Second} {
			time.Sleep(wait)
			if got := h.aliveVerdict(); got != "pass" {
				t.Errorf("alive is %q %s later, want pass", got, wait)
			}
		}
		time.Sleep(15 * time.Second)
		if got := h.aliveVerdict(); got != neverBeat {
			t.Errorf("alive is %q two minutes after the reload, want %q", got, neverBeat)
		}
	})
}

// A program that does not run is not stuck, and one that has only just been started has
// two minutes: a restart of the container would cure neither.
func TestSonicHeartbeatsOfWhatRuns(t *testing.T) {
	t.Parallel()
	for name, beats := range map[string]bool{"lost": true, "never seen": false} {
		t.Run(name, func(t *testing.T) {
			want := neverBeat
			if beats {
				want = stuck
			}
			playHeartbeats(t, nil, func(t *testing.T, h *heartbeats) {
				become := func(state, want string) {
					t.Helper()
					h.supervisord.become(state)
					time.Sleep(5 * time.Second)
					if got := h.aliveVerdict(); !strings.HasPrefix(got, want) {
						t.Errorf("alive is %q where orchagent is %s, want %q", got, state, want)
					}
				}
				if beats {
					h.beat(t, "orchagent")
				}
				become("stopped", "pass")
				time.Sleep(10 * time.Minute)
				become("stopped", "pass")
				become("running", "pass")
				time.Sleep(time.Minute + 50*time.Second)
				if got := h.aliveVerdict(); got != "pass" {
					t.Errorf("alive is %q before two minutes are over, want pass", got)
				}
				time.Sleep(10 * time.Second)
				if got := h.aliveVerdict(); !strings.HasPrefix(got, want) {
					t.Errorf("alive is %q two minutes after a start, want %q", got, want)
				}
				become("exited", "pass")
				become("out", "pass")
				time.Sleep(10 * time.Minute)
				become("out", "pass")
				h.supervisord.become("")
				time.Sleep(50 * time.Second)
				if got := h.aliveVerdict(); got != "pass" {
					t.Errorf("alive is %q before supervisord has answered for a minute, want pass", got)
				}
				time.Sleep(10 * time.Second)
				become("", want) // without a report that it does not run, it counts as running
			})
		})
	}
}

// A program without expected heartbeats may send one, and end.
func TestSonicHeartbeatsOfOthers(t *testing.T) {
	t.Parallel()
	for _, restart := range []string{"enabled", "disabled"} {
		playHeartbeats(t, map[string]string{"auto_restart": restart}, func(t *testing.T, h *heartbeats) {
			h.beat(t, "start")
			for range 20 {
				h.beat(t, "orchagent")
				time.Sleep(10 * time.Second)
			}
			s := h.eval.Snapshot()
			for _, state := range []string{evaluator.Alive, evaluator.Ready} {
				st, _ := s.State(state, time.Now())
				for _, i := range st.Deciding {
					if strings.HasPrefix(s.Rules[i].Name, "Heartbeat") {
						t.Errorf("%s fails with auto_restart=%s: %s, want no heartbeat missed", state, restart, s.Rules[i].Summary)
					}
				}
			}
		})
	}
}

// beat is a heartbeat of a program that the listener passes on.
func (l *sonicLab) beat(t *testing.T, program string) {
	t.Helper()
	if code, text := request(t, overSocket(l.socket), http.MethodPut, "http://vitals/api/v1/components/"+program, `{"alive": true}`); code != http.StatusNoContent {
		t.Fatalf("PUT = %d %s, want 204", code, text)
	}
}

// supervisord reports whether a program that has heartbeats and is not critical runs. A
// program that supervisord does not list is not critical.
func TestSonicHeartbeatsOfWhatIsNotCritical(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "watchdog"), "program:rsyslogd\nprogram:missing\n")
	l := startSonicLab(t, map[string]string{"watchdog_processes": filepath.Join(dir, "watchdog"), "heartbeat": "1s"})
	for name, want := range map[string]float64{"rsyslogd": 1, "missing": 0} {
		soon(t, func() string {
			if got, ok := l.sample("vitals_supervisor_process_present", "program", name); !ok || got != want {
				return fmt.Sprintf("program %s is present: %v, %t, want %v", name, got, ok, want)
			}
			return ""
		})
	}
	l.await(t, "ready", sonicVerdict{})
	if wrong := (sonicVerdict{}).differs(l.alone("ready")); wrong != "" {
		t.Error("one evaluation: " + wrong)
	}
	l.beat(t, "rsyslogd")
	l.await(t, "alive", sonicVerdict{113, "HeartbeatLost", []string{"rsyslogd is stuck"}})
	l.supervisord.set(managed{"rsyslogd", "rsyslogd", stStopped, 0, ""})
	l.await(t, "alive", sonicVerdict{})
}

// A heartbeat is a report on the socket, and its age a number. One evaluation without a daemon
// receives no heartbeats, and does not report them as missing.
func TestSonicHeartbeatsOnTheSocket(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "watchdog"), "program:orchagent\n")
	l := startSonicLab(t, map[string]string{"watchdog_processes": filepath.Join(dir, "watchdog"), "heartbeat": "1s"})
	l.await(t, "alive", sonicVerdict{})
	t.Run("E60 the last heartbeat was too long ago", func(t *testing.T) {
		l.beat(t, "orchagent")
		l.await(t, "alive", sonicVerdict{113, "HeartbeatLost", []string{"orchagent is stuck"}})
		if v, ok := l.sample("vitals_component_last_report_timestamp_seconds", "component", "orchagent"); !ok || time.Since(time.UnixMicro(int64(v*1e6))) > labPatience {
			t.Errorf("the last report was at %v, %t, want it known", v, ok)
		}
		if wrong := (sonicVerdict{}).differs(l.alone("alive")); wrong != "" {
			t.Error("one evaluation: " + wrong)
		}
		soon(t, func() string {
			l.beat(t, "orchagent") // each lasts for a second
			return sonicVerdict{}.differs(l.probe("alive"))
		})
	})
}
