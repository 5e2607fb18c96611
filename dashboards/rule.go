package dashboards

// ofRule selects what is chosen of the rule and its states. An ordinary alert has no
// state.
const ofRule = `rule="$rule",state=~"$state"`

// rule is about one rule: where it fails, since when, how often, and what follows.
func rule() dashboard {
	state := choice("state", "State", `vitals_rule_status{rule="$rule",job=~"$job",instance=~"$instance"}`)
	state.AllValue = ".*"
	return newDashboard("vitals-rule", "Vitals / Rule",
		"One rule: where and when it failed, which states it feeds, and what Prometheus says of the same alert.",
		[]variable{pick("rule", "Rule", `vitals_rule_status{job=~"$job",instance=~"$instance"}`), state},
		section{"", []line{
			{4, ruleStats()},
			{8, []panel{timeline("Status by instance",
				"The status of the rule on each instance. One instance alone has a problem of its own; all at once have lost something that they share. UNKNOWN: the series that the rule asks for are missing, so look at the collector that should export them.",
				statuses(), over(`max by (instance) (`+status(ofRule)+`)`, "{{instance}}"))}},
			{6, []panel{
				timeline("States that it feeds",
					"The worst verdict of each state that obeys this rule, or shows it. If a state failed while the rule was ok, another rule was the reason: see Vitals / Overview.",
					switches("FAIL", "OK"),
					over(`min by (state) (vitals_state{$vitals} and on (job, instance, state) vitals_rule_status{`+ofRule+`,$vitals})`, "{{state}}")),
				timeline("The same alert in Prometheus",
					"Prometheus' own view of the alert, where it has loaded the rule file. It evaluates less often than Vitals and on samples that it scraped, so it follows a little later.",
					alertStates(),
					over(`max by (instance) (2 * ALERTS{alertname="$rule",alertstate="firing",$vitals} or ALERTS{alertname="$rule",alertstate="pending",$vitals})`, "{{instance}}")),
			}},
			{7, []panel{
				graph("Share of instances that fail",
					"How large a part of the instances the rule fails on. A part that grows is an outage that spreads; a restart of all of them would not help.",
					numbers("percentunit").upTo(1), over(`avg by (state) (vitals_rule_status{status="failing",`+ofRule+`,$vitals})`, "{{state}}")),
				graph("Changes",
					"How often the rule began or ceased to fail, for all instances together. If it flaps, give it a longer \"for\" or \"keep_firing_for\".",
					numbers("short"), over(`sum by (state) (changes(vitals_rule_status{status="failing",`+ofRule+`,$vitals}[$__range]))`, "{{state}} within the shown time before")),
			}},
		}})
}

func ruleStats() []panel {
	return []panel{
		stat("Status", "The worst status of the rule now among the chosen instances. FAIL: its expression is true for at least its \"for\". The sentence that tells why is in the answer of the probe.",
			statuses(), now(`max(`+status(ofRule)+`)`, "")),
		stat("Since", "When the first of the instances on which it is not ok left ok; where it is ok everywhere, when the last one became ok. Before that, look at the graphs below.",
			numbers("dateTimeFromNow").below("text"),
			now(`1000 * (min(vitals_rule_since_timestamp_seconds{`+ofRule+`,$vitals} and on (job, instance, rule, state) (vitals_rule_status{status="ok",`+ofRule+`,$vitals} == 0)) or max(vitals_rule_since_timestamp_seconds{`+ofRule+`,$vitals}))`, "")),
		stat("Instances", "On how many instances the rule has each status now.",
			numbers("short").below("blue"), now(`sum by (status) (vitals_rule_status{`+ofRule+`,$vitals}) > 0`, "{{status}}")),
		stat("Share of the shown time", "For how much of the shown time the rule had each status, on average of the chosen instances. Much of \"unknown\" means that it cannot do its work.",
			numbers("percentunit").below("blue"), now(`avg by (status) (avg_over_time(vitals_rule_status{`+ofRule+`,$vitals}[$__range])) > 0`, "{{status}}")),
	}
}
