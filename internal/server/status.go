package server

import (
	"time"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/explain"
	"github.com/vitals-health/vitals/internal/server/reply"
)

// Status is the body of /api/v1/status: the whole snapshot. Times are RFC 3339 in
// UTC and omitted if zero; durations are in seconds.
type Status struct {
	Version string `json:"version"`
	// Generation counts the snapshots since the process started.
	Generation uint64 `json:"generation"`
	// At is the time of the evaluation. Clients compute ages relative to it, so that
	// only the server's clock matters.
	At time.Time `json:"at"`
	// Started is when the process started.
	Started           time.Time `json:"started"`
	EvaluationSeconds float64   `json:"evaluation_seconds"`
	// MaxAgeSeconds is the age beyond which the snapshot is no longer evidence.
	MaxAgeSeconds float64 `json:"max_age_seconds"`
	// AliveMaxAgeSeconds is the age beyond which alive fails as well.
	AliveMaxAgeSeconds float64 `json:"alive_max_age_seconds"`
	// Stalled is set when the snapshot is older than max_age_seconds.
	Stalled      bool `json:"stalled"`
	ShuttingDown bool `json:"shutting_down"`
	// Demo is set if /demo/faults exists.
	Demo bool `json:"demo"`
	// About is whose health this is.
	About      About             `json:"about"`
	States     []StateStatus     `json:"states"`
	Rules      []RuleStatus      `json:"rules"`
	Collectors []CollectorStatus `json:"collectors"`
	Components []ComponentStatus `json:"components"`
	Reload     ReloadStatus      `json:"reload"`
}

// About names what a process checks. Fields that are not known are empty.
type About struct {
	// Title is that of the page.
	Title string `json:"title,omitempty"`
	// Host is the name of the host or pod, and Namespace the namespace of the pod.
	Host      string `json:"host,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	// Configuration is the file or the profile.
	Configuration string `json:"configuration,omitempty"`
}

// StateStatus is a state's verdict.
type StateStatus struct {
	Name string `json:"name"`
	// Verdict is pass, warn or fail.
	Verdict string `json:"verdict"`
	// Status is the word for people: ok, warning, failing or unknown.
	Status string `json:"status"`
	// Since is when the verdict last changed between failing and not failing, and WarnsSince
	// when the oldest of the warnings began.
	Since       time.Time `json:"since,omitzero"`
	WarnsSince  time.Time `json:"warns_since,omitzero"`
	Transitions uint64    `json:"transitions"`
	// Reason is why the state fails if no rule decided it.
	Reason string `json:"reason,omitempty"`
	// Deciding are the names of the rules that make it fail, or warn, causes first.
	Deciding []string `json:"deciding"`
	// Maintenance makes the state fail until its end.
	Maintenance *evaluator.Override `json:"maintenance,omitempty"`
}

// RuleStatus is one alerting rule.
type RuleStatus struct {
	Name  string `json:"name"`
	Group string `json:"group"`
	File  string `json:"file"`
	// State is the state that the rule feeds; empty for an ordinary alert.
	State                string  `json:"state"`
	Severity             string  `json:"severity,omitempty"`
	Expr                 string  `json:"expr"`
	ForSeconds           float64 `json:"for_seconds"`
	KeepFiringForSeconds float64 `json:"keep_firing_for_seconds"`
	// Observe is set if the state does not obey the rule: by its annotation, or by a silence.
	Observe bool                `json:"observe"`
	Silence *evaluator.Override `json:"silence,omitempty"`
	NoData  string              `json:"no_data,omitempty"`
	// HeldForSeconds is how long the last status of an unknown rule still counts.
	HeldForSeconds float64  `json:"held_for_seconds,omitempty"`
	ExitCode       int      `json:"exit_code,omitempty"`
	DependsOn      []string `json:"depends_on,omitempty"`
	// Status is ok, pending, failing or unknown.
	Status  string    `json:"status"`
	Since   time.Time `json:"since,omitzero"`
	Decides bool      `json:"decides"`
	Warns   bool      `json:"warns"`
	// FiresAt is when a rule that is pending begins to fail.
	FiresAt time.Time `json:"fires_at,omitzero"`
	Summary string    `json:"summary,omitempty"`
	// Description and RunbookURL are the annotations of these names, and Labels the rule's own.
	Description string            `json:"description,omitempty"`
	RunbookURL  string            `json:"runbook_url,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	Reason      string            `json:"reason,omitempty"`
	// Note joins the notes of the collectors that the rule uses.
	Note string `json:"note,omitempty"`
	// Cause names the failing rule that this one is a consequence of.
	Cause string `json:"cause,omitempty"`
	// Starting is set if the rule decides while it is pending, as it was not ok yet.
	Starting bool `json:"starting,omitempty"`
	// Observed is the value of the deciding alert: a number, or the string "NaN",
	// "+Inf" or "-Inf".
	Observed   *explain.Number `json:"observed,omitempty"`
	Alerts     []AlertStatus   `json:"alerts"`
	AlertCount int             `json:"alert_count"`
}

