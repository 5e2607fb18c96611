package main

import (
	"bytes"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/internal/rbac"
)

// The manifests grant what vitals generate rbac prints for their profile.
func TestDeploymentGrantsWhatIsGenerated(t *testing.T) {
	eachDeployment(t, func(t *testing.T, d deployment) {
		collector := collectorNamed(d.load(t), "kubernetes")
		_, kind := collector.Kind()
		var want []manifestRule
		if text := rbac.Objects(rbac.Of([]collectors.Kind{kind}), rbac.Account{Name: "a", Namespace: "b", ServiceAccount: "c"}); text != "" {
			var role kubeObject
			if err := yaml.Unmarshal([]byte(strings.Split(text, "---\n")[0]), &role); err != nil {
				t.Fatal(err)
			}
			want = role.Rules
		}
		var got []manifestRule
		for _, m := range readManifests(t, d.file) {
			got = append(got, m.Rules...)
		}
		if diff := cmp.Diff(grants(want), grants(got)); diff != "" {
			t.Errorf("rights of %s (-generated +granted):\n%s", d.file, diff)
		}
	})
}

// The guide's roles for the discovery are those that are generated for its configuration.
func TestGuideGrantsWhatItsDiscoveryNeeds(t *testing.T) {
	_, section, _ := strings.Cut(readDoc(t, "docs/guides/kubernetes.md"), "\n## Discover targets\n")
	section, _, _ = strings.Cut(section, "\n## ")
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(section, -1)
	if len(blocks) != 3 {
		t.Fatalf("the section has %d blocks, want a configuration, rules and roles", len(blocks))
	}
	path := filepath.Join(t.TempDir(), "vitals.yml")
	collectortest.Write(t, path, blocks[0][1])
	var out, errs bytes.Buffer
	code := run([]string{"generate", "rbac", "--config.file=" + path, "--name=vitals-discovery", "--service-account=my-app"}, &out, &errs)
	if diff := cmp.Diff(out.String(), blocks[2][1]); code != exitOK || diff != "" {
		t.Errorf("vitals generate rbac = %d %s (-generated +guide):\n%s", code, errs.String(), diff)
	}
}
