package server_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/api"
	promv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/server"
)

// grouped is the failing snapshot with its groups, two recording rules and an alert of each
// kind.
func grouped() *evaluator.Snapshot {
	s := failing()
	s.Rules[4].Alerts[0].KeepFiringSince = noon().Add(-time.Second)
	for i := range s.Rules {
		r := &s.Rules[i]
		if len(s.Groups) == 0 || s.Groups[len(s.Groups)-1].Name != r.Group || s.Groups[len(s.Groups)-1].File != r.File {
			s.Groups = append(s.Groups, evaluator.Group{Name: r.Group, File: r.File, Interval: time.Second, Evaluated: noon()})
		}
		g := &s.Groups[len(s.Groups)-1]
		d := &evaluator.Definition{Name: r.Name, Query: r.Expr, Labels: map[string]string{"severity": r.Severity}}
		if r.State != "" {
			d.Labels["state"] = r.State
			d.Annotations = map[string]string{"summary": "{{ $labels.dependency }} is not well."}
		}
		g.Rules = append(g.Rules, evaluator.GroupRule{Definition: d, Alert: i, Took: time.Millisecond})
	}
	s.Groups[0].Rules[6].Error = "too many samples"
	s.Groups = append(s.Groups, evaluator.Group{
		Name: "recorded", File: "rules/a.yml", Interval: 30 * time.Second, Limit: 10, Evaluated: noon().Add(-5 * time.Second),
		Rules: []evaluator.GroupRule{
			{Definition: &evaluator.Definition{Name: "up:sum", Query: "sum(up)"}, Alert: -1, Took: 2 * time.Millisecond},
			{Definition: &evaluator.Definition{Name: "up:bad", Query: "up", Labels: map[string]string{"team": "net"}}, Alert: -1, Error: "the result has two elements"},
		},
	})
	return s
}

func TestRulesAndAlertsInTheFormOfPrometheus(t *testing.T) {
	h := server.New(fixed(grouped())).Handler()
	for _, name := range []string{"rules", "alerts"} {
		r := request(t, h, "GET", "/api/v1/"+name, "")
		body := text(t, r)
		golden(t, name+".json", body)
		checkHeaders(t, r, "application/json", len(body))
	}
	empty := server.New(fixed(&evaluator.Snapshot{Generation: 1})).Handler()
	for name, want := range map[string]string{"rules": `"groups": []`, "alerts": `"alerts": []`} {
		if body := text(t, request(t, empty, "GET", "/api/v1/"+name, "")); !strings.Contains(body, want) {
			t.Errorf("/api/v1/%s without rules = %s, want it with %s", name, body, want)
		}
	}
}

// prometheusClient returns a client of Prometheus that queries Vitals.
func prometheusClient(t *testing.T, s *evaluator.Snapshot) promv1.API {
	t.Helper()
	h := httptest.NewServer(server.New(fixed(s)).Handler())
	t.Cleanup(h.Close)
	c, err := api.NewClient(api.Config{Address: h.URL})
	if err != nil {
		t.Fatal(err)
	}
	return promv1.NewAPI(c)
}

