package dashboards

import "strings"

const ofCollector = `collector=~"$collector",$vitals`

// failures matches the metrics with the reasons of failures, except those of watches.
const failures = `vitals_[a-z]+(_write|_crd)?_failure`

// collectors returns the dashboard of the collectors. Each series of a failure has one of
// the labels.
func collectors(labels []string) dashboard {
	bad := switches("FAIL", "OK")
	age := numbers("dthms").below("text")
	flag := flags("FAIL", red)
	return newDashboard("vitals-collectors", "Vitals / Collectors",
		"Whether the collectors succeed, how long they take, and why they fail.",
		[]variable{choice("collector", "Collector", `vitals_collector_success{`+chosen+`}`)},
		section{"", []line{
			{4, collectorStats()},
			{9, []panel{
				timeline("Success of collectors",
					"Whether the last collection of each collector ended in time and without an error, on all chosen instances. If a dependency is down, its collector fails as well.",
					bad, over(`min by (collector) (`+least(`vitals_collector_success{`+ofCollector+`}`)+`)`, "{{collector}}")),
				table("Collectors that fail now",
					"Which collectors fail, where, and the time since their last success. Without an age, they have never succeeded. The error is in the log of Vitals and on its status page, because labels have no free text.",
					"No failing collector is known",
					[]column{
						{field: "collector", title: "Collector"}, {field: "who", title: "Instance"},
						{field: "Value #A", title: "Result", display: &bad}, {field: "Value #B", title: "Last success ago", display: &age},
					},
					now(`min by (collector, who) (`+who(`vitals_collector_success{`+ofCollector+`}`)+`) == 0`, ""),
					now(`max by (collector, who) (`+who(`timestamp(vitals_collector_success{`+ofCollector+`} == 0) - vitals_collector_last_success_timestamp_seconds{`+ofCollector+`}`)+`)`, "")),
			}},
			{8, []panel{
				graph("Duration of collections",
					"How long the last collection of each collector took; the worst of the chosen instances. A collection that reaches its timeout is cancelled and counts as failed, so check the queried service before that.",
					numbers("s"), over(`max by (collector) (vitals_collector_duration_seconds{`+ofCollector+`})`, "{{collector}}")),
				graph("Age of the last success",
					"Time since the last success of each collector, at the time of the scrape. It normally rises up to the collector's interval. Above that, collections fail, and rules are evaluated with the remaining samples.",
					numbers("dthms"), over(`max by (collector) (timestamp(vitals_collector_last_success_timestamp_seconds{`+ofCollector+`}) - vitals_collector_last_success_timestamp_seconds{`+ofCollector+`})`, "{{collector}}")),
			}},
		}, false},
		section{"Results", []line{
			{8, []panel{
				table("Failures by reason now",
					"The reason of each failed measurement or check. The page of each collector in the documentation explains its reasons.",
					"No failure is known",
					[]column{
						{field: "__name__", title: "Metric"}, {field: "what", title: "Name"}, {field: "reason", title: "Reason"},
						{field: "who", title: "Instance"}, {field: "Value", title: "Now", display: &flag},
					},
					now(`max by (__name__, what, reason, who) (`+who(`label_join({__name__=~"`+failures+`",$vitals} == 1, "what", "", "`+strings.Join(labels, `", "`)+`")`)+`)`, "")),
			}},
		}, false},
		section{"Scraped components", scrapes(), true},
		section{"Files with metrics", textfiles(), true},
		section{"Discovered targets", discovered(), true})
}

// discovered returns the panels of collectors that discover their targets.
func discovered() []line {
	return []line{
		{8, []panel{
			timeline("Discovery of targets",
				"Whether each collector could read all of its targets. FAIL: it keeps those of before. The error is on the status page of Vitals.",
				switches("FAIL", "OK"), over(`min by (collector) (`+least(`vitals_discovery_up{`+ofCollector+`}`)+`)`, "{{collector}}")),
			graph("Targets",
				"How many targets each collector checks. A line that falls to 0 means that a file has lost its targets.",
				numbers("short"), over(`min by (collector) (vitals_discovery_targets{`+ofCollector+`})`, "{{collector}}")),
			graph("Targets that are not checked",
				"How many targets were found and are not checked: they exceed the limit, repeat a name or have a mistake.",
				numbers("short"), over(`max by (collector) (vitals_discovery_dropped_targets{`+ofCollector+`})`, "{{collector}}")),
		}},
	}
}

// scrapes returns the panels of the targets that Vitals itself scrapes.
func scrapes() []line {
	return []line{
		{8, []panel{
			timeline("Scrapes",
				"Whether Vitals can scrape each component. DOWN: rules over its metrics are unknown. The reasons are in the table above.",
				switches("DOWN", "UP"), over(`min by (component) (`+least(`vitals_scrape_up{$vitals}`)+`)`, "{{component}}")),
			graph("Duration of scrapes",
				"How long the last scrape of each component took, whether it succeeded or not.",
				numbers("s"), over(`max by (component) (vitals_scrape_duration_seconds{$vitals})`, "{{component}}")),
		}},
		{8, []panel{
			graph("Samples of scraped components",
				"How many samples the last scrape of each component yielded. A falling number means that the component exports less than before, and rules may have lost their series.",
				numbers("short"), over(`min by (component) (vitals_scrape_samples{$vitals})`, "{{component}}")),
			graph("Samples that are left out",
				"How many samples of the last scrape repeated a series, or have a name that begins with vitals_. Both are mistakes of the component.",
				numbers("short"),
				over(`max by (component) (vitals_scrape_dropped_samples{$vitals})`, "{{component}} repeated"),
				over(`max by (component) (vitals_scrape_reserved_samples{$vitals})`, "{{component}} vitals_")),
			graph("Size of scrapes",
				"Decompressed size of the last answer of each component.",
				numbers("bytes"), over(`max by (component) (vitals_scrape_body_bytes{$vitals})`, "{{component}}")),
		}},
	}
}

// textfiles returns the panels of the files with metrics that Vitals reads.
func textfiles() []line {
	return []line{
		{8, []panel{
			timeline("Files with metrics",
				"Whether each file could be read, on all chosen instances. The reasons are in the table above.",
				switches("FAIL", "OK"),
				over(`min by (component, path) (`+least(`vitals_textfile_success{$vitals}`)+`)`, "{{component}} {{path}}"),
				over(`min by (component) (`+least(`vitals_textfile_up{$vitals}`)+`)`, "all of {{component}}")),
			graph("Age of files with metrics",
				"Time since the content of each file changed, which is when its job last ended.",
				numbers("dtdhms"), over(`max by (component, path) (time() - vitals_textfile_mtime_timestamp_seconds{$vitals})`, "{{component}} {{path}}")),
		}},
		{8, []panel{
			graph("Number of files with metrics",
				"How many files each collector found.",
				numbers("short"), over(`min by (component) (vitals_textfile_files{$vitals})`, "{{component}}")),
			graph("Samples of files with metrics",
				"How many samples all files of a collector have, and how many are dropped because their names begin with vitals_.",
				numbers("short"),
				over(`min by (component) (vitals_textfile_samples{$vitals})`, "{{component}}"),
				over(`max by (component) (vitals_textfile_reserved_samples{$vitals})`, "{{component}} vitals_")),
		}},
	}
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
			numbers("dthms").from(60, yellow).from(300, red), now(`max(timestamp(vitals_collector_last_success_timestamp_seconds{`+ofCollector+`}) - vitals_collector_last_success_timestamp_seconds{`+ofCollector+`})`, "")),
	}
}
