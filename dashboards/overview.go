package dashboards

// overview returns the dashboard that shows whether the workload is ready and alive, for how
// much of the time it was, and which rules are not ok. The first screen has all but the rows of
// single instances.
func overview(known ruleTexts) dashboard {
	return newDashboard("vitals-overview", "Vitals / Overview",
		"Whether the workload is ready and alive, since when, and which rules are not ok.", nil,
		section{"", []line{
			{4, overviewStats()},
			{7, []panel{rulesNotOK(known)}},
			{11, []panel{
				timeline("Verdicts over time",
					"The worst verdict of the chosen instances for each state, and whether all of them are scraped. FAIL is what the probes answer; DOWN means that Prometheus gets no metrics, so the verdict is unknown. The rule that changed at the same time is beside it.",
					verdicts(),
					over(`min by (state) (2 * `+least(`vitals_state{$vitals}`)+`)`, "{{state}}"),
					over(`1 + min(`+least(`up{$vitals}`)+knownTargets+`)`, "scraped")).wide(10),
				timeline("Rules over time",
					"The rules that failed, were pending or had no data within the shown time, without unknown ones that do not count (no_data: pass). Each has the worst status among the chosen instances. A rule that is PENDING is true for less than its \"for\"; one that is UNKNOWN has no data, and fails ready unless the rule or the state is configured otherwise. The table links to the dashboard of each rule.",
					statuses().orElse("No failure is known"), over(`max by (rule) (`+status("", most)+`)`+notOKInRange, "{{rule}}")),
			}},
			{14, []panel{
				timeline("Ready by instance",
					"The result of each instance's readiness probe. If only one instance fails, the problem is local to it. If all fail at once, they have lost something that they share. Of more than 40 instances, only those that were not ready or not scraped within the shown time are here.",
					verdicts(), over(readyByInstance(), "{{who}}")).wide(14),
				firingAlerts(),
			}},
		}, false})
}

// notOKInRange restricts a query to the rules that were failing, pending or unknown within the
// shown range, without those that may be unknown.
const notOKInRange = ` and on (rule) max by (rule) (` +
	`max_over_time(vitals_rule_status{status=~"failing|pending",$vitals}[$__range] @ end())` +
	` or max_over_time(vitals_rule_status{status="unknown",$vitals}[$__range] @ end())` +
	` and on (job, instance, rule, state) vitals_rule_info{no_data!="pass",$vitals} @ end()) > 0`

// everyInstance is up to how many instances the rows of all of them are shown.
const everyInstance = "40"

// readyInRange has the least readiness of each instance within the shown range.
const readyInRange = `min_over_time(vitals_state{state="ready",$vitals}[$__range] @ end())`

// readyByInstance has the verdicts of all instances if they are few, else of those that were
// not ready or not scraped within the shown range.
func readyByInstance() string {
	return `min by (who) (` + who(verdict("ready", least)) + `) and on (who) max by (who) (` +
		who(readyInRange+` == 0 or min_over_time(up{$vitals}[$__range] @ end()) == 0`+
			` or `+readyInRange+` and on () (count(`+readyInRange+`) <= `+everyInstance+`)`) + `)`
}

func overviewStats() []panel {
	ready, alive := byInstance("ready"), byInstance("alive")
	return []panel{
		stat("Ready", "The readiness of the chosen instances now. FAIL: none is ready, and the pods get no traffic; the table below names the rules that decide. PARTLY: some are ready. DOWN: an instance is not scraped. Check that the process runs and that Prometheus can reach it.",
			verdictsNow(), now(worst(ready), "")),
		stat("Alive", "The liveness of the chosen instances now. FAIL: the liveness probes fail and the workload is restarted; the table below names the rules that decide. PARTLY: this is true of some instances. DOWN: an instance is not scraped.",
			verdictsNow(), now(worst(alive), "")),
		stat("Instances ready", "How many of the chosen instances are ready now. Those that are not scraped count as not ready. Red: none; yellow: some; green: all.",
			numbers("percentunit").below(red).from(1e-9, yellow).from(1, green), now(outOf(ready), "{{ready}} of {{all}}")).named(),
		stat("Rules failing", "How many rules fail now on at least one of the chosen instances, those that only warn included. The table below names them.",
			numbers("short").from(1, red), now(`sum(max by (rule, state) (vitals_rule_status{status="failing",$vitals}))`, "")),
		stat("Rules unknown", "How many rules have no data on at least one of the chosen instances, without those with no_data: pass. The usual cause is a failing collector: see Vitals / Collectors.",
			numbers("short").from(1, purple), now(`sum(max by (rule, state) (vitals_rule_status{status="unknown",$vitals} and on (job, instance, rule, state) vitals_rule_info{no_data!="pass",$vitals}))`, "")),
		stat("Ready share", "For how much of the shown time the instances were ready, on average. Scrapes that found no instance count as not ready. The green limit of 99.9 % is only a colour, not a service level objective.",
			numbers("percentunit").below(red).from(0.99, yellow).from(0.999, green).upTo(1),
			now(`avg(`+eachInstance+`(sum_over_time(vitals_state{state="ready",$vitals}[$__range])) / `+eachInstance+`(count_over_time(up{$vitals}[$__range])) or `+eachInstance+down(last)+`)`, "")),
	}
}

