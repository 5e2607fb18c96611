package alerts

// alertCase is a timeline of series and what the alert makes of it. All series are those
// of one instance of Vitals, a sample each 15 seconds from 0 on.
type alertCase struct {
	name string
	// series are written as in promtool's tests: labels in braces, and values. Job and
	// instance are added to the labels, except where the series has a job.
	series []string
	// moments are looked at in this order.
	moments []moment
}

// moment is one look at the alert.
type moment struct {
	at string
	// fires are the instances of the alert that fire.
	fires []instance
}

// instance is one alert that fires.
type instance struct {
	// labels are those beside the target's and severity.
	labels map[string]string
	// absent says that there is no target: what the selector demands is all that is known.
	absent bool
	// description is what the template becomes.
	description string
}

// silent is a look at which the alert does not fire.
func silent(at string) moment { return moment{at: at} }

// fires is a look at which one instance fires.
func fires(at, description string, labels map[string]string) moment {
	return moment{at, []instance{{labels: labels, description: description}}}
}

// alertCases are those of each alert, by its name.
func alertCases() map[string][]alertCase {
	all := verdictCases()
	for name, cases := range selfCases() {
		all[name] = cases
	}
	return all
}

// theInstance is the instance of every series, and otherJob the job of those that the
// alerts do not watch.
const (
	theInstance = "10.0.0.7:8080"
	otherJob    = "other"
)

