package charts_test

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	"helm.sh/helm/v3/pkg/releaseutil"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// chartDir is the chart.
const chartDir = root + "/deploy/helm/vitals"

// namespace is that of the releases.
const namespace = "shop"

// rendered is what a chart or a component renders.
type rendered struct{ name, text string }

// all returns every rendered case.
func all(t *testing.T) []rendered {
	t.Helper()
	cases := []rendered{{"kustomize-sidecar", kustomize(t, "sidecar")}, {"kustomize-daemonset", kustomize(t, "daemonset")}, {"kustomize-standalone", kustomize(t, "standalone")}}
	for _, name := range []string{"default", "daemonset", "everything", "profile"} {
		cases = append(cases, rendered{"helm-" + name, helm(t, chartDir, values(t, name)).Manifest})
	}
	return append(cases, rendered{"helm-my-app", helm(t, example(t), nil).Manifest})
}

// values reads the values of a case.
func values(t *testing.T, name string) map[string]any {
	t.Helper()
	return parse(t, read(t, filepath.Join("testdata", name+".values.yaml")))
}

// parse parses a mapping.
func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	v := map[string]any{}
	if err := yaml.UnmarshalStrict([]byte(text), &v); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return v
}

// release is a rendered chart.
type release struct{ Manifest, Notes string }

// template does what "helm template" does, with the notes of "helm install".
func template(t *testing.T, dir string, values map[string]any) (release, error) {
	t.Helper()
	c, err := loader.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := chartutil.ProcessDependenciesWithMerge(c, values); err != nil {
		return release{}, err
	}
	options := chartutil.ReleaseOptions{Name: "vitals", Namespace: namespace, Revision: 1, IsInstall: true}
	scope, err := chartutil.ToRenderValues(c, values, options, chartutil.DefaultCapabilities)
	if err != nil {
		return release{}, err
	}
	files, err := engine.Render(c, scope)
	if err != nil {
		return release{}, err
	}
	var r release
	for name, text := range files {
		if path.Base(name) == "NOTES.txt" {
			r.Notes += text
			delete(files, name)
		}
	}
	_, manifests, err := releaseutil.SortManifests(files, nil, releaseutil.InstallOrder)
	if err != nil {
		return release{}, err
	}
	var b strings.Builder
	for _, m := range manifests {
		fmt.Fprintf(&b, "---\n# Source: %s\n%s\n", m.Name, m.Content)
	}
	r.Manifest = b.String()
	return r, nil
}

// helm renders a chart without a mistake.
func helm(t *testing.T, dir string, values map[string]any) release {
	t.Helper()
	r, err := template(t, dir, values)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// example returns the directory of the example chart, with the chart that it depends on, as "helm
// dependency build" leaves it.
func example(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for from, to := range map[string]string{root + "/deploy/helm/examples/my-app": ".", chartDir: "charts/vitals"} {
		if err := os.CopyFS(filepath.Join(dir, to), os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// kustomize does what "kustomize build" does with an example.
func kustomize(t *testing.T, name string) string {
	t.Helper()
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), root+"/deploy/kustomize/examples/"+name)
	if err != nil {
		t.Fatal(err)
	}
	text, err := built.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// What is rendered is in testdata, which the end-to-end tests apply to a real API server.
func TestRendered(t *testing.T) {
	for _, r := range all(t) {
		t.Run(r.name, func(t *testing.T) { golden(t, r.name, r.text) })
	}
}

// "helm lint" has nothing but the advice to add an icon.
func TestLint(t *testing.T) {
	check := func(name, dir string, values map[string]any) {
		t.Run(name, func(t *testing.T) {
			for _, m := range lint.AllWithKubeVersion(dir, values, namespace, nil).Messages {
				if m.Severity > support.InfoSev || !strings.Contains(m.Err.Error(), "icon is recommended") {
					t.Error(m)
				}
			}
		})
	}
	check("none", chartDir, map[string]any{"kind": "None"})
	check("my-app", example(t), nil)
	for _, name := range []string{"default", "daemonset", "everything", "profile"} {
		check(name, chartDir, values(t, name))
	}
}

// A chart that only includes the templates has no object of this one.
func TestNone(t *testing.T) {
	r := helm(t, chartDir, map[string]any{"kind": "None"})
	if got := strings.TrimSpace(r.Manifest); got != "" {
		t.Errorf("kind None renders\n%s\nwant nothing", got)
	}
	if !strings.Contains(r.Notes, "renders no object") {
		t.Errorf("notes = %q, want that no object is rendered", r.Notes)
	}
}

// The notes name objects that are rendered.
func TestNotes(t *testing.T) {
	for name, want := range map[string]string{"default": "deployment/vitals", "daemonset": "daemonset/node-health"} {
		r := helm(t, chartDir, values(t, name))
		if !strings.Contains(r.Notes, "kubectl -n shop exec "+want+" -c vitals -- /vitals explain ready\n") {
			t.Errorf("%s: notes = %s\nwant the command for %s", name, r.Notes, want)
		}
		kind, object, _ := strings.Cut(want, "/")
		if o := find(t, r.Manifest, kind); o.Metadata.Name != object {
			t.Errorf("%s: the notes name %s, want %s/%s", name, want, kind, o.Metadata.Name)
		}
	}
}
