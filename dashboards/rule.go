package dashboards

// ofRule selects the chosen rule and states. An alert that feeds no state has no label
// state.
const ofRule = `rule="$rule",state=~"$state"`

// rule returns the dashboard of one rule: where it fails, since when, how often, and with
// which effect.
func rule(known ruleTexts) dashboard {
	state := choice("state", "State", `vitals_rule_status{rule="$rule",`+chosen+`}`)
	state = orAbsent(state)
	return newDashboard("vitals-rule", "Vitals / Rule",
		"One rule: where and when it failed, which states it feeds, and the state of the same alert in Prometheus.",
		[]variable{pick("rule", "Rule", `vitals_rule_status{`+chosen+`}`), state},
		section{"", []line{
			{4, ruleStats()},
			{5, []panel{known.table()}},
			{8, []panel{timeline("Status by instance",
				"The status of the rule on each instance. If only one instance fails, the problem is local to it. If all fail at once, they have lost something that they share. UNKNOWN: the series that the rule selects are missing; check the collector that exports them.",
				statuses(), over(`max by (who) (`+who(status(ofRule, most))+`)`, "{{who}}"))}},
			{6, []panel{
				timeline("States that it feeds",
					"The worst verdict of each state that this rule feeds. If a state failed while the rule was ok, another rule was the reason: see Vitals / Overview.",
					switches("FAIL", "OK"),
					over(`min by (state) (`+least(`vitals_state{$vitals}`)+` and on (job, instance, state) vitals_rule_status{`+ofRule+`,$vitals})`, "{{state}}")),
				timeline("The same alert in Prometheus",
					"The alert in Prometheus, if it has loaded the rule file. Prometheus evaluates less often than Vitals, and on scraped samples, so it follows a little later.",
					alertStates(),
					over(`max by (who) (`+who(`2 * `+most(`ALERTS{alertname="$rule",alertstate="firing",$vitals}`)+` or `+most(`ALERTS{alertname="$rule",alertstate="pending",$vitals}`))+`)`, "{{who}}")),
			}},
			{7, []panel{
				graph("Share of instances that fail",
					"The fraction of instances on which the rule fails. If it grows, an outage spreads, and restarting all instances would not help.",
					numbers("percentunit").upTo(1), over(`avg by (state) (vitals_rule_status{status="failing",`+ofRule+`,$vitals})`, "{{state}}")),
				graph("Changes",
					"How often the rule started or stopped failing, on all instances together. If it flaps, give it a longer \"for\" or \"keep_firing_for\".",
					numbers("short").whole(), over(`sum by (state) (changes(vitals_rule_status{status="failing",`+ofRule+`,$vitals}[$__range]))`, "{{state}} within the shown time before")),
			}},
		}, false})
}

func ruleStats() []panel {
	return []panel{
		stat("Status", "The worst status of the rule now among the chosen instances. FAIL: its expression is true for at least its \"for\". The reason is in the response of the probe and on the status page of Vitals.",
			statuses(), now(`max(`+status(ofRule, last)+`)`, "")),
		stat("Since", "When the first of the instances that are not ok changed from ok. If all are ok: when the last one became ok. Earlier changes are in the graphs below.",
			numbers("dateTimeFromNow").below("text"),
			now(`1000 * (min(vitals_rule_since_timestamp_seconds{`+ofRule+`,$vitals} and on (job, instance, rule, state) (vitals_rule_status{status="ok",`+ofRule+`,$vitals} == 0)) or max(vitals_rule_since_timestamp_seconds{`+ofRule+`,$vitals}))`, "")),
		stat("Instances", "On how many instances the rule has each status now.",
			numbers("short").below("blue"), now(`sum by (status) (vitals_rule_status{`+ofRule+`,$vitals}) > 0`, "{{status}}")),
		stat("Share of the shown time", "For how much of the shown time the rule had each status, on average of the chosen instances. A large share of \"unknown\" means that the rule lacks data.",
			numbers("percentunit").below("blue"), now(`avg by (status) (avg_over_time(vitals_rule_status{`+ofRule+`,$vitals}[$__range])) > 0`, "{{status}}")),
	}
}
