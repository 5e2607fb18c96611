package charts_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/strvals"
)

// guide is the page that shows the chart and the components.
const guide = root + "/docs/guides/kubernetes.md"

// flagValues returns the values that the flags of a command of a page set. The files are those of the
// default values, and the outputs of vitals generate.
func flagValues(t *testing.T, command string) map[string]any {
	t.Helper()
	files, _ := parse(t, read(t, chartDir+"/values.yaml"))["files"].(map[string]any)
	files["rbac.yaml"] = generated(t, write(t, t.TempDir(), "vitals.yml", rightsConfig))
	_, files["probes.yaml"] = generatedProbes(t, helm(t, chartDir, nil).Manifest, "--port=8080")
	set := map[string]any{}
	for _, m := range regexp.MustCompile(`--set-file (?:'([^']+)'|(\S+))`).FindAllStringSubmatch(command, -1) {
		open := func(name []rune) (any, error) { return files[string(name)], nil }
		if err := strvals.ParseIntoFile(m[1]+m[2], set, open); err != nil {
			t.Fatalf("%s: %v", command, err)
		}
	}
	return set
}

// The commands of the pages install a chart with the files that they name.
func TestCommandsOfThePages(t *testing.T) {
	shown := 0
	for _, page := range []string{guide, chartDir + "/README.md", root + "/README.md"} {
		for _, command := range regexp.MustCompile("helm install vitals deploy/helm/vitals [^\n`]+").FindAllString(read(t, page), -1) {
			shown++
			set := flagValues(t, command)
			if len(set) == 0 {
				t.Errorf("%s: %s sets no value", page, command)
			}
			text := helm(t, chartDir, set).Manifest
			if got := find(t, text, "ConfigMap").Data; got["vitals.yml"] == "" || got["rules.yml"] == "" {
				t.Errorf("%s: %s makes a ConfigMap with %v, want both files", page, command, got)
			}
			c, _ := container(t, pod(t, text))
			if generated := c.ReadinessProbe.HTTPGet.Port.IntVal == 8080; generated != strings.Contains(command, "probes.manifest") {
				t.Errorf("%s: %s takes the readiness of the file: %t", page, command, generated)
			}
			if roles := strings.Contains(text, "kind: ClusterRole\n"); roles != strings.Contains(command, "rbac.manifest") {
				t.Errorf("%s: %s makes roles: %t", page, command, roles)
			}
		}
	}
	if shown != 5 {
		t.Errorf("the pages show %d commands, want 5", shown)
	}
}

// The guide shows the example of the sidecar.
func TestExampleOfTheGuide(t *testing.T) {
	_, shown, _ := strings.Cut(read(t, guide), "# kustomization.yaml\n")
	shown, _, _ = strings.Cut(shown, "```")
	if diff := cmp.Diff(read(t, root+"/deploy/kustomize/examples/sidecar/kustomization.yaml"), shown); diff != "" {
		t.Errorf("%s shows another kustomization (-example +guide):\n%s", guide, diff)
	}
}

// README.md of the chart lists templates that exist.
func TestTemplatesOfTheReadme(t *testing.T) {
	var defined strings.Builder
	for _, name := range []string{"_names", "_container", "_objects", "_probes", "_rbac", "_workload"} {
		defined.WriteString(read(t, chartDir+"/templates/"+name+".tpl"))
	}
	_, table, _ := strings.Cut(read(t, chartDir+"/README.md"), "| template |")
	table, _, _ = strings.Cut(table, "\n\n")
	listed := regexp.MustCompile("`(vitals\\.[a-zA-Z]+)`").FindAllStringSubmatch(table, -1)
	if len(listed) < 15 {
		t.Errorf("the table lists %d templates, want all that other charts use", len(listed))
	}
	for _, m := range listed {
		if !strings.Contains(defined.String(), `define "`+m[1]+`"`) {
			t.Errorf("there is no template %s", m[1])
		}
	}
}
