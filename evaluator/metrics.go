package evaluator

import (
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/window"
	"github.com/vitals-health/vitals/rules"
)

// Descs lists the metrics that the evaluator itself exports.
func Descs() []collectors.Desc {
	gauge, counter := model.MetricTypeGauge, model.MetricTypeCounter
	return []collectors.Desc{
		{Name: "vitals_state", Type: gauge, Help: "Whether the state passes (1) or fails (0), as its probe endpoint answers."},
		{Name: "vitals_state_transitions_total", Type: counter, Help: "How often the state changed between failing and not failing."},
		{Name: "vitals_rule_status", Type: gauge, Help: "The status of the rule: 1 for the one that it has, 0 for all others. Several rules of one name and state show the worst."},
		{Name: "vitals_rule_since_timestamp_seconds", Type: gauge, Help: "When the rule's status last changed, in seconds since the epoch. Several rules of one name and state show it of the worst, and the earliest."},
		{Name: "vitals_rule_info", Type: gauge, Help: "The rule's configuration: its severity and, where the rule sets them, its policy for missing evidence (no_data) and that it is only observed (mode); always 1."},
		{Name: "vitals_rule_silenced", Type: gauge, Help: "That the rule is silenced, so that its state does not obey it until the silence ends; always 1, absent for other rules."},
		{Name: "vitals_state_maintenance", Type: gauge, Help: "That the state is under maintenance, so that it fails until the end of that; always 1, absent for other states."},
		{Name: "vitals_collector_success", Type: gauge, Help: "Whether the collector's last collection ended in time and without an error."},
		{Name: "vitals_collector_duration_seconds", Type: gauge, Help: "How long the collector's last collection took."},
		{Name: "vitals_collector_last_success_timestamp_seconds", Type: gauge, Help: "When the collector last succeeded, in seconds since the epoch."},
		{Name: "vitals_collector_failure", Type: gauge, Help: "Why no sample of the collector's last collection was taken: 1 for that reason, 0 for all others. The reason memory means that its series take too much."},
		{Name: "vitals_collector_series_bytes", Type: gauge, Help: "Estimated memory of the collector's series with their history, in bytes."},
		{Name: "vitals_series", Type: gauge, Help: "How many series are kept for the rules, with those that have ended and whose history is kept."},
		{Name: "vitals_series_bytes", Type: gauge, Help: "Estimated memory of all series with their history, of the parsers' caches and of the alerts, in bytes."},
		{Name: "vitals_series_limit_bytes", Type: gauge, Help: "Limit of that memory, in bytes. No collector gets more than is free."},
		{Name: "vitals_evaluation_duration_seconds", Type: gauge, Help: "How long the last evaluation of all rules took."},
		{Name: "vitals_evaluation_timestamp_seconds", Type: gauge, Help: "When the rules were last evaluated, in seconds since the epoch."},
		{Name: "vitals_config_last_reload_successful", Type: gauge, Help: "Whether the last attempt to load the configuration succeeded."},
		{Name: "vitals_config_last_reload_success_timestamp_seconds", Type: gauge, Help: "When the configuration was last loaded with success, in seconds since the epoch."},
	}
}

// ownMetrics are the evaluator's own metrics. The labels are made once a configuration,
// so that an evaluation only writes numbers.
type ownMetrics struct {
	states, transitions              []labels.Labels
	success, duration, lastSuccess   []labels.Labels
	refused, bytes                   []labels.Labels
	took, at, reloaded, reloadedTime labels.Labels
	count, used, limit               labels.Labels
	rules                            []ruleSeries
	// infos are the distinct label sets of the rules that feed a state.
	infos  []labels.Labels
	series *window.Source
	// last are the samples that were fed last; nil before that.
	last []collectors.Sample
}

// ruleSeries are the state set of all rules with one name and state, and their since.
type ruleSeries struct {
	name, state string
	status      []labels.Labels
	since       labels.Labels
}

func metric(name string, pairs ...string) labels.Labels {
	return labels.FromStrings(append(pairs, model.MetricNameLabel, name)...)
}

func newOwnMetrics(c *core) *ownMetrics {
	m := &ownMetrics{
		took:         metric("vitals_evaluation_duration_seconds"),
		at:           metric("vitals_evaluation_timestamp_seconds"),
		reloaded:     metric("vitals_config_last_reload_successful"),
		reloadedTime: metric("vitals_config_last_reload_success_timestamp_seconds"),
		count:        metric("vitals_series"),
		used:         metric("vitals_series_bytes"),
		limit:        metric("vitals_series_limit_bytes"),
	}
	if c.own != nil {
		m.series = c.own.series
	} else {
		m.series = c.window.Source()
	}
	for _, s := range c.cfg.States {
		m.states = append(m.states, metric("vitals_state", "state", s.Name))
		m.transitions = append(m.transitions, metric("vitals_state_transitions_total", "state", s.Name))
	}
	for _, s := range c.cfg.Sources {
		m.success = append(m.success, metric("vitals_collector_success", "collector", s.Name))
		m.duration = append(m.duration, metric("vitals_collector_duration_seconds", "collector", s.Name))
		m.refused = append(m.refused, metric("vitals_collector_failure", "collector", s.Name, "reason", "memory"))
		m.bytes = append(m.bytes, metric("vitals_collector_series_bytes", "collector", s.Name))
		m.lastSuccess = append(m.lastSuccess, metric("vitals_collector_last_success_timestamp_seconds", "collector", s.Name))
	}
	known := map[[2]string]bool{}
	infos := map[string]bool{}
	for _, e := range c.each() {
		r := e.rule()
		if info := ruleInfo(&r); r.State != "" && !infos[info.String()] {
			infos[info.String()] = true
			m.infos = append(m.infos, info)
		}
		if id := [2]string{r.Alert, r.State}; r.Alert != "" && !known[id] {
			known[id] = true
			series := ruleSeries{name: r.Alert, state: r.State, since: metric("vitals_rule_since_timestamp_seconds", "rule", r.Alert, "state", r.State)}
			for _, status := range Statuses() {
				series.status = append(series.status, metric("vitals_rule_status", "rule", r.Alert, "state", r.State, "status", status.String()))
			}
			m.rules = append(m.rules, series)
		}
	}
	return m
}

