package promapi_test

import (
	"net/url"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/server/promapi"
)

// of defines a rule of a state.
func of(name, state string) *evaluator.Definition {
	return &evaluator.Definition{Name: name, Labels: map[string]string{"state": state}}
}

// snapshot has two groups: one with a recording rule and an alert that fires, and one with an alert
// without evidence.
func snapshot() *evaluator.Snapshot {
	at := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	return &evaluator.Snapshot{
		Rules: []evaluator.Rule{
			{Name: "Down", Status: evaluator.Failing, For: time.Minute, Alerts: []evaluator.Alert{{Labels: labels.FromStrings("alertname", "Down"), Firing: true, Value: 0, ActiveAt: at}}},
			{Name: "Slow", Status: evaluator.Unknown, Reason: "no series matches"},
		},
		Groups: []evaluator.Group{
			{Name: "b", File: "b.yml", Evaluated: at, Rules: []evaluator.GroupRule{{Definition: of("Slow", "alive"), Alert: 1}}},
			{Name: "a", File: "a.yml", Evaluated: at, Rules: []evaluator.GroupRule{{Definition: of("job:up", ""), Alert: -1}, {Definition: of("Down", "ready"), Alert: 0}}},
		},
	}
}

// The parameters of a request choose rules, and groups without one are left out.
func TestRules(t *testing.T) {
	for query, want := range map[string][]string{
		"":                                 {"a job:up ok", "a Down firing 1 ok", "b Slow inactive 0 unknown"},
		"type=record":                      {"a job:up ok"},
		"type=ALERT&rule_group[]=b":        {"b Slow inactive 0 unknown"},
		"rule_name[]=Down&rule_name[]=x":   {"a Down firing 1 ok"},
		"file[]=a.yml&exclude_alerts=true": {"a job:up ok", "a Down firing 0 ok"},
		`match[]={state="alive"}`:          {"b Slow inactive 0 unknown"},
		"rule_name[]=other":                nil,
	} {
		form, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		found, err := promapi.Rules(snapshot(), form)
		if err != nil {
			t.Errorf("Rules(%s) = %v, want no error", query, err)
		}
		var got []string
		for _, g := range found.Data.Groups {
			for _, r := range g.Rules {
				switch r := r.(type) {
				case promapi.AlertingRule:
					got = append(got, g.Name+" "+r.Name+" "+r.State+" "+string(rune('0'+len(r.Alerts)))+" "+r.Health)
				case promapi.RecordingRule:
					got = append(got, g.Name+" "+r.Name+" "+r.Health)
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Rules(%s) (-want +got):\n%s", query, diff)
		}
	}
}

func TestInvalidParameters(t *testing.T) {
	for query, want := range map[string]string{
		"type=x":             `invalid parameter "type": not supported value "x"`,
		"exclude_alerts=2":   `invalid parameter "exclude_alerts": strconv.ParseBool: parsing "2": invalid syntax`,
		`match[]={a=~".*"}`:  "match[] must contain at least one non-empty matcher",
		"match[]=sum(up) + ": "",
	} {
		form, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := promapi.Rules(snapshot(), form); err == nil || want != "" && err.Error() != want {
			t.Errorf("Rules(%s) = %v, want the error %q", query, err, want)
		}
	}
}

func TestAlerts(t *testing.T) {
	want := []promapi.Alert{{
		Labels: map[string]string{"alertname": "Down"}, Annotations: map[string]string{}, State: "firing",
		ActiveAt: time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC), Value: "0e+00",
	}}
	if diff := cmp.Diff(want, promapi.Alerts(snapshot()).Data.Alerts); diff != "" {
		t.Errorf("Alerts() (-want +got):\n%s", diff)
	}
}
