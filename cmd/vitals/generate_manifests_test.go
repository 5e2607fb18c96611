package main

import (
	"bytes"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/internal/profiles"
)

// Every form, for the configuration of each profile, passes the check of manifests: all of its
// probes are judged, without a finding.
func TestGeneratedManifestsPassTheCheck(t *testing.T) {
	for _, pr := range profiles.All() {
		dir := t.TempDir()
		show := []string{"profiles", "show", pr.Name, "--write=" + dir}
		if pr.Name == "tripleo" {
			show = append(show, "--set=service=nova-compute")
		}
		if code := run(show, &bytes.Buffer{}, &bytes.Buffer{}); code != exitOK {
			t.Fatalf("vitals %q = %d, want 0", show, code)
		}
		config := "--config.file=" + filepath.Join(dir, "vitals.yml")
		for form, flags := range map[string][]string{
			"sidecar":    {"--workload=deployment/app", "--port=9000"},
			"daemonset":  {"--web-secret=web"},
			"deployment": {"--kubernetes.events", "--kubernetes.readiness-gate=example.com/Ready"},
		} {
			t.Run(pr.Name+" "+form, func(t *testing.T) {
				args := slices.Concat([]string{"generate", "manifests", config, "--as=" + form}, flags)
				var out, errs bytes.Buffer
				if code := run(args, &out, &errs); code != exitOK {
					t.Fatalf("vitals %q = %d, %s, want 0", args, code, errs.String())
				}
				file := filepath.Join(t.TempDir(), "vitals.yaml")
				writeFile(t, file, out.String())
				var checked bytes.Buffer
				code := run([]string{"check", "rules", "--fail-on=never", "--manifest=" + file, config}, &checked, &errs)
				judged := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(file) + `: (?:ok: )?judged (\d) of (\d) probes$`).FindStringSubmatch(checked.String())
				if code != exitOK || judged == nil || judged[1] != judged[2] || strings.Count(checked.String(), file+":") != 1 {
					t.Errorf("check rules = %d, %s%s, want all probes judged, and nothing else about\n%s", code, checked.String(), errs.String(), out.String())
				}
			})
		}
	}
}
