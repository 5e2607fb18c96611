package evaluator_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/vitals-health/vitals/evaluator"
)

const listedRules = `
groups:
  - name: slow
    interval: 30s
    limit: 1
    labels: {team: net}
    rules:
      - record: up:sum
        expr: sum(up)
      - alert: Down
        expr: up  ==  0
        labels: {state: ready}
        annotations: {summary: "{{ $labels.x }} is down."}
  - name: plain
    rules:
      - alert: Twice
        expr: label_replace({__name__=~"up|two"}, "x", "", "", "")
`

// A snapshot lists the groups with all of their rules, what their last evaluation cost and
// why it failed.
func TestSnapshotListsGroups(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up, value := gauge("up")
		two, _ := gauge("two")
		value.Store(1)
		e, stop := start(t, evaluator.Config{
			Interval: time.Second, Files: parse(t, listedRules),
			Sources: []evaluator.Source{source("a", up), source("b", two)},
		})
		defer stop()
		time.Sleep(5 * time.Second)
		s := e.Snapshot()
		want := []evaluator.Group{
			{Name: "slow", File: "test.yml", Interval: 30 * time.Second, Limit: 1, Rules: []evaluator.GroupRule{
				{Definition: &evaluator.Definition{Name: "up:sum", Query: "sum(up)", Labels: map[string]string{"team": "net"}}, Alert: -1},
				{Definition: &evaluator.Definition{
					Name: "Down", Query: "up == 0", Labels: map[string]string{"state": "ready", "team": "net"},
					Annotations: map[string]string{"summary": "{{ $labels.x }} is down."},
				}, Alert: 0},
			}},
			{Name: "plain", File: "test.yml", Interval: time.Second, Rules: []evaluator.GroupRule{
				{Definition: &evaluator.Definition{Name: "Twice", Query: `label_replace({__name__=~"up|two"}, "x", "", "", "")`}, Alert: 1},
			}},
		}
		options := cmp.Options{
			cmpopts.IgnoreFields(evaluator.GroupRule{}, "Took", "Error"), cmpopts.IgnoreFields(evaluator.Group{}, "Evaluated"), cmpopts.EquateEmpty(),
		}
		if diff := cmp.Diff(want, s.Groups, options); diff != "" {
			t.Errorf("Groups (-want +got):\n%s", diff)
		}
		for _, g := range s.Groups {
			if age := s.At.Round(0).Sub(g.Evaluated); age < 0 || age > g.Interval {
				t.Errorf("group %s was evaluated %s before the snapshot, want at most %s", g.Name, age, g.Interval)
			}
		}
		if got := s.Groups[1].Rules[0].Error; !strings.Contains(got, "two elements with the same labels") {
			t.Errorf("Error = %q, want one about two elements with the same labels", got)
		}
	})
}

// Outside of a bubble, where time passes, the last query took some.
func TestSnapshotHasTheTimeOfQueries(t *testing.T) {
	e, err := evaluator.New(evaluator.Config{Files: parse(t, listedRules)}, evaluator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range e.Snapshot().Groups {
		for _, r := range g.Rules {
			if r.Took <= 0 || r.Took > time.Minute {
				t.Errorf("the query of %s took %s, want a positive time", r.Name, r.Took)
			}
		}
	}
}
