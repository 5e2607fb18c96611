//go:build e2e

package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/prometheus/common/model"
	"gopkg.in/yaml.v3"
)

// alert has the fields of a rule that the tests need.
type alert struct {
	Name          string            `yaml:"alert"`
	For           model.Duration    `yaml:"for"`
	KeepFiringFor model.Duration    `yaml:"keep_firing_for"`
	Labels        map[string]string `yaml:"labels"`
}

// ruleFile is a rule file on disk and the alerts in it.
type ruleFile struct {
	path   string
	alerts []alert
}

// shippedRules returns the rule file that builtin:kuryr-controller names, unmodified, as
// a user gets it.
func shippedRules(t *testing.T) ruleFile {
	t.Helper()
	dir := t.TempDir()
	show := exec.Command(env(t).vitals, "profiles", "show", "kuryr-controller", "--write="+dir)
	if out, err := show.CombinedOutput(); err != nil {
		t.Fatalf("vitals profiles show: %v\n%s", err, out)
	}
	f := ruleFile{path: filepath.Join(dir, "rules", "kuryr-controller.yml")}
	text, err := os.ReadFile(f.path)
	if err != nil {
		t.Fatal(err)
	}
	var content struct {
		Groups []struct{ Rules []alert }
	}
	if err := yaml.Unmarshal(text, &content); err != nil {
		t.Fatal(err)
	}
	for _, group := range content.Groups {
		for _, rule := range group.Rules {
			if rule.Name != "" {
				f.alerts = append(f.alerts, rule)
			}
		}
	}
	if len(f.alerts) == 0 {
		t.Fatalf("%s has no alerts", f.path)
	}
	return f
}

// readiness returns the alert of that name that feeds ready.
func (f ruleFile) readiness(t *testing.T, name string) alert {
	t.Helper()
	var names []string
	for _, a := range f.alerts {
		if a.Name == name && a.Labels["state"] == "ready" {
			return a
		}
		names = append(names, a.Name)
	}
	t.Fatalf("no alert %q with the label state: ready among %q", name, names)
	return alert{}
}
