package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/internal/config"
	"github.com/vitals-health/vitals/internal/manifest"
	"github.com/vitals-health/vitals/internal/rulecheck"
	"github.com/vitals-health/vitals/rules"
	"github.com/vitals-health/vitals/rules/lint"
)

// probeFindings returns the findings of the checks in a manifest.
func probeFindings(t *testing.T, r *rulecheck.Set, file, text string) []lint.Finding {
	t.Helper()
	m, errs := manifest.Read(file, []byte(text))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	r.Manifests = []*manifest.File{m}
	var found []lint.Finding
	for _, f := range r.Findings() {
		if f.File == file {
			found = append(found, f)
		}
	}
	return found
}

// The probes of the deployments pass the checks.
func TestDeploymentsHaveProbesThatFit(t *testing.T) {
	states := []string{"ready", "alive", "started"}
	all := deployments()
	for _, name := range []string{"exec-probe", "grpc-probe", "native-sidecar", "standalone", "daemonset", "job"} {
		all = append(all, deployment{file: "deploy/kubernetes/" + name + ".yaml"})
	}
	for _, d := range all {
		t.Run(filepath.Base(d.file), func(t *testing.T) {
			r := &rulecheck.Set{States: states}
			if d.profile != "" {
				r = rulecheck.OfConfig(d.load(t))
			}
			for _, f := range probeFindings(t, r, d.file, readDoc(t, d.file)) {
				t.Errorf("%s:%d:%d: %s %s: %s", f.File, f.Line, f.Col, f.Code, f.Where, f.Text)
			}
		})
	}
}

// So are those that the pages show; some show a part of a pod only.
func TestProbesOfThePagesFit(t *testing.T) {
	shown := 0
	for _, page := range docPages(t) {
		for _, block := range docFences(page, readDoc(t, page), "yaml") {
			if m, _ := manifest.Read(page, []byte(block.text)); len(m.Pods) == 0 {
				continue
			}
			shown++
			for _, f := range probeFindings(t, &rulecheck.Set{States: []string{"ready", "alive", "started"}}, page, block.text) {
				if f.Severity > lint.Info {
					t.Errorf("%s: %d:%d: %s %s: %s", block.where, f.Line, f.Col, f.Code, f.Where, f.Text)
				}
			}
		}
	}
	if shown == 0 {
		t.Error("no page shows a pod, want one in docs/guides/kubernetes.md")
	}
}

// The examples of docs/reference/lint.md that are probes show the findings of the checks, and probes without any.
func TestLintPageOfProbes(t *testing.T) {
	const ready = `groups:
  - name: g
    rules: [{alert: KeystoneDown, expr: vitals_dependency_up == 0, for: 30s, labels: {state: ready}}]
`
	states := []string{"ready", "alive", "started"}
	f, errs := rules.Parse("rules.yml", []byte(ready), states)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	shown := 0
	for code, s := range lintSections(t) {
		if !strings.HasPrefix(code, "V03") || len(s.examples) != 2 {
			continue
		}
		shown++
		for i, example := range s.examples {
			pod := "kind: Pod\nspec:\n  containers:\n    "
			if strings.HasPrefix(example.text, "- name: ") {
				pod += strings.ReplaceAll(example.text, "\n", "\n    ")
			} else {
				pod += "- name: vitals\n      image: vitals\n      args: [--web.listen-address=:8080]\n    - name: app\n      " +
					strings.ReplaceAll(example.text, "\n", "\n      ")
			}
			r := &rulecheck.Set{States: states, Files: []*rules.File{f}}
			if code == "V039" {
				file := filepath.Join(t.TempDir(), "vitals.yml")
				writeFile(t, file, "collectors: [{name: cache, redis: {address: 'redis:6379', username: u, password_file: /etc/redis/password}}]\n")
				l, errs := config.LoadFile(file)
				if len(errs) > 0 {
					t.Fatal(errs)
				}
				r = rulecheck.OfConfig(l)
			}
			found := probeFindings(t, r, example.where, pod)
			has := slices.ContainsFunc(found, func(f lint.Finding) bool { return f.Code == code })
			wrong := slices.ContainsFunc(found, func(f lint.Finding) bool { return f.Severity > lint.Info })
			if bad := i == 0; has != bad || wrong && !bad {
				t.Errorf("%s: example %d of %s has %v, want that finding in the first one, and nothing in the other", example.where, i+1, code, found)
			}
		}
	}
	if shown != 10 {
		t.Errorf("the page shows %d checks of probes, want 10", shown)
	}
}
