package server_test

import (
	"flag"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/server"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// noon is when every fabricated snapshot was evaluated.
func noon() time.Time { return time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC) }

// healthy is a snapshot in which nothing is wrong.
func healthy() *evaluator.Snapshot {
	since := noon().Add(-time.Hour)
	one := func(name, state, expr, dependsOn string) evaluator.Rule {
		r := evaluator.Rule{
			Name: name, Group: "kuryr-controller", File: "builtin:kuryr-controller", State: state, Severity: "critical",
			Expr: expr, For: 10 * time.Second, NoData: "fail", Status: evaluator.OK, Since: since,
		}
		if dependsOn != "" {
			r.DependsOn = []string{dependsOn}
		}
		return r
	}
	s := &evaluator.Snapshot{
		Generation: 7, At: noon(), Started: since, Took: 180 * time.Microsecond, MaxAge: 5 * time.Second,
		States: []evaluator.State{
			{Name: "ready", Verdict: evaluator.Pass, Since: since, Transitions: 1, Rules: []int{0, 1, 2, 3, 4}},
			{Name: "alive", Verdict: evaluator.Pass, Since: since, Transitions: 1, Rules: []int{5}},
			{Name: "started", Verdict: evaluator.Pass, Since: since, Transitions: 1},
		},
		Rules: []evaluator.Rule{
			one("KubernetesDown", "ready", `vitals_dependency_up{dependency="kubernetes"} == 0`, ""),
			one("KeystoneDown", "ready", `vitals_dependency_up{dependency="keystone"} == 0`, ""),
			one("NeutronDown", "ready", `vitals_dependency_up{dependency="neutron"} == 0`, "KeystoneDown"),
			one("PortQuotaExhausted", "ready", `vitals_neutron_quota_limit{resource="port"} - vitals_neutron_quota_used{resource="port"} <= 0`, "NeutronDown"),
			one("PortQuotaLow", "ready", `vitals_neutron_quota_limit{resource="port"} - vitals_neutron_quota_used{resource="port"} <= 3`, ""),
			one("HandlerDead", "alive", `vitals_component_alive == 0`, ""),
			one("TokenNearExpiry", "", `vitals_keystone_token_expiry_timestamp_seconds - time() < 600`, ""),
		},
		Collectors: []evaluator.CollectorStatus{
			{Name: "kubernetes", Kind: "kubernetes", External: true, Ran: true, Success: true, Duration: 12 * time.Millisecond, LastRun: noon().Add(-2 * time.Second), LastSuccess: noon().Add(-2 * time.Second), Interval: 10 * time.Second},
			{Name: "keystone", Kind: "keystone", External: true, Ran: true, Success: true, Duration: 41 * time.Millisecond, LastRun: noon().Add(-4 * time.Second), LastSuccess: noon().Add(-4 * time.Second), Interval: 10 * time.Second},
			{Name: "neutron", Kind: "neutron", External: true, Ran: true, Success: true, Duration: 87 * time.Millisecond, LastRun: noon().Add(-1 * time.Second), LastSuccess: noon().Add(-1 * time.Second), Interval: 10 * time.Second},
			{Name: "handlers", Kind: "components", Ran: true, Success: true, Duration: 30 * time.Microsecond, LastRun: noon(), LastSuccess: noon(), Interval: 10 * time.Second},
		},
		Batches: batches(1),
		Reload:  evaluator.Reload{OK: true, At: since, LastSuccess: since},
	}
	s.Rules[4].Severity, s.Rules[6].Severity = "warning", "warning"
	s.Rules[5].NoData = "pass"
	return s
}

// failing is a snapshot in which Keystone hangs and every status occurs.
func failing() *evaluator.Snapshot {
	s := healthy()
	since := noon().Add(-90 * time.Second)
	zero, two := 0.0, 2.0
	s.States[0] = evaluator.State{Name: "ready", Verdict: evaluator.Fail, Since: since, Transitions: 2, Rules: []int{0, 1, 2, 3, 4, 7, 8, 9}, Deciding: []int{1, 2, 3}}
	s.Rules = append(s.Rules,
		evaluator.Rule{Name: "PoolsNotLoaded", Group: "kuryr-controller", File: "builtin:kuryr-controller", State: "ready", Severity: "critical", Expr: "vitals_file_exists == 0", NoData: "fail"},
		evaluator.Rule{Name: "SlowNeutron", Group: "trial", File: "rules/trial.yml", State: "ready", Severity: "critical", Expr: "vitals_dependency_latency_seconds > 1", Observe: true, NoData: "fail"},
		evaluator.Rule{Name: "LeaderUnknown", Group: "trial", File: "rules/trial.yml", State: "ready", Severity: "critical", Expr: "leader == 0", NoData: "pass"},
	)
	set := func(i int, status evaluator.Status, summary string, observed *float64) *evaluator.Rule {
		r := &s.Rules[i]
		r.Status, r.Since, r.Summary, r.Observed = status, since, summary, observed
		if observed != nil {
			r.AlertCount = 1
			r.Alerts = []evaluator.Alert{{
				Labels:      labels.FromStrings("alertname", r.Name, "dependency", "keystone", "state", "ready"),
				Annotations: map[string]string{"summary": summary}, Firing: status == evaluator.Failing, Value: *observed, ActiveAt: since,
			}}
		}
		return r
	}
	r := set(1, evaluator.Failing, "Keystone does not answer or rejects the credentials.", &zero)
	r.Decides, r.Description, r.RunbookURL = true, "Pods get no ports while this lasts.", "https://runbooks.example.org/KeystoneDown"
	r.Labels = map[string]string{"team": "network"}
	r = set(2, evaluator.Failing, "Neutron does not answer.", &zero)
	r.Decides, r.Cause = true, "KeystoneDown"
	r = set(3, evaluator.Unknown, "", nil)
	r.Decides, r.Cause, r.Reason = true, "NeutronDown", "no series matches"
	set(4, evaluator.Failing, "2 ports left.", &two).Warns = true
	set(6, evaluator.Pending, "The token ends soon.", &two)
	set(7, evaluator.Pending, "The pools are not loaded yet.", &zero)
	set(8, evaluator.Failing, "Neutron is slow.", &two).Observe = true
	set(9, evaluator.Unknown, "", nil).Reason = "no series matches"
	s.Rules[9].Warns = true
	c := &s.Collectors[1]
	c.Success, c.Error, c.Duration, c.LastSuccess = false, "get token: context deadline exceeded", 5*time.Second, noon().Add(-95*time.Second)
	s.Batches = batches(0)
	return s
}

