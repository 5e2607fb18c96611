package ruletest

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/evaluator"
)

// compareAlerts compares the firing alerts of a name in all groups.
func (p *player) compareAlerts(t alertTest, s *evaluator.Snapshot) {
	var got []alert
	for _, r := range s.Rules {
		if r.Name != t.name {
			continue
		}
		for _, a := range r.Alerts {
			if a.Firing {
				got = append(got, alert{a.Labels, labels.FromMap(a.Annotations)})
			}
		}
	}
	want := sortedAlerts(t.want)
	got = sortedAlerts(got)
	if slices.EqualFunc(want, got, alert.equal) {
		return
	}
	text := alertDiff(want, got)
	if now := ruleLines(p.test.start, s, func(r evaluator.Rule) bool { return r.Name == t.name }); now != "" {
		text += "\nthe rules then:\n" + now
	}
	p.fail(t.place, fmt.Sprintf("alert %s at %s", t.name, duration(t.at)), text)
}

func (a alert) equal(b alert) bool {
	return labels.Equal(a.labels, b.labels) && labels.Equal(a.annotations, b.annotations)
}

func sortedAlerts(all []alert) []alert {
	all = slices.Clone(all)
	sort.Slice(all, func(i, j int) bool {
		a, b := all[i], all[j]
		return cmp.Or(labels.Compare(a.labels, b.labels), labels.Compare(a.annotations, b.annotations)) < 0
	})
	return all
}

// compareSamples compares the result of an expression.
func (p *player) compareSamples(t exprTest, result []evaluator.Sample) {
	want := slices.Clone(t.want)
	sort.SliceStable(want, func(i, j int) bool { return labels.Compare(want[i].labels, want[j].labels) < 0 })
	var got []sample
	for _, s := range result {
		found := sample{labels: s.Labels, value: s.Value}
		if s.Histogram != nil {
			found.histogram = s.Histogram.TestExpression()
		}
		got = append(got, found)
	}
	same := func(a, b sample) bool {
		return labels.Equal(a.labels, b.labels) && p.equal(a.value, b.value) && a.histogram == b.histogram
	}
	if !slices.EqualFunc(want, got, same) {
		p.fail(t.place, exprTitle(t), sampleDiff(want, got, same))
	}
}

// equal compares floats like promtool: exactly, or except for the last bit. NaN is never
// equal.
func (p *player) equal(a, b float64) bool {
	return a == b || p.file.fuzzy && (math.Nextafter(a, math.Inf(-1)) == b || math.Nextafter(a, math.Inf(1)) == b)
}

func exprTitle(t exprTest) string { return fmt.Sprintf("expr %q at %s", t.expr, duration(t.at)) }

// compareState compares the expectations for a state.
func (p *player) compareState(t stateTest, s *evaluator.Snapshot) {
	var st evaluator.State
	for _, candidate := range s.States {
		if candidate.Name == t.state {
			st = candidate
		}
	}
	var d diff
	if t.verdict != "" {
		d.compare("verdict", t.verdict, st.Verdict.String())
	}
	if t.deciding != nil {
		d.compare("deciding", list(t.deciding), list(deciding(s, st)))
	}
	if t.reason != nil {
		d.compare("reason", *t.reason, st.Reason)
	}
	if t.unknown != nil {
		d.compare("unknown", list(slices.Compact(slices.Sorted(slices.Values(t.unknown)))), list(unknown(s, t.state)))
	}
	statuses := worst(s)
	for _, name := range sortedKeys(t.rules) {
		d.compare("rule "+name, t.rules[name], statuses[name])
	}
	if !d.differs {
		return
	}
	text := d.String()
	if st.Reason != "" && t.reason == nil {
		text += "\nreason: " + st.Reason
	}
	shown := func(r evaluator.Rule) bool { return r.State == t.state || t.rules[r.Name] != "" }
	if now := ruleLines(p.test.start, s, shown); now != "" {
		text += "\nthe rules then:\n" + now
	}
	p.fail(t.place, fmt.Sprintf("state %s at %s", t.state, duration(t.at)), text)
}

func list(names []string) string { return "[" + strings.Join(names, ", ") + "]" }

// unknown returns the sorted names of a state's unknown rules.
func unknown(s *evaluator.Snapshot, state string) []string {
	var names []string
	for _, r := range s.Rules {
		if r.State == state && r.Status == evaluator.Unknown {
			names = append(names, r.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// worst returns the statuses by name. Rules of one name have the worst of their statuses, as
// in vitals_rule_status: failing, unknown, pending, ok.
func worst(s *evaluator.Snapshot) map[string]string {
	rank := []evaluator.Status{evaluator.OK, evaluator.Pending, evaluator.Unknown, evaluator.Failing}
	ranks := map[string]int{}
	all := map[string]string{}
	for _, r := range s.Rules {
		i := slices.Index(rank, r.Status)
		if old, ok := ranks[r.Name]; !ok || i > old {
			ranks[r.Name], all[r.Name] = i, r.Status.String()
		}
	}
	return all
}

// withoutName formats labels without the alert's name.
func withoutName(l labels.Labels) string {
	return labels.NewBuilder(l).Del(model.AlertNameLabel).Labels().String()
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