func verdictCases() map[string][]alertCase {
	ready, alive := map[string]string{"state": "ready"}, map[string]string{"state": "alive"}
	low := map[string]string{"rule": "QuotaLow", "state": "ready", "status": "failing"}
	return map[string][]alertCase{
		"VitalsNotReady": {
			{
				name: "Keystone is down for five minutes",
				series: []string{
					`vitals_state{state="ready"} 1x4 0x20 1x10`,
					`vitals_rule_status{rule="KeystoneDown",state="ready",status="failing"} 0x4 1x20 0x10`,
					`vitals_rule_status{rule="QuotaLow",state="ready",status="failing"} 0x40`,
				},
				moments: []moment{
					silent("3m"),
					fires("3m15s", theInstance+" has answered its readiness probe with a failure for two minutes. Failing: KeystoneDown.", ready),
					fires("6m15s", theInstance+" has answered its readiness probe with a failure for two minutes. Failing: KeystoneDown.", ready),
					silent("6m30s"),
				},
			},
			{
				name: "evidence is missing", series: []string{`vitals_state{state="ready"} 0x20`, `vitals_rule_status{rule="KeystoneDown",state="ready",status="unknown"} 1x20`},
				moments: []moment{fires("2m", theInstance+" has answered its readiness probe with a failure for two minutes. No rule fails, so evidence is missing or the reason is another one: ask it.", ready)},
			},
			{name: "another state fails", series: []string{`vitals_state{state="ready"} 1x20`, `vitals_state{state="alive"} 0x20`}, moments: []moment{silent("5m")}},
			{name: "something else fails", series: []string{`vitals_state{job="other",state="ready"} 0x20`}, moments: []moment{silent("5m")}},
		},
		"VitalsNotAlive": {
			{
				name: "a component is dead",
				series: []string{
					`vitals_state{state="alive"} 1x4 0x20 1x10`,
					`vitals_rule_status{rule="ComponentDead",state="alive",status="failing"} 0x4 1x20 0x10`,
					`vitals_rule_status{rule="KeystoneDown",state="ready",status="failing"} 1x40`,
				},
				moments: []moment{
					silent("2m"),
					fires("2m15s", theInstance+" has answered its liveness probe with a failure for a minute. Failing: ComponentDead.", alive),
					silent("6m30s"),
				},
			},
			{name: "only ready fails", series: []string{`vitals_state{state="alive"} 1x20`, `vitals_state{state="ready"} 0x20`}, moments: []moment{silent("5m")}},
		},
		"VitalsStateFailing": {
			{
				name: "a state of one's own fails", series: []string{`vitals_state{state="leading"} 0x60`, `vitals_state{state="ready"} 0x60`, `vitals_state{state="alive"} 0x60`},
				moments: []moment{
					silent("9m45s"),
					fires("10m", theInstance+" has said for ten minutes that leading fails. No rule fails, so evidence is missing or the reason is another one: ask it.", map[string]string{"state": "leading"}),
				},
			},
			{name: "all pass", series: []string{`vitals_state{state="leading"} 1x60`, `vitals_state{state="started"} 1x60`}, moments: []moment{silent("15m")}},
		},
		"VitalsDegraded": {
			{
				name:   "a quota is low",
				series: append(ruleSeries("QuotaLow", `severity="warning",no_data="pass"`, "failing"), `vitals_state{state="ready"} 1x60`, `vitals_state{state="alive"} 1x60`),
				moments: []moment{
					silent("9m45s"),
					fires("10m", "QuotaLow of "+theInstance+" has failed for ten minutes. It only warns, so ready passes.", low),
				},
			},
			{name: "the state fails", series: append(ruleSeries("QuotaLow", `severity="warning"`, "failing"), `vitals_state{state="ready"} 0x60`), moments: []moment{silent("15m")}},
			{name: "the rule is critical", series: append(ruleSeries("QuotaLow", `severity="critical"`, "failing"), `vitals_state{state="ready"} 1x60`), moments: []moment{silent("15m")}},
			{name: "the rule is only observed", series: append(ruleSeries("QuotaLow", `severity="warning",mode="observe"`, "failing"), `vitals_state{state="ready"} 1x60`), moments: []moment{silent("15m")}},
			{name: "the rule is pending", series: append(ruleSeries("QuotaLow", `severity="warning"`, "pending"), `vitals_state{state="ready"} 1x60`), moments: []moment{silent("15m")}},
		},
		"VitalsRuleUnknown": {
			{
				name: "the watch's metrics are gone", series: ruleSeries("WatchStale", `severity="critical",no_data="hold"`, "unknown"),
				moments: []moment{
					silent("9m45s"),
					fires("10m", "WatchStale of "+theInstance+", which feeds ready, has been unknown for ten minutes: nothing exports what it asks for, or it cannot be evaluated.",
						map[string]string{"rule": "WatchStale", "state": "ready", "status": "unknown"}),
				},
			},
			{name: "the rule says that nothing is fine", series: ruleSeries("ComponentNotReady", `severity="critical",no_data="pass"`, "unknown"), moments: []moment{silent("15m")}},
			{name: "the rule fails", series: ruleSeries("WatchStale", `severity="critical"`, "failing"), moments: []moment{silent("15m")}},
			{name: "an ordinary alert is unknown", series: []string{`vitals_rule_status{rule="DiskFull",status="unknown"} 1x60`}, moments: []moment{silent("15m")}},
		},
		"VitalsFlapping": {
			{
				name: "ready changes every two minutes, seven times", series: []string{`vitals_state_transitions_total{state="ready"} 0x7 1x7 2x7 3x7 4x7 5x7 6x7 7x120`, `vitals_state_transitions_total{state="alive"} 0x200`},
				moments: []moment{
					silent("13m45s"),
					fires("14m", "The state ready of "+theInstance+" changed 7 times within half an hour.", ready),
					fires("29m45s", "The state ready of "+theInstance+" changed 7 times within half an hour.", ready),
					silent("45m"),
				},
			},
			{name: "six changes", series: []string{`vitals_state_transitions_total{state="ready"} 1x60 2x7 3x7 4x7 5x7 6x7 7x120`}, moments: []moment{silent("25m"), silent("35m")}},
			{name: "an outage and its end", series: []string{`vitals_state_transitions_total{state="ready"} 0x20 1x20 2x80`}, moments: []moment{silent("30m")}},
		},
	}
}

// ruleSeries are the series of a rule of ready, for a quarter of an hour: what the
// configuration says of it, and its status.
func ruleSeries(rule, info, is string) []string {
	all := []string{`vitals_rule_info{rule="` + rule + `",state="ready",` + info + `} 1x60`}
	for _, status := range []string{"ok", "pending", "failing", "unknown"} {
		value := "0"
		if status == is {
			value = "1"
		}
		all = append(all, `vitals_rule_status{rule="`+rule+`",state="ready",status="`+status+`"} `+value+"x60")
	}
	return all
}
