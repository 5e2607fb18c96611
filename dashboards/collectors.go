package dashboards

import "strings"

const ofCollector = `collector=~"$collector",$vitals`

// failures matches the metrics with the reasons of failures, except those of watches.
const failures = `vitals_[a-z]+(_write|_crd)?_failure`

// collectors returns the dashboard of the collectors. Each series of a failure has one of
// the labels.
func collectors(labels []string) dashboard {
	bad := switches("FAIL", "OK")
	age := numbers("s").below("text")
	flag := flags("FAIL", red)
	return newDashboard("vitals-collectors", "Vitals / Collectors",
		"Whether the collectors succeed, how long they take, and why they fail.",
		[]variable{choice("collector", "Collector", `vitals_collector_success{job=~"$job",instance=~"$instance"}`)},
		section{"", []line{
			{4, collectorStats()},
			{9, []panel{
				timeline("Success of collectors",
					"Whether the last collection of each collector ended in time and without an error, on all chosen instances. If a dependency is down, its collector fails as well.",
					bad, over(`min by (collector) (vitals_collector_success{`+ofCollector+`})`, "{{collector}}")),
				table("Collectors that fail now",
					"Which collectors fail, where, and the time since their last success. Without an age, they have never succeeded. The error is in the log of Vitals and on its status page, because labels have no free text.",
					"Every collector succeeds",
					[]column{
						{field: "collector", title: "Collector"}, {field: "instance", title: "Instance"},
						{field: "Value #A", title: "Result", display: &bad}, {field: "Value #B", title: "Last success ago", display: &age},
					},
					now(`min by (collector, instance) (vitals_collector_success{`+ofCollector+`}) == 0`, ""),
					now(`max by (collector, instance) (timestamp(vitals_collector_success{`+ofCollector+`} == 0) - vitals_collector_last_success_timestamp_seconds{`+ofCollector+`})`, "")),
			}},
			{8, []panel{
				graph("Duration of collections",
					"How long the last collection of each collector took; the worst of the chosen instances. A collection that reaches its timeout is cancelled and counts as failed, so check the queried service before that.",
					numbers("s"), over(`max by (collector) (vitals_collector_duration_seconds{`+ofCollector+`})`, "{{collector}}")),
				graph("Age of the last success",
					"Time since the last success of each collector, at the time of the scrape. It normally rises up to the collector's interval. Above that, collections fail, and rules are evaluated with the remaining samples.",
					numbers("s"), over(`max by (collector) (timestamp(vitals_collector_last_success_timestamp_seconds{`+ofCollector+`}) - vitals_collector_last_success_timestamp_seconds{`+ofCollector+`})`, "{{collector}}")),
			}},
		}},
		section{"Results", []line{
			{8, []panel{
				table("Failures by reason now",
					"The reason of each failed measurement or check. The page of each collector in the documentation explains its reasons.",
					"Nothing fails",
					[]column{
						{field: "__name__", title: "Metric"}, {field: "what", title: "Of"}, {field: "reason", title: "Reason"},
						{field: "instance", title: "Instance"}, {field: "Value", title: "Now", display: &flag},
					},
					now(`max by (__name__, what, reason, instance) (label_join({__name__=~"`+failures+`",$vitals} == 1, "what", "", "`+strings.Join(labels, `", "`)+`"))`, "")),
				graph("Samples of scraped components",
					"How many samples the last scrape of each component yielded. A falling number means that the component exports less than before, and rules may have lost their series.",
					numbers("short"), over(`min by (component) (vitals_scrape_samples{$vitals})`, "{{component}}")),
			}},
		}})
}

func collectorStats() []panel {
	return []panel{
		stat("Collectors failing", "How many collectors fail now on at least one of the chosen instances. Rules without data are unknown, and unknown fails ready.",
			numbers("short").from(1, red), now(`sum(1 - min by (collector) (vitals_collector_success{`+ofCollector+`}))`, "")),
		stat("Success share", "For how much of the shown time collections succeeded, on average of all collectors. If it is below 100 % and nothing fails now, the timeline below shows when it did.",
			numbers("percentunit").below(red).from(0.95, yellow).from(0.99, green).upTo(1), now(`avg(avg_over_time(vitals_collector_success{`+ofCollector+`}[$__range]))`, "")),
		stat("Slowest collection", "Duration of the slowest of the last collections. Collectors do not wait for each other, so a slow one delays only its own rules.",
			numbers("s").from(5, yellow), now(`max(vitals_collector_duration_seconds{`+ofCollector+`})`, "")),
		stat("Oldest success", "The age of the oldest last success of all collectors, at the time of the scrape. Above the collector's interval, its last collections failed.",
			numbers("s").from(60, yellow).from(300, red), now(`max(timestamp(vitals_collector_last_success_timestamp_seconds{`+ofCollector+`}) - vitals_collector_last_success_timestamp_seconds{`+ofCollector+`})`, "")),
	}
}
