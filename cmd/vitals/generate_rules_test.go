package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/kinds"
	"github.com/vitals-health/vitals/internal/schema"
)

// catalogConfigs returns the configurations in testdata/catalog.txtar of the kinds, as blocks.
// Each kind has at least one.
func catalogConfigs(t *testing.T) map[string][]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(docsRoot, "collectors/*/testdata/catalog.txtar"))
	if err != nil || files == nil {
		t.Fatalf("Glob = %v, %v, want the catalogs of the kinds", files, err)
	}
	blocks := map[string][]string{}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			if kind, block, ok := strings.Cut(f.Name, " "); ok {
				blocks[kind] = append(blocks[kind], block)
			}
		}
	}
	return blocks
}

// succeed runs a command, which must end with 0, without findings and without errors.
func succeed(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(args, &out, &errs); code != exitOK || errs.Len() > 0 || strings.Contains(out.String(), "cure:") {
		t.Errorf("vitals %s = %d, want 0 without findings:\n%s%s", strings.Join(args, " "), code, out.String(), errs.String())
	}
	return out.String()
}

// A configuration with one collector, of any kind and with any of the configurations of its
// catalog, gets rules that pass every check and their own tests. Then nothing is missing.
func TestFirstRulesOfEveryKind(t *testing.T) {
	blocks := catalogConfigs(t)
	for _, kind := range kinds.Names() {
		t.Run(kind, func(t *testing.T) {
			written := 0
			for i, block := range blocks[kind] {
				written += firstRulesOf(t, fmt.Sprintf("%s-%d", kind, i), kind, block)
			}
			if written == 0 {
				t.Errorf("vitals generate rules has no rule for the kind %[1]s: add a file %[1]s.rules.yml to its folder below collectors, such as collectors/ntp/ntp.rules.yml, or export vitals_dependency_up", kind)
			}
		})
	}
}

// firstRulesOf generates, checks and tests the rules of one collector. It returns how many there
// are.
func firstRulesOf(t *testing.T, name, kind, block string) int {
	t.Helper()
	t.Chdir(t.TempDir())
	const config = "collectors:\n  - name: %s\n    %s: %s\n%s"
	uses := ""
	k := kinds.New(kind)
	collectortest.Decode(t, block, k)
	for _, other := range k.Uses() {
		uses += "  - name: " + other + "\n    keystone: {cloud: mycloud}\n"
	}
	text := fmt.Sprintf(config, name, kind, block, uses)
	writeFile(t, "vitals.yml", text)
	out := succeed(t, "generate", "rules", "--config.file=vitals.yml")
	if !strings.Contains(out, name+" ("+kind+"): ") {
		t.Errorf("vitals generate rules has no rule for %s with %s:\n%s", kind, block, out)
		return 0
	}
	writeFile(t, "vitals.yml", "rule_files: ["+generatedRules+"]\n"+text)
	succeed(t, "check", "config", "--syntax-only", "vitals.yml")
	succeed(t, "check", "rules", "--config.file=vitals.yml", generatedRules)
	succeed(t, "test", "rules", generatedTests)
	succeed(t, "generate", "rules", "--config.file=vitals.yml", "--check")
	data, err := os.ReadFile(generatedRules)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(data), schema.Modeline(schema.RulesName)+"\n") {
		t.Errorf("%s begins without the address of its schema:\n%s", generatedRules, data)
	}
	for _, state := range []string{"alive", "started"} {
		if k.External() && strings.Contains(string(data), "{state: "+state) {
			t.Errorf("the rules of the external kind %s use the state %s:\n%s", kind, state, data)
		}
	}
	return strings.Count(string(data), "- alert: ")
}

// A rule of one's own for a collector is enough: it gets no others. A warning, an observed rule
// and a rule without a state are not.
func TestFirstRulesOfJudgedCollectors(t *testing.T) {
	const config = "rule_files: [own.yml]\ncollectors:\n  - {name: web, http: {url: 'http://127.0.0.1/'}}\n"
	const own = "groups:\n  - name: own\n    rules:\n      - alert: WebDown\n        expr: %s\n        labels: {%s}\n        annotations: {summary: It is down., %s}\n"
	for _, test := range []struct {
		name, expr, labels, annotations string
		enough                          bool
	}{
		{"by name", `vitals_dependency_up{dependency="web"} == 0`, "state: ready", "x: y", true},
		{"all dependencies", `vitals_dependency_up == 0`, "state: ready", "x: y", true},
		{"another metric", `vitals_http_status_code{dependency=~"w.*"} != 200`, "state: ready", "x: y", true},
		{"another collector", `vitals_dependency_up{dependency="other"} == 0`, "state: ready", "x: y", false},
		{"a warning", `vitals_dependency_up == 0`, "state: ready, severity: warning", "x: y", false},
		{"an observed rule", `vitals_dependency_up == 0`, "state: ready", "mode: observe", false},
		{"an ordinary alert", `vitals_dependency_up == 0`, "severity: critical", "x: y", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			writeFile(t, "vitals.yml", config)
			writeFile(t, "own.yml", fmt.Sprintf(own, test.expr, test.labels, test.annotations))
			out := succeed(t, "generate", "rules", "--config.file=vitals.yml")
			_, err := os.Stat(generatedRules)
			if enough := os.IsNotExist(err); enough != test.enough || enough != strings.Contains(out, "rules judge every collector") {
				t.Errorf("vitals generate rules prints\n%s\nand writes a file: %t, want %t", out, !enough, !test.enough)
			}
			if data, err := os.ReadFile(generatedRules); err == nil && !strings.Contains(string(data), "- alert: Web2Down\n") {
				t.Errorf("the rules are\n%s\nwant Web2Down: WebDown is in use", data)
			}
		})
	}
}
