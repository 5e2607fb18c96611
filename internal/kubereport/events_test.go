package kubereport

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/history"
)

// wantEvents checks the events that were sent since the last call.
func (l *lab) wantEvents(when string, events ...string) {
	l.t.Helper()
	var got []string
	for _, s := range l.flush() {
		got = append(got, s.method+" "+pick(s.body, "type", "reason", "message", "count"))
	}
	if diff := cmp.Diff(events, got); diff != "" {
		l.t.Errorf("%s: events (-want +got):\n%s", when, diff)
	}
}

func TestEventsOfStates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, Options{Events: true})
		l.keep(snapshot(evaluator.Pass), time.Minute)
		l.wantEvents("while all is ok")
		began := time.Now().Add(time.Second)
		l.keep(down(0, "Keystone does not answer (timeout)"), time.Minute)
		l.wantEvents("of a failure", "POST Warning | KeystoneDown | Keystone does not answer (timeout), ready failing since "+timestamp(began)+" | 1")
		l.keep(snapshot(evaluator.Pass), time.Minute)
		l.wantEvents("of the recovery", "POST Normal | ReadyOk | ready ok, after failing for 1m | 1")
		l.keep(snapshot(evaluator.Warn), time.Minute)
		if all := l.flush(); len(all) != 1 || !strings.HasSuffix(pick(all[0].body, "message"), ", ready warning since "+timestamp(began.Add(2*time.Minute))) {
			t.Errorf("events of a warning = %v, want it with its time", all)
		}
		began = time.Now()
		l.publish(stopping())
		l.wantEvents("of the end", "POST Normal | ShuttingDown | Vitals is shutting down, ready failing since "+timestamp(began)+" | 1")
	})
}

func TestEventIsAboutThePod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, Options{Events: true})
		s := snapshot(evaluator.Fail)
		s.States[1].Verdict, s.States[1].Deciding = evaluator.Fail, []int{0}
		l.publish(s)
		all := l.flush()
		if len(all) != 2 {
			t.Fatalf("%d events of two states, want 2", len(all))
		}
		got := all[0].path + " " + pick(all[0].body, "apiVersion", "kind", "involvedObject", "source")
		want := `/api/v1/namespaces/shop/events v1 | Event | {"apiVersion":"v1","kind":"Pod","name":"app-7","namespace":"shop","uid":"u-1"} | {"component":"vitals","host":"node-1"}`
		if got != want {
			t.Errorf("event = %s, want %s", got, want)
		}
		if first, second := pick(all[0].body, "metadata"), pick(all[1].body, "metadata"); first == second || !strings.Contains(first, `"name":"app-7.`) {
			t.Errorf("metadata = %s and %s, want two names with that of the pod", first, second)
		}
	})
}

// Before the first collection ready fails, because its rules are unknown. That is no event; a
// rule that still fails after it is one.
func TestEventsAtTheStart(t *testing.T) {
	for ready, want := range map[evaluator.Verdict]int{evaluator.Pass: 0, evaluator.Fail: 1} {
		synctest.Test(t, func(t *testing.T) {
			l := newLab(t, Options{Events: true})
			l.history = history.New(time.Now())
			e := l.reporter.events
			var got []string
			after := uint64(0)
			see := func(s *evaluator.Snapshot) {
				s.At = time.Now()
				l.history.Observe(s)
				events, _ := l.history.Events(history.Query{After: after})
				for _, event := range events {
					after = event.ID
					if n, ok := e.note(event); ok {
						got = append(got, n.kind+" "+n.reason+" "+n.message)
					}
				}
			}
			first := snapshot(evaluator.Fail)
			first.Rules[0].Status, first.Collectors = evaluator.Unknown, []evaluator.CollectorStatus{{Name: "keystone"}}
			see(first)
			second := snapshot(ready)
			second.Collectors = []evaluator.CollectorStatus{{Name: "keystone", Ran: true, Success: true}}
			see(second)
			if len(got) != want || want == 1 && !strings.HasPrefix(got[0], "Warning KeystoneDown Keystone does not answer (timeout), ready failing since ") {
				t.Errorf("events with ready %s after the first collection = %q, want %d", ready, got, want)
			}
		})
	}
}

