//go:build e2e

package e2e_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// ruleTests is where the test files are that vitals test rules is tested with.
const ruleTests = "../internal/ruletest/testdata"

// strip removes the keys of a test file that promtool does not have.
func strip(t *testing.T, data []byte) []byte {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	top := doc.Content[0]
	without(top, "states")
	for i, key := range top.Content {
		if i%2 == 0 && key.Value == "tests" {
			for _, test := range top.Content[i+1].Content {
				without(test, "state_test", "restarts")
			}
		}
	}
	stripped, err := yaml.Marshal(&doc)
	if err != nil {
		t.Fatal(err)
	}
	return stripped
}

// without removes keys from a mapping.
func without(mapping *yaml.Node, keys ...string) {
	var kept []*yaml.Node
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		known := true
		for _, key := range keys {
			known = known && mapping.Content[i].Value != key
		}
		if known {
			kept = append(kept, mapping.Content[i], mapping.Content[i+1])
		}
	}
	mapping.Content = kept
}

// ran is how a program ended.
type ran struct {
	code   int
	output string
}

func (r ran) passed() bool { return r.code == 0 }

// runTests runs rule tests: with promtool, or with vitals.
func runTests(t *testing.T, program string, args ...string) ran {
	t.Helper()
	cmd := exec.Command(program, append([]string{"test", "rules"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return ran{cmd.ProcessState.ExitCode(), string(out)}
}

func promtoolTests(t *testing.T, file string) ran {
	t.Helper()
	return runTests(t, prometheusTool(t, "promtool"), file)
}

// vitalsTests names the state of one of the files, as its own states are stripped.
func vitalsTests(t *testing.T, file string) ran {
	t.Helper()
	return runTests(t, os.Getenv("VITALS_BIN"), "--state=gold", file)
}

// The tests of the shipped rules pass in promtool, too, without the keys of Vitals.
func TestShippedRuleTestsPassInPromtool(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../rules")); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "tests", "*_test.yml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("Glob() = %v, %v, want test files", files, err)
	}
	for _, file := range files {
		write(t, file, string(strip(t, []byte(read(t, file)))))
		if theirs := promtoolTests(t, file); !theirs.passed() {
			t.Errorf("%s: promtool ends with %d:\n%s", file, theirs.code, theirs.output)
		}
	}
}

// TestRuleTestsAgreeWithPromtool runs every test file through both, without the
// keys of Vitals: both pass, or neither does. The first line of a file names a difference
// on purpose, or a newer promtool than Debian's.
func TestRuleTestsAgreeWithPromtool(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(ruleTests + "/*.yml")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(ruleTests)); err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, file := range files {
		name := filepath.Base(file)
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		first, _, _ := bytes.Cut(data, []byte("\n"))
		if bytes.Contains(first, []byte("newer than promtool")) {
			continue
		}
		stripped := filepath.Join(dir, name)
		if err := os.WriteFile(stripped, strip(t, data), 0o600); err != nil {
			t.Fatal(err)
		}
		ours, theirs := vitalsTests(t, stripped), promtoolTests(t, stripped)
		differs := bytes.Contains(first, []byte("promtool passes"))
		if (ours.passed() == theirs.passed()) == differs {
			t.Errorf("%s: vitals ends with %d, promtool with %d\nvitals: %s\npromtool: %s", name, ours.code, theirs.code, ours.output, theirs.output)
		}
		counts[fmt.Sprintf("passes: %t", ours.passed())]++
	}
	if counts["passes: true"] < 15 || counts["passes: false"] < 12 {
		t.Errorf("the files have %v, want at least 15 that pass and 12 that do not", counts)
	}
}

// A file with keys of Vitals is refused by promtool, and the keys are not ignored.
func TestPromtoolRefusesStateTests(t *testing.T) {
	t.Parallel()
	file := filepath.Join(ruleTests, "states.yml")
	theirs := promtoolTests(t, file)
	if theirs.passed() || !strings.Contains(theirs.output, "state_test") {
		t.Errorf("promtool ends with %d:\n%s", theirs.code, theirs.output)
	}
}
