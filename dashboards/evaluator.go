package dashboards

// evaluator returns the dashboard of Vitals itself.
func evaluator() dashboard {
	ago := numbers("dateTimeFromNow").below("text")
	return newDashboard("vitals-evaluator", "Vitals / Evaluator",
		"Vitals itself: evaluation, configuration, requests, and resource usage.", nil,
		section{"", []line{
			{4, evaluatorStats()},
			{4, operatorStats()},
			{8, []panel{
				graph("Evaluation time",
					"How long one evaluation of all rules took. It must be shorter than the evaluation interval. If it grows, an expression selects more and more series.",
					numbers("s"), over(`max by (who) (`+who(`vitals_evaluation_duration_seconds{$vitals}`)+`)`, "{{who}}")),
				graph("Evaluator lag",
					"How old the newest evaluation was when it was scraped. Beyond three evaluation intervals, and at least 5 s, Vitals fails ready and its own /-/healthy, and later alive, with \"evaluator stalled\". A constant lag is a clock difference.",
					numbers("s"),
					over(`max by (who) (`+who(`timestamp(vitals_evaluation_timestamp_seconds{$vitals}) - vitals_evaluation_timestamp_seconds{$vitals}`)+`)`, "{{who}}"),
					limit(`vector(5)`, "stalled, for intervals up to 1.6 s")),
			}},
			{7, []panel{
				timeline("Configuration",
					"Whether the last attempt to load the configuration succeeded. FAIL: the last good configuration stays in use, and the errors are in the log; \"vitals check config FILE\" reports them, too.",
					switches("FAIL", "OK"), over(`min by (who) (`+who(least(`vitals_config_last_reload_successful{$vitals}`))+`)`, "{{who}}")),
				table("Versions",
					"The version of each instance, and since when its configuration is in use. Several versions are normal during a rollout, but not after it.",
					"No instance is scraped",
					[]column{
						{field: "who", title: "Instance"}, {field: "version", title: "Version"}, {field: "goversion", title: "Go"},
						{field: "Value", title: "Configuration of", display: &ago},
					},
					now(`max by (who, version, goversion) (`+who(`1000 * vitals_config_last_reload_success_timestamp_seconds{$vitals} * on (job, instance) group_left (version, goversion) vitals_build_info{$vitals}`)+`)`, "")),
			}},
		}, false},
		section{"Requests and state changes", evaluatorRequests(), false},
		section{"Resource usage", evaluatorResources(), false})
}

func evaluatorRequests() []line {
	plain := numbers("short").below("text").whole()
	return []line{
		{8, []panel{
			graph("Requests by path and code",
				"Responses by path and status code. A probe that disappears is no longer requested. 503, or the value of failing_status, is the response of a failing state.",
				stacked(numbers("reqps")), over(`sum by (path, code) (rate(vitals_http_requests_total{$vitals}[$__rate_interval]))`, "{{path}} {{code}}")),
			graph("Changes of states",
				"How often each state changed between failing and not failing, on all chosen instances. A state that flaps moves traffic back and forth: give its rules a longer \"for\" or \"keep_firing_for\".",
				plain, over(`round(sum by (state) (increase(vitals_state_transitions_total{$vitals}[$__rate_interval])))`, "{{state}}")),
		}},
		{7, []panel{
			graph("Open connections",
				"Open connections of clients, by the listener. At the limit, some are closed for others.",
				plain, over(`sum by (listener) (vitals_http_connections{$vitals})`, "{{listener}}")),
			graph("Connections closed for room",
				"Connections that were closed to make room for others. A client opens too many and keeps them.",
				plain, over(`round(sum by (listener) (increase(vitals_http_connections_evicted_total{$vitals}[$__rate_interval])))`, "{{listener}}")),
		}},
	}
}

