package alerts

import "time"

// alert is one alert about Vitals. In its expression and its description, $job stands
// for the selector.
type alert struct {
	name, expr string
	hold       time.Duration
	severity   string
	// summary is a sentence, description a template.
	summary, description string
	// dashboard is the identity of the dashboard that shows more, and chosen the label
	// beside job and instance that is chosen there, if any.
	dashboard, chosen string
	// cases show when it fires and when it does not.
	cases []alertCase
}

// The severities of alerts about Vitals.
const (
	critical = "critical" // somebody has to look now
	warning  = "warning"  // somebody has to look on a working day
	info     = "info"     // it is good to know
)

// The dashboards that alerts lead to.
const (
	overviewDashboard   = "vitals-overview"
	ruleDashboard       = "vitals-rule"
	collectorsDashboard = "vitals-collectors"
	evaluatorDashboard  = "vitals-evaluator"
)

// failingRules names the rules of the alert's state that fail.
const failingRules = `{{ with query (printf "vitals_rule_status{job=%q,instance=%q,state=%q,status=\"failing\"} == 1" $labels.job $labels.instance $labels.state) }}` +
	`Failing:{{ range . }} {{ .Labels.rule }}{{ end }}.` +
	`{{ else }}No rule fails, so evidence is missing or the reason is another one: ask it.{{ end }}`

// alerts are those about Vitals, the worst ones first. None has a label state of its
// own: they are for Prometheus, and a Vitals that loads them obeys none.
func alerts() []alert {
	all := append(verdictAlerts(), selfAlerts()...)
	cases := alertCases()
	for i := range all {
		all[i].cases = cases[all[i].name]
	}
	return all
}

// verdictAlerts are about what Vitals says.
func verdictAlerts() []alert {
	return []alert{
		{
			name: "VitalsNotReady", hold: 2 * time.Minute, severity: critical, dashboard: overviewDashboard,
			expr:        `vitals_state{$job,state="ready"} == 0`,
			summary:     "A workload is not ready.",
			description: "{{ $labels.instance }} has answered its readiness probe with a failure for two minutes. " + failingRules,
		},
		{
			name: "VitalsNotAlive", hold: time.Minute, severity: critical, dashboard: overviewDashboard,
			expr:        `vitals_state{$job,state="alive"} == 0`,
			summary:     "A workload is not alive, and no restart has cured it yet.",
			description: "{{ $labels.instance }} has answered its liveness probe with a failure for a minute. " + failingRules,
		},
		{
			name: "VitalsStateFailing", hold: 10 * time.Minute, severity: warning, dashboard: overviewDashboard,
			expr:        `vitals_state{$job,state!~"ready|alive"} == 0`,
			summary:     "A state other than ready and alive fails.",
			description: "{{ $labels.instance }} has said for ten minutes that {{ $labels.state }} fails. " + failingRules,
		},
		{
			name: "VitalsDegraded", hold: 10 * time.Minute, severity: warning, dashboard: ruleDashboard, chosen: "rule",
			expr: `vitals_rule_status{$job,status="failing"} == 1
  and ignoring (status, severity, no_data, mode) vitals_rule_info{$job,severity="warning",mode!="observe"}
  and ignoring (status, rule) vitals_state{$job} == 1
`,
			summary:     "A rule warns, and its state passes.",
			description: "{{ $labels.rule }} of {{ $labels.instance }} has failed for ten minutes. It only warns, so {{ $labels.state }} passes.",
		},
		{
			name: "VitalsRuleUnknown", hold: 10 * time.Minute, severity: warning, dashboard: ruleDashboard, chosen: "rule",
			expr: `vitals_rule_status{$job,status="unknown"} == 1
  and ignoring (status, severity, no_data, mode) vitals_rule_info{$job,no_data!="pass"}
`,
			summary:     "A rule has no evidence to judge.",
			description: "{{ $labels.rule }} of {{ $labels.instance }}, which feeds {{ $labels.state }}, has been unknown for ten minutes: nothing exports what it asks for, or it cannot be evaluated.",
		},
		{
			name: "VitalsFlapping", severity: warning, dashboard: overviewDashboard,
			// More than six: increase() stretches what it saw to the whole range, which makes
			// a little more than 6 of six changes.
			expr:        `increase(vitals_state_transitions_total{$job}[30m]) >= 7`,
			summary:     "A state changes all the time.",
			description: "The state {{ $labels.state }} of {{ $labels.instance }} changed {{ $value | humanize }} times within half an hour.",
		},
	}
}

