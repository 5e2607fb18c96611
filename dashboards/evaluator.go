package dashboards

// evaluator returns the dashboard of Vitals itself.
func evaluator() dashboard {
	plain := numbers("short").below("text")
	ago := numbers("dateTimeFromNow").below("text")
	return newDashboard("vitals-evaluator", "Vitals / Evaluator",
		"Vitals itself: evaluation, configuration, requests, and resource usage.", nil,
		section{"", []line{
			{8, []panel{
				graph("Evaluation time",
					"How long one evaluation of all rules took. It must be shorter than the evaluation interval. If it grows, an expression selects more and more series.",
					numbers("s"), over(`max by (instance) (vitals_evaluation_duration_seconds{$vitals})`, "{{instance}}")),
				graph("Evaluator lag",
					"How old the newest evaluation was when it was scraped. Beyond three evaluation intervals, and at least 5 s, Vitals fails ready and its own /-/healthy, and later alive, with \"evaluator stalled\". A constant lag is a clock difference.",
					numbers("s"),
					over(`max by (instance) (timestamp(vitals_evaluation_timestamp_seconds{$vitals}) - vitals_evaluation_timestamp_seconds{$vitals})`, "{{instance}}"),
					limit(`vector(5)`, "stalled, for intervals up to 1.6 s")),
			}},
			{7, []panel{
				timeline("Configuration",
					"Whether the last attempt to load the configuration succeeded. FAIL: the last good configuration stays in use, and the errors are in the log; \"vitals check config FILE\" reports them, too.",
					switches("FAIL", "OK"), over(`min by (instance) (vitals_config_last_reload_successful{$vitals})`, "{{instance}}")),
				table("Versions",
					"The version of each instance, and since when its configuration is in use. Several versions are normal during a rollout, but not after it.",
					"No instance is scraped",
					[]column{
						{field: "instance", title: "Instance"}, {field: "version", title: "Version"}, {field: "goversion", title: "Go"},
						{field: "Value", title: "Configuration of", display: &ago},
					},
					now(`max by (instance, version, goversion) (1000 * vitals_config_last_reload_success_timestamp_seconds{$vitals} * on (job, instance) group_left (version, goversion) vitals_build_info{$vitals})`, "")),
			}},
		}},
		section{"Requests and state changes", []line{
			{8, []panel{
				graph("Requests by path and code",
					"Responses by path and status code. A probe that disappears is no longer requested. 503, or the value of failing_status, is the response of a failing state.",
					stacked(numbers("reqps")), over(`sum by (path, code) (rate(vitals_http_requests_total{$vitals}[$__rate_interval]))`, "{{path}} {{code}}")),
				graph("Changes of states",
					"How often each state changed between failing and not failing, on all chosen instances. A state that flaps moves traffic back and forth: give its rules a longer \"for\" or \"keep_firing_for\".",
					plain, over(`sum by (state) (increase(vitals_state_transitions_total{$vitals}[$__rate_interval]))`, "{{state}}")),
			}},
		}},
		section{"Resource usage", []line{
			{7, []panel{
				graph("Memory",
					"Resident memory of the process, and the part of it that is the Go heap. It grows with the number of series and with the longest range of the rules.",
					numbers("bytes"),
					over(`max by (instance) (process_resident_memory_bytes{$vitals}`+ofVitals+`)`, "{{instance}}"),
					over(`max by (instance) (go_memstats_heap_inuse_bytes{$vitals}`+ofVitals+`)`, "{{instance}} heap")),
				graph("CPU",
					"CPU seconds per second; 1 is one core. It depends on the evaluation interval, the number of rules and the scrape interval.",
					numbers("short"), over(`max by (instance) (rate(process_cpu_seconds_total{$vitals}[$__rate_interval])`+ofVitals+`)`, "{{instance}}")),
				graph("Goroutines and descriptors",
					"Number of goroutines and open file descriptors. If either only grows, it is a leak: please report it with the log.",
					numbers("short"),
					over(`max by (instance) (go_goroutines{$vitals}`+ofVitals+`)`, "{{instance}} goroutines"),
					over(`max by (instance) (process_open_fds{$vitals}`+ofVitals+`)`, "{{instance}} descriptors")),
				graph("Longest pause of the garbage collector",
					"The longest of the recent pauses. It is normally far below a probe's timeout; if not, the host is short of CPU time.",
					numbers("s"), over(`max by (instance) (go_gc_duration_seconds{quantile="1",$vitals}`+ofVitals+`)`, "{{instance}}")),
			}},
		}})
}
