package configfile

import (
	"fmt"
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

// The targets that may be found fit the memory of the process, for each kind that has them.
func TestBuildRefusesMoreTargetsThanFit(t *testing.T) {
	for key, options := range map[string]string{"http": "", "tcp": "", "grpc": "", "icmp": "", "scrape": "", "dns": "name: a.example, "} {
		for _, tt := range []struct {
			targets int
			memory  int64
			want    string
		}{
			{16_384, 128 << 20, ""},
			{16_385, 128 << 20, fmt.Sprintf("vitals.yml:4:14: collectors[0].%s.discovery.limit: limit 16385: expected at most 16384, as targets of 2KiB may take a quarter of the memory limit, 128MiB", key)},
			{30_000, 0, ""},
		} {
			l, errs := Load(allKinds(), NewSources(), "vitals.yml", fmt.Appendf(nil, "collectors:\n  - name: web\n    %s: {%sdiscovery: {files: [/etc/targets.yml],\n      limit: %d}}\n", key, options, tt.targets), nil)
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			_, _, err := (&Builder[kinds.Config]{Logger: slog.New(slog.DiscardHandler), MemoryLimit: tt.memory}).Build(l)
			if got := fmt.Sprint(err); got != tt.want && (err != nil || tt.want != "") {
				t.Errorf("%s with %d targets in %d bytes: Build() = %s, want %q", key, tt.targets, tt.memory, got, tt.want)
			}
		}
	}
}