// ruleInfo returns the labels of vitals_rule_info without empty ones.
func ruleInfo(r *rules.Rule) labels.Labels {
	mode := ""
	if r.Observe {
		mode = "observe"
	}
	info := metric("vitals_rule_info", "rule", r.Alert, "state", r.State, "severity", r.Severity, "no_data", string(r.NoData.Kind()), "mode", mode)
	return info.WithoutEmpty()
}

// batch returns the metrics of a snapshot.
func (m *ownMetrics) batch(s *Snapshot) Batch {
	const perCollector, perRule, others = 5, 5, 7
	out := make([]collectors.Sample, 0, 2*len(m.states)+perCollector*len(m.success)+perRule*len(m.rules)+len(m.infos)+others)
	add := func(ls labels.Labels, v float64) {
		out = append(out, collectors.Sample{Labels: ls, Value: v})
	}
	for i, st := range s.States {
		add(m.states[i], number(st.Verdict != Fail))
		add(m.transitions[i], float64(st.Transitions))
	}
	for i, c := range s.Collectors {
		if !c.Ran {
			continue
		}
		add(m.success[i], number(c.Success))
		add(m.duration[i], c.Duration.Seconds())
		add(m.refused[i], number(c.Refused))
		add(m.bytes[i], float64(c.Bytes))
		if !c.LastSuccess.IsZero() {
			add(m.lastSuccess[i], seconds(c.LastSuccess))
		}
	}
	worst := worstStatuses(s.Rules)
	for _, r := range m.rules {
		is := worst[[2]string{r.name, r.state}]
		for i, status := range Statuses() {
			add(r.status[i], number(status == is.status))
		}
		add(r.since, seconds(is.since))
	}
	for _, info := range m.infos {
		add(info, 1)
	}
	for _, ls := range overridden(s) {
		add(ls, 1)
	}
	add(m.count, float64(s.Memory.Series))
	add(m.used, float64(s.Memory.Bytes))
	add(m.limit, float64(s.Memory.Limit))
	add(m.took, s.Took.Seconds())
	add(m.at, seconds(s.At))
	add(m.reloaded, number(s.Reload.OK))
	add(m.reloadedTime, seconds(s.Reload.LastSuccess))
	return Batch{Descs: Descs(), Samples: out}
}

// overridden returns the series of silenced rules and of states under maintenance.
func overridden(s *Snapshot) []labels.Labels {
	if len(s.Overrides) == 0 {
		return nil
	}
	var all []labels.Labels
	silenced := map[[2]string]bool{}
	for i := range s.Rules {
		r := &s.Rules[i]
		if id := [2]string{r.Name, r.State}; r.Silence != nil && !silenced[id] {
			silenced[id] = true
			all = append(all, metric("vitals_rule_silenced", "rule", r.Name, "state", r.State))
		}
	}
	for i := range s.States {
		if s.States[i].Maintenance != nil {
			all = append(all, metric("vitals_state_maintenance", "state", s.States[i].Name))
		}
	}
	return all
}

// feed adds the metrics to the window for the next evaluation, except for those with a
// hidden name.
func (m *ownMetrics) feed(b Batch, at time.Time, hides func(name string) bool) {
	m.last = b.Samples
	m.series.Begin(at.UnixMilli())
	defer m.series.End()
	for _, s := range b.Samples {
		if hides != nil && hides(s.Labels.Get(model.MetricNameLabel)) {
			continue
		}
		// The only error is a lack of memory, for which these are too few. Prometheus drops
		// empty labels as well.
		_ = m.series.Add(s.Labels.WithoutEmpty(), s.Value, 0)
	}
}

// shift moves the timestamps in the window by d, as they are by the clock before its step.
// The window keeps times in milliseconds: one more makes them the last ones.
func (m *ownMetrics) shift(d time.Duration, at time.Time, hides func(name string) bool) {
	if m.last == nil {
		return
	}
	b := Batch{Samples: slices.Clone(m.last)}
	for i, s := range b.Samples {
		if strings.HasSuffix(s.Labels.Get(model.MetricNameLabel), "_timestamp_seconds") {
			b.Samples[i].Value += d.Seconds()
		}
	}
	m.feed(b, at.Add(time.Millisecond), hides)
}

// statusSince is a status and its since.
type statusSince struct {
	status Status
	since  time.Time
}

// worstStatuses returns the worst status of all rules that share a name and a state:
// failing before unknown before pending before ok, and of equals the earliest.
func worstStatuses(all []Rule) map[[2]string]statusSince {
	rank := [...]int{OK: 0, Pending: 1, Unknown: 2, Failing: 3}
	worst := make(map[[2]string]statusSince, len(all))
	for _, r := range all {
		id := [2]string{r.Name, r.State}
		is, ok := worst[id]
		if !ok || rank[r.Status] > rank[is.status] || r.Status == is.status && r.Since.Before(is.since) {
			worst[id] = statusSince{r.Status, r.Since}
		}
	}
	return worst
}

func number(ok bool) float64 {
	if ok {
		return 1
	}
	return 0
}

func seconds(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1000
}
