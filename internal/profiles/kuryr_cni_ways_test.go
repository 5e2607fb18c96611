package profiles_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/components"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/rules"
)

// cniOutcome is how a request to the CNI daemon ends, for both ways to count it.
type cniOutcome struct {
	id, name string
	// event is what the daemon reports: event, result and error.
	event string
	// command and failed are labels of the histogram, seconds what the request took at
	// least; without a command it is not counted there.
	command, failed string
	seconds         float64
	// reported and counted are the failures in a row by either way, after one failure.
	reported, counted float64
}

// The outcomes of Kuryr's requests. Where the two ways differ, the reason stands in
// collectors/scrape/README.md.
func cniOutcomes() []cniOutcome {
	return []cniOutcome{
		{"F01", "ADD succeeds", "cni_add success", "ADD", "False", 1, 0, 0},
		{"F02", "DEL succeeds", "cni_del success", "DEL", "False", 1, 1, 1},
		{"F03", "ADD is malformed", "cni_add failure malformed", "ADD", "True", 0, 1, 2},
		{"F04", "DEL is malformed", "cni_del failure malformed", "DEL", "True", 0, 1, 1},
		{"F05", "ADD of a pod that is gone", "cni_add failure pod_gone", "ADD", "True", 1, 1, 2},
		{"F06", "ADD of a pod with another UID", "cni_add failure pod_gone", "ADD", "True", 1, 1, 2},
		{"F07", "ADD waits in vain for the KuryrPort or the port", "cni_add failure timeout", "ADD", "True", 60, 1, 1},
		{"F08", "ADD meets a device that exists", "cni_add failure exists", "ADD", "True", 1, 1, 2},
		{"F09", "ADD fails at netlink otherwise", "cni_add failure netlink", "", "", 0, 2, 1},
		{"F10", "ADD raises any other exception", "cni_add failure internal", "ADD", "True", 1, 2, 2},
		{"F11", "DEL waits in vain for the KuryrPort", "cni_del success", "DEL", "False", 60, 1, 1},
		{"F12", "DEL of a pod with another UID", "cni_del success", "DEL", "False", 1, 1, 1},
		{"F13", "DEL of a pod that is gone", "cni_del failure pod_gone", "DEL", "True", 1, 1, 1},
		{"F14", "DEL meets a device that exists", "cni_del failure exists", "DEL", "True", 1, 1, 1},
		{"F15", "DEL raises any other exception", "cni_del failure internal", "DEL", "True", 1, 1, 1},
	}
}

// cniWays watches a daemon in both ways: by what it reports, and by its histogram.
type cniWays struct {
	*cniWatch
	events     *evaluator.Simulation
	eventsSnap *evaluator.Snapshot
	parts      *components.Collector
}

// newCNIWays counts events as the profile kuryr-cni does.
func newCNIWays(t *testing.T, limit int) *cniWays {
	t.Helper()
	excused := []string{"malformed", "pod_gone", "timeout", "exists"}
	config := &components.Config{Expect: []string{"server"}, Events: map[string]components.Events{
		"cni_add": {Limit: &limit, Errors: []string{"netlink", "internal"}, Excused: excused},
		"cni_del": {Errors: []string{"netlink", "internal"}, Excused: excused},
	}}
	c, err := config.New(collectors.Env{Name: "components"})
	if err != nil {
		t.Fatal(err)
	}
	file := shippedRules(t, "kuryr-cni.yml")
	file.Groups = slices.DeleteFunc(file.Groups, func(g rules.Group) bool { return g.Name != "kuryr-cni-requests" })
	w := &cniWays{cniWatch: newCNIWatch(t, float64(limit), epoch()), parts: c.(*components.Collector)}
	w.events = simulate(t, evaluator.Config{Interval: cniInterval, Files: []*rules.File{file}, Sources: []evaluator.Source{source("components", cniInterval)}}, w.at)
	w.do("scrape")
	w.request(cniOutcomes()[0])
	return w
}

