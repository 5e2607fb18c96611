package dashboards

// overview returns the dashboard that shows on one screen whether the workload is ready and
// alive, for how much of the time it was, and which rules are not ok.
func overview() dashboard {
	return newDashboard("vitals-overview", "Vitals / Overview",
		"Whether the workload is ready and alive, since when, and which rules are not ok.", nil,
		section{"", []line{
			{4, overviewStats()},
			{6, []panel{
				timeline("Verdicts over time",
					"The worst verdict of the chosen instances for each state, and whether all of them are scraped. FAIL is what the probes answer; DOWN means that Prometheus gets no metrics, so the verdict is unknown. The rule that changed at the same time is below.",
					verdicts(),
					over(`min by (state) (2 * vitals_state{$vitals})`, "{{state}}"),
					over(`1 + min(`+scraped+`)`, "scraped")),
				timeline("Ready by instance",
					"The result of each instance's readiness probe. If only one instance fails, the problem is local to it. If all fail at once, they have lost something that they share.",
					verdicts(), over(verdict("ready"), "{{instance}}")),
			}},
			{11, []panel{
				timeline("Rules over time",
					"The worst status of each rule among the chosen instances. A rule that is PENDING is true for less than its \"for\"; one that is UNKNOWN has no data, and fails ready unless the rule or the state is configured otherwise. Rules with no_data: pass may stay UNKNOWN. The table links to the dashboard of each rule.",
					statuses(), over(`max by (rule) (`+status("")+`)`, "{{rule}}")),
				rulesNotOK().wide(13),
			}},
		}})
}

func overviewStats() []panel {
	return []panel{
		stat("Ready", "The worst readiness of the chosen instances now. FAIL: the pod gets no traffic; the table below names the rules that decide. DOWN: an instance is not scraped. Check that the process runs and that Prometheus can reach it.",
			verdicts(), now(`min(`+verdict("ready")+`)`, "")),
		stat("Alive", "The worst liveness of the chosen instances now. FAIL: the liveness probe fails and the workload is restarted; the table below names the rules that decide. DOWN: an instance is not scraped.",
			verdicts(), now(`min(`+verdict("alive")+`)`, "")),
		stat("Rules failing", "How many rules fail now on at least one of the chosen instances, those that only warn included. The table below names them.",
			numbers("short").from(1, red), now(`sum(max by (rule, state) (vitals_rule_status{status="failing",$vitals}))`, "")),
		stat("Rules unknown", "How many rules have no data on at least one of the chosen instances, without those with no_data: pass. The usual cause is a failing collector: see Vitals / Collectors.",
			numbers("short").from(1, purple), now(`sum(max by (rule, state) (vitals_rule_status{status="unknown",$vitals} and on (job, instance, rule, state) vitals_rule_info{no_data!="pass",$vitals}))`, "")),
		stat("Ready share", "For how much of the shown time the instances were ready, on average. Time without scrapes does not count. The green limit of 99.9 % is only a colour, not a service level objective.",
			numbers("percentunit").below(red).from(0.99, yellow).from(0.999, green).upTo(1), now(`avg(avg_over_time(vitals_state{state="ready",$vitals}[$__range]))`, "")),
		stat("Evaluator lag", "How old the newest evaluation was when it was scraped; the worst of the chosen instances. Above three evaluation intervals, Vitals fails alive. If it is much higher and alive is OK, the clocks of the hosts of Prometheus and Vitals differ.",
			numbers("s").from(5, yellow).from(15, red), now(`max(timestamp(vitals_evaluation_timestamp_seconds{$vitals}) - vitals_evaluation_timestamp_seconds{$vitals})`, "")),
	}
}

// notOK selects the rules that are not ok, without those that are unknown and have no_data:
// pass. The labels of a rule's status and info differ, and several rules may share both.
const notOK = `(vitals_rule_status{status="ok",$vitals} == 0 unless on (job, instance, rule, state) (` +
	`vitals_rule_status{status="unknown",$vitals} == 1 unless on (job, instance, rule, state) vitals_rule_info{no_data!="pass",$vitals}))`

// rulesNotOK returns the table of the rules that are not ok.
func rulesNotOK() panel {
	of, ago := statuses(), numbers("dateTimeFromNow").below("text")
	const these = ` and on (job, instance, rule, state) ` + notOK
	return table("Rules that are not ok now",
		"One line for each rule and instance that is not ok. Unknown rules with no_data: pass are not included. A rule links to its own dashboard. The reason is in the response of the probe and on the status page of Vitals, because labels have no free text.",
		"Every rule is ok",
		[]column{
			{field: "rule", title: "Rule", links: []dataLink{{"Vitals / Rule for ${__value.text}", "/d/vitals-rule?var-rule=${__value.text}&${datasource:queryparam}&${job:queryparam}&${instance:queryparam}&${__url_time_range}"}}},
			{field: "Value #A", title: "Status", display: &of},
			{field: "Value #B", title: "Since", display: &ago},
			{field: "state", title: "State"},
			{field: "severity", title: "Severity"},
			{field: "instance", title: "Instance"},
		},
		now(`max by (rule, state, instance) ((`+status("")+`)`+these+`)`, ""),
		now(`1000 * min by (rule, state, instance) (vitals_rule_since_timestamp_seconds{$vitals}`+these+`)`, ""),
		now(`max by (rule, state, instance, severity) (vitals_rule_info{$vitals}`+these+`)`, ""))
}
