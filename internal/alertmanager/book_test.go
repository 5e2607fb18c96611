package alertmanager

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/evaluator"
)

// truncated returns a rule that has more alerts than the snapshot shows.
func truncated(r evaluator.Rule, count int) evaluator.Rule {
	r.AlertCount = count
	return r
}

// A snapshot has the alerts of a rule that began first. One that it lacks has ended only if it
// would be among them.
func TestTruncatedAlertsDoNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, Options{})
		began := time.Now()
		l.publish(snapshot(firing("A", began, "1", "2", "3")))
		l.want("of all", "A1 A2 A3")
		l.publish(snapshot(truncated(firing("A", began, "1", "2"), 3)))
		l.want("of those that are shown", "")
		l.publish(snapshot(truncated(firing("A", began, "2"), 2)))
		l.want("without one that would be shown", "-A1")
		late := firing("A", began, "2", "4")
		late.Alerts[1].Firing = false
		l.publish(snapshot(truncated(late, 5)))
		l.want("where all that fire are shown", "-A3")
	})
}

// A rule that is removed, or fails without alerts, ends none: as in Prometheus, its alerts end in
// Alertmanager when they are not sent again.
func TestAlertsOfRemovedAndFailedRules(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, Options{})
		both := snapshot(firing("A", time.Now(), "1"), firing("B", time.Now(), "1"))
		l.publish(both)
		l.want("of both", "A1 B1")
		failed := snapshot(firing("B", time.Now()))
		failed.Groups[0].Rules[0].Error = "the group's limit of 1 alerts is exceeded by 2 active alerts"
		l.keep(failed, 2*time.Minute)
		l.want("of a removed rule and a failed one", "")
		l.publish(snapshot(firing("A", time.Now()), firing("B", time.Now())))
		l.want("after that", "")
	})
}

// A reload makes new definitions of the same rules: their alerts go on.
func TestAlertsAfterAReload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, Options{})
		began := time.Now()
		l.publish(snapshot(firing("A", began, "1")))
		l.want("before the reload", "A1")
		l.publish(snapshot(firing("A", began, "1")))
		l.want("after it", "")
		l.publish(snapshot(firing("A", began)))
		l.want("at the end", "-A1")
	})
}

// Two rules with alerts of the same labels are one alert, which ends with the last of them.
func TestAlertsWithTheSameLabels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, Options{})
		began := time.Now()
		first, second := firing("A", began, "1"), firing("A", began, "1")
		second.Expr = "n == 0"
		l.publish(snapshot(first, second))
		l.want("of both", "A1")
		first.Alerts = nil
		l.publish(snapshot(first, second))
		l.want("of the second", "")
		second.Alerts = nil
		l.publish(snapshot(first, second))
		l.want("of none", "-A1")
	})
}

// Beyond the capacity, alerts are dropped and counted, and those that have ended make room.
func TestCapacity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, Options{})
		rules := func(prefix string, count int) []evaluator.Rule {
			var all []evaluator.Rule
			for i := range count {
				var values []string
				for j := range 100 {
					values = append(values, fmt.Sprint(j))
				}
				all = append(all, firing(fmt.Sprintf("%s%d", prefix, i), time.Now(), values...))
			}
			return all
		}
		full := snapshot(rules("A", 101)...)
		l.publish(full)
		l.publish(full)
		if all, _ := l.flush(); len(all) != maxAlerts || l.status().Dropped != 100 {
			t.Errorf("%d alerts sent and %d dropped, want %d and 100", len(all), l.status().Dropped, maxAlerts)
		}
		none := snapshot(firing("A0", time.Now()))
		for i := range full.Rules {
			none.Groups[0].Rules = append(none.Groups[0].Rules, full.Groups[0].Rules[i])
			none.Groups[0].Rules[i].Alert = i
			none.Rules = append(none.Rules[:i], firing(full.Rules[i].Name, time.Now()))
		}
		none.Groups[0].Rules = none.Groups[0].Rules[:len(none.Rules)]
		l.publish(none)
		l.publish(snapshot(append(none.Rules, rules("B", 2)...)...))
		all, _ := l.flush()
		if got := names(all); strings.Count(got, "B") != 200 || l.status().Dropped != 100 {
			t.Errorf("%d new alerts sent and %d dropped, want 200 and none more", strings.Count(got, "B"), l.status().Dropped)
		}
	})
}

// Long annotations are bounded as well.
func TestCapacityInBytes(t *testing.T) {
	b := newBook(nil, nil, "")
	now := time.Now()
	r := firing("A", now)
	for i := range 40 {
		r.Alerts = append(r.Alerts, evaluator.Alert{
			Labels: labels.FromStrings("alertname", "A", "x", fmt.Sprint(i)), Firing: true, ActiveAt: now, FiredAt: now,
			Annotations: map[string]string{"description": strings.Repeat("x", 1<<20)},
		})
	}
	r.AlertCount = len(r.Alerts)
	s := snapshot(r)
	s.At = now
	b.observe(s, now)
	b.observe(s, now)
	if len(b.alerts) != 15 || b.dropped != 25 || b.bytes > maxBytes {
		t.Errorf("%d alerts of %d bytes, %d dropped, want 15 within %d bytes, 25 dropped", len(b.alerts), b.bytes, b.dropped, maxBytes)
	}
}

// A label of the target is not added where the expression, or a recording rule that it uses,
// drops it. A rule that uses its own result ends the search.
func TestLabelsOfTheTarget(t *testing.T) {
	for expr, want := range map[string]string{
		"m == 0": "job", "sum(m) == 0": "", "sum by (job) (m) == 0": "job", "r:sum == 0": "", "r:chain == 0": "", "r:all == 0": "job", "r:self > 0": "job",
	} {
		s := snapshot(evaluator.Rule{Name: "A", Expr: expr, AlertCount: 1, Alerts: []evaluator.Alert{{Labels: labels.FromStrings("alertname", "A"), Firing: true}}})
		for name, query := range map[string]string{"r:sum": "sum(m)", "r:chain": "r:sum + 1", "r:all": "m * 2", "r:self": "r:self + m"} {
			s.Groups[0].Rules = append(s.Groups[0].Rules, evaluator.GroupRule{Alert: -1, Definition: &evaluator.Definition{Name: name, Query: query}})
		}
		b := newBook(map[string]string{"job": "j"}, map[string]string{"alertname": "x"}, "")
		b.observe(s, time.Now())
		for _, k := range b.alerts {
			if got := strings.TrimSuffix(k.sent.String(), `}`); got != map[string]string{"": `{alertname="A"`, "job": `{alertname="A", job="j"`}[want] {
				t.Errorf("alert of %s = %s, want the label %q added", expr, got, want)
			}
		}
		if len(b.alerts) != 1 {
			t.Errorf("%s has %d alerts, want 1", expr, len(b.alerts))
		}
	}
}
