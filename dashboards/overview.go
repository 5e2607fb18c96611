package dashboards

// overview answers on one screen whether the workload is ready and alive, for how much of
// the time it was, and which rules say otherwise.
func overview() dashboard {
	return newDashboard("vitals-overview", "Vitals / Overview",
		"Is it ready and alive, since when not, and which rules say so.", nil,
		section{"", []line{
			{4, overviewStats()},
			{6, []panel{
				timeline("Verdicts over time",
					"The worst verdict of the chosen instances for each state, and whether all of them are scraped. FAIL is what the probes answer; DOWN means that Prometheus gets no metrics, so nothing is known from then on. Look for the rule that changed at the same time below.",
					verdicts(),
					over(`min by (state) (2 * vitals_state{$vitals})`, "{{state}}"),
					over(`1 + min(`+scraped+`)`, "scraped")),
				timeline("Ready by instance",
					"What each instance answers to the readiness probe. One instance that fails alone has a problem of its own; all of them at once have lost something that they share.",
					verdicts(), over(verdict("ready"), "{{instance}}")),
			}},
			{11, []panel{
				timeline("Rules over time",
					"The worst status of each rule among the chosen instances. A rule that is PENDING is true for less than its \"for\"; one that is UNKNOWN has no data to judge and fails ready unless the rule or the state says otherwise: rules with no_data: pass may be UNKNOWN for good. Open the rule's own dashboard from the table for more.",
					statuses(), over(`max by (rule) (`+status("")+`)`, "{{rule}}")),
				rulesNotOK().wide(13),
			}},
		}})
}

func overviewStats() []panel {
	return []panel{
		stat("Ready", "The worst readiness of the chosen instances now. FAIL: the pod gets no traffic; the table below names the rules that decide. DOWN: an instance is not scraped, see whether the process runs and Prometheus reaches it.",
			verdicts(), now(`min(`+verdict("ready")+`)`, "")),
		stat("Alive", "The worst liveness of the chosen instances now. FAIL: whoever probes liveness restarts the workload; the table below names the rules that decide. DOWN: an instance is not scraped.",
			verdicts(), now(`min(`+verdict("alive")+`)`, "")),
		stat("Rules failing", "How many rules fail now on at least one of the chosen instances, those that only warn included. The table below names them.",
			numbers("short").from(1, red), now(`sum(max by (rule, state) (vitals_rule_status{status="failing",$vitals}))`, "")),
		stat("Rules unknown", "How many rules have nothing to judge on at least one of the chosen instances, those aside that say that it does not matter (no_data: pass). A collector that does not measure is the usual cause: see Vitals / Collectors.",
			numbers("short").from(1, purple), now(`sum(max by (rule, state) (vitals_rule_status{status="unknown",$vitals} and on (job, instance, rule, state) vitals_rule_info{no_data!="pass",$vitals}))`, "")),
		stat("Ready share", "For how much of the shown time the instances were ready, on average. Time in which nothing was scraped does not count. The green limit is 99.9 %: it is a colour, not an objective of yours.",
			numbers("percentunit").below(red).from(0.99, yellow).from(0.999, green).upTo(1), now(`avg(avg_over_time(vitals_state{state="ready",$vitals}[$__range]))`, "")),
		stat("Evaluator lag", "How old the newest evaluation was when it was scraped; the worst of the chosen instances. Vitals fails alive by itself when this is more than three evaluation intervals. Much more with alive OK: the clocks of Prometheus' host and of Vitals' differ.",
			numbers("s").from(5, yellow).from(15, red), now(`max(timestamp(vitals_evaluation_timestamp_seconds{$vitals}) - vitals_evaluation_timestamp_seconds{$vitals})`, "")),
	}
}

// notOK are the rules that are not ok, without those that are unknown and say that it does
// not matter. A rule has other labels than its info, and may share both with another one.
const notOK = `(vitals_rule_status{status="ok",$vitals} == 0 unless on (job, instance, rule, state) (` +
	`vitals_rule_status{status="unknown",$vitals} == 1 unless on (job, instance, rule, state) vitals_rule_info{no_data!="pass",$vitals}))`

// rulesNotOK is the table of what is wrong.
func rulesNotOK() panel {
	of, ago := statuses(), numbers("dateTimeFromNow").below("text")
	const these = ` and on (job, instance, rule, state) ` + notOK
	return table("Rules that are not ok now",
		"What is wrong now, a line for each rule and instance, without rules that have no data where that does not matter. A click on the rule leads to its own dashboard. The reason is in the answer of the probe and on Vitals' own page, because no free text becomes a label.",
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
