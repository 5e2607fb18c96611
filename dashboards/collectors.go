package dashboards

const ofCollector = `collector=~"$collector",$vitals`

// failures are the metrics that tell why something could not be measured, those of
// watches aside, and failed the labels of which each has one.
const (
	failures = `vitals_(dependency|process|scrape|file|systemd|netlink|netlink_write|cgroup|supervisor|script)_failure`
	failed   = `"dependency", "process", "component", "file", "systemd", "netlink", "cgroup", "supervisor", "script"`
)

// collectors is about what measures.
func collectors() dashboard {
	bad := switches("FAIL", "OK")
	age := numbers("s").below("text")
	flag := flags("FAIL", red)
	return newDashboard("vitals-collectors", "Vitals / Collectors",
		"Does everything get measured, how long does it take, and why not.",
		[]variable{choice("collector", "Collector", `vitals_collector_success{job=~"$job",instance=~"$instance"}`)},
		section{"", []line{
			{4, collectorStats()},
			{9, []panel{
				timeline("Success of collectors",
					"Whether the last round of each collector ended in time and without an error, on all chosen instances. A dependency that is down is a measurement and an error: the collector fails as well.",
					bad, over(`min by (collector) (vitals_collector_success{`+ofCollector+`})`, "{{collector}}")),
				table("Collectors that fail now",
					"Which collectors fail, where, and for how long they have not succeeded; without an age, they never have. The error is in the log of Vitals and on its page: no free text becomes a label.",
					"Every collector succeeds",
					[]column{
						{field: "collector", title: "Collector"}, {field: "instance", title: "Instance"},
						{field: "Value #A", title: "Round", display: &bad}, {field: "Value #B", title: "Last success ago", display: &age},
					},
					now(`min by (collector, instance) (vitals_collector_success{`+ofCollector+`}) == 0`, ""),
					now(`max by (collector, instance) (timestamp(vitals_collector_success{`+ofCollector+`} == 0) - vitals_collector_last_success_timestamp_seconds{`+ofCollector+`})`, "")),
			}},
			{8, []panel{
				graph("Duration of rounds",
					"How long the last round of each collector took; the worst of the chosen instances. A round that reaches its timeout is given up and counts as failed, so look at what it asks before it does.",
					numbers("s"), over(`max by (collector) (vitals_collector_duration_seconds{`+ofCollector+`})`, "{{collector}}")),
				graph("Age of the last success",
					"How long ago each collector succeeded when Vitals was scraped. It goes up to the collector's interval; beyond that, rounds fail and rules judge by what is left.",
					numbers("s"), over(`max by (collector) (timestamp(vitals_collector_last_success_timestamp_seconds{`+ofCollector+`}) - vitals_collector_last_success_timestamp_seconds{`+ofCollector+`})`, "{{collector}}")),
			}},
		}},
		section{"What they found", []line{
			{8, []panel{
				table("Failures by reason now",
					"Why something could not be measured, or does not answer, in one of a few words. Each collector's page in the documentation tells what its words mean.",
					"Nothing fails",
					[]column{
						{field: "__name__", title: "Metric"}, {field: "what", title: "Of"}, {field: "reason", title: "Reason"},
						{field: "instance", title: "Instance"}, {field: "Value", title: "Now", display: &flag},
					},
					now(`max by (__name__, what, reason, instance) (label_join({__name__=~"`+failures+`",$vitals} == 1, "what", "", `+failed+`))`, "")),
				graph("Samples of scraped components",
					"How many samples the last scrape of each component yielded. A number that falls means that the component exports less than before, and rules may have lost their series.",
					numbers("short"), over(`min by (component) (vitals_scrape_samples{$vitals})`, "{{component}}")),
			}},
		}})
}

func collectorStats() []panel {
	return []panel{
		stat("Collectors failing", "How many collectors fail now on at least one of the chosen instances. Rules without data are unknown, and unknown fails ready.",
			numbers("short").from(1, red), now(`sum(1 - min by (collector) (vitals_collector_success{`+ofCollector+`}))`, "")),
		stat("Success share", "For how much of the shown time the rounds succeeded, on average of all collectors. A share that is not 100 % while nothing fails now: look below for when.",
			numbers("percentunit").below(red).from(0.95, yellow).from(0.99, green).upTo(1), now(`avg(avg_over_time(vitals_collector_success{`+ofCollector+`}[$__range]))`, "")),
		stat("Slowest round", "How long the slowest of the last rounds took. Collectors do not wait for each other, so a slow one delays its own rules only.",
			numbers("s").from(5, yellow), now(`max(vitals_collector_duration_seconds{`+ofCollector+`})`, "")),
		stat("Oldest success", "The age of the oldest last success of all collectors, when Vitals was scraped. Beyond the collector's interval, its last rounds failed.",
			numbers("s").from(60, yellow).from(300, red), now(`max(timestamp(vitals_collector_last_success_timestamp_seconds{`+ofCollector+`}) - vitals_collector_last_success_timestamp_seconds{`+ofCollector+`})`, "")),
	}
}
