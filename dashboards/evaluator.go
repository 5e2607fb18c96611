package dashboards

// evaluator is about Vitals itself: who watches the watcher.
func evaluator() dashboard {
	plain := numbers("short").below("text")
	ago := numbers("dateTimeFromNow").below("text")
	return newDashboard("vitals-evaluator", "Vitals / Evaluator",
		"Vitals itself: does it evaluate, is its configuration the newest one, who asks it, and what does it cost.", nil,
		section{"", []line{
			{8, []panel{
				graph("Evaluation time",
					"How long one pass over all rules took; a pass may take the evaluation interval at most. If it grows, an expression selects more and more series.",
					numbers("s"), over(`max by (instance) (vitals_evaluation_duration_seconds{$vitals})`, "{{instance}}")),
				graph("Evaluator lag",
					"How old the newest evaluation was when it was scraped. Beyond three evaluation intervals, and at least 5 s, Vitals fails alive and ready by itself: \"evaluator stalled\". A lag that never changes is a difference of clocks.",
					numbers("s"),
					over(`max by (instance) (timestamp(vitals_evaluation_timestamp_seconds{$vitals}) - vitals_evaluation_timestamp_seconds{$vitals})`, "{{instance}}"),
					limit(`vector(5)`, "stalled, for intervals up to 1.6 s")),
			}},
			{7, []panel{
				timeline("Configuration",
					"Whether the last attempt to load the configuration succeeded. FAIL: the last good one goes on, and the mistakes are in the log; \"vitals check config FILE\" shows them, too.",
					switches("FAIL", "OK"), over(`min by (instance) (vitals_config_last_reload_successful{$vitals})`, "{{instance}}")),
				table("Versions",
					"Which version runs where, and since when its configuration is in use. More than one line of a version during a rollout is normal, afterwards it is not.",
					"No instance is scraped",
					[]column{
						{field: "instance", title: "Instance"}, {field: "version", title: "Version"}, {field: "goversion", title: "Go"},
						{field: "Value", title: "Configuration of", display: &ago},
					},
					now(`max by (instance, version, goversion) (1000 * vitals_config_last_reload_success_timestamp_seconds{$vitals} * on (job, instance) group_left (version, goversion) vitals_build_info{$vitals})`, "")),
			}},
		}},
		section{"Who asks, and what changed", []line{
			{8, []panel{
				graph("Requests by path and code",
					"Requests that were answered, for each path and status code. A probe that stops to appear is not asked any more; 503, or what failing_status says, is a state that fails.",
					stacked(numbers("reqps")), over(`sum by (path, code) (rate(vitals_http_requests_total{$vitals}[$__rate_interval]))`, "{{path}} {{code}}")),
				graph("Changes of states",
					"How often each state changed between failing and not failing, on all chosen instances. A state that flaps moves traffic to and fro: give its rules a longer \"for\" or \"keep_firing_for\".",
					plain, over(`sum by (state) (increase(vitals_state_transitions_total{$vitals}[$__rate_interval]))`, "{{state}}")),
			}},
		}},
		section{"What it costs", []line{
			{7, []panel{
				graph("Memory",
					"What the process has in RAM, and how much of it is Go's heap. It grows with the number of series and with how far rules look back.",
					numbers("bytes"),
					over(`max by (instance) (process_resident_memory_bytes{$vitals}`+ofVitals+`)`, "{{instance}}"),
					over(`max by (instance) (go_memstats_heap_inuse_bytes{$vitals}`+ofVitals+`)`, "{{instance}} heap")),
				graph("CPU",
					"Processor time for each second; 1 is one core. It follows the evaluation interval, the number of rules and how often somebody scrapes.",
					numbers("short"), over(`max by (instance) (rate(process_cpu_seconds_total{$vitals}[$__rate_interval])`+ofVitals+`)`, "{{instance}}")),
				graph("Goroutines and descriptors",
					"How many goroutines and open descriptors there are. Either that only grows is a leak: please report it with the log.",
					numbers("short"),
					over(`max by (instance) (go_goroutines{$vitals}`+ofVitals+`)`, "{{instance}} goroutines"),
					over(`max by (instance) (process_open_fds{$vitals}`+ofVitals+`)`, "{{instance}} descriptors")),
				graph("Longest pause of the garbage collector",
					"The longest pause of the last collections. It is far below a probe's timeout; one that is not shows a host without processor time to give.",
					numbers("s"), over(`max by (instance) (go_gc_duration_seconds{quantile="1",$vitals}`+ofVitals+`)`, "{{instance}}")),
			}},
		}})
}
