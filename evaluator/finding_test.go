package evaluator_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/history"
)

// failing is a collector that fails, without a series if up is negative.
func failing(name string, up float64, err error, metrics ...string) evaluator.Source {
	c := &stub{collect: func(context.Context) ([]collectors.Sample, error) {
		if up < 0 {
			return nil, err
		}
		return []collectors.Sample{sample(up, "up", "dependency", name)}, err
	}}
	for _, metric := range metrics {
		c.descs = append(c.descs, collectors.Desc{Name: metric, Help: "Help.", Type: model.MetricTypeGauge})
	}
	return source(name, c)
}

// reporter is a collector of components.
type reporter struct{ *stub }

func (reporter) PartNotes() (string, map[string]string) {
	return "component", map[string]string{"watcher": "list pods: 401\nhttp://u:pass@host", "ready": "a state's name, too"}
}

const findingRules = `
groups:
  - name: g
    rules:
      - record: app:up
        expr: min(app_up)
      - alert: Down
        expr: up == 0
        labels: {state: ready}
      - alert: AnyDown
        expr: sum(up) < 3
        annotations: {summary: Something is down.}
      - alert: Named
        expr: gone{dependency="neutron"} == 0
        annotations: {summary: Neutron is gone.}
      - alert: Described
        expr: gone{program="start"} == 0
        annotations: {summary: '{{ $labels.program }} is gone.'}
      - alert: Forwarded
        expr: app_up == 0
      - alert: Recorded
        expr: app:up == 0
      - alert: Absent
        expr: absent(app_up)
      - alert: Own
        expr: vitals_collector_success{collector="other"} == 0
      - alert: Alerts
        expr: ALERTS{alertname="Other"} == 2
      - alert: Component
        expr: component_alive{component="watcher"} == 0
      - alert: Components
        expr: min(component_alive) == 0
      - alert: Noted
        expr: noted{dependency="noted"} == 0
      - alert: OtherThanFailing
        expr: up{dependency=~"fine|none"} == 1
      - alert: Fine
        expr: up{dependency="fine"} == 0
`

// findingSources fail, all but fine, each in its way.
func findingSources() []evaluator.Source {
	app := failing("app", -1, errors.New("scrape: connection refused"), "scrape_up")
	app.Forwards = true
	return []evaluator.Source{
		failing("keystone", 0, errors.New("authenticate: 401"), "up"),
		failing("neutron", 0, errors.Join(errors.New("list ports: 503"), errors.New("list agents: password=hunter2 refused")), "up", "gone"),
		failing("fine", 1, nil, "up"),
		source("reports", reporter{&stub{
			collect: func(context.Context) ([]collectors.Sample, error) {
				return []collectors.Sample{sample(0, "component_alive", "component", "watcher")}, nil
			},
			descs: []collectors.Desc{{Name: "component_alive", Help: "Help.", Type: model.MetricTypeGauge}},
		}}),
		source("noted", &noter{&stub{
			collect: func(context.Context) ([]collectors.Sample, error) { return nil, errors.New("an error") },
			descs:   []collectors.Desc{{Name: "noted", Help: "Help.", Type: model.MetricTypeGauge}},
		}, "000 refused"}),
		app,
	}
}

