package history

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/vitals-health/vitals/evaluator"
)

// A reload that adds a collector: until that has run, each state has one strip and one line.
func TestReloadWithANewCollector(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		s.set(evaluator.Failing)
		added := evaluator.CollectorStatus{Name: "nova"}
		s.change = func(snap *evaluator.Snapshot) { snap.Collectors = append(snap.Collectors, added) }
		subjects := func() (all []string) {
			for _, strip := range s.history.Strips(time.Hour, time.Now()).Strips {
				all = append(all, string(strip.Kind)+" "+strip.Name)
			}
			return all
		}
		s.pass(2 * time.Second)
		equal(t, []string{"state ready", "rule KeystoneDown", "collector keystone"}, subjects())
		added.Ran, added.Success = true, true
		s.pass(time.Second)
		equal(t, []string{"state ready", "rule KeystoneDown", "collector keystone", "collector nova"}, subjects())
		added.Ran = false
		s.pass(time.Second)
		equal(t, 1, strings.Count(s.history.End(time.Now()), "ready failing"))
	})
}

// scene makes snapshots of one state, one rule and one collector, a second apart.
type scene struct {
	history    *History
	generation uint64
	status     evaluator.Status
	change     func(*evaluator.Snapshot)
}

func newScene() *scene { return &scene{history: New(time.Now()), status: evaluator.OK} }

// pass lets a time pass with a snapshot each second.
func (s *scene) pass(d time.Duration) {
	for range d / time.Second {
		time.Sleep(time.Second)
		s.observe()
	}
}

func (s *scene) observe() {
	s.generation++
	snap := snapshot(s.generation, s.status)
	if s.change != nil {
		s.change(snap)
	}
	s.history.Observe(snap)
}

// set observes a snapshot in which the rule has a status.
func (s *scene) set(status evaluator.Status) {
	s.status = status
	s.pass(time.Second)
}

func snapshot(generation uint64, status evaluator.Status) *evaluator.Snapshot {
	now := time.Now()
	s := &evaluator.Snapshot{
		Generation: generation, At: now, MaxAge: 5 * time.Second,
		States:     []evaluator.State{{Name: "ready", Verdict: evaluator.Pass}},
		Collectors: []evaluator.CollectorStatus{{Name: "keystone", Ran: true, Success: true, LastSuccess: now.Add(-time.Second)}},
		Rules:      []evaluator.Rule{{Name: "KeystoneDown", Group: "g", State: "ready", Expr: "up == 0", Status: status}},
	}
	if status == evaluator.Failing {
		value := 0.0
		s.Rules[0].Observed, s.Rules[0].Limit = &value, &evaluator.Limit{Op: "==", Value: 0}
		s.Rules[0].Collectors = []string{"keystone"}
		s.Rules[0].Alerts = []evaluator.Alert{{Labels: labels.FromStrings("dependency", "keystone")}}
		s.States[0].Verdict, s.States[0].Deciding = evaluator.Fail, []int{0}
		s.Collectors[0].Success, s.Collectors[0].Error = false, "timeout"
	}
	return s
}

// lines returns the events as text.
func lines(events []*Event) []string {
	var all []string
	for _, e := range events {
		all = append(all, strings.TrimSpace(fmt.Sprintf("%s %s %s->%s %gs x%d %s", e.Kind, e.Name, e.From, e.To, e.LastedSeconds, e.Changes, e.Reason)))
	}
	return all
}

func TestChangesAreEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		s.pass(10 * time.Second)
		s.set(evaluator.Failing)
		s.pass(4 * time.Second)
		s.set(evaluator.OK)
		events, complete := s.history.Events(Query{})
		equal(t, true, complete)
		equal(t, []string{
			"process vitals ->ok 0s x0 started",
			"collector keystone ok->failing 10s x0 timeout",
			"rule KeystoneDown ok->failing 10s x0",
			"state ready ok->failing 10s x0",
			"collector keystone failing->ok 5s x0",
			"rule KeystoneDown failing->ok 5s x0",
			"state ready failing->ok 5s x0",
		}, lines(events))
		for i, e := range events[1:] {
			equal(t, events[i].ID+1, e.ID)
		}
		body, err := json.Marshal(events[3])
		if err != nil {
			t.Fatal(err)
		}
		sameJSON(t, `{
			"id": 946684800000004, "at": "2000-01-01T00:00:11Z", "generation": 11,
			"kind": "state", "name": "ready", "from": "ok", "to": "failing", "lasted_seconds": 10, "rule_count": 1,
			"rules": [{
				"name": "KeystoneDown", "group": "g", "status": "failing", "for_seconds": 0, "expr": "up == 0",
				"value": 0, "threshold": "== 0", "labels": {"dependency": "keystone"},
				"collectors": [{"name": "keystone", "ran": true, "success": false, "error": "timeout", "age_seconds": 1}]
			}]
		}`, string(body))
	})
}

func TestQueries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		s.pass(time.Second)
		s.set(evaluator.Failing)
		all, _ := s.history.Events(Query{})
		for name, q := range map[string]struct {
			query Query
			want  []*Event
		}{
			"of the state": {Query{State: "ready"}, all[2:]},
			"of the rule":  {Query{Rule: "KeystoneDown"}, all[2:3]},
			"of another":   {Query{State: "alive"}, nil},
			"newest":       {Query{Limit: 1}, all[3:]},
			"after":        {Query{After: all[1].ID}, all[2:]},
			"since":        {Query{Since: all[1].At}, all[1:]},
			"until":        {Query{Until: all[0].At}, all[:1]},
		} {
			got, complete := s.history.Events(q.query)
			equal(t, true, complete)
			if !slices.Equal(got, q.want) {
				t.Errorf("%s: got %q, want %q", name, lines(got), lines(q.want))
			}
		}
	})
}