func evaluatorResources() []line {
	return []line{
		{7, []panel{
			graph("Memory of series",
				"Estimated memory of all series with their history, against its limit. No collector gets more than is free, so above the line samples are refused.",
				numbers("bytes"),
				over(`max by (who) (`+who(`vitals_series_bytes{$vitals}`)+`)`, "{{who}}"),
				limit(`min(vitals_series_limit_bytes{$vitals})`, "limit")),
			graph("Memory of series by collector",
				"Estimated memory of each collector's series with their history; the greatest of the chosen instances.",
				numbers("bytes"), over(`max by (collector) (vitals_collector_series_bytes{$vitals})`, "{{collector}}")),
			graph("Series",
				"How many series are kept for the rules, with those that have ended and whose history is kept.",
				numbers("short"), over(`max by (who) (`+who(`vitals_series{$vitals}`)+`)`, "{{who}}")),
		}},
		{7, []panel{
			graph("Memory",
				"Resident memory of the process, and the part of it that is the Go heap. It grows with the number of series and with the longest range of the rules.",
				numbers("bytes"),
				over(`max by (who) (`+who(`process_resident_memory_bytes{component="",$vitals}`+ofVitals)+`)`, "{{who}}"),
				over(`max by (who) (`+who(`go_memstats_heap_inuse_bytes{component="",$vitals}`+ofVitals)+`)`, "{{who}} heap")),
			graph("CPU",
				"CPU seconds per second; 1 is one core. It depends on the evaluation interval, the number of rules and the scrape interval.",
				numbers("short"), over(`max by (who) (`+who(`rate(process_cpu_seconds_total{component="",$vitals}[$__rate_interval])`+ofVitals)+`)`, "{{who}}")),
			graph("Goroutines and descriptors",
				"Number of goroutines and open file descriptors. If either only grows, it is a leak: please report it with the log.",
				numbers("short"),
				over(`max by (who) (`+who(`go_goroutines{component="",$vitals}`+ofVitals)+`)`, "{{who}} goroutines"),
				over(`max by (who) (`+who(`process_open_fds{component="",$vitals}`+ofVitals)+`)`, "{{who}} descriptors")),
			graph("Longest pause of the garbage collector",
				"The longest of the recent pauses. It is normally far below a probe's timeout; if not, the host is short of CPU time.",
				numbers("s"), over(`max by (who) (`+who(`go_gc_duration_seconds{quantile="1",component="",$vitals}`+ofVitals)+`)`, "{{who}}")),
		}},
	}
}

// operatorStats are about what operators decided, and about what is kept for them.
func operatorStats() []panel {
	return []panel{
		stat("Rules silenced", "How many rules are shown and not obeyed, because an operator silenced them for a time.",
			numbers("short").from(1, yellow).orElse("none"), now(`sum(vitals_rule_silenced{$vitals})`, "")),
		stat("States under maintenance", "How many states fail because an operator drains their workload.",
			numbers("short").from(1, yellow).orElse("none"), now(`sum(vitals_state_maintenance{$vitals})`, "")),
		stat("Storage of events fails", "How many instances cannot write events to --storage.path. Verdicts do not depend on it.",
			numbers("short").from(1, red).orElse("none"), now(`count(vitals_storage_writable{$vitals}) - sum(vitals_storage_writable{$vitals})`, "")),
		stat("Alertmanagers fail", "How many Alertmanagers do not take the alerts that Vitals sends (--alertmanager.url). The log has the reason.",
			numbers("short").from(1, red).orElse("none"), now(`count(vitals_notifications_success{$vitals}) - sum(vitals_notifications_success{$vitals})`, "")),
		stat("Reports to Kubernetes fail", "How many kinds of requests to Kubernetes fail: for events and conditions. The log names a missing right.",
			numbers("short").from(1, red).orElse("none"), now(`count(vitals_kubernetes_report_success{$vitals}) - sum(vitals_kubernetes_report_success{$vitals})`, "")),
	}
}

func evaluatorStats() []panel {
	return []panel{
		stat("Instances scraped", "How many of the chosen instances Prometheus scrapes now. Red: none; yellow: some; green: all that it scraped within the last day and still has as a target.",
			numbers("percentunit").below(red).from(1e-9, yellow).from(1, green),
			now(outOf(`(2 * (up{$vitals}`+knownTargets+`))`), "{{ready}} of {{all}}")).named(),
		stat("Evaluator lag", "How old the newest evaluation was when it was scraped; the worst of the chosen instances. Above three evaluation intervals, Vitals fails alive. If it is much higher and alive is OK, the clocks of the hosts of Prometheus and Vitals differ.",
			numbers("s").from(5, yellow).from(15, red), now(`max(timestamp(vitals_evaluation_timestamp_seconds{$vitals}) - vitals_evaluation_timestamp_seconds{$vitals})`, "")),
		stat("Evaluation time", "How long the slowest of the last evaluations took.",
			numbers("s").from(0.1, yellow).from(1, red), now(`max(vitals_evaluation_duration_seconds{$vitals})`, "")),
		stat("Configurations rejected", "How many instances could not load their configuration and still use the last good one.",
			numbers("short").from(1, red), now(`count(vitals_config_last_reload_successful{$vitals}) - sum(vitals_config_last_reload_successful{$vitals})`, "")),
		stat("Versions", "How many versions of Vitals run. More than one is normal during a rollout only.",
			numbers("short").from(2, yellow), now(`count(count by (version) (vitals_build_info{$vitals}))`, "")),
		stat("Unix sockets lost", "How many instances have lost their Unix socket, which components and the exec probe use.",
			numbers("short").from(1, red).orElse("none"), now(`count(vitals_unix_socket_listening{$vitals}) - sum(vitals_unix_socket_listening{$vitals})`, "")),
		stat("Log lines dropped", "How many lines of the log were dropped within the shown time, because their reader is slow or gone.",
			numbers("short").from(1, yellow).whole(), now(`round(sum(increase(vitals_log_dropped_lines_total{$vitals}[$__range])))`, "")),
	}
}