// A rule that is not ok shows what its collectors found: those that the labels of its alerts
// name, its own labels, or else those that fail and export its metrics.
func TestFindings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, stop := start(t, evaluator.Config{Files: parse(t, findingRules), Sources: findingSources()})
		defer stop()
		time.Sleep(time.Second)
		const keystone = "collector keystone fails: authenticate: 401"
		const neutron = "collector neutron fails: list ports: 503; list agents: password=<secret> refused"
		const app = "collector app fails: scrape: connection refused"
		const watcher = "component watcher: list pods: 401 http://<secret>@host"
		want := map[string][3]string{
			"Down":       {"", "", keystone + "; " + neutron},
			"AnyDown":    {"Something is down.", "", keystone + "; " + neutron},
			"Named":      {"Neutron is gone.", `no data for gone{dependency="neutron"}: ` + neutron, ""},
			"Described":  {"", `no data for gone{program="start"}: ` + neutron, ""},
			"Forwarded":  {"", "no data for app_up: " + app, ""},
			"Recorded":   {"", "no data for app:up: " + app, ""},
			"Absent":     {"", "", app},
			"Own":        {"", `no data for vitals_collector_success{collector="other"}`, ""},
			"Alerts":     {"", "", ""},
			"Component":  {"", "", watcher},
			"Components": {"", "", "component ready: a state's name, too; " + watcher},
			"Noted":      {"", `no data for noted{dependency="noted"}: collector noted fails: 000 refused`, ""},
			"Fine":       {"", "", ""},

			"OtherThanFailing": {"", "", ""},
		}
		for _, r := range e.Snapshot().Rules {
			if got := [3]string{r.Summary, r.Reason, r.Note}; got != want[r.Name] {
				t.Errorf("summary, reason and note of %s, which is %s, = %q, want %q", r.Name, r.Status, got, want[r.Name])
			}
		}
	})
}

// A collector that never returned may export any metric.
func TestFindingOfACollectorThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs := &stub{collect: func(ctx context.Context) ([]collectors.Sample, error) {
			<-ctx.Done()
			time.Sleep(10 * time.Second)
			return nil, nil
		}}
		e, stop := start(t, evaluator.Config{Files: parse(t, upRule), Sources: []evaluator.Source{source("c", hangs)}})
		defer time.Sleep(time.Minute) // until it returns
		defer stop()
		time.Sleep(10 * time.Second)
		if got, want := e.Snapshot().Rules[0].Reason, "no data for up: collector c fails: no result within the timeout of 5s"; got != want {
			t.Errorf("reason = %q, want %q", got, want)
		}
	})
}

// Findings are bounded, and so are long selectors before them.
func TestFindingsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rule := strings.ReplaceAll(upRule, "up == 0", `up{dependency="keystone", long="`+strings.Repeat("x", 600)+`"} == 0`)
		e, stop := start(t, evaluator.Config{Files: parse(t, rule), Sources: []evaluator.Source{
			failing("keystone", -1, errors.New(strings.Repeat("é", 600)), "up"),
		}})
		defer stop()
		time.Sleep(time.Second)
		got := e.Snapshot().Rules[0].Reason
		if want := "...: collector keystone fails: " + strings.Repeat("é", 98) + "..."; len(got) > 512 || !strings.HasSuffix(got, want) {
			t.Errorf("reason of %d bytes = %q, want at most 512 that end in %q", len(got), got, want)
		}
	})
}

// logOf runs an evaluator for a time and returns the lines of its log with a part.
func logOf(t *testing.T, cfg evaluator.Config, d time.Duration, part string) []string {
	t.Helper()
	var log bytes.Buffer
	logger, h := slog.New(slog.NewTextHandler(&log, nil)), history.New(time.Now())
	h.Log(logger)
	e, err := evaluator.New(cfg, evaluator.Options{Logger: logger, Observe: h.Observe})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	e.Run(ctx)
	synctest.Wait()
	var lines []string
	for line := range strings.Lines(log.String()) {
		if _, text, _ := strings.Cut(strings.TrimSpace(line), " "); strings.Contains(text, part) {
			lines = append(lines, text)
		}
	}
	return lines
}