// request ends a request, which both ways count.
func (w *cniWays) request(o cniOutcome) {
	w.t.Helper()
	f := append(strings.Fields(o.event), "")
	report := collectors.Report{Events: []collectors.Event{{Event: f[0], Result: f[1], Error: f[2]}}}
	if err := w.parts.Report("server", report); err != nil {
		w.t.Fatal(err)
	}
	if o.command != "" {
		w.daemon.request(o.command, o.failed, o.seconds)
	}
	w.do("scrape")
	samples, err := w.parts.Collect(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	deliver(w.t, w.events, "components", samples, nil, w.at)
	w.eventsSnap = w.events.Evaluate(w.t.Context(), w.at)
}

// reported is how many failures in a row the daemon reported.
func (w *cniWays) reported() float64 {
	w.t.Helper()
	v, ok := query(w.t, w.events, `vitals_component_consecutive_failures{event="cni_add"}`, w.at)
	if !ok {
		w.t.Fatal("vitals_component_consecutive_failures has no value, want one")
	}
	return v
}

// verdicts are those of the two rules.
func (w *cniWays) verdicts() (reported, counted string) {
	return w.eventsSnap.Rules[0].Status.String(), w.status()
}

func cniOutcomeOf(id string) cniOutcome {
	all := cniOutcomes()
	return all[slices.IndexFunc(all, func(o cniOutcome) bool { return o.id == id })]
}

func TestCNIOutcomesInBothWays(t *testing.T) {
	for _, o := range cniOutcomes() {
		t.Run(o.id+" "+o.name, func(t *testing.T) {
			w := newCNIWays(t, 3)
			w.request(cniOutcomeOf("F10"))
			w.request(o)
			if got := w.reported(); got != o.reported {
				t.Errorf("failures in a row by reports = %g, want %g", got, o.reported)
			}
			if got := w.streak(); got != o.counted {
				t.Errorf("failures in a row by the histogram = %g, want %g", got, o.counted)
			}
		})
	}
}

// The documentation names the outcomes that the two ways count differently.
func TestCNIOutcomesThatDifferAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../collectors/scrape/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range cniOutcomes() {
		row := regexp.MustCompile(`(?m)^\| ` + o.id + ` (.*) \| (.*) \| (.*) \| (.*) \|$`).FindStringSubmatch(string(page))
		if o.reported == o.counted {
			if row != nil {
				t.Errorf("%s: documented as counted differently, want no row", o.id)
			}
			continue
		}
		events := map[float64]string{1: "excused", 2: "counts"}[o.reported]
		histogram := map[float64]string{1: "not in it", 2: "counts"}[o.counted]
		if row == nil || row[1] != o.name || row[3] != events || row[4] != histogram {
			t.Errorf("%s: documented as %q, want %q, %q and %q", o.id, row, o.name, events, histogram)
		}
	}
}

// With the limit N, the failure N+1 is one too many, in both ways.
func TestCNILimitsInBothWays(t *testing.T) {
	for _, tt := range []struct {
		id    string
		limit int
	}{{"F16", 0}, {"F17", 1}, {"F18", 3}} {
		t.Run(fmt.Sprintf("%s limit %d", tt.id, tt.limit), func(t *testing.T) {
			w := newCNIWays(t, tt.limit)
			for n := 0; n <= tt.limit+1; n++ {
				want := map[bool]string{true: "failing", false: "ok"}[n > tt.limit]
				if reported, counted := w.verdicts(); reported != want || counted != want {
					t.Errorf("after %d failures: %s by reports, %s by the histogram, want %s", n, reported, counted, want)
				}
				w.request(cniOutcomeOf("F10"))
			}
			w.request(cniOutcomeOf("F01"))
			if reported, counted := w.verdicts(); reported != "ok" || counted != "ok" {
				t.Errorf("after a success: %s by reports, %s by the histogram, want ok", reported, counted)
			}
		})
	}
}

// F19: four failures among 3,004 requests are no failures in a row.
func TestCNIFailuresDoNotAddUpInBothWays(t *testing.T) {
	w := newCNIWays(t, 3)
	for range 4 {
		for range 749 {
			w.daemon.request("ADD", "False", 0)
		}
		w.request(cniOutcomeOf("F01"))
		w.request(cniOutcomeOf("F10"))
		if reported, counted := w.verdicts(); reported != "ok" || counted != "ok" {
			t.Errorf("%s by reports, %s by the histogram, want ok", reported, counted)
		}
	}
	if r, c := w.reported(), w.streak(); r != 1 || c != 1 {
		t.Errorf("failures in a row: %g by reports, %g by the histogram, want 1", r, c)
	}
}

// Of the outcomes that the histogram distinguishes, any sequence leads to the same
// verdict in both ways after each request.
func TestCNISequencesInBothWays(t *testing.T) {
	const seed = 1 // another one plays other sequences; a failure is to be one of the change that is tested
	alike := slices.DeleteFunc(cniOutcomes(), func(o cniOutcome) bool { return o.reported != o.counted })
	failing := 0
	for sequence := range 20 {
		r := rand.New(rand.NewPCG(seed, uint64(sequence)))
		w := newCNIWays(t, r.IntN(4))
		ids := []string{}
		for range 40 {
			o := alike[r.IntN(len(alike))]
			if r.IntN(2) == 0 {
				o = cniOutcomeOf("F10")
			}
			ids = append(ids, o.id)
			w.request(o)
			reported, counted := w.verdicts()
			if reported != counted || w.reported() != w.streak() {
				t.Fatalf("sequence %d of seed %d: %s with %g in a row by reports, %s with %g by the histogram, after %s",
					sequence, seed, reported, w.reported(), counted, w.streak(), strings.Join(ids, " "))
			}
			if counted == "failing" {
				failing++
			}
		}
	}
	if failing < 50 {
		t.Errorf("failing %d times: the test has become weak", failing)
	}
}
