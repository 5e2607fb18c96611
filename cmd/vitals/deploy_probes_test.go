package main

import (
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/manifest"
)

// stalledFor is how long Vitals may need to start again after the kubelet has stopped it.
const stalledFor = 10 * time.Second

// shownVitals are the containers of Vitals that the files of deploy/kubernetes and the pages
// show, with their places.
func shownVitals(t *testing.T) map[string]manifest.Container {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(docsRoot, "deploy/kubernetes/*.yaml"))
	if err != nil || len(files) < 3 {
		t.Fatalf("Glob() = %q, %v, want the manifests", files, err)
	}
	texts := map[string]string{}
	for _, f := range files {
		name := "deploy/kubernetes/" + filepath.Base(f)
		texts[name] = readDoc(t, name)
	}
	for _, page := range docPages(t) {
		for _, block := range docFences(page, readDoc(t, page), "yaml") {
			texts[block.where] = block.text
		}
	}
	found := map[string]manifest.Container{}
	for where, text := range texts {
		m, _ := manifest.Read(where, []byte(text))
		for _, pod := range m.Pods {
			for _, c := range pod.Containers {
				if c.Name == "vitals" && slices.Contains(c.Command, "run") && !strings.Contains(where, "lint.md") {
					found[where] = c
				}
			}
		}
	}
	return found
}

// The network reaches the probes of every manifest, and nothing else of Vitals without TLS
// and users.
func TestDeploymentsServeProbesOnly(t *testing.T) {
	shown := shownVitals(t)
	if len(shown) < 7 {
		t.Errorf("%d manifests show Vitals, want those of deploy/kubernetes and of the pages", len(shown))
	}
	for where, c := range shown {
		host, _, err := net.SplitHostPort(flagOf(t, c.Command, "web.listen-address"))
		protected := slices.ContainsFunc(c.Command, func(a string) bool { return strings.HasPrefix(a, "--web.config.file=") })
		if err != nil || host != "127.0.0.1" && !protected {
			t.Errorf("%s: %q, want everything but probes on 127.0.0.1, or behind --web.config.file", where, c.Command)
		}
		if probes := flagOf(t, c.Command, "probe.listen-address"); !strings.HasPrefix(probes, ":") {
			t.Errorf("%s: probes are served on %s, want all addresses", where, probes)
		}
	}
}

// A Vitals that hangs is restarted before the workload: its own probe has failed often enough,
// and it runs again, before alive fails.
func TestDeploymentsRestartAHungVitals(t *testing.T) {
	e, err := evaluator.New(evaluator.Config{}, evaluator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	limits := e.Snapshot()
	for where, c := range shownVitals(t) {
		i := slices.IndexFunc(c.Probes, func(p manifest.Probe) bool { return p.Kind == manifest.Liveness })
		if i < 0 || c.Probes[i].HTTP == nil || c.Probes[i].HTTP.Path != "/-/healthy" {
			t.Errorf("%s: Vitals has the probes %+v, want liveness of /-/healthy", where, c.Probes)
			continue
		}
		p := c.Probes[i]
		if took := limits.MaxAge + time.Duration(p.FailureThreshold)*p.Period + stalledFor; took > limits.AliveMaxAge {
			t.Errorf("%s: a hung Vitals runs again after %s, want at most %s, when alive fails", where, took, limits.AliveMaxAge)
		}
	}
}