// AlertStatus is one label set for which a rule's expression is true.
type AlertStatus struct {
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	Firing      bool              `json:"firing"`
	Value       explain.Number    `json:"value"`
	ActiveAt    time.Time         `json:"active_at,omitzero"`
}

// CollectorStatus is the status of a collector.
type CollectorStatus struct {
	Name     string `json:"name"`
	Kind     string `json:"kind"`
	External bool   `json:"external"`
	Ran      bool   `json:"ran"`
	Success  bool   `json:"success"`
	Error    string `json:"error,omitempty"`
	// Note describes the last collection in words.
	Note            string    `json:"note,omitempty"`
	DurationSeconds float64   `json:"duration_seconds"`
	IntervalSeconds float64   `json:"interval_seconds"`
	LastRun         time.Time `json:"last_run,omitzero"`
	LastSuccess     time.Time `json:"last_success,omitzero"`
}

// ComponentStatus is the last report of a component. A nil pointer means that the
// component did not report that field.
type ComponentStatus struct {
	Name       string    `json:"name"`
	Alive      *bool     `json:"alive,omitempty"`
	Ready      *bool     `json:"ready,omitempty"`
	Reason     string    `json:"reason,omitempty"`
	LastReport time.Time `json:"last_report,omitzero"`
	// Events are the counts of the component's events, by name.
	Events []EventStatus `json:"events,omitempty"`
}

// EventStatus counts the results of a component's events of one name.
type EventStatus struct {
	Event               string `json:"event"`
	Success             uint64 `json:"success"`
	Failure             uint64 `json:"failure"`
	Excused             uint64 `json:"excused"`
	ConsecutiveFailures uint64 `json:"consecutive_failures"`
	// Limit is the number of consecutive failures that are tolerated; nil without a limit.
	Limit *int `json:"limit,omitempty"`
}

// ReloadStatus is the outcome of the last attempt to load the configuration.
type ReloadStatus struct {
	OK          bool      `json:"ok"`
	At          time.Time `json:"at,omitzero"`
	LastSuccess time.Time `json:"last_success,omitzero"`
	Error       string    `json:"error,omitempty"`
}

func (s *Server) renderStatus(v *view) []byte {
	out := s.statusOf(v)
	for i := range v.snap.Rules {
		out.Rules = append(out.Rules, ruleStatus(&v.snap.Rules[i]))
	}
	for _, c := range v.snap.Collectors {
		out.Collectors = append(out.Collectors, collectorStatus(c))
	}
	return reply.Encode(out)
}

