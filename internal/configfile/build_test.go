package configfile

import (
	"log/slog"
	"slices"
	"testing"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/kinds"
)

// The evaluator gets the label values that the configuration of each collector allows.
func TestBuildDescribesTheMetrics(t *testing.T) {
	l, errs := Load(allKinds(), NewSources(), "vitals.yml", []byte(`collectors:
  - {name: mail, tcp: {address: "127.0.0.1:25"}}
  - name: databases
    tcp:
      targets:
        - {name: db-1, address: "127.0.0.1:3306"}
        - {name: db-2, address: "127.0.0.1:3307"}
`), nil)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	cfg, _, err := (&Builder[kinds.Config]{Logger: slog.New(slog.DiscardHandler)}).Build(l)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]string{"mail": {"mail"}, "databases": {"db-1", "db-2"}} {
		i := slices.IndexFunc(cfg.Metrics[name], func(m collectors.Metric) bool { return m.Name == "vitals_dependency_up" })
		if i < 0 {
			t.Errorf("%s: %d metrics without vitals_dependency_up, want it", name, len(cfg.Metrics[name]))
			continue
		}
		if got := cfg.Metrics[name][i].Labels["dependency"]; !slices.Equal(got, want) {
			t.Errorf("%s: the label dependency can be %q, want %q", name, got, want)
		}
	}
}