// A state that is unknown is reported with that word. That it fails on, with another word, is no
// event.
func TestEventOfAnUnknownState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, Options{Events: true})
		l.keep(snapshot(evaluator.Pass), time.Minute)
		l.flush()
		blind := snapshot(evaluator.Fail)
		blind.Rules[0].Status = evaluator.Unknown
		began := time.Now().Add(time.Second)
		l.keep(blind, time.Minute)
		l.wantEvents("without evidence", "POST Warning | KeystoneDown | Keystone does not answer (timeout), ready unknown since "+timestamp(began)+" | 1")
		l.keep(snapshot(evaluator.Fail), time.Minute)
		l.wantEvents("with evidence")
		l.keep(snapshot(evaluator.Pass), time.Minute)
		l.wantEvents("of the recovery", "POST Normal | ReadyOk | ready ok, after failing for 1m | 1")
	})
}

// Of a state that flaps, a failure that has passed is reported, and the end of one that was reported.
func TestEventsOfAStateThatFlaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newLab(t, Options{Events: true}).reporter.events
		at := time.Unix(0, 0)
		event := func(from, to history.Status, changes int) *history.Event {
			return &history.Event{
				Subject: history.Subject{Kind: history.State, Name: "ready"}, Begin: at, At: at.Add(time.Minute), From: from, To: to,
				Changes: changes, Worst: history.Failing, WorstAt: at, FailingSeconds: 19,
				Rules: []history.RuleMoment{{Name: "RedisDown", Summary: "Redis does not answer", Status: history.Failing}}, RuleCount: 1,
			}
		}
		for _, c := range []struct {
			event *history.Event
			want  string
		}{
			{event(history.OK, history.OK, 2), "Warning RedisDown: Redis does not answer, ready ok, 2 changes since " + timestamp(at) + ", failing 19s"},
			{event(history.OK, history.Failing, 3), "Warning RedisDown: Redis does not answer, ready failing, 3 changes since " + timestamp(at) + ", failing 19s"},
			{event(history.Failing, history.OK, 5), "Normal ReadyOk: ready ok, 5 changes since " + timestamp(at) + ", failing 19s"},
		} {
			n, ok := e.note(c.event)
			if got := n.kind + " " + n.reason + ": " + n.message; !ok || got != c.want {
				t.Errorf("note(%s) = %s, want %s", history.Line(c.event), got, c.want)
			}
		}
	})
}

// An event of the same reason within 10 minutes counts on. One that has expired is made again.
func TestEventsOfOneReasonAreASeries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, Options{Events: true})
		for range 2 {
			l.keep(snapshot(evaluator.Fail), 2*time.Minute)
			l.keep(snapshot(evaluator.Pass), 2*time.Minute)
		}
		var got []string
		all := l.flush()
		for _, s := range all {
			got = append(got, s.method+" "+pick(s.body, "count"))
		}
		if want := "POST 1, POST 1, PATCH 2, PATCH 2"; strings.Join(got, ", ") != want {
			t.Fatalf("requests = %v, want %s", got, want)
		}
		name := all[0].body["metadata"].(map[string]any)["name"]
		if want := fmt.Sprintf("/api/v1/namespaces/shop/events/%s", name); all[2].path != want {
			t.Errorf("PATCH %s, want %s", all[2].path, want)
		}
		l.set(false, func(method, path string) error {
			if method == "PATCH" {
				return fails(remote.ReasonNotFound)(method, path)
			}
			return nil
		})
		l.keep(snapshot(evaluator.Fail), time.Minute)
		if all := l.flush(); len(all) != 2 || all[0].method != "PATCH" || all[1].method != "POST" {
			t.Errorf("requests after the event has expired = %v, want a PATCH and a POST", all)
		}
		l.set(false, nil)
		l.keep(snapshot(evaluator.Pass), time.Hour)
		l.flush()
		l.keep(snapshot(evaluator.Fail), time.Second)
		if all := l.flush(); len(all) != 1 || all[0].method != "POST" {
			t.Errorf("requests an hour later = %v, want a POST", all)
		}
	})
}

