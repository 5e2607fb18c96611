package lint_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/rules"
	"github.com/vitals-health/vitals/rules/lint"
)

// TestCorpus compares the findings in every file of testdata with the lines at its
// beginning:
//
//	# want: LINE:COL CODE [SEVERITY] [accepted]
//	# about: CODE...
//	# with: FEATURE...
//
// A good file has no "want" line. The severity is given if it is not the check's own.
// Accepted findings may be left out, and with "about" the findings of other codes are left
// out. The features are those of vocabulary, and "complete" for all rule files of a
// configuration. The files of a directory are loaded together, with the header of the first
// one.
func TestCorpus(t *testing.T) {
	entries, err := os.ReadDir("testdata")
	if err != nil || len(entries) == 0 {
		t.Fatalf("ReadDir() = %v, %v, want rule files", entries, err)
	}
	for _, e := range entries {
		if e.Name() == "manifests" { // see TestManifests
			continue
		}
		t.Run(strings.TrimSuffix(e.Name(), ".yml"), func(t *testing.T) {
			paths := []string{filepath.Join("testdata", e.Name())}
			if e.IsDir() {
				paths, err = filepath.Glob(filepath.Join(paths[0], "*.yml"))
				if err != nil || len(paths) < 2 {
					t.Fatalf("Glob() = %v, %v, want several files", paths, err)
				}
			}
			corpus(t, paths)
		})
	}
}

// corpus checks files that are loaded together.
func corpus(t *testing.T, paths []string) {
	states := []string{"ready", "alive", "started"}
	var files []*rules.File
	var want, about, features []string
	for i, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		documents, mistakes := rules.ParseAll(path, text, states)
		if len(mistakes) > 0 {
			t.Fatal(mistakes)
		}
		files = append(files, documents...)
		for _, w := range lines(string(text), "want") {
			want = append(want, path+":"+w)
		}
		if i == 0 {
			about, features = header(string(text), "about"), header(string(text), "with")
		}
	}
	if mistakes := rules.Check(files); len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	opts := lint.Options{Vocabulary: vocabulary(features), States: states, Complete: slices.Contains(features, "complete")}
	var got []string
	for _, f := range lint.Check(files, opts) {
		line := finding(f)
		others := len(about) > 0 && !slices.Contains(about, f.Code)
		if !others && f.Accepted == "" || slices.Contains(want, line) {
			got = append(got, line)
		}
		if f.Text == "" || f.Cure == "" || f.Name != lint.Codes()[f.Code] {
			t.Errorf("finding %+v, want a text, a cure and the check's name", f)
		}
		if testing.Verbose() {
			t.Logf("%s: %s: %s\n\tcure: %s", line, f.Where, f.Text, f.Cure)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings differ (-want +got):\n%s", diff)
	}
}

// finding returns a finding in the format of a "want" line.
func finding(f lint.Finding) string {
	line := fmt.Sprintf("%s:%d:%d %s", f.File, f.Line, f.Col, f.Code)
	if f.Severity != lint.DefaultSeverity(f.Code) {
		line += " " + f.Severity.String()
	}
	if f.Accepted != "" {
		line += " accepted"
	}
	return line
}

// lines returns the values of the lines "# KEY: " of a file; header returns their words.
func lines(text, key string) []string {
	var all []string
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, "# "+key+": "); ok {
			all = append(all, strings.TrimSpace(value))
		}
	}
	return all
}

func header(text, key string) []string {
	return strings.Fields(strings.Join(lines(text, key), " "))
}

// The reason of the nearest comment counts.
func TestAcceptedReason(t *testing.T) {
	const text = "groups:\r\n- name: g\r\n  rules:\r\n" +
		"  - alert: A # vitals:accept V021 for this one\r\n    expr: up == 0\r\n    labels: {state: ready}\r\n" +
		"  - alert: B\r\n    expr: down == 1\r\n    labels: {state: ready}\r\n" +
		"  # vitals:accept V021,V022: one, for two \r\n  -\r\n    alert: C\r\n    expr: left == 1\r\n    labels: {state: ready}\r\n" +
		"# vitals:accept-file V021 for all\r\n"
	f, mistakes := rules.Parse("f.yml", []byte(text), []string{"ready"})
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	var got []string
	for _, f := range lint.Check([]*rules.File{f}, lint.Options{States: []string{"ready"}}) {
		got = append(got, fmt.Sprintf("%d:%d %s %s", f.Line, f.Col, f.Code, f.Accepted))
	}
	want := []string{"4:5 V021 for this one", "7:5 V021 for all", "10:3 V090 ", "12:5 V021 one, for two"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings differ (-want +got):\n%s", diff)
	}
}

// The corpus has good and bad files, and covers every finding in rules.
func TestCorpusIsWhole(t *testing.T) {
	const least = 60
	found, good, bad := map[string]int{}, 0, 0
	err := filepath.WalkDir("testdata", func(path string, e fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".yml" {
			return err
		}
		text, err := os.ReadFile(path)
		wants := lines(string(text), "want")
		for _, want := range wants {
			found[strings.Fields(want)[1]]++
		}
		if len(wants) > 0 {
			bad++
		} else {
			good++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if good+bad < least || good < least/4 || bad < least/2 {
		t.Errorf("%d good and %d bad files, want %d", good, bad, least)
	}
	for _, code := range lint.CheckCodes() {
		if found[code] == 0 && !strings.HasPrefix(code, "V03") { // manifests have their own
			t.Errorf("no file wants %s", code)
		}
	}
}
