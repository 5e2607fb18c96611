package dashboards

// kuryr is about the Kuryr-Kubernetes controller and its CNI daemons: what their two
// profiles measure.
func kuryr() dashboard {
	of := shippedThresholds("kuryr-controller.yml", "kuryr-cni.yml")
	return newDashboard("vitals-kuryr", "Vitals / Kuryr",
		"The Kuryr-Kubernetes controller and its CNI daemons: watches, quota, components, CNI requests, and the nodes. A dashed red line is the threshold of the shipped rule that it is named after.", nil,
		section{"Kubernetes", kuryrKubernetes(of)},
		section{"Quota", []line{{8, []panel{quotaLeft(of), quotaLeftOverTime(of)}}}},
		section{"Components and CNI requests", kuryrComponents()},
		section{"Nodes", kuryrNodes(of)})
}

func kuryrKubernetes(of thresholds) []line {
	return []line{
		{7, []panel{
			timeline("Watches",
				"Whether each watch is open on all chosen instances. One is closed by the server now and then and opened again at once; CLOSED for half a minute fails ready (KubernetesWatchDown).",
				switches("CLOSED", "OPEN"), over(`min by (resource) (vitals_kubernetes_watch_connected{$vitals})`, "{{resource}}")),
			timeline("Why watches are closed",
				"The reason for which a watch is not open. forbidden: the service account lacks the verb watch; not_found: the resource's definition is not installed.",
				flags("FAIL", red).orElse("No watch fails"), over(`max by (resource, reason) (vitals_kubernetes_watch_failure{$vitals}) > 0`, "{{resource}}: {{reason}}")),
		}},
		{7, []panel{
			graph("Silence of watches",
				"For how long the API server has sent nothing on each watch. It sends bookmarks about once a minute, also where nothing happens; a watch that is silent for longer is open and dead.",
				numbers("s"),
				over(`max by (resource) (timestamp(vitals_kubernetes_watch_last_contact_timestamp_seconds{$vitals}) - vitals_kubernetes_watch_last_contact_timestamp_seconds{$vitals})`, "{{resource}}"),
				of.line("KubernetesWatchStale")),
			graph("Watches opened again",
				"How often watches were opened, or tried, again. A few an hour are normal. Many: the API server or something before it cuts connections.",
				numbers("short"), over(`sum by (resource) (increase(vitals_kubernetes_watch_restarts_total{$vitals}[$__rate_interval]))`, "{{resource}}")),
		}},
		{7, []panel{
			timeline("Access",
				"Whether the service account may do what Kuryr does. DENIED: the cluster role lacks the rule, or its binding is gone.",
				switches("DENIED", "OK"), over(`min by (verb, resource) (vitals_kubernetes_access_allowed{$vitals})`, "{{verb}} {{resource}}")),
			timeline("Custom resource definitions",
				"Whether each custom resource definition is there and established. MISSING: install Kuryr's definitions again.",
				switches("MISSING", "OK"), over(`min by (crd) (vitals_kubernetes_crd_present{$vitals})`, "{{crd}}")),
		}},
	}
}

// left is how much of each quota is left; what is unlimited has no limit and is not in it.
const left = `min by (resource) (vitals_neutron_quota_limit{$vitals} - on (job, instance, dependency, resource) vitals_neutron_quota_used{$vitals})`

func quotaLeft(of thresholds) panel {
	low, none := of.number("QuotaLow"), of.number("QuotaExhausted")
	return stat("Quota left now",
		"How many more of each resource can be made. Red fails ready (QuotaExhausted): no new pod or service gets its ports; yellow warns (QuotaLow). Delete what nobody needs, or ask for a larger quota.",
		numbers("short").below(red).from(none+1, yellow).from(low+1, green),
		now(left, "{{resource}}"),
		now(`max by (resource) (vitals_neutron_quota_unlimited{$vitals}) == 1`, "{{resource}}").shown(flags("unlimited", green)))
}

func quotaLeftOverTime(of thresholds) panel {
	return graph("Quota left",
		"How many more of each resource could be made over time. A line that falls steadily is a leak of ports or load balancers: compare it with the number of pods and services.",
		numbers("short"), over(left, "{{resource}}"), of.line("QuotaLow"), of.line("QuotaExhausted"))
}