// The start is not a failure of the rules, and a subject that begins as ok is no event.
func TestStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		s.status = evaluator.Unknown
		s.change = func(snap *evaluator.Snapshot) {
			snap.Collectors[0].Ran = false
			snap.States[0].Verdict, snap.States[0].Reason = evaluator.Fail, evaluator.ReasonStarting
		}
		s.pass(2 * time.Second)
		s.change, s.status = nil, evaluator.OK
		s.pass(2 * time.Second)
		events, _ := s.history.Events(Query{})
		equal(t, []string{
			"process vitals ->ok 0s x0 started",
			"state ready ->unknown 0s x0 starting",
			"state ready unknown->ok 2s x0",
		}, lines(events))
	})
}

func TestFlapsAreFolded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		s.pass(time.Second)
		for range 120 {
			s.set(evaluator.Failing)
			s.set(evaluator.OK)
		}
		s.pass(2 * time.Minute)
		events, _ := s.history.Events(Query{Rule: "KeystoneDown"})
		changes := 0
		for _, e := range events {
			changes += max(1, e.Changes)
		}
		equal(t, 240, changes)
		equal(t, otherChanges+4, len(events)) // one each minute
		last := events[len(events)-1]
		equal(t, OK, last.To)
		equal(t, "2000-01-01 00:04:01", last.At.Format(time.DateTime))
	})
}

func TestProcessEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		s.pass(time.Second)
		loaded := time.Now()
		s.change = func(snap *evaluator.Snapshot) { snap.Reload = evaluator.Reload{OK: false, At: loaded, Error: "line 3"} }
		s.pass(2 * time.Second)
		time.Sleep(10 * time.Second)
		s.change = func(snap *evaluator.Snapshot) {
			snap.Reload = evaluator.Reload{OK: true, At: loaded.Add(time.Second)}
			snap.ShuttingDown = true
		}
		s.pass(2 * time.Second)
		events, _ := s.history.Events(Query{})
		equal(t, []string{
			"process vitals ->ok 0s x0 started",
			"process vitals ->failing 0s x0 configuration not loaded: line 3",
			"process vitals ->failing 0s x0 no evaluation for 11s: the process was stopped or had no CPU",
			"process vitals ->ok 0s x0 configuration loaded",
			"process vitals ->ok 0s x0 shutting down: all ok",
		}, lines(events))
	})
}

func TestRemovedSubjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		s.pass(time.Second)
		s.set(evaluator.Failing)
		s.change = func(snap *evaluator.Snapshot) { snap.Rules, snap.States[0].Deciding = nil, nil }
		s.pass(time.Second)
		events, _ := s.history.Events(Query{})
		equal(t, "rule KeystoneDown failing->removed 1s x0", lines(events)[len(events)-1])
		equal(t, 2, len(s.history.Strips(time.Hour, time.Now()).Strips))
	})
}

func TestRulesOfOneName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		s.change = func(snap *evaluator.Snapshot) {
			snap.Rules = append(snap.Rules, evaluator.Rule{Name: "KeystoneDown", Group: "g", State: "ready", Status: evaluator.Failing})
		}
		s.pass(5 * time.Second)
		events, _ := s.history.Events(Query{Rule: "KeystoneDown"})
		equal(t, []string{"rule KeystoneDown ->failing 0s x0"}, lines(events))
	})
}

func TestMemoryIsBounded(t *testing.T) {
	h := New(time.Unix(0, 0))
	long := strings.Repeat("x", 10_000)
	for i := range 3 * MaxEvents {
		s := snapshot(uint64(i), evaluator.Failing)
		s.Rules[0].Name = fmt.Sprintf("Rule%d", i)
		s.Rules[0].Expr, s.Rules[0].Reason, s.Rules[0].Summary = long, long, long
		h.Observe(s)
	}
	for _, r := range []*ring{&h.states, &h.others} {
		equal(t, true, r.bytes <= ringBytes)
		bytes := 0
		for _, e := range r.events {
			bytes += e.size()
		}
		equal(t, bytes, r.bytes)
		equal(t, true, len(r.events) > ringEvents/4)
	}
	_, complete := h.Events(Query{})
	equal(t, false, complete)
	_, complete = h.Events(Query{After: max(h.states.events[0].ID, h.others.events[0].ID)})
	equal(t, true, complete)
	equal(t, 3, len(h.known))
}

func TestChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		s.pass(time.Second)
		changed := s.history.Changed()
		s.pass(time.Second)
		select {
		case <-changed:
			t.Fatal("there was no event")
		default:
		}
		s.set(evaluator.Failing)
		<-changed
	})
}

func equal(t *testing.T, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("difference (-want +got):\n%s", diff)
	}
}

func sameJSON(t *testing.T, want, got string) {
	t.Helper()
	var w, g any
	if err := errors.Join(json.Unmarshal([]byte(want), &w), json.Unmarshal([]byte(got), &g)); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(w, g) {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestParseTime(t *testing.T) {
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	for given, want := range map[string]time.Time{
		"1h": now.Add(-time.Hour), "1d": now.Add(-24 * time.Hour), "1h30m": now.Add(-90 * time.Minute), "1.5h": now.Add(-90 * time.Minute),
		"0": now, "0s": now, "2026-01-01T00:00:00Z": now.Add(-36 * time.Hour),
		"-1h": {}, "": {}, "yesterday": {}, "12": {},
	} {
		got, ok := ParseTime(given, now)
		if ok == want.IsZero() || ok && !got.Equal(want) {
			t.Errorf("ParseTime(%q) = %s %v, want %s", given, got, ok, want)
		}
	}
}
