package lint_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/rules"
	"github.com/vitals-health/vitals/rules/lint"
)

// vocabulary is the one of a configuration with the collectors keystone (external), local
// (http on this host) and app (scrape).
func vocabulary() *lint.Vocabulary {
	v := &lint.Vocabulary{Configured: true}
	for name, kind := range map[string]string{"keystone": "keystone", "local": "http"} {
		v.Metrics = append(v.Metrics, lint.Metric{
			Name: "vitals_dependency_up", Type: model.MetricTypeGauge, Labels: map[string][]string{"dependency": {name}},
			Collector: name, Kind: kind, External: name == "keystone", Interval: 10 * time.Second, Bool: true,
		})
	}
	return v
}

// TestCorpus holds the findings in every file of testdata against the lines "# want:" at
// its beginning. A file without such a line is a good one.
func TestCorpus(t *testing.T) {
	files, err := filepath.Glob("testdata/*.yml")
	if err != nil || len(files) == 0 {
		t.Fatalf("Glob() = %v, %v, want rule files", files, err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".yml"), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			states := []string{"ready", "alive", "started"}
			f, errs := rules.Parse(name, text, states)
			if errs = append(errs, rules.Check([]*rules.File{f})...); len(errs) > 0 {
				t.Fatal(errs)
			}
			var got []string
			for _, f := range lint.Check([]*rules.File{f}, lint.Options{Vocabulary: vocabulary(), States: states}) {
				got = append(got, fmt.Sprintf("%d:%d %s", f.Line, f.Col, f.Code))
				if f.Text == "" || f.Cure == "" || f.File != name {
					t.Errorf("finding %+v, want a text, a cure and the file's name", f)
				}
			}
			if diff := cmp.Diff(wants(string(text)), got); diff != "" {
				t.Errorf("findings differ (-want +got):\n%s", diff)
			}
		})
	}
}

func wants(text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		if want, ok := strings.CutPrefix(line, "# want: "); ok {
			all = append(all, strings.TrimSpace(want))
		}
	}
	return all
}