func kuryrComponents() []line {
	return []line{
		{8, []panel{
			timeline("Components",
				"What the components report of themselves. Not ready takes the pod out of service; not alive is what a restart may cure (ComponentDead), and also what silence beyond the deadline says.",
				switches("NO", "YES"),
				over(`min by (component) (vitals_component_ready{$vitals})`, "{{component}} ready"),
				over(`min by (component) (vitals_component_alive{$vitals})`, "{{component}} alive")),
			graph("Failures in a row",
				"Failures since the last success, those aside that a restart cannot cure. Above the limit the CNI daemon fails alive (CNIAddFailing); one success ends the row.",
				numbers("short"),
				over(`max by (component, event) (vitals_component_consecutive_failures{$vitals})`, "{{component}} {{event}}"),
				limit(`max by (event) (vitals_component_consecutive_failures_limit{$vitals})`, "limit of {{event}}")),
		}},
		{8, []panel{
			graph("Requests by result",
				"Requests that the daemon reports, by how they ended. \"excused\" are failures that a restart cannot cure, such as a pod that is gone: they count for no restart.",
				stacked(numbers("ops")), over(`sum by (event, result) (rate(vitals_component_events_total{$vitals}[$__rate_interval]))`, "{{event}} {{result}}")),
			graph("Failures by class",
				"Failures that the daemon reports, by the class of the error. netlink and internal are the daemon's own; timeout is Neutron that brings no port up.",
				stacked(numbers("ops")), over(`sum by (event, error) (rate(vitals_component_event_errors_total{$vitals}[$__rate_interval]))`, "{{event}} {{error}}")),
		}},
		{8, []panel{
			graph("Requests in the daemon's own histogram",
				"Requests that the daemon itself counts, which Vitals passes on. Failures at netlink are not among them; those that the daemon reports above are the better source.",
				stacked(numbers("ops")), over(`sum by (command, error) (rate(kuryr_cni_request_duration_seconds_count{$vitals}[$__rate_interval]))`, "{{command}}, error {{error}}")),
			graph("Duration of CNI ADD",
				"How long adding a pod took, from the daemon's own histogram. Its smallest bucket ends at 10 s: below that the lines are a guess within the bucket.",
				numbers("s"),
				over(`histogram_quantile(0.5, sum by (le) (rate(kuryr_cni_request_duration_seconds_bucket{command="ADD",$vitals}[$__rate_interval])))`, "half of them"),
				over(`histogram_quantile(0.99, sum by (le) (rate(kuryr_cni_request_duration_seconds_bucket{command="ADD",$vitals}[$__rate_interval])))`, "99 %")),
		}},
	}
}

func kuryrNodes(of thresholds) []line {
	return []line{
		{7, []panel{
			timeline("Netlink",
				"Whether the kernel lists the links of each node. Without it no pod gets an interface. A timeout three times in a row fails alive (NetlinkStuck).",
				switches("DOWN", "UP"), over(`min by (instance) (vitals_netlink_up{$vitals})`, "{{instance}}")),
			timeline("Interfaces",
				"Whether the named interfaces are there and up, on all chosen nodes. Others make and mend them: Open vSwitch, the operating system.",
				display{empty: "NO DATA", states: []stateWord{{0, "MISSING", red}, {1, "DOWN", yellow}, {2, "UP", green}}},
				over(`min by (interface) (vitals_netlink_interface_present{$vitals} + on (job, instance, netlink, interface) vitals_netlink_interface_up{$vitals} or vitals_netlink_interface_present{$vitals})`, "{{interface}}")),
			timeline("Capabilities",
				"Whether the daemon has the rights that it needs, on all chosen nodes. GONE: the pod's or the unit's configuration does not give them; a restart changes nothing.",
				switches("GONE", "OK"), over(`min by (process, capability) (vitals_process_capability{set="effective",$vitals})`, "{{process}} {{capability}}")),
			timeline("Files",
				"Whether the CNI configuration, the plugin and kuryr.conf are installed on all chosen nodes. MISSING: whoever installs the node's files has to write them again.",
				switches("MISSING", "OK"), over(`min by (file) (vitals_file_exists{$vitals})`, "{{file}}")),
		}},
		{8, []panel{
			graph("Memory against the limit",
				"The working set and the swap of the daemon, which is what only a restart gives back, against the limit of kuryr.conf and the kernel's. Three looks above kuryr.conf's fail alive (MemoryLimitExceeded).",
				numbers("bytes"),
				over(`max by (instance, cgroup) (vitals_cgroup_memory_working_set_bytes{$vitals} + on (job, instance, cgroup) vitals_cgroup_memory_swap_bytes{$vitals} or vitals_cgroup_memory_working_set_bytes{$vitals})`, "{{instance}} {{cgroup}}"),
				limit(`min by (cgroup) (vitals_memory_limit_bytes{$vitals})`, "limit of kuryr.conf for {{cgroup}}"),
				limit(`min by (cgroup) (vitals_cgroup_memory_limit_bytes{$vitals} < +Inf)`, "kernel's limit for {{cgroup}}")),
			graph("Waiting for memory",
				"The part of the last minute in which all processes of the daemon waited for memory. As a rule the host is short of it, and a restart would ask for more (MemoryPressure warns).",
				numbers("percentunit"),
				over(`max by (instance, cgroup) (vitals_cgroup_memory_pressure_ratio{kind="full",window="60s",$vitals})`, "{{instance}} {{cgroup}}"),
				of.line("MemoryPressure")),
			graph("Time to list the links",
				"How long the kernel took to list the links. It grows with their number and with how busy netlink is.",
				numbers("s"), over(`max by (instance) (vitals_netlink_latency_seconds{$vitals})`, "{{instance}}")),
		}},
	}
}
