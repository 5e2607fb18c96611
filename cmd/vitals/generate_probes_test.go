package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/internal/profiles"
)

// generatedProbes returns a Deployment with the probes that are generated with these flags, and
// with a Vitals that runs with the flags that the output names.
func generatedProbes(t *testing.T, source, flags []string) string {
	t.Helper()
	var out, errs bytes.Buffer
	args := slices.Concat([]string{"generate", "probes", "--container=app"}, source, flags)
	if code := run(args, &out, &errs); code != exitOK {
		t.Fatalf("vitals %q = %d, %s, want 0", args, code, errs.String())
	}
	comments, patch, _ := strings.Cut(out.String(), "spec:\n")
	words := append([]string{"run"}, source...)
	for _, word := range strings.Fields(comments) {
		if strings.HasPrefix(word, "--") {
			words = append(words, word)
		}
	}
	vitals := "        - name: vitals\n"
	if len(words) != len(source)+3 || !strings.Contains(patch, vitals) {
		t.Fatalf("vitals %q prints %s, want two flags for Vitals and its container", args, out.String())
	}
	return "kind: Deployment\nspec:\n" + strings.Replace(patch, vitals, fmt.Sprintf("%s          args: [\"%s\"]\n", vitals, strings.Join(words, `", "`)), 1)
}

// passesTheCheck checks a manifest as check rules does: without any finding in it.
func passesTheCheck(t *testing.T, source []string, text string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "app.yaml")
	writeFile(t, file, text)
	var out, errs bytes.Buffer
	code := run(slices.Concat([]string{"check", "rules", "--fail-on=never", "--manifest=" + file}, source), &out, &errs)
	if code != exitOK || strings.Count(out.String()+errs.String(), file+":") != 1 || !strings.Contains(out.String(), "judged 4 of 4 probes\n") {
		t.Errorf("check rules = %d, %s%s, want nothing about\n%s", code, out.String(), errs.String(), text)
	}
}

// The generated probes of every profile pass the check of manifests.
func TestGeneratedProbesOfProfilesPassTheCheck(t *testing.T) {
	for _, pr := range profiles.All() {
		source := []string{"--profile=" + pr.Name}
		if pr.Name == "tripleo" {
			source = append(source, "--set=service=nova-compute")
		}
		for _, flags := range [][]string{{"--port=8080"}, {"--port=9000"}, {"--type=grpc", "--port=8080"}, {"--type=exec", "--vitals-port=8080", "--command=/openstack/healthcheck"}} {
			t.Run(pr.Name+strings.Join(flags, " "), func(t *testing.T) { passesTheCheck(t, source, generatedProbes(t, source, flags)) })
		}
	}
}

// Those of configurations with any times pass it as well, on the port of the configuration.
func TestGeneratedProbesOfConfigurationsPassTheCheck(t *testing.T) {
	for _, interval := range []string{"100ms", "1s", "1m"} {
		for _, wait := range []string{"0s", "3s", "5m"} {
			for _, collection := range []string{"{interval: 1s, timeout: 500ms}", "{interval: 10s}", "{interval: 10m, timeout: 5m}"} {
				for _, server := range []string{"", "stalled_alive_after: 3m1s", "listen_address: ':9876'"} {
					name := strings.Join([]string{interval, wait, collection, server}, " ")
					t.Run(name, func(t *testing.T) {
						source := []string{"--config.file=" + probedConfig(t, interval, wait, collection, server)}
						passesTheCheck(t, source, generatedProbes(t, source, nil))
					})
				}
			}
		}
	}
}

// probedConfig writes a configuration with a collector and two rules, and returns its path.
func probedConfig(t *testing.T, interval, wait, collection, server string) string {
	t.Helper()
	dir := t.TempDir()
	rule := func(name, state, metric string) string {
		return fmt.Sprintf("      - {alert: %s, expr: '%s{process=\"app\"} == 0', for: %s, labels: {state: %s}, annotations: {summary: App is down.}}\n", name, metric, wait, state)
	}
	writeFile(t, filepath.Join(dir, "rules.yml"), "groups:\n  - name: app\n    rules:\n"+rule("AppDown", "ready", "vitals_process_up")+rule("AppGone", "alive", "vitals_process_up"))
	path := filepath.Join(dir, "vitals.yml")
	writeFile(t, path, fmt.Sprintf("evaluation_interval: %s\nrule_files: [rules.yml]\nserver: {%s}\ncollectors:\n  - {name: app, process: {name: app}, %s\n", interval, server, strings.TrimPrefix(collection, "{")))
	return path
}

// The first configuration that init writes gets probes that fit it.
func TestGeneratedProbesOfAFirstConfigurationPassTheCheck(t *testing.T) {
	dir := t.TempDir()
	var out, errs bytes.Buffer
	if code := run([]string{"init", "--write=" + dir, "--root=" + t.TempDir(), "--tcp=127.0.0.1:5432", "--process=postgres"}, &out, &errs); code != exitOK {
		t.Fatalf("init = %d, %s, want 0", code, errs.String())
	}
	source := []string{"--config.file=" + filepath.Join(dir, "vitals.yml")}
	passesTheCheck(t, source, generatedProbes(t, source, []string{"--port=8080"}))
}
