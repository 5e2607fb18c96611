package oracle

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-jsonnet"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
)

// mixed evaluates Jsonnet in which $mixin is the mixin.
func mixed[T any](t *testing.T, text string) T {
	t.Helper()
	vm := jsonnet.MakeVM()
	vm.Importer(&jsonnet.FileImporter{JPaths: []string{"../../dashboards"}})
	out, err := vm.EvaluateAnonymousSnippet("test.jsonnet", strings.ReplaceAll(text, "$mixin", "(import 'mixin.libsonnet')"))
	if err != nil {
		t.Fatal(err)
	}
	var value T
	if err := json.Unmarshal([]byte(out), &value); err != nil {
		t.Fatal(err)
	}
	return value
}

// loaded returns the groups of a rule file as loaded by Prometheus.
func loaded(t *testing.T, text string) []rulefmt.RuleGroup {
	t.Helper()
	groups, errs := rulefmt.Parse([]byte(text), false, model.UTF8Validation, parser.NewParser(parser.Options{}), slog.New(slog.DiscardHandler))
	if len(errs) > 0 {
		t.Fatalf("Prometheus rejects the alerts: %v\n%s", errs, text)
	}
	return groups.Groups
}

// The mixin has the alerts of alerts.yml, with the configured selector, and can be combined
// with other mixins.
func TestMixinHasTheAlerts(t *testing.T) {
	plain, err := os.ReadFile("../../dashboards/alerts/alerts.yml")
	if err != nil {
		t.Fatal(err)
	}
	alerts := func(jsonnet string) []rulefmt.RuleGroup {
		// JSON is YAML.
		return loaded(t, string(mixed[json.RawMessage](t, jsonnet)))
	}
	if diff := cmp.Diff(loaded(t, string(plain)), alerts(`$mixin.prometheusAlerts`)); diff != "" {
		t.Errorf("alerts (-alerts.yml +mixin):\n%s", diff)
	}
	chosen := `job=~"a|b",namespace="c"`
	if diff := cmp.Diff(loaded(t, strings.ReplaceAll(string(plain), `job="vitals"`, chosen)), alerts(`($mixin + {_config+:: {vitalsSelector: '`+chosen+`'}}).prometheusAlerts`)); diff != "" {
		t.Errorf("alerts with another selector (-alerts.yml +mixin):\n%s", diff)
	}
	both := alerts(`({prometheusAlerts+:: {groups+: [{name: 'other', rules: []}]}} + $mixin).prometheusAlerts`)
	if len(both) != 2 || both[0].Name != "other" || both[1].Name != "vitals" {
		t.Errorf("the groups beside another mixin are %+v, want other and vitals", both)
	}
}

// The mixin has every committed dashboard without changes.
func TestMixinHasTheDashboards(t *testing.T) {
	got := mixed[map[string]any](t, `$mixin.grafanaDashboards`)
	files, err := filepath.Glob("../../dashboards/*.json")
	if err != nil || len(files) != len(got) {
		t.Errorf("the mixin has %d dashboards, want the %d files (%v)", len(got), len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var want any
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got["vitals-"+filepath.Base(file)]); diff != "" {
			t.Errorf("%s (-file +mixin):\n%s", file, diff)
		}
	}
}
