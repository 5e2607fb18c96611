package main

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/internal/profiles"
	"github.com/vitals-health/vitals/rules"
)

const sonicDocument = "docs/guides/sonic.md"

// sonicSections are the tables of scenarios on the page, by their headings.
func sonicSections() map[string][]sonicCase {
	return map[string][]sonicCase{
		"### The start program":                        sonicStartCases(),
		"### supervisord":                              sonicSupervisorCases(),
		"### The hook":                                 slices.Concat(sonicHookCases(), sonicRefusedCases()),
		"### Critical programs":                        sonicCriticalCases(),
		"### Critical programs, and nothing restarted": sonicNoRestartCases(),
		"### Critical programs, only shown":            sonicShownCases(),
	}
}

// sonicTable returns the rows of the table below a heading, without its first two lines.
func sonicTable(t *testing.T, heading string, cells int) [][]string {
	t.Helper()
	rows := (scenarioPage{path: sonicDocument}).table(t, heading)
	for _, row := range rows {
		if len(row) != cells {
			t.Fatalf("%s: row %q below %s has %d cells, want %d", sonicDocument, row, heading, len(row), cells)
		}
	}
	return rows
}

// The scenarios that the page shows are those that are tested, with the answers that the
// tests demand.
func TestSonicDocumentationShowsWhatIsTested(t *testing.T) {
	for heading, cases := range sonicSections() {
		var want [][]string
		for _, c := range cases {
			want = append(want, []string{c.id, c.name, c.ready.short(), c.alive.short()})
		}
		if diff := cmp.Diff(want, sonicTable(t, heading, 4)); diff != "" {
			t.Errorf("%s, %s (-tested +documented):\n%s", sonicDocument, heading, diff)
		}
	}
	var want [][]string
	for _, c := range sonicCheckerCases() {
		want = append(want, []string{c.id, c.name, c.ready.short()})
	}
	if diff := cmp.Diff(want, sonicTable(t, "### Checkers", 3)); diff != "" {
		t.Errorf("%s, checkers (-tested +documented):\n%s", sonicDocument, diff)
	}
}

var sonicID = regexp.MustCompile(`E\d\d`)

// Each test in the table of separate tests exists and names its scenario.
func TestSonicDocumentationNamesTests(t *testing.T) {
	tests := testsByName(t)
	for _, row := range sonicTable(t, "### Shown by tests of their own", 4) {
		names := codeSpans(row[3])
		if len(names) == 0 {
			t.Errorf("%s: %s names no test", sonicDocument, row)
		}
		for _, name := range names {
			for _, id := range sonicID.FindAllString(row[0], -1) {
				if !strings.Contains(tests[name], id+" ") && !strings.Contains(tests[name], id+`"`) {
					t.Errorf("%s: the test %s does not name %s, want that it is one that shows it", sonicDocument, name, id)
				}
			}
		}
	}
}

// testsByName are the sources of all files with tests, by the names of the tests in them.
func testsByName(t *testing.T) map[string]string {
	t.Helper()
	tests := map[string]string{}
	name := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err := filepath.WalkDir(docsRoot, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range name.FindAllStringSubmatch(string(text), -1) {
			tests[m[1]] += string(text)
		}
		return err
	})
	if err != nil || len(tests) < 100 {
		t.Fatalf("%d tests found (%v), want those of the whole repository", len(tests), err)
	}
	return tests
}

// Every scenario from E36 to E80 is tested.
func TestSonicScenariosAreComplete(t *testing.T) {
	covered := map[string]bool{}
	cover := func(cell string) {
		for _, id := range sonicID.FindAllString(cell, -1) {
			covered[id] = true
		}
	}
	for heading := range sonicSections() {
		for _, row := range sonicTable(t, heading, 4) {
			cover(row[0])
		}
	}
	for _, row := range sonicTable(t, "### Checkers", 3) {
		cover(row[0])
	}
	for _, row := range sonicTable(t, "### Shown by tests of their own", 4) {
		cover(row[0])
	}
	var want []string
	for n := 36; n <= 80; n++ {
		want = append(want, fmt.Sprintf("E%d", n))
	}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(covered))); diff != "" {
		t.Errorf("scenarios (-all +on the page):\n%s", diff)
	}
}

// sonicRule is the row of a rule on the page.
type sonicRule struct{ Name, State, Severity, Code string }