// selfAlerts are about Vitals at work.
func selfAlerts() []alert {
	return []alert{
		{
			name: "VitalsDown", hold: 2 * time.Minute, severity: critical, dashboard: evaluatorDashboard,
			expr:        `up{$job} == 0 or absent(up{$job})`,
			summary:     "Vitals is not there, or Prometheus cannot scrape it.",
			description: "{{ with $labels.instance }}{{ . }} has not answered Prometheus for two minutes.{{ else }}Prometheus has had no target with {$job} for two minutes.{{ end }} If it is down, the probes that it answers fail.",
		},
		{
			name: "VitalsEvaluatorStale", hold: time.Minute, severity: critical, dashboard: evaluatorDashboard,
			expr:        `timestamp(vitals_evaluation_timestamp_seconds{$job}) - vitals_evaluation_timestamp_seconds{$job} > 60`,
			summary:     "Vitals answers, and has stopped evaluating its rules.",
			description: "When {{ $labels.instance }} was scraped, its last evaluation was {{ $value | humanizeDuration }} old. Its probes fail with \"evaluator stalled\".",
		},
		{
			name: "VitalsRestarting", severity: warning, dashboard: evaluatorDashboard,
			expr:        `changes(process_start_time_seconds{$job}[30m]) > 2`,
			summary:     "Vitals itself is restarted again and again.",
			description: "{{ $labels.instance }} has started {{ $value }} times within half an hour. Each time its rules begin to wait anew.",
		},
		{
			name: "VitalsCollectorFailing", hold: 10 * time.Minute, severity: warning, dashboard: collectorsDashboard, chosen: "collector",
			expr:        `vitals_collector_success{$job} == 0`,
			summary:     "A collector cannot measure.",
			description: "The collector {{ $labels.collector }} of {{ $labels.instance }} has failed for ten minutes, or has not ended in time.",
		},
		{
			name: "VitalsReloadFailed", hold: 5 * time.Minute, severity: warning, dashboard: evaluatorDashboard,
			expr:        `vitals_config_last_reload_successful{$job} == 0`,
			summary:     "Vitals goes on with an old configuration, because the new one has mistakes.",
			description: "{{ $labels.instance }} could not load its configuration when it changed. It will not start with it either.",
		},
		{
			name: "VitalsCertificateExpiring", hold: 10 * time.Minute, severity: warning, dashboard: collectorsDashboard,
			expr: `vitals_tls_certificate_expiry_timestamp_seconds{$job} - time() < 7 * 86400
  or vitals_kubernetes_certificate_expiry_timestamp_seconds{$job} - time() < 7 * 86400
`,
			summary:     "The certificate of a dependency expires within a week, or has expired.",
			description: "The certificate of {{ $labels.dependency }}, as {{ $labels.instance }} sees it, has {{ $value | humanizeDuration }} left.",
		},
		{
			name: "VitalsClientCertificateExpiring", hold: 10 * time.Minute, severity: warning, dashboard: collectorsDashboard,
			expr:        `vitals_kubernetes_client_certificate_expiry_timestamp_seconds{$job} - time() < 7 * 86400`,
			summary:     "The client certificate with which Vitals asks Kubernetes expires within a week, or has expired.",
			description: "The client certificate of {{ $labels.instance }} for {{ $labels.dependency }} has {{ $value | humanizeDuration }} left.",
		},
	}
}