// Beyond the limit of client-go's recorder, events are dropped and counted.
func TestEventsAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, Options{Events: true})
		for range 60 {
			l.keep(snapshot(evaluator.Fail), time.Second)
			l.keep(snapshot(evaluator.Pass), time.Second)
		}
		for range 100 {
			l.keep(snapshot(evaluator.Fail), 40*time.Second)
			l.keep(snapshot(evaluator.Pass), 40*time.Second)
		}
		requests := len(l.flush())
		dropped, ok := l.reporter.Dropped()
		if limit := 2 * (eventBurst + 28); requests < 2*eventBurst || requests > limit || !ok || dropped == 0 {
			t.Errorf("%d requests in 136 minutes and %d dropped, want at most %d, and the others counted", requests, dropped, limit)
		}
	})
}

// An API server that does not answer gets the event later; one that is 10 minutes old is dropped.
func TestEventsDuringAnOutage(t *testing.T) {
	for outage, want := range map[time.Duration]string{3 * time.Minute: "POST", 12 * time.Minute: ""} {
		synctest.Test(t, func(t *testing.T) {
			l := newLab(t, Options{Events: true})
			l.set(true, nil)
			l.keep(snapshot(evaluator.Fail), outage)
			if n := len(l.flush()); n < 5 || n > int(outage/lastPause)+7 {
				t.Errorf("%d requests in %s, want a pause of %s", n, outage, lastPause)
			}
			l.set(false, nil)
			l.keep(snapshot(evaluator.Fail), time.Minute)
			got := ""
			for _, s := range l.flush() {
				got += s.method
			}
			if got != want {
				t.Errorf("requests after an outage of %s = %q, want %q", outage, got, want)
			}
			if dropped, _ := l.reporter.Dropped(); (dropped == 1) != (want == "") {
				t.Errorf("%d events dropped after an outage of %s", dropped, outage)
			}
		})
	}
}

func TestMessagesAreBoundedAndHaveNoSecrets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, Options{Events: true, ReadinessGate: gate})
		l.flush()
		s := down(0, "login as admin:hunter2 fails\n"+strings.Repeat("long ", 400))
		s.Rules[0].Name = strings.Repeat("rule-", 60)
		s.States[0].Deciding = []int{0, 1}
		l.publish(s)
		all := l.flush()
		if len(all) != 2 {
			t.Fatalf("%d requests, want an event and a condition", len(all))
		}
		for _, s := range all {
			object := s.body
			if s.method == "PATCH" {
				object = conditionOf(t, s)
			}
			message, reason := object["message"].(string), object["reason"].(string)
			if len(message) > maxMessage || len(reason) > maxReason || strings.Contains(message, "hunter2") || strings.Contains(message, "\n") || !strings.Contains(message, "(and 1 more rule), ready ") {
				t.Errorf("reason %q with message of %d bytes %q, want bounded ones without the secret", reason, len(message), message)
			}
		}
	})
}

func TestReasonsAreInCamelCase(t *testing.T) {
	for name, want := range map[string]string{
		"KeystoneDown": "KeystoneDown", "db-down": "DbDown", "db_down 2": "DbDown2", "2-slow": "Rule2Slow", "": "Rule", "éß": "Rule", "a:b/c": "ABC",
		strings.Repeat("x", 500): "X" + strings.Repeat("x", maxReason-1),
	} {
		if got := camel(name); got != want {
			t.Errorf("camel(%q) = %q, want %q", name, got, want)
		}
	}
}