// sonicRules are the rules of a shipped file.
func sonicRules(t *testing.T, file string) []sonicRule {
	t.Helper()
	data, err := fs.ReadFile(rules.Shipped(), file+".yml")
	if err != nil {
		t.Fatal(err)
	}
	f, errs := rules.Parse(file, data, []string{"ready", "alive"})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	var all []sonicRule
	for _, g := range f.Groups {
		for _, r := range g.Rules {
			code := strings.NewReplacer("{{ ", "", " }}", "", "$value", "the hook's").Replace(r.Annotations["exit_code"])
			all = append(all, sonicRule{"`" + r.Alert + "`", "`" + r.State + "`", r.Severity, code})
		}
	}
	return all
}

// The table of rules on the page is that of the shipped files.
func TestSonicDocumentationShowsTheRules(t *testing.T) {
	var want []sonicRule
	for _, file := range []string{"sonic", "sonic-hook-skipped", "sonic-hook-refused", "sonic-alive"} {
		want = append(want, sonicRules(t, file)...)
	}
	var got []sonicRule
	for _, row := range sonicTable(t, "## Rules", 5) {
		got = append(got, sonicRule{row[0], row[1], row[2], row[3]})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: rules (-shipped +documented):\n%s", sonicDocument, diff)
	}
}

// Where nothing is to be restarted, the same rules decide ready, and alive has one of them:
// a single evaluation of a state without rules cannot pass.
func TestSonicRulesWithoutRestarts(t *testing.T) {
	text := func(file string) string {
		data, err := fs.ReadFile(rules.Shipped(), file+".yml")
		if err != nil {
			t.Fatal(err)
		}
		_, groups, _ := strings.Cut(string(data), "groups:\n")
		return groups
	}
	want := strings.NewReplacer("state: alive", "state: ready", "name: sonic-critical", "name: sonic-critical-no-restart").Replace(text("sonic-alive"))
	got, shown := text("sonic-no-restart"), text("sonic-critical-shown")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sonic-no-restart.yml differs from sonic-alive.yml in more than the state (-want +got):\n%s", diff)
	}
	_, critical, _ := strings.Cut(want, "expr: |\n")
	critical, _, _ = strings.Cut(critical, "        labels:")
	if critical == "" || !strings.Contains(shown, critical) {
		t.Errorf("what alive shows is not the rule that ready has:\n%s", shown)
	}
}

// The codes on the page are those that rules have, and those of the exec probe.
func TestSonicDocumentationShowsTheCodes(t *testing.T) {
	documented := map[string]string{}
	for _, row := range sonicTable(t, "## Exit codes", 3) {
		for _, rule := range codeSpans(row[2]) {
			documented[rule] = row[0]
		}
	}
	want := map[string]string{}
	for _, file := range []string{"sonic", "sonic-hook-refused", "sonic-alive"} {
		for _, r := range sonicRules(t, file) {
			switch name := strings.Trim(r.Name, "`"); {
			case name == "HookReserved":
				want[name] = "1, 2"
			case name == "HookFailed":
				want[name] = "3–109"
			case r.Severity == "critical":
				want[name] = r.Code
			}
		}
	}
	if diff := cmp.Diff(want, documented); diff != "" {
		t.Errorf("%s: codes (-shipped +documented):\n%s", sonicDocument, diff)
	}
}

// profileVariables returns the variables of a profile, as the error for an unknown one
// lists them.
func profileVariables(t *testing.T, profile string) []string {
	t.Helper()
	_, errs := profiles.Load(profiles.Options{Name: profile, Set: map[string]string{"?": "x"}})
	if len(errs) == 0 {
		t.Fatal("load() returned no error, want one that lists the variables")
	}
	_, list, _ := strings.Cut(errs[0].Error(), "expected ")
	return strings.FieldsFunc(strings.ReplaceAll(list, " or ", ","), func(r rune) bool { return r == ',' || r == ' ' })
}

// The variables on the page are those of the profile.
func TestSonicDocumentationShowsTheVariables(t *testing.T) {
	want := profileVariables(t, "sonic")
	var got []string
	for _, row := range sonicTable(t, "## Variables", 3) {
		got = append(got, strings.Trim(row[0], "`"))
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: variables (-profile +documented):\n%s", sonicDocument, diff)
	}
}
