package dashboards_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/collectors"
)

// values returns the results of a query by a label.
func (h *history) values(expr, label string) map[string]float64 {
	h.t.Helper()
	found := map[string]float64{}
	for _, s := range h.query(expand(h.t, expr, "Down")) {
		found[s.Metric.Get(label)] = s.F
	}
	return found
}

// instances returns targets that are ready, and others that are not.
func instances(ready, failing int) map[string][]collectors.Sample {
	targets := map[string][]collectors.Sample{}
	for i := range ready {
		targets[fmt.Sprintf("good%d", i)] = stateSamples(1)
	}
	for i := range failing {
		targets[fmt.Sprintf("bad%d", i)] = stateSamples(0)
	}
	return targets
}

// One tile has the number of ready instances and of all, those that are down included.
func TestInstancesReady(t *testing.T) {
	targets := instances(4, 2)
	h := newHistory(t, time.Now(), targets)
	h.leave(targets, "good0")
	p := panelOf(t, "overview.json", "Instances ready")
	got := h.query(expand(t, p.Targets[0].Expr, ""))
	if len(got) != 1 || got[0].Metric.String() != `{all="6", ready="3"}` || got[0].F != 0.5 {
		t.Errorf("the tile has %v, want 3 of 6", got)
	}
	got = newHistory(t, time.Now(), instances(0, 2)).query(expand(t, p.Targets[0].Expr, ""))
	if len(got) != 1 || got[0].Metric.String() != `{all="2", ready="0"}` || got[0].F != 0 {
		t.Errorf("the tile has %v, want 0 of 2", got)
	}
}

// An instance that is down stays down when the shown range begins after its end, and counts as
// not ready in the share of the time.
func TestDownIsRemembered(t *testing.T) {
	targets := instances(2, 0)
	h := newHistory(t, time.Now(), targets)
	for range 4 {
		h.leave(targets, "good0")
	}
	short := func(file, title string) string {
		return strings.ReplaceAll(panelOf(t, file, title).Targets[0].Expr, "$__range", "20s")
	}
	if got := h.values(short("overview.json", "Ready"), ""); got[""] != 3 {
		t.Errorf("Ready = %v, want PARTLY (3)", got)
	}
	if got := h.values(short("overview.json", "Ready share"), ""); got[""] != 0.5 {
		t.Errorf("Ready share = %v, want 0.5", got)
	}
	want := map[string]float64{"good0": 1, "good1": 2}
	if diff := cmp.Diff(want, h.values(short("overview.json", "Ready by instance"), "who")); diff != "" {
		t.Errorf("Ready by instance differs (-want +got):\n%s", diff)
	}
	rows := h.values(panelOf(t, "overview.json", "Rules that are not ok now").Targets[0].Expr, "rule")
	if diff := cmp.Diff(map[string]float64{"(not scraped)": 4, "(no rules)": 2}, rows); diff != "" {
		t.Errorf("the table differs (-want +got):\n%s", diff)
	}
	since := h.values(panelOf(t, "overview.json", "Rules that are not ok now").Targets[1].Expr, "rule")
	if diff := cmp.Diff(map[string]float64{"(not scraped)": 1000}, since); diff != "" { // stateSamples were evaluated at 1
		t.Errorf("the times of the table differ (-want +got):\n%s", diff)
	}
}

// The share of the time counts scrapes that failed as not ready.
func TestReadyShareCountsDown(t *testing.T) {
	targets := instances(1, 0)
	h := newHistory(t, time.Now(), targets)
	for range 5 {
		h.leave(targets, "good0")
	}
	expr := strings.ReplaceAll(panelOf(t, "overview.json", "Ready share").Targets[0].Expr, "$__range", "150s") // ten scrapes
	if got := h.values(expr, ""); got[""] != 0.5 {
		t.Errorf("Ready share = %v, want 0.5", got)
	}
}

// Of many instances, only those that were not ready or not scraped have a row.
func TestManyInstances(t *testing.T) {
	expr := panelOf(t, "overview.json", "Ready by instance").Targets[0].Expr
	if got := newHistory(t, time.Now(), instances(39, 1)).values(expr, "who"); len(got) != 40 {
		t.Errorf("%d rows of 40 instances, want all", len(got))
	}
	targets := instances(50, 2)
	h := newHistory(t, time.Now(), targets)
	h.leave(targets, "good7")
	if diff := cmp.Diff(map[string]float64{"bad0": 0, "bad1": 0, "good7": 1}, h.values(expr, "who")); diff != "" {
		t.Errorf("the rows of 52 instances differ (-want +got):\n%s", diff)
	}
}

