package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// kuryrCases are all scenarios that have verdicts.
func kuryrCases() []kuryrCase {
	return slices.Concat(kuryrDependencyCases(), kuryrForbiddenCases(), kuryrTLSCases(),
		kuryrWatchCases(), kuryrSilentWatchCases(), kuryrQuotaCases(),
		kuryrComponentCases(), kuryrMissingCases(), kuryrSilentCases(), kuryrPoolCases())
}

// documented is what docs/kuryr.md shows of a scenario: what is asked or given, and
// the answers.
type documented struct{ ID, Situation, Answer string }

// testedScenarios are the scenarios that the tests of this package run.
func testedScenarios() []documented {
	var all []documented
	for _, c := range kuryrCases() {
		all = append(all, documented{c.id, c.name, c.ready.short() + " | " + c.alive.short()})
	}
	for _, c := range kuryrHTTPCases() {
		all = append(all, documented{c.id, c.name, fmt.Sprintf("%s `%s`: %d", c.method, c.path, c.code)})
	}
	for _, c := range kuryrHTTPChecks(newKuryrLab) {
		all = append(all, documented{c.id, c.name, c.answer})
	}
	return all
}

// scenarioIDs are the ids of the whole acceptance suite: 149.
func scenarioIDs() []string {
	var ids []string
	for _, group := range []struct {
		letter string
		last   int
	}{{"A", 43}, {"C", 24}, {"F", 19}, {"H", 10}, {"L", 18}, {"N", 20}, {"P", 3}, {"Q", 6}, {"R", 2}, {"W", 4}} {
		for n := range group.last {
			ids = append(ids, fmt.Sprintf("%s%02d", group.letter, n+1))
		}
	}
	return ids
}

// scenarioTable returns the rows of the table below a heading of docs/kuryr.md, without
// its first two lines.
func scenarioTable(t *testing.T, heading string) [][]string {
	t.Helper()
	data, err := os.ReadFile("../../docs/kuryr.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(data), "\n"+heading+"\n")
	if !found {
		t.Fatalf("docs/kuryr.md has no heading %q", heading)
	}
	var rows [][]string
	for line := range strings.Lines(section) {
		if strings.HasPrefix(line, "#") {
			break
		}
		if cells, ok := strings.CutPrefix(strings.TrimSpace(line), "| "); ok {
			rows = append(rows, strings.Split(strings.TrimSuffix(cells, " |"), " | "))
		}
	}
	if len(rows) < 2 {
		t.Fatalf("docs/kuryr.md has no table below %q", heading)
	}
	return rows[1:]
}

var scenarioRange = regexp.MustCompile(`([A-Z])(\d\d)(?:–[A-Z]?(\d\d))?`)

// expandIDs reads ids and ranges of ids, such as "A01–A03, N01".
func expandIDs(t *testing.T, text string) []string {
	t.Helper()
	var ids []string
	for _, m := range scenarioRange.FindAllStringSubmatch(text, -1) {
		first, err := strconv.Atoi(m[2])
		if err != nil {
			t.Fatal(err)
		}
		last := first
		if m[3] != "" {
			if last, err = strconv.Atoi(m[3]); err != nil {
				t.Fatal(err)
			}
		}
		for n := first; n <= last; n++ {
			ids = append(ids, fmt.Sprintf("%s%02d", m[1], n))
		}
	}
	return ids
}

// The scenarios that docs/kuryr.md shows are those that are tested, with the
// answers that the tests demand.
func TestKuryrDocumentationShowsWhatIsTested(t *testing.T) {
	var got []documented
	for _, heading := range []string{"### Dependencies", "### Watches", "### Quotas and metrics", "### Components", "### Port pools and standbys"} {
		for _, row := range scenarioTable(t, heading) {
			if len(row) != 5 {
				t.Fatalf("row %q below %s has %d cells, want 5", row, heading, len(row))
			}
			got = append(got, documented{row[0], row[1], row[3] + " | " + row[4]})
		}
	}
	for _, row := range scenarioTable(t, "### HTTP") {
		if len(row) != 4 {
			t.Fatalf("row %q below HTTP has %d cells, want 4", row, len(row))
		}
		got = append(got, documented{row[0], row[1], row[3]})
	}
	order := func(a, b documented) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) }
	want := testedScenarios()
	slices.SortFunc(got, order)
	slices.SortFunc(want, order)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/kuryr.md (-tested +documented):\n%s", diff)
	}
}

// Every scenario of the suite is tested, or left out for a reason, and not both.
func TestKuryrScenariosAreComplete(t *testing.T) {
	var covered []string
	for _, s := range testedScenarios() {
		covered = append(covered, s.ID)
	}
	slices.Sort(covered)
	covered = slices.Compact(covered)
	for _, row := range scenarioTable(t, "## Scenarios that are left out") {
		if len(row) != 2 || len(strings.Fields(row[1])) < 4 {
			t.Errorf("row %q: expected ids and a reason", row)
			continue
		}
		covered = append(covered, expandIDs(t, row[0])...)
	}
	slices.Sort(covered)
	if diff := cmp.Diff(scenarioIDs(), covered); diff != "" {
		t.Errorf("scenarios (-suite +tested or left out):\n%s", diff)
	}
}

// The table of rules in docs/kuryr.md is that of the shipped files.
func TestKuryrDocumentationShowsTheRules(t *testing.T) {
	got := map[string]kuryrRule{}
	for _, row := range scenarioTable(t, "## Rules") {
		if len(row) != 5 {
			t.Fatalf("row %q has %d cells, want 5", row, len(row))
		}
		got[strings.Trim(row[0], "`")] = kuryrRule{strings.Trim(row[1], "`"), row[2], row[3]}
	}
	if diff := cmp.Diff(shippedKuryrRules(t), got); diff != "" {
		t.Errorf("rules (-shipped +documented):\n%s", diff)
	}
}
