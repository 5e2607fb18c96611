package filekind_test

import (
	"errors"
	"testing"

	"github.com/vitals-health/vitals/internal/filekind"
)

func TestInstead(t *testing.T) {
	const (
		config    = "rule_files: [a]\ncollectors: []\n"
		rules     = "groups: []\n"
		tests     = "rule_files: [a]\ntests: []\n"
		unclear   = "evaluation_interval: 1s\nrule_files: [a]\n"
		operator  = "apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nspec: {}\n"
		pod       = "apiVersion: v1\nkind: Pod\n---\nkind: Service\n"
		configMap = "apiVersion: v1\nkind: ConfigMap\ndata: {}\n"
		prom      = "global: {}\nrule_files: [a]\n"
	)
	const same = "f.yml:3:4: the reader's own"
	cases := []struct {
		name, file, data string
		want             filekind.Kind
		message          string
	}{
		{"a configuration for rules", "f.yml", config, filekind.Rules, `f.yml:1:1: looks like a configuration of Vitals, expected a rule file: "vitals check config f.yml" checks it, and "vitals run --config.file=f.yml" starts with it`},
		{"a configuration for tests", "f.yml", config, filekind.Tests, `f.yml:1:1: looks like a configuration of Vitals, expected a file of unit tests: "vitals check config f.yml" checks it, and "vitals run --config.file=f.yml" starts with it`},
		{"rules for a configuration", "f.yml", rules, filekind.Config, `f.yml:1:1: looks like a rule file, expected a configuration of Vitals: "vitals check rules f.yml" checks it, and a configuration names it in rule_files`},
		{"rules for tests, in a file whose name needs quotes in a shell", "a b.yml", rules, filekind.Tests, `a b.yml:1:1: looks like a rule file, expected a file of unit tests: "vitals check rules FILE" checks it, and a configuration names it in rule_files`},
		{"tests for rules", "f.yml", tests, filekind.Rules, `f.yml:1:1: looks like a file of unit tests, expected a rule file: "vitals test rules f.yml" runs it`},
		{"a configuration or tests, for rules", "f.yml", unclear, filekind.Rules, `f.yml:1:1: looks like a configuration of Vitals, expected a rule file: "vitals check config f.yml" checks it, and "vitals run --config.file=f.yml" starts with it`},
		{"a configuration or tests, for tests", "f.yml", unclear, filekind.Tests, same},
		{"a configuration or tests, for a configuration", "f.yml", unclear, filekind.Config, same},
		{"an operator's object for a manifest", "f.yml", operator, filekind.Manifest, `f.yml:1:1: looks like a rule file, expected a Kubernetes manifest: "vitals check rules f.yml" checks it, and a configuration names it in rule_files`},
		{"an operator's object with a mistake", "f.yml", operator, filekind.Rules, same},
		{"several objects for rules", "f.yml", pod, filekind.Rules, `f.yml:1:1: looks like a Kubernetes manifest, expected a rule file: "vitals check rules --manifest=f.yml RULES..." checks its probes`},
		{"a manifest with a mistake", "f.yml", pod, filekind.Manifest, same},
		{"rules among other objects", "f.yml", pod + "---\n" + operator, filekind.Rules, same},
		{"a list of what may be rules", "f.yml", "apiVersion: v1\nkind: List\nitems: []\n", filekind.Rules, same},
		{"a list, which is no configuration", "f.yml", "apiVersion: v1\nkind: List\nitems: []\n", filekind.Config, `f.yml:1:1: looks like a Kubernetes manifest, expected a configuration of Vitals: "vitals check rules --manifest=f.yml RULES..." checks its probes`},
		{"a list of the operator's objects for a manifest", "f.yml", "apiVersion: v1\nkind: PrometheusRuleList\nitems: []\n", filekind.Manifest, `f.yml:1:1: looks like a rule file, expected a Kubernetes manifest: "vitals check rules f.yml" checks it, and a configuration names it in rule_files`},
		{"an object with files in it", "f.yml", configMap, filekind.Config, `f.yml:1:1: looks like a Kubernetes manifest, expected a configuration of Vitals: give what is in its data as files of their own`},
		{"Prometheus' configuration", "prometheus.yml", prom, filekind.Config, `prometheus.yml:1:1: looks like a configuration of Prometheus, expected a configuration of Vitals: Vitals reads the rule files that it names, and has a configuration of its own`},
		{"a configuration with rules in it", "f.yml", config + rules, filekind.Config, same},
		{"unknown keys", "f.yml", "colectors: []\n", filekind.Rules, same},
		{"a list", "f.yml", "[groups, tests]\n", filekind.Config, same},
		{"no YAML", "f.yml", "groups: [\n", filekind.Config, same},
		{"nothing", "f.yml", "", filekind.Config, same},
	}
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			got := filekind.Instead(tt.file, []byte(tt.data), tt.want, []error{errors.New(same)})
			if len(got) != 1 || got[0].Error() != tt.message {
				t.Errorf("the mistakes are\n%v, want\n%s", got, tt.message)
			}
		})
	}
}

// Without mistakes the file is of the expected kind.
func TestInsteadWithoutMistakes(t *testing.T) {
	if got := filekind.Instead("f.yml", []byte("groups: []\n"), filekind.Config, nil); got != nil {
		t.Errorf("the mistakes are %v, want none", got)
	}
}
