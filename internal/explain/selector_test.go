package explain

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/rules"
)

// threeCollectors simulates the collectors databases, mail and other with one rule. The
// configuration allows some values of the label dependency of the first two.
func threeCollectors(t *testing.T, selector string) *scene {
	t.Helper()
	file, mistakes := rules.Parse("test.yml", []byte("groups: [{name: g, rules: [{alert: A, expr: '"+selector+" == 0', labels: {state: ready}}]}]"), []string{evaluator.Ready})
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	cfg := evaluator.Config{Files: []*rules.File{file}, Metrics: map[string][]collectors.Metric{}}
	for name, values := range map[string][]string{"databases": {"db-1", "db-2"}, "mail": {"mail"}} {
		cfg.Metrics[name] = []collectors.Metric{
			{Desc: collectors.Desc{Name: "measured"}, Labels: map[string][]string{"dependency": values}},
			{Desc: collectors.Desc{Name: "counted"}, Labels: map[string][]string{"dependency": nil}},
		}
	}
	for _, name := range collectorNames() {
		cfg.Sources = append(cfg.Sources, evaluator.Source{Name: name, Kind: "tcp", Interval: 10 * time.Second, Timeout: time.Second, Collector: &fakeCollector{name: name}})
	}
	sim, err := evaluator.NewSimulation(cfg, evaluator.SimulationOptions{}, epoch())
	if err != nil {
		t.Fatal(err)
	}
	return &scene{Simulation: sim}
}

func collectorNames() []string { return []string{"databases", "mail", "other"} }

// named ends a collection of each collector and returns the collectors that the explanation of
// the rule names.
func (sc *scene) named(t *testing.T, b evaluator.Batch, outcome error) string {
	t.Helper()
	for _, name := range collectorNames() {
		if err := sc.Deliver(name, b, outcome, epoch()); err != nil {
			t.Fatal(err)
		}
	}
	sc.snap = sc.Evaluate(t.Context(), epoch().Add(time.Second))
	return strings.Join(sc.explain(t, evaluator.Ready, Options{}).Rules[0].Tree.collectors(nil), " ")
}

// A selector without series names the collectors that its matchers allow.
func TestCandidatesOfASelector(t *testing.T) {
	described := evaluator.Batch{Descs: []collectors.Desc{{Name: "measured"}}}
	for _, c := range []struct{ name, selector, want string }{
		{"a target of a collector", `measured{dependency="db-2"}`, "databases other"},
		{"a collector by its name", `measured{dependency="mail"}`, "mail"},
		{"the targets of several", `measured{dependency=~"db-.|mail"}`, "databases mail other"},
		{"all but one", `measured{dependency!="mail"}`, "databases other"},
		{"a name that none has", `measured{dependency="db-9"}`, "other"},
		{"a label that none has", `measured{dependency="db-2",phase="connect"}`, "other"},
		{"no matcher", `measured`, "databases mail other"},
	} {
		if got := threeCollectors(t, c.selector).named(t, described, nil); got != c.want {
			t.Errorf("%s: the collectors are %q, want %q", c.name, got, c.want)
		}
		if got := threeCollectors(t, c.selector).named(t, described, errors.New("refused")); got != c.want {
			t.Errorf("%s, after failures: the collectors are %q, want %q", c.name, got, c.want)
		}
	}
}

// Where no collector describes the metric, those that fail are named, if the matchers of the
// selector allow them.
func TestFailingCandidatesOfASelector(t *testing.T) {
	sc := threeCollectors(t, `measured{dependency="db-2"}`)
	if got, want := sc.named(t, evaluator.Batch{}, errors.New("refused")), "databases other"; got != want {
		t.Errorf("the collectors are %q, want %q", got, want)
	}
}