// The client library of Prometheus decodes the rules and alerts of Vitals.
func TestClientOfPrometheusReadsRules(t *testing.T) {
	c := prometheusClient(t, grouped())
	rules, err := c.Rules(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			switch r := r.(type) {
			case promv1.AlertingRule:
				got = append(got, fmt.Sprintf("%s: %s %s %s %d", g.Name, r.Name, r.State, r.Health, len(r.Alerts)))
			case promv1.RecordingRule:
				got = append(got, fmt.Sprintf("%s: %s %s %s", g.Name, r.Name, r.Health, r.LastError))
			}
		}
	}
	want := []string{
		"kuryr-controller: KubernetesDown inactive ok 0",
		"kuryr-controller: KeystoneDown firing ok 1",
		"kuryr-controller: NeutronDown firing ok 1",
		"kuryr-controller: PortQuotaExhausted inactive unknown 0",
		"kuryr-controller: PortQuotaLow firing ok 1",
		"kuryr-controller: HandlerDead inactive ok 0",
		"kuryr-controller: TokenNearExpiry pending err 1",
		"kuryr-controller: PoolsNotLoaded pending ok 1",
		"recorded: up:sum ok ",
		"recorded: up:bad err the result has two elements",
		"trial: SlowNeutron firing ok 1",
		"trial: LeaderUnknown inactive unknown 0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Rules() (-want +got):\n%s", diff)
	}
	down := rules.Groups[0].Rules[1].(promv1.AlertingRule)
	alert := promv1.Alert{
		ActiveAt: noon().Add(-90 * time.Second), State: "firing", Value: "0e+00",
		Labels:      model.LabelSet{"alertname": "KeystoneDown", "dependency": "keystone", "state": "ready"},
		Annotations: model.LabelSet{"summary": "Keystone does not answer or rejects the credentials."},
	}
	if diff := cmp.Diff([]*promv1.Alert{&alert}, down.Alerts); diff != "" {
		t.Errorf("the alerts of KeystoneDown (-want +got):\n%s", diff)
	}
	if down.Duration != 10 || down.EvaluationTime != 0.001 || !down.LastEvaluation.Equal(noon()) || rules.Groups[1].Interval != 30 {
		t.Errorf("for %g, evaluated in %g at %s, interval %g: want 10, 0.001, %s and 30", down.Duration, down.EvaluationTime, down.LastEvaluation, rules.Groups[1].Interval, noon())
	}

	alerts, err := c.Alerts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(alerts.Alerts) != 6 || !slices.ContainsFunc(alerts.Alerts, func(a promv1.Alert) bool { return cmp.Equal(a, alert) }) {
		t.Errorf("Alerts() = %+v, want 6, and %+v among them", alerts.Alerts, alert)
	}
	if _, err = c.Rules(t.Context(), []string{"}"}); err == nil || !strings.Contains(err.Error(), "bad_data") {
		t.Errorf("Rules() with an invalid matcher = %v, want bad_data", err)
	}
}

func TestRulesAreFiltered(t *testing.T) {
	h := server.New(fixed(grouped())).Handler()
	for _, tt := range []struct{ query, want string }{
		{"type=record", "up:sum up:bad"},
		{"type=Record&rule_name[]=up:bad", "up:bad"},
		{"type=alert&rule_group[]=trial", "SlowNeutron LeaderUnknown"},
		{"rule_group[]=trial&rule_group[]=recorded&file[]=rules/a.yml", "up:sum up:bad"},
		{"rule_name[]=KeystoneDown&rule_name[]=up:sum", "KeystoneDown up:sum"},
		{`match[]={team="net"}&match[]={state="alive"}`, "HandlerDead up:bad"},
		{`match[]={state="ready",severity!="critical"}`, "PortQuotaLow"},
		{"rule_name[]=None", ""},
	} {
		r := request(t, h, "GET", "/api/v1/rules?"+tt.query, "")
		var got struct {
			Data struct {
				Groups []struct{ Rules []struct{ Name string } }
			}
		}
		if err := json.Unmarshal([]byte(text(t, r)), &got); err != nil || r.StatusCode != 200 {
			t.Errorf("?%s = %d, %v, want 200", tt.query, r.StatusCode, err)
		}
		var names []string
		for _, g := range got.Data.Groups {
			for _, rule := range g.Rules {
				names = append(names, rule.Name)
			}
		}
		if strings.Join(names, " ") != tt.want {
			t.Errorf("?%s lists %q, want %q", tt.query, names, tt.want)
		}
	}
	body := text(t, request(t, h, "GET", "/api/v1/rules?exclude_alerts=true&rule_name[]=KeystoneDown", ""))
	if strings.Contains(body, `"alerts"`) || !strings.Contains(body, `"state": "firing"`) {
		t.Errorf("?exclude_alerts=true = %s, want a firing rule without alerts", body)
	}
	for query, want := range map[string]string{
		"type=x":                    `invalid parameter \"type\": not supported value \"x\"`,
		"exclude_alerts=x":          `invalid parameter \"exclude_alerts\": `,
		"match[]=%7Ba=~%22.*%22%7D": "match[] must contain at least one non-empty matcher",
		"match[]=%7B":               "unexpected",
	} {
		r := request(t, h, "GET", "/api/v1/rules?"+query, "")
		if body := text(t, r); r.StatusCode != 400 || !strings.Contains(body, want) || !strings.Contains(body, `"errorType": "bad_data"`) {
			t.Errorf("?%s = %d %s, want 400 with %s", query, r.StatusCode, body, want)
		}
	}
}
