package lint_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/rules"
	"github.com/vitals-health/vitals/rules/lint"
)

// fragments returns all distinct vectors in the expressions of the corpus and of the
// shipped rules.
func fragments(t testing.TB) []string {
	t.Helper()
	var files []string
	for _, pattern := range []string{"testdata/*.yml", "testdata/*/*.yml", "../builtin/*.yml"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("Glob(%s) = %v, %v, want rule files", pattern, found, err)
		}
		files = append(files, found...)
	}
	seen := map[string]bool{}
	var all []string
	for _, name := range files {
		documents, mistakes := rules.ParseAll(name, []byte(read(t, name)), []string{"ready", "alive", "started"})
		if len(mistakes) > 0 {
			t.Fatal(mistakes)
		}
		var own []rules.Rule
		for _, f := range documents {
			own = append(own, rulesOf(f)...)
		}
		for _, r := range own {
			parser.Inspect(r.AST, func(n parser.Node, _ []parser.Node) error {
				if e, ok := n.(parser.Expr); ok && e.Type() == parser.ValueTypeVector && !seen[e.String()] && len(e.String()) < 300 {
					seen[e.String()] = true
					all = append(all, e.String())
				}
				return nil
			})
		}
	}
	return all
}

func read(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func parse(t testing.TB, name, text string) *rules.File {
	t.Helper()
	f, mistakes := rules.Parse(name, []byte(text), []string{"ready", "alive", "started"})
	if len(mistakes) > 0 {
		t.Fatalf("%v\nin %s", mistakes, text)
	}
	return f
}

func rulesOf(f *rules.File) []rules.Rule {
	var all []rules.Rule
	for _, g := range f.Groups {
		all = append(all, g.Rules...)
	}
	return all
}

// randomRules returns a file with rules that consist of fragments.
func randomRules(r *rand.Rand, fragments []string) string {
	one := func(of ...string) string { return of[r.IntN(len(of))] }
	vector := func() string { return "(" + one(fragments...) + ")" }
	last := one(fragments...) + " == 0"
	expr := func() (text string) {
		if r.IntN(3) == 0 {
			return last // the same as in another rule
		}
		defer func() { last = text }()
		a, b := vector(), vector()
		switch r.IntN(8) {
		case 0:
			return fmt.Sprintf("%s %s %s %s", a, one("and", "or", "unless"), one("", "on ()", "ignoring (state)"), b)
		case 1:
			return fmt.Sprintf("%s %s on () group_left () %s", a, one("*", "-", "/", ">", "=="), b)
		case 2:
			return fmt.Sprintf("%s(%s) %s %s", one("sum", "max", "count", "absent", "avg by (state)", "topk by (dependency) (1,", "-"), a, one("==", ">", "<", "!="), one("0", "1", "NaN"))
		case 3:
			return fmt.Sprintf("%s(%s[%s:10s]) %s 1", one("max_over_time", "rate", "delta", "last_over_time", "absent_over_time", "changes"), a, one("5s", "30s", "5m"), one(">", "=="))
		case 4:
			return fmt.Sprintf("time() - %s > %s", a, one("10", "2 * 60"))
		case 5:
			return a + one(" == 0", " == 0", " > 1 < 5", " != bool 1 > 0", " >= -1")
		case 6:
			return "recorded:" + one("a", "b", "c") + one(" == 0", "", `{dependency="keystone"} > 1`)
		}
		return a
	}
	var b strings.Builder
	b.WriteString("groups:\n")
	for g := range 2 {
		fmt.Fprintf(&b, "  - name: g%d\n    interval: %s\n    rules:\n", g, one("0s", "10s"))
		for i := range 4 {
			if r.IntN(3) == 0 {
				fmt.Fprintf(&b, "      - {record: 'recorded:%s', expr: %q}\n", one("a", "b", "c"), expr())
				continue
			}
			text := expr()
			fmt.Fprintf(&b, "      - alert: A%d%d\n        expr: %q\n        for: %s\n        labels: {%s}\n        annotations: {%s}\n",
				g, i, text, one("0s", "10s", "1m"),
				one("state: ready", "state: alive, severity: critical", "State: ready", "state: ready, value: '{{ $value }}'", "severity: page"),
				one("summary: '{{ $labels.dependency }} {{ $value }}'", "sumary: x", "no_data: pass, summary: x", "summary: x, mode: observe", "summary: '{{ .Value.Float }}{{ range query `up{a=` }}{{ end }}'"))
		}
	}
	return b.String()
}

// For any rules, the checks terminate, are deterministic, report places inside the file,
// and accept the findings that the file accepts.
func TestChecksOfRandomRules(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	fragments := fragments(t)
	codes := map[string]int{}
	for range 200 {
		text := randomRules(r, fragments)
		if _, mistakes := rules.Parse("f.yml", []byte(text), []string{"ready", "alive", "started"}); len(mistakes) > 0 {
			continue // a fragment with bool, or a range of a wrong type
		}
		var features []string
		if r.IntN(3) == 0 {
			features = []string{[]string{"unconfigured", "closed", "nothing"}[r.IntN(3)]}
		}
		opts := lint.Options{
			Vocabulary: vocabulary(features), States: []string{"ready", "alive", "started"}, Complete: r.IntN(2) == 0,
		}
		found := lint.Check([]*rules.File{parse(t, "f.yml", text)}, opts)
		if diff := cmp.Diff(found, lint.Check([]*rules.File{parse(t, "f.yml", text)}, opts)); diff != "" {
			t.Fatalf("Check() differs from itself (-first +second):\n%s\nof %s", diff, text)
		}
		accepted := text
		for _, f := range found {
			codes[f.Code]++
			lines := strings.Split(text, "\n")
			if f.Line < 1 || f.Line > len(lines) || f.Col < 1 || f.Col > len([]rune(lines[f.Line-1]))+1 || f.Text == "" || f.Cure == "" {
				t.Fatalf("finding %+v, want a place, a text and a cure\nin %s", f, text)
			}
			if line := "# vitals:accept-file " + f.Code + " why not\n"; !strings.Contains(accepted, line) {
				accepted += line
			}
		}
		for _, f := range lint.Check([]*rules.File{parse(t, "f.yml", accepted)}, opts) {
			if f.Accepted != "why not" {
				t.Fatalf("%+v, want it accepted\nin %s", f, accepted)
			}
		}
	}
	t.Log(codes)
	for _, code := range []string{"V008", "V009", "V011", "V012", "V013", "V014", "V015", "V016", "V017", "V021", "V022", "V023", "V040", "V043", "V044"} {
		if codes[code] == 0 {
			t.Errorf("nothing found by %s, want rules in which each check finds something", code)
		}
	}
}
