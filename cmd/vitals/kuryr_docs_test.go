package main

import (
	"fmt"
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
		kuryrComponentCases(), kuryrMissingCases(), kuryrSilentCases(), kuryrPoolCases(), kuryrElectorCases(nil), kuryrOriginalCases(nil))
}

// cniCases are all scenarios of the CNI daemon that have verdicts.
func cniCases() []kuryrCase {
	return slices.Concat(cniReadinessCases(), cniConfigurationCases(), cniBridgeCases(), cniComponentCases(), cniNetlinkCases(),
		cniOutcomes(), cniCountCases(), cniNoPatienceCases(), cniLittlePatienceCases(), cniHistogramCases(), cniMemoryCases(), cniCgroupCases(), cniOriginalCases(nil))
}

// documented is what a page shows of a scenario: the request or the situation, and the
// answers.
type documented struct{ ID, Situation, Answer string }

// scenarioPage is a page that shows the scenarios of a profile.
type scenarioPage struct {
	path string
	// verdicts and answers are the headings of its tables: of five columns, with what
	// ready and alive return, and of four, with one answer.
	verdicts, answers []string
	cases             []kuryrCase
	checks            []scenarioCheck
}

// originalHeading is that of the scenarios with --set original.
const originalHeading = "### Kuryr's own health server"

func kuryrPage() scenarioPage {
	return scenarioPage{
		"docs/guides/kuryr-controller.md", []string{"### Dependencies", "### Watches", "### Quotas and metrics", "### Components", "### Port pools and standbys", originalHeading},
		[]string{"### HTTP"}, kuryrCases(), kuryrHTTPChecks(newKuryrLab),
	}
}

func cniPage() scenarioPage {
	return scenarioPage{
		"docs/guides/kuryr-cni.md", []string{"### Readiness", "### Netlink and components", "### CNI requests", "### CNI requests by the daemon's own metrics", "### Memory", originalHeading},
		[]string{"### HTTP", "### kuryr.conf"}, cniCases(), slices.Concat(kuryrHTTPChecks(newCNILab), cniConfChecks()),
	}
}

// tested are the scenarios of the page that the tests of this package run.
func (p scenarioPage) tested() []documented {
	var all []documented
	for _, c := range p.cases {
		all = append(all, documented{c.id, c.name, c.ready.short() + " | " + c.alive.short()})
	}
	for _, c := range kuryrHTTPCases() {
		all = append(all, documented{c.id, c.name, fmt.Sprintf("%s `%s`: %d", c.method, c.path, c.code)})
	}
	for _, c := range p.checks {
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

// table returns the rows of the table below a heading, without its first two lines.
func (p scenarioPage) table(t *testing.T, heading string) [][]string {
	t.Helper()
	_, section, found := strings.Cut(readDoc(t, p.path), "\n"+heading+"\n")
	if !found {
		t.Fatalf("%s has no heading %q", p.path, heading)
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
		t.Fatalf("%s has no table below %q", p.path, heading)
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

// rows are what the tables below headings show: so many cells, the last of which are
// the answer.
func (p scenarioPage) rows(t *testing.T, headings []string, cells int) []documented {
	t.Helper()
	var shown []documented
	for _, heading := range headings {
		for _, row := range p.table(t, heading) {
			if len(row) != cells {
				t.Fatalf("%s: row %q below %s has %d cells, want %d", p.path, row, heading, len(row), cells)
			}
			shown = append(shown, documented{row[0], row[1], strings.Join(row[3:], " | ")})
		}
	}
	return shown
}

// The scenarios that a page shows are those that are tested, with the answers that the
// tests demand.
func TestKuryrDocumentationShowsWhatIsTested(t *testing.T) {
	for _, p := range []scenarioPage{kuryrPage(), cniPage()} {
		got := append(p.rows(t, p.verdicts, 5), p.rows(t, p.answers, 4)...)
		want := p.tested()
		order := func(a, b documented) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) }
		slices.SortFunc(got, order)
		slices.SortFunc(want, order)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-tested +documented):\n%s", p.path, diff)
		}
	}
}

// Every scenario of the suite is tested, or left out for a reason, and not both.
func TestKuryrScenariosAreComplete(t *testing.T) {
	var covered []string
	for _, s := range append(kuryrPage().tested(), cniPage().tested()...) {
		covered = append(covered, s.ID)
	}
	slices.Sort(covered)
	covered = slices.Compact(covered)
	for _, row := range kuryrPage().table(t, "## Scenarios that are left out") {
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

// The pages list all ids of the other profile's scenarios in the right place.
func TestKuryrPagesNameWhereTheOthersAre(t *testing.T) {
	row := kuryrPage().table(t, "## Scenarios of the CNI daemon")
	want := map[string]bool{}
	for _, s := range cniPage().tested() {
		want[s.ID] = !strings.HasPrefix(s.ID, "H")
	}
	got := map[string]bool{}
	for _, cells := range row {
		for _, id := range expandIDs(t, cells[0]) {
			got[id] = true
		}
	}
	for id, listed := range want {
		if listed != got[id] {
			t.Errorf("docs/guides/kuryr-controller.md lists %s among those of the CNI daemon: %t, want %t", id, got[id], listed)
		}
		delete(got, id)
	}
	if len(got) > 0 {
		t.Errorf("docs/guides/kuryr-controller.md lists %v among those of the CNI daemon, which are not tested there", got)
	}
}

// The table of rules on a page is that of the shipped files.
func TestKuryrDocumentationShowsTheRules(t *testing.T) {
	for page, want := range map[string]map[string]kuryrRule{"docs/guides/kuryr-controller.md": shippedKuryrRules(t), "docs/guides/kuryr-cni.md": shippedCNIRules(t)} {
		got := map[string]kuryrRule{}
		for _, row := range (scenarioPage{path: page}).table(t, "## Rules") {
			if len(row) != 5 {
				t.Fatalf("row %q has %d cells, want 5", row, len(row))
			}
			got[strings.Trim(row[0], "`")] = kuryrRule{strings.Trim(row[1], "`"), row[2], row[3]}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: rules (-shipped +documented):\n%s", page, diff)
		}
	}
}
