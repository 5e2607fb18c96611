package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vitals-health/vitals/internal/execprobe"
)

// views are the ways to query a daemon for ready: each returns the generation of the
// snapshot, and the result.
func (p *runningVitals) views() map[string]func() (generation string, ready bool, err error) {
	get := func(path string) (*http.Response, string, error) {
		r, err := http.Get(p.url + path)
		if err != nil {
			return nil, "", err
		}
		defer r.Body.Close()
		body, err := io.ReadAll(r.Body)
		return r, string(body), err
	}
	return map[string]func() (string, bool, error){
		"HTTP": func() (string, bool, error) {
			r, _, err := get("/ready")
			if err != nil {
				return "", false, err
			}
			return r.Header.Get("X-Vitals-Generation"), r.StatusCode == http.StatusOK, nil
		},
		"metrics": func() (string, bool, error) {
			r, body, err := get("/metrics")
			if err != nil {
				return "", false, err
			}
			return r.Header.Get("X-Vitals-Generation"), strings.Contains(body, "\nvitals_state{state=\"ready\"} 1\n"), nil
		},
		"exec": func() (string, bool, error) {
			r := execprobe.Query(p.socket, "ready", time.Now().Add(patience))
			if r.Verdict == nil {
				return "", false, fmt.Errorf("%s: %s", r.Outcome, r.Text)
			}
			return fmt.Sprint(r.Verdict.Generation), execprobe.Plain.Code(r) == 0, nil
		},
	}
}

// Every view of one generation has the same result, while the state goes up and down.
func TestE87OneTruth(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	marker := filepath.Join(dir, "marker")
	write(t, dir, "rules.yml", "groups: [{name: g, rules: [{alert: MarkerMissing, expr: vitals_file_exists == 0, labels: {state: ready}}]}]\n")
	config := write(t, dir, "vitals.yml", "evaluation_interval: 1s\nrule_files: [rules.yml]\ncollectors: [{name: marker, interval: 500ms, timeout: 500ms, file: {path: "+marker+"}}]\n")
	// A generation lasts for long enough to be queried in every way.
	p := runVitals(t, config)
	results := map[string]map[string]bool{} // by generation and view
	agreed := map[bool]int{}                // generations that all views showed
	views, there, rounds := p.views(), false, 0
	eventually(t, "three generations of each result in all views", func() bool {
		if rounds++; rounds%100 == 0 {
			there = !there
			if there {
				write(t, dir, "marker", "")
			} else if err := os.Remove(marker); err != nil {
				t.Fatal(err)
			}
		}
		for name, query := range views {
			generation, ready, err := query()
			if err != nil || generation == "" {
				t.Fatalf("%s: generation %q, %v", name, generation, err)
			}
			if results[generation] == nil {
				results[generation] = map[string]bool{}
			}
			results[generation][name] = ready
		}
		clear(agreed)
		for generation, by := range results {
			for name, ready := range by {
				if ready != by["HTTP"] && len(by) == len(views) {
					t.Fatalf("E87: generation %s: %s has ready = %t, HTTP %t", generation, name, ready, by["HTTP"])
				}
			}
			if len(by) == len(views) {
				agreed[by["HTTP"]]++
			}
		}
		return agreed[true] >= 3 && agreed[false] >= 3
	})
}