// batches are samples of every type, as collectors and the evaluator deliver them.
func batches(up float64) []evaluator.Batch {
	sample := func(value float64, name string, pairs ...string) collectors.Sample {
		return collectors.Sample{Labels: labels.FromStrings(append(pairs, model.MetricNameLabel, name)...), Value: value}
	}
	late := sample(math.NaN(), "jobs_seconds", "quantile", "0.5")
	late.T = noon().UnixMilli() + 1
	return []evaluator.Batch{
		{
			Descs: []collectors.Desc{
				{Name: "vitals_dependency_up", Help: "Whether the dependency did what the workload needs of it (1) or not (0).", Type: model.MetricTypeGauge},
			},
			Samples: []collectors.Sample{
				sample(up, "vitals_dependency_up", "dependency", "keystone"),
				sample(1, "vitals_dependency_up", "dependency", "neutron"),
			},
		},
		{
			Descs: []collectors.Desc{
				{Name: "latency_seconds", Help: `How long "it" took, in C:\time` + "\nor elsewhere.", Type: model.MetricTypeHistogram},
				{Name: "jobs_seconds", Help: "How long jobs took.", Type: model.MetricTypeSummary},
				{Name: "handled_total", Help: "Objects handled.", Type: model.MetricTypeCounter},
				{Name: "odd_counter", Help: "A counter without the suffix.", Type: model.MetricTypeCounter},
				{Name: "vitals_dependency_up", Help: "Another help.", Type: model.MetricTypeGauge},
			},
			Samples: []collectors.Sample{
				sample(9, "latency_seconds_bucket", "le", "10"),
				sample(5, "latency_seconds_bucket", "le", "2"),
				sample(10, "latency_seconds_bucket", "le", "+Inf"),
				sample(31.5, "latency_seconds_sum"),
				sample(10, "latency_seconds_count"),
				late,
				sample(4, "jobs_seconds_count"),
				sample(math.Inf(1), "jobs_seconds_sum"),
				sample(3, "handled_total", "path", `C:\x "quoted"`+"\n"),
				sample(1.7e9, "handled_created", "path", "x"),
				sample(2, "odd_counter"),
				sample(math.Inf(-1), "undescribed.metric", "label-with-dash", "v"),
				sample(1, "vitals_dependency_up", "dependency", "kubernetes"),
			},
		},
		{Samples: []collectors.Sample{sample(0, "vitals_dependency_up", "dependency", "kubernetes")}},
	}
}

// fixed is a server over one snapshot, moments after it was evaluated.
func fixed(s *evaluator.Snapshot) server.Options {
	return server.Options{
		Snapshot: func() *evaluator.Snapshot { return s },
		Now:      func() time.Time { return noon().Add(200 * time.Millisecond) },
		Version:  "1.2.3",
		About:    server.About{Host: "controller-0", Namespace: "kube-system", Configuration: "profile kuryr-controller"},
	}
}

// allowAll permits every client to write.
func allowAll(*http.Request) error { return nil }

// request sends one request to a handler; header is name, value and so on.
func request(t *testing.T, h http.Handler, method, target, body string, header ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(method, "http://127.0.0.1/", strings.NewReader(body))
	path, query, _ := strings.Cut(target, "?")
	r.URL.Path, r.URL.RawQuery = path, query
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

// text reads a body to its end.
func text(t *testing.T, r *http.Response) string {
	t.Helper()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatalf("read body: %v", err)
	}
	if err := r.Body.Close(); err != nil {
		t.Fatalf("close body: %v", err)
	}
	return string(body)
}

// golden compares got with a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", path, diff)
	}
}

// staleNaN marks a series that its collector stopped exporting.
func staleNaN() float64 { return math.Float64frombits(value.StaleNaN) }
