package configfile

import (
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
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

// The targets of all collectors fit the memory of the process, for each kind that has them.
func TestBuildRefusesMoreTargetsThanFit(t *testing.T) {
	const memory = 64 << 20
	for key, kind := range map[string]struct{ options, address string }{
		"http": {"", "http://%s"}, "scrape": {"", "http://%s"}, "tcp": {"", "%s:1"}, "grpc": {"", "%s:1"}, "icmp": {"", "%s"}, "dns": {"name: a.example, ", "%s"},
	} {
		// of returns the lines of a collector with a listed number of targets, and more keys of its discovery.
		of := func(name string, listed int, keys string) string {
			var list []string
			for i := range listed {
				list = append(list, fmt.Sprintf("%q", fmt.Sprintf(kind.address, netip.AddrFrom4([4]byte{127, 0, byte(i >> 8), byte(i)}))))
			}
			return fmt.Sprintf("  - name: %s\n    %s: {%stargets: [%s], %s}\n", name, key, kind.options, strings.Join(list, ", "), keys)
		}
		found := func(keys string) string { return "discovery: {files: [/etc/targets.yml]" + keys + "}" }
		mistake := func(i int, path, given string, fits int) string {
			return fmt.Sprintf("collectors[%d].%s.%s: %s: expected at most %d, as there are %d other targets, and the memory for targets, 64MiB, holds 4096 of 16KiB; a larger memory limit allows more", i, key, path, given, fits, 4096-fits)
		}
		for name, tt := range map[string]struct {
			given  string
			memory int64
			want   string
		}{
			"as many as fit":         {of("a", 0, found(", limit: 4096")), memory, ""},
			"one more":               {of("a", 0, found(", limit: 4097")), memory, mistake(0, "discovery.limit", "limit 4097", 4096)},
			"two that fit":           {of("a", 0, found(", limit: 4000")) + of("b", 0, found(", limit: 96")), memory, ""},
			"one more, its line":     {of("a", 0, found(", limit: 4000")) + of("b", 0, found(", limit: 97")), memory, "vitals.yml:5:"},
			"one more, its key":      {of("a", 0, found(", limit: 4000")) + of("b", 0, found(", limit: 97")), memory, mistake(1, "discovery.limit", "limit 97", 96)},
			"the default fits":       {of("a", 0, found(", limit: 3096")) + of("b", 0, found("")), memory, ""},
			"the default":            {of("a", 0, found(", limit: 3097")) + of("b", 0, found("")), memory, mistake(1, "discovery.limit", "limit 1000", 999)},
			"the largest number":     {of("a", 1, found(", limit: 9223372036854775807")), memory, mistake(0, "discovery.limit", "limit 9223372036854775807", 4095)},
			"listed":                 {of("a", 3, ""), 3 * 16 << 10, ""},
			"one more is listed":     {of("a", 4, ""), 3 * 16 << 10, "targets: 4 targets: expected at most 3"},
			"no room after the list": {of("a", 4, found("")), 3 * 16 << 10, "limit 1000: expected at most 0, as there are 4 other targets"},
			"without a memory limit": {of("a", 0, found(", limit: 30000")), 0, ""},
		} {
			l, errs := Load(allKinds(), NewSources(), "vitals.yml", []byte("collectors:\n"+tt.given), nil)
			if len(errs) > 0 {
				t.Fatal(key, name, errs[0])
			}
			_, _, err := (&Builder[kinds.Config]{Logger: slog.New(slog.DiscardHandler), TargetMemory: tt.memory}).Build(l)
			if got := fmt.Sprint(err); !strings.Contains(got, tt.want) || (err == nil) != (tt.want == "") {
				t.Errorf("%s, %s: Build() = %s, want %q", key, name, got, tt.want)
			}
		}
	}
}