// statusOf returns the status without the rules and the collectors.
func (s *Server) statusOf(v *view) Status {
	snap := v.snap
	_, demo := s.opts.ExternalExtra[pathFaults]
	out := Status{
		Version:            s.opts.Version,
		Generation:         snap.Generation,
		At:                 snap.At.UTC(),
		Started:            snap.Started.UTC(),
		EvaluationSeconds:  snap.Took.Seconds(),
		MaxAgeSeconds:      snap.MaxAge.Seconds(),
		Stalled:            v.stalled,
		AliveMaxAgeSeconds: max(snap.MaxAge, snap.AliveMaxAge).Seconds(),
		ShuttingDown:       snap.ShuttingDown,
		Demo:               demo,
		About:              s.opts.About,
		States:             []StateStatus{},
		Rules:              []RuleStatus{},
		Collectors:         []CollectorStatus{},
		Components:         []ComponentStatus{},
		Reload: ReloadStatus{
			OK: snap.Reload.OK, Error: snap.Reload.Error,
			At: utc(snap.Reload.At), LastSuccess: utc(snap.Reload.LastSuccess),
		},
	}
	for _, st := range v.states {
		out.States = append(out.States, v.stateStatus(st))
	}
	if s.opts.Components != nil {
		out.Components = append(out.Components, s.opts.Components()...)
	}
	return out
}

func (v *view) stateStatus(st evaluator.State) StateStatus {
	out := StateStatus{
		Name: st.Name, Verdict: st.Verdict.String(), Status: v.snap.Word(&st), Since: utc(st.Since),
		Transitions: st.Transitions, Reason: st.Reason, Deciding: []string{}, Maintenance: st.Maintenance,
	}
	for _, i := range st.Deciding {
		out.Deciding = append(out.Deciding, v.snap.Rules[i].Name)
	}
	if st.Verdict == evaluator.Warn {
		out.WarnsSince = utc(v.warnsSince(st))
	}
	return out
}

// warnsSince returns when the oldest warning of a state began.
func (v *view) warnsSince(st evaluator.State) (first time.Time) {
	for _, i := range st.Deciding {
		if since := v.snap.Rules[i].Since; first.IsZero() || since.Before(first) {
			first = since
		}
	}
	return first
}

func ruleStatus(r *evaluator.Rule) RuleStatus {
	out := RuleStatus{
		Name: r.Name, Group: r.Group, File: r.File, State: r.State, Severity: r.Severity, Expr: r.Expr,
		ForSeconds: r.For.Seconds(), KeepFiringForSeconds: r.KeepFiringFor.Seconds(),
		Observe: r.Observe, Silence: r.Silence, NoData: r.NoData, HeldForSeconds: r.HeldFor.Seconds(), ExitCode: r.ExitCode, DependsOn: r.DependsOn,
		Status: r.Status.String(), Since: utc(r.Since), Decides: r.Decides, Warns: r.Warns,
		Summary: r.Summary, Reason: r.Reason, Note: r.Note, Cause: r.Cause, Starting: r.Starting,
		Description: r.Description, RunbookURL: r.RunbookURL, Labels: r.Labels,
		Alerts: []AlertStatus{}, AlertCount: r.AlertCount,
	}
	if r.Status == evaluator.Pending && len(r.Alerts) > 0 {
		out.FiresAt = utc(r.Alerts[0].ActiveAt.Add(r.For))
	}
	if r.Observed != nil {
		value := explain.Number(*r.Observed)
		out.Observed = &value
	}
	for _, a := range r.Alerts {
		out.Alerts = append(out.Alerts, AlertStatus{
			Labels: a.Labels.Map(), Annotations: a.Annotations,
			Firing: a.Firing, Value: explain.Number(a.Value), ActiveAt: utc(a.ActiveAt),
		})
	}
	return out
}

func collectorStatus(c evaluator.CollectorStatus) CollectorStatus {
	return CollectorStatus{
		Name: c.Name, Kind: c.Kind, External: c.External, Ran: c.Ran, Success: c.Success, Error: c.Error, Note: c.Note,
		DurationSeconds: c.Duration.Seconds(), IntervalSeconds: c.Interval.Seconds(),
		LastRun: utc(c.LastRun), LastSuccess: utc(c.LastSuccess),
	}
}

// utc drops the monotonic reading and the location; the zero time stays zero.
func utc(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC()
}