// eachInstance adds the series of an instance. A pod that is replaced at the same address
// leaves a second series in a range, and arithmetic on job and instance fails with two.
const eachInstance = `sum by (job, instance) `

// byInstance returns a query for the verdict of each instance now.
func byInstance(state string) string {
	return `min by (job, instance) (` + verdict(state, last) + `)`
}

// worst returns a query for the worst of several verdicts, or 3 if only some are bad.
func worst(verdicts string) string {
	return `1 + (max(` + verdicts + `) == 2 and min(` + verdicts + `) < 2) or min(` + verdicts + `)`
}

// outOf returns a query for the share of good verdicts, with their number and that of all as
// labels.
func outOf(verdicts string) string {
	good, all := `(count(`+verdicts+` == 2) or vector(0))`, `count(`+verdicts+`)`
	return `count_values("ready", ` + good + `) * on () group_left (all) count_values("all", ` + all + `)` +
		` * on () group_left () (` + good + ` / (` + all + `))`
}

// notOK selects the rules that are not ok, without those that are unknown and have no_data:
// pass. The labels of a rule's status and info differ, and several rules may share both.
const notOK = `(vitals_rule_status{status="ok",$vitals} == 0 unless on (job, instance, rule, state) (` +
	`vitals_rule_status{status="unknown",$vitals} == 1 unless on (job, instance, rule, state) vitals_rule_info{no_data!="pass",$vitals}))`

// notScraped is the rule in the line of an instance that is down, and noRules the one in the
// only line if no rule is known.
const (
	notScraped = `, "rule", "(not scraped)", "", "")`
	noRules    = `, "rule", "(no rules)", "", "")`
)

// rulesNotOK returns the table of the rules that are not ok, and of the instances that are
// down.
func rulesNotOK(known ruleTexts) panel {
	of, ago, runbook := statuses(), numbers("dateTimeFromNow").below("text"), known.runbook()
	of.states = append(of.states, stateWord{4, "DOWN", purple})
	const these = ` and on (job, instance, rule, state) ` + notOK
	rows := `(` + status("", last) + `)` + these +
		` or label_replace(4 + ` + down(last) + notScraped + ` or label_replace(2 * absent(vitals_rule_status{$vitals})` + noRules
	since := `vitals_rule_since_timestamp_seconds{$vitals}` + these +
		` or label_replace(last_over_time(vitals_evaluation_timestamp_seconds{$vitals}[1d]) and on (job, instance) up{$vitals} == 0` + notScraped
	return table("Rules that are not ok now",
		"One line for each rule and instance that is not ok, and for each instance that is not scraped, since its last evaluation. Unknown rules with no_data: pass are not included. A rule links to its own dashboard and its runbook, and an instance to its own overview and its status page, which shows the reason.",
		"Every rule is ok",
		[]column{
			{field: "rule", title: "Rule", links: known.links.rule()},
			{field: "who", title: "Instance", links: known.links.instance()},
			{field: "Value #B", title: "Since", display: &ago},
			{field: "severity", title: "Severity"},
			{field: "state", title: "State"},
			{field: "Value #A", title: "Status", display: &of},
			{field: "instance", title: "Address", hidden: true}, {field: "pod", title: "Pod", hidden: true},
			{field: "namespace", title: "Namespace", hidden: true}, {field: "runbook", title: "Runbook", display: &runbook, hidden: true},
		},
		now(`max by (rule, state, who, instance, pod, namespace, runbook) (`+who(named("("+rows+")", "runbook"))+`)`, ""),
		now(`1000 * min by (rule, state, who, instance, pod, namespace, runbook) (`+who(named("("+since+")", "runbook"))+`)`, ""),
		now(`max by (rule, state, who, instance, pod, namespace, runbook, severity) (`+who(named(`(vitals_rule_info{$vitals}`+these+`)`, "runbook"))+`)`, "")).newestFirst("Since")
}

// firingAlerts returns the table of the alerts about Vitals and of its rules that fire in
// Prometheus.
func firingAlerts() panel {
	firing := flags("FIRING", red)
	return table("Alerts that fire now",
		"The alerts that fire in Prometheus: of rules with a state, if Prometheus has loaded the rule file, and about Vitals itself.",
		"No firing alert is known",
		[]column{
			{field: "alertname", title: "Alert"}, {field: "severity", title: "Severity"},
			{field: "who", title: "Instance"}, {field: "Value", title: "State", display: &firing},
		},
		now(`max by (alertname, severity, who) (`+who(`(ALERTS{alertstate="firing",state=~".+",$vitals} or ALERTS{alertstate="firing",alertname=~"Vitals.*",$vitals})`)+`)`, ""))
}