// The log line of a changed state has the reasons of the rules that decide it.
func TestStateIsLoggedWithItsReasons(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		c := &stub{collect: func(context.Context) ([]collectors.Sample, error) {
			if n++; n == 1 {
				return []collectors.Sample{sample(1, "up"), sample(1, "gone")}, nil
			}
			return []collectors.Sample{sample(0, "up")}, errors.New("authenticate: 401")
		}, descs: []collectors.Desc{{Name: "up"}, {Name: "gone"}}}
		rules := upRule + "      - {alert: Gone, expr: gone == 0, labels: {state: ready}}\n"
		got := logOf(t, evaluator.Config{Files: parse(t, rules), Sources: []evaluator.Source{source("c", c)}}, 15*time.Second, "state=ready")
		want := []string{
			`level=INFO msg="state ok" state=ready`,
			`level=WARN msg="state failing" state=ready reason="collector c fails: authenticate: 401; no data for gone: collector c fails: authenticate: 401" rules="[Down Gone]" value=0`,
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("log =\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

// A state that fails from the start does not change. It is logged once, when all collectors
// have run.
func TestStateThatFailsFromTheStartIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rules := strings.ReplaceAll(upRule, "up == 0", "up == 0\n        for: 1h")
		slow := source("slow", &stub{collect: func(ctx context.Context) ([]collectors.Sample, error) {
			select {
			case <-ctx.Done():
			case <-time.After(3 * time.Second):
			}
			return nil, ctx.Err()
		}})
		got := logOf(t, evaluator.Config{Files: parse(t, rules), Sources: []evaluator.Source{failing("c", 0, errors.New("authenticate: 401"), "up"), slow}}, time.Minute, "state=")
		want := []string{
			`level=WARN msg="state unknown" state=ready reason="collector c fails: authenticate: 401" rules=[Down] value=0`,
			`level=INFO msg="state ok" state=started`,
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("log =\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

// changing is a collector whose error is made of the number of the collection.
func changing(text func(n int) string) evaluator.Config {
	n := 0
	return evaluator.Config{Sources: []evaluator.Source{source("c", &stub{collect: func(context.Context) ([]collectors.Sample, error) {
		n++
		return nil, errors.New(text(n))
	}})}}
}

func TestChangedErrorsAreLogged(t *testing.T) {
	for _, tt := range []struct {
		name string
		text func(n int) string
		// for so long, and so many lines in the log
		d           time.Duration
		least, most int
	}{
		{"the same error", func(int) string { return "refused" }, time.Hour, 1, 1},
		{"a number that changes", func(n int) string { return strings.Repeat("7", n) + " refused" }, time.Hour, 1, 1},
		{"a request that changes", func(n int) string { return fmt.Sprintf("403 Forbidden (request req-%dfeb-%da0)", n, 7*n) }, time.Hour, 1, 1},
		{"a hang", func(n int) string {
			return "GET http://10.0.0.1/: no answer in time: " + []string{"context deadline exceeded", fmt.Sprintf("read tcp 10.0.0.2:%d->10.0.0.1:80: i/o timeout", n)}[n%2]
		}, time.Hour, 1, 1},
		{"a status that changes", func(n int) string { return fmt.Sprintf("GET http://10.0.0.%d: %d", n, []int{401, 503}[min(n/10, 1)]) }, time.Hour, 2, 2},
		{"one change", func(n int) string { return []string{"refused", "401"}[min(n/10, 1)] }, time.Hour, 2, 2},
		{"three changes in a row", func(n int) string { return []string{"", "dns", "refused", "401", "503 down"}[min(n, 4)] }, time.Minute, 4, 4},
		{"always another", func(n int) string { return strings.Repeat("x", n) }, time.Hour, 60, 67},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lines := logOf(t, changing(tt.text), tt.d, "collector=c")
				if len(lines) < tt.least || len(lines) > tt.most {
					t.Fatalf("%d lines = %q, want %d to %d", len(lines), lines, tt.least, tt.most)
				}
				if !strings.HasPrefix(lines[0], `level=WARN msg="collector fails" collector=c err=`) {
					t.Errorf("first line = %q, want the failure", lines[0])
				}
				for _, line := range lines[1:] {
					if !strings.HasPrefix(line, `level=WARN msg="error of the collector changed" collector=c err=`) {
						t.Errorf("line = %q, want the changed error", line)
					}
				}
			})
		})
	}
}