// The step of a graph shows a failure that ended within it, of a state and of a rule.
func TestShortFailuresAreDrawn(t *testing.T) {
	with := func(ready float64, status string) map[string][]collectors.Sample {
		return map[string][]collectors.Sample{"a": append(stateSamples(ready), statusSet("Down", "ready", status)...)}
	}
	h := newHistory(t, time.Now(), with(1, "ok"))
	h.scrape(h.at.Add(scrapeEvery), scrapes, with(0, "failing"))
	h.scrape(h.at.Add(scrapeEvery), scrapes+1, with(1, "ok"))
	h.scrape(h.at.Add(scrapeEvery), scrapes+2, with(1, "ok"))
	for title, want := range map[string]map[string]float64{
		"Verdicts over time": {"ready": 0}, "Rules over time": {"Down": 3}, "Ready by instance": {"a": 0},
	} {
		label := map[string]string{"Verdicts over time": "state", "Rules over time": "rule", "Ready by instance": "who"}[title]
		if diff := cmp.Diff(want, h.values(panelOf(t, "overview.json", title).Targets[0].Expr, label)); diff != "" {
			t.Errorf("%s differs (-want +got):\n%s", title, diff)
		}
	}
}

// The timeline of rules has those that were not ok within the shown range.
func TestRulesOverTime(t *testing.T) {
	h := newHistory(t, time.Now(), map[string][]collectors.Sample{"a": ownSamples(t)})
	got := h.values(panelOf(t, "overview.json", "Rules over time").Targets[0].Expr, "rule")
	// Fine is ok, and Shy has no_data: pass.
	if names := slices.Sorted(maps.Keys(got)); !slices.Equal(names, []string{"Blind", "Down", "Ordinary", "Soon"}) {
		t.Errorf("the rules are %v", names)
	}
}

// In Kubernetes a row is named after the pod, and the choice of targets includes those without
// one.
func TestRowsAreNamedAfterPods(t *testing.T) {
	h := newHistory(t, time.Now(), map[string][]collectors.Sample{"10.0.0.7:8080 web-0": stateSamples(0), "host:8080": stateSamples(1)})
	want := map[string]float64{"web-0": 0, "host:8080": 2}
	if diff := cmp.Diff(want, h.values(panelOf(t, "overview.json", "Ready by instance").Targets[0].Expr, "who")); diff != "" {
		t.Errorf("the rows differ (-want +got):\n%s", diff)
	}
}

// linkSamples returns what the collector netlink exports of a link. A missing link is neither
// up nor running.
func linkSamples(name string, present, up, running float64) []collectors.Sample {
	var all []collectors.Sample
	add := func(metric string, value float64) {
		all = append(all, collectors.Sample{Value: value, Labels: labels.FromStrings("__name__", "vitals_netlink_interface_"+metric, "interface", name, "netlink", "host")})
	}
	add("present", present)
	if present == 1 {
		add("up", up)
		add("running", running)
	}
	return all
}

// A rollout of a DaemonSet with hostNetwork keeps the address and changes the pod, so a range
// has two series of one instance. They count as one instance.
func TestPodIsReplacedAtTheSameAddress(t *testing.T) {
	node := func(ready, up float64) []collectors.Sample {
		return slices.Concat(stateSamples(ready), linkSamples("br-int", 1, 1, 1), linkSamples("br-ex", 1, up, up), linkSamples("ens4", 0, 0, 0))
	}
	const before, after, next, other = "10.0.0.7:8080 cni-1", "10.0.0.7:8080 cni-2", "10.0.0.7:8080 cni-3", "10.0.0.8:8080 cni-other"
	h := newHistory(t, time.Now(), map[string][]collectors.Sample{before: node(1, 1), other: node(1, 1)})
	share := func(shown string, want float64) {
		t.Helper()
		got := h.values(strings.ReplaceAll(panelOf(t, "overview.json", "Ready share").Targets[0].Expr, "$__range", shown), "")[""]
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("Ready share of %s = %v, want %v", shown, got, want)
		}
	}
	interfaces := func(file, title string, want map[string]float64) {
		t.Helper()
		if diff := cmp.Diff(want, h.values(panelOf(t, file, title).Targets[0].Expr, "interface")); diff != "" {
			t.Errorf("%s differs (-want +got):\n%s", title, diff)
		}
	}
	interfaces("kuryr.json", "Interfaces", map[string]float64{"br-int": 2, "br-ex": 2, "ens4": 0})
	interfaces("host.json", "Interfaces of hosts", map[string]float64{"br-int": 2, "br-ex": 2})
	for range 4 {
		h.scrape(h.at.Add(scrapeEvery), scrapes, map[string][]collectors.Sample{after: node(0, 0), other: node(1, 1)})
	}
	interfaces("kuryr.json", "Interfaces", map[string]float64{"br-int": 2, "br-ex": 1, "ens4": 0})
	interfaces("host.json", "Interfaces of hosts", map[string]float64{"br-int": 2, "br-ex": 0})
	// Of ten scrapes, the first instance was ready in the six of the old pod, the second in all.
	share("150s", (0.6+1)/2)
	// Prometheus scrapes two pods, and both are down for longer than the shown time.
	for range 5 {
		h.scrape(h.at.Add(scrapeEvery), scrapes, map[string][]collectors.Sample{before: nil, next: nil, other: node(1, 1)})
	}
	share("75s", (0.0+1)/2)
	share("150s", (1.0/15+1)/2) // of 15 scrapes of three pods, one was ready
}
