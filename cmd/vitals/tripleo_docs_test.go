package main

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/internal/profiles"
	"github.com/vitals-health/vitals/internal/profiles/tripleo"
	"github.com/vitals-health/vitals/rules"
)

const tripleoDocument = "docs/guides/tripleo.md"

// tripleoTable returns the rows of the table below a heading, without its first two lines.
func tripleoTable(t *testing.T, heading string) [][]string {
	t.Helper()
	return (scenarioPage{path: tripleoDocument}).table(t, heading)
}

// updateTable writes the rows of the table below a heading where the tests run with the flag.
func updateTable(t *testing.T, heading string, rows [][]string) {
	t.Helper()
	if !*updateDocs {
		return
	}
	lines := strings.Split(readDoc(t, tripleoDocument), "\n")
	i := slices.Index(lines, heading)
	begin := i + slices.IndexFunc(lines[i:], func(l string) bool { return strings.HasPrefix(l, "|--") }) + 1
	end := begin + slices.IndexFunc(lines[begin:], func(l string) bool { return !strings.HasPrefix(l, "|") })
	var table []string
	for _, row := range rows {
		table = append(table, "| "+strings.Join(row, " | ")+" |")
	}
	text := strings.Join(slices.Concat(lines[:begin], table, lines[end:]), "\n")
	if err := os.WriteFile(filepath.Join(docsRoot, tripleoDocument), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The table of services is that of the data file.
func TestTripleoDocumentationShowsTheServices(t *testing.T) {
	var want [][]string
	for _, s := range tripleo.Services() {
		arguments := map[tripleo.Meaning]string{"": "", tripleo.Ports: "ports", tripleo.Daemon: "a daemon, such as `virtlogd`", tripleo.User: "a user"}[s.Arguments]
		var files []string
		for _, f := range s.Rules {
			files = append(files, "`"+f+"`")
		}
		want = append(want, []string{"`" + s.Name + "`", s.Kind, tripleoChecks(s), arguments, strings.Join(files, ", ")})
	}
	updateTable(t, "## Services", want)
	if diff := cmp.Diff(want, tripleoTable(t, "## Services")); diff != "" {
		t.Errorf("%s: services (-data +documented):\n%s\nwrite them with -update", tripleoDocument, diff)
	}
}

// tripleoChecks describes the checks of a service.
func tripleoChecks(s tripleo.Service) string {
	var checks []string
	add := func(format string, args ...any) { checks = append(checks, fmt.Sprintf(format, args...)) }
	list := func(ports []int) string {
		return strings.ReplaceAll(strings.Trim(fmt.Sprint(ports), "[]"), " ", ", ")
	}
	for _, p := range s.Processes {
		switch {
		case len(p.Connections) > 0:
			add("`%s` is connected to %s", p.Name, list(p.Connections))
		case len(p.Listen) > 0:
			add("`%s` listens on %s", p.Name, list(p.Listen))
		case len(p.UDP) > 0:
			add("`%s` has UDP port %s", p.Name, list(p.UDP))
		case p.UDPFrom != nil:
			add("`%s` has the UDP port `%s` (%d) of `%s`", p.Name, p.UDPFrom.Option, p.UDPFrom.Default, p.UDPFrom.INI)
		default:
			add("`%s` runs", p.Name)
		}
	}
	for _, h := range s.HTTP {
		switch {
		case h.VHost != "":
			add("HTTP of `%s`", path.Base(h.VHost))
		case h.Clustercheck != "":
			add("HTTP of the socat in `%s`", h.Clustercheck)
		case h.Listen != "":
			add("HTTP at `%s` of `%s` and the port of `%s`", h.Host, h.INI, path.Base(h.Listen))
		default:
			add("HTTP `%s` at `%s`, `%s` (%d) of `%s`", h.Path, h.Host, h.Port, h.DefaultPort, h.INI)
		}
	}
	for _, q := range s.Queries {
		what := q.Protocol
		if what == "" {
			what = q.Name
		}
		if q.Address != "" {
			add("`%s` on `%s`", what, q.Address)
		} else {
			add("`%s` at the address of `%s`", what, strings.Join(q.Files, "`, `"))
		}
	}
	for _, f := range s.Files {
		if f.Crontab {
			add("a job in `%s`", f.Path)
		} else {
			add("`%s` in `%s`, at most `%s` (%d) seconds ago", f.Epoch, f.Path, f.Limit.Option, f.Limit.Default)
		}
	}
	if s.Arguments == tripleo.Daemon {
		add("a daemon of libvirt holds its socket in `/run/libvirt`")
	}
	return strings.Join(checks, "; ")
}

// The table of rules is that of the shipped files.
func TestTripleoDocumentationShowsTheRules(t *testing.T) {
	type rule struct{ name, state, severity, patience string }
	files := map[rule][]string{}
	entries, err := fs.Glob(rules.Shipped(), "tripleo-*.yml")
	if err != nil {
		t.Fatal(err)
	}
	var order []rule
	for _, name := range entries {
		data, err := fs.ReadFile(rules.Shipped(), name)
		if err != nil {
			t.Fatal(err)
		}
		f, errs := rules.Parse(name, data, []string{"ready", "alive"})
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		for _, g := range f.Groups {
			for _, r := range g.Rules {
				if r.Alert == "" {
					continue
				}
				key := rule{"`" + r.Alert + "`", "`" + r.State + "`", r.Severity, r.For.String()}
				if files[key] == nil {
					order = append(order, key)
				}
				files[key] = append(files[key], "`"+strings.TrimSuffix(strings.TrimPrefix(name, "tripleo-"), ".yml")+"`")
			}
		}
	}
	var want [][]string
	for _, key := range order {
		want = append(want, []string{key.name, strings.Join(files[key], ", "), key.state, key.severity, key.patience})
	}
	var got [][]string
	for _, row := range tripleoTable(t, "## Rules") {
		if len(row) != 6 || len(strings.Fields(row[5])) < 4 {
			t.Fatalf("row %q: expected six cells, and a sentence in the last", row)
		}
		got = append(got, row[:5])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: rules (-shipped +documented):\n%s", tripleoDocument, diff)
	}
}

// The scenarios on the page are those that are tested, with the answers that the tests
// demand, and all others name tests that carry their number.
func TestTripleoDocumentationShowsTheScenarios(t *testing.T) {
	var want, got [][]string
	covered := map[string]bool{}
	for _, s := range tripleoScenarios() {
		want = append(want, []string{s.id, s.situation, s.answer()})
		covered[s.id] = true
	}
	for _, row := range tripleoTable(t, "## Scenarios") {
		if len(row) != 4 {
			t.Fatalf("row %q has %d cells, want 4", row, len(row))
		}
		got = append(got, []string{row[0], row[1], row[3]})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: scenarios (-tested +documented):\n%s", tripleoDocument, diff)
	}
	for _, row := range tripleoTable(t, "### Scenarios that are shown elsewhere") {
		for _, id := range expandIDs(t, row[0]) {
			covered[id] = true
			if !namedIn(t, row[len(row)-1], id) {
				t.Errorf("%s: %s refers to %s, and no such test there has its number", tripleoDocument, id, row[len(row)-1])
			}
		}
	}
	for n := range 35 {
		if id := fmt.Sprintf("E%02d", n+1); !covered[id] {
			t.Errorf("%s has nothing about %s, want every scenario from E01 to E35", tripleoDocument, id)
		}
	}
}

// namedIn reports whether one of the tests in a cell, such as `collectors` `TestFile`, has a
// scenario's number in it, or is a benchmark.
func namedIn(t *testing.T, cell, id string) bool {
	t.Helper()
	dir := ""
	for _, span := range codeSpans(cell) {
		if !regexp.MustCompile(`^(Test|Benchmark)`).MatchString(span) {
			dir = span
			continue
		}
		files, err := filepath.Glob(filepath.Join(docsRoot, dir, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, body, found := strings.Cut(string(text), "\nfunc "+span+"(")
			body, _, _ = strings.Cut(body, "\n}\n")
			if found && (strings.HasPrefix(span, "Benchmark") || strings.Contains(span, id) || strings.Contains(body, id)) {
				return true
			}
		}
	}
	return false
}

// The page lists every variable: those of --set, and those of TripleO's scripts.
func TestTripleoDocumentationListsTheVariables(t *testing.T) {
	want := profileVariables(t, "tripleo")
	for _, name := range []string{
		"MAX_TIME", "USER_AGENT", "PY_USER_AGENT", "PY", "WRITE_OUT", "OUTPUT",
	} {
		want = append(want, "HEALTHCHECK_CURL_"+name)
	}
	want = append(want, "HEALTHCHECK_USE_PROXY", "HEALTHCHECK_DEBUG", "HEALTHCHECK_SCRIPTS")
	got := firstColumn(readDoc(t, tripleoDocument), "variable")
	if a, b := missing(want, got), missing(got, want); len(a)+len(b) > 0 {
		t.Errorf("%s does not list the variables %v, and lists %v, which do not exist", tripleoDocument, a, b)
	}
}

// Every rule file of the profile is named by a service, or is for disabled checks, and
// the profile's page of plain files has them.
func TestTripleoRuleFilesAreUsed(t *testing.T) {
	used := []string{"disabled", "disabled-fail"}
	for _, s := range tripleo.Services() {
		used = append(used, s.Rules...)
	}
	entries, err := fs.Glob(rules.Shipped(), "tripleo-*.yml")
	if err != nil {
		t.Fatal(err)
	}
	shown, err := profiles.Find("tripleo")
	if err != nil {
		t.Fatal(err)
	}
	files, _, err := shown.Files(profiles.Options{}, false, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range entries {
		short := strings.TrimSuffix(strings.TrimPrefix(name, "tripleo-"), ".yml")
		if !slices.Contains(used, short) {
			t.Errorf("no service uses %s, want every file to be used", name)
		}
		if _, ok := files["rules/"+name]; !ok && !strings.HasPrefix(short, "disabled") {
			t.Errorf("vitals profiles show tripleo leaves %s out, want every file of a service", name)
		}
	}
	for _, name := range used {
		if !slices.Contains(entries, "tripleo-"+name+".yml") {
			t.Errorf("a service uses tripleo-%s.yml, which does not exist", name)
		}
	}
}
