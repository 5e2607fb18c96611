package lintreport_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/internal/lintreport"
	"github.com/vitals-health/vitals/rules/lint"
)

var update = flag.Bool("update", false, "write testdata instead of comparing with it")

// everything has a finding of each severity, an accepted one, texts that need escapes and
// names of files that need quotes.
func everything() lintreport.Report {
	return lintreport.Report{
		Files: 3, Rules: 4, Version: "1.2.3",
		Sources: map[string][]byte{
			"rules.yml": []byte("groups:\n  - name: g\n    rules:\n\t- expr: up == 0  \r\n" +
				"        expr: \x1b[31mred\u202e\n\n"),
			"my rules/100%.yml": []byte(strings.Repeat("a", 200) + "HERE" + strings.Repeat("b", 200) + "\n"),
		},
		Findings: []lint.Finding{
			{Code: "V001", Name: "alive-external", Severity: lint.Error, File: "rules.yml", Line: 4, Col: 10, Where: `group "g", rule "R"`, Text: "alive depends on <it> & 100%,\nand so on", Cure: "let it feed ready: now"},
			{Code: "V008", Name: "short-for", Severity: lint.Warning, File: "rules.yml", Line: 5, Col: 15, Where: `group "g", rule "R"`, Text: "too short \x1b[31m", Cure: "wait"},
			{Code: "V002", Name: "shared-readiness", Severity: lint.Warning, File: "rules.yml", Line: 2, Col: 5, Text: "all at once", Cure: "do not", Accepted: "one replica only"},
			{Code: "V036", Name: "probe-missing", Severity: lint.Info, File: "my rules/100%.yml", Line: 1, Col: 201, Text: "no probe", Cure: "add one"},
			{Code: "V000", Name: "invalid", Severity: lint.Error, File: "gone:1,2.yml", Text: "there is no such file"},
			{Code: "V000", Name: "invalid", Severity: lint.Error, Text: "no rule files"},
			{Code: "V000", Name: "invalid", Severity: lint.Error, File: "rules.yml", Line: 6, Col: 1, Text: "an empty line"},
			{Code: "V000", Name: "invalid", Severity: lint.Error, File: "rules.yml", Line: 99, Col: 1, Text: "a line that does not exist"},
			{Code: "V000", Name: "invalid", Severity: lint.Error, File: "rules.yml", Line: 2, Col: 99, Text: "beyond the end"},
		},
	}
}

func write(t *testing.T, r lintreport.Report, f lintreport.Format) string {
	t.Helper()
	var out bytes.Buffer
	if err := r.Write(&out, f); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestFormats(t *testing.T) {
	accepted := everything()
	accepted.ShowAccepted = true
	for name, given := range map[string]struct {
		format lintreport.Format
		report lintreport.Report
	}{
		"text.txt":            {lintreport.Text, everything()},
		"text_accepted.txt":   {lintreport.Text, accepted},
		"github.txt":          {lintreport.GitHub, everything()},
		"github_accepted.txt": {lintreport.GitHub, accepted},
		"findings.json":       {lintreport.JSON, everything()},
		"findings.sarif":      {lintreport.SARIF, everything()},
	} {
		t.Run(name, func(t *testing.T) {
			got := write(t, given.report, given.format)
			if name == "findings.sarif" {
				got = withoutChecks(t, got)
			}
			path := filepath.Join("testdata", name)
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("report differs from %s (-want +got):\n%s", path, diff)
			}
		})
	}
}

// withoutChecks removes the list of checks and the indexes in it, which change with every
// new check.
func withoutChecks(t *testing.T, text string) string {
	t.Helper()
	var log map[string]any
	if err := json.Unmarshal([]byte(text), &log); err != nil {
		t.Fatal(err)
	}
	run := log["runs"].([]any)[0].(map[string]any)
	delete(run["tool"].(map[string]any)["driver"].(map[string]any), "rules")
	for _, r := range run["results"].([]any) {
		delete(r.(map[string]any), "ruleIndex")
	}
	out, err := json.MarshalIndent(log, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(out) + "\n"
}

// Tools require an empty list without findings.
func TestNoFindings(t *testing.T) {
	for format, want := range map[lintreport.Format]string{lintreport.Text: "", lintreport.GitHub: "", lintreport.JSON: "[]\n"} {
		if got := write(t, lintreport.Report{}, format); got != want {
			t.Errorf("%s of nothing = %q, want %q", format, got, want)
		}
	}
	if got := write(t, lintreport.Report{}, lintreport.SARIF); !strings.Contains(got, `"results": []`) {
		t.Errorf("SARIF of nothing has no empty list of results:\n%s", got)
	}
}

func TestSummary(t *testing.T) {
	all := everything()
	info := lint.Finding{Code: "V036", Severity: lint.Info}
	beside := everything()
	beside.Mistakes = 1
	for want, r := range map[string]lintreport.Report{
		"6 errors, 1 warning, 1 info, 1 accepted in 4 rules of 3 files": all,
		"0 errors, 0 warnings in 1 rule of 1 file":                      {Files: 1, Rules: 1},
		"2 errors, 0 warnings in 1 rule of 1 file":                      {Files: 1, Rules: 1, Mistakes: 2},
		"7 errors, 1 warning, 1 info, 1 accepted in 4 rules of 3 files": beside,
		"0 errors, 0 warnings, 2 info in 0 rules of 0 files":            {Findings: []lint.Finding{info, info}},
	} {
		if got := r.Summary(); got != want {
			t.Errorf("Summary() = %q, want %q", got, want)
		}
	}
}

// Accepted findings are not shown by default.
func TestShown(t *testing.T) {
	r := lintreport.Report{Findings: []lint.Finding{{Code: "V002", Accepted: "one replica"}}}
	if r.Shown() {
		t.Error("Shown() = true for an accepted finding, want false")
	}
	if r.ShowAccepted = true; !r.Shown() {
		t.Error("Shown() = false for an accepted finding with ShowAccepted, want true")
	}
}
