package lint_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/internal/manifest"
	"github.com/vitals-health/vitals/rules"
	"github.com/vitals-health/vitals/rules/lint"
)

// probeRules are the rules for the manifests of the corpus.
const probeRules = `groups:
  - name: g
    rules:
      - alert: KeystoneDown
        expr: vitals_dependency_up{dependency="keystone"} == 0
        for: 30s
        labels: {state: ready}
      - alert: NeutronDown
        expr: vitals_dependency_up{dependency="neutron"} == 0
        for: 20s
        labels: {state: ready}
      - {alert: QuotaLow, expr: vector(1) > 2, for: 5m, labels: {state: ready, severity: warning}}
      - {alert: Observed, expr: vector(1) > 2, for: 5m, labels: {state: ready}, annotations: {mode: observe}}
      - {alert: ServerDown, expr: vector(1) > 2, for: 1m, labels: {state: alive}}
      - {alert: Tarnished, expr: vector(1) > 2, labels: {state: gold}}
`

// TestManifests compares the findings in every file of testdata/manifests with the lines at
// its beginning. A good file has none:
//
//	# want: LINE:COL CODE [SEVERITY] [accepted]: TEXT
//	# listen: ADDRESS
//	# file: PATH
//	# variable: NAME
//
// The text is a part of the finding's text. The address is the configured listen address. The
// configuration uses the files and the variables.
func TestManifests(t *testing.T) {
	files, err := filepath.Glob("testdata/manifests/*.yaml")
	if err != nil || len(files) < 12 {
		t.Fatalf("Glob() = %d, %v, want a corpus", len(files), err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".yaml"), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			var want, got []string
			for _, w := range lines(string(text), "want") {
				want = append(want, name+":"+w)
			}
			for i, f := range checkManifest(t, name, text, header(string(text), "listen")) {
				line := finding(f)
				if i < len(want) && strings.HasPrefix(want[i], line+": ") && strings.Contains(f.Text, strings.TrimPrefix(want[i], line+": ")) {
					line = want[i]
				} else {
					line += ": " + f.Text
				}
				got = append(got, line)
				if f.Cure == "" {
					t.Errorf("finding %+v has no cure, want one", f)
				}
				if testing.Verbose() {
					t.Logf("%s: %s: %s\n\tcure: %s", finding(f), f.Where, f.Text, f.Cure)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("findings differ (-want +got):\n%s", diff)
			}
		})
	}
}

// checkManifest returns the findings in a manifest. The rules have none.
func checkManifest(t *testing.T, name string, text []byte, listen []string) []lint.Finding {
	t.Helper()
	m, errs := manifest.Read(name, text)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	states := []string{"ready", "alive", "started", "gold"}
	f, errs := rules.Parse("rules.yml", []byte(probeRules), states)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	v := &lint.Vocabulary{}
	for name, interval := range map[string]time.Duration{"keystone": 10 * time.Second, "neutron": time.Minute} {
		v.Metrics = append(v.Metrics, lint.Metric{
			Name: "vitals_dependency_up", Type: model.MetricTypeGauge, Collector: name, Interval: interval,
			Labels: map[string][]string{"dependency": {name}},
		})
	}
	opts := lint.Options{Vocabulary: v, States: states, Manifests: []*manifest.File{m}, ListenAddress: strings.Join(listen, "")}
	for _, key := range []string{"file", "variable"} {
		for _, need := range header(string(text), key) {
			opts.Needs = append(opts.Needs, manifest.Need{Name: need, Variable: key == "variable", Where: "vitals.yml:9: " + need})
		}
	}
	var found []lint.Finding
	for _, f := range lint.Check([]*rules.File{f}, opts) {
		if f.File == name {
			found = append(found, f)
		}
	}
	return found
}
