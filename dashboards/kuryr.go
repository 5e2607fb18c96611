package dashboards

import "github.com/vitals-health/vitals/rules"

// kuryr returns the dashboard of the metrics that the profiles kuryr-controller and
// kuryr-cni collect.
func kuryr(shipped []*rules.File) dashboard {
	of := thresholdsOf(shipped, "kuryr-controller.yml", "kuryr-cni.yml")
	return newDashboard("vitals-kuryr", "Vitals / Kuryr",
		"The Kuryr-Kubernetes controller and its CNI daemons: watches, quota, components, CNI requests, and the nodes. A dashed line is the threshold of the shipped rule that it is named after.", nil,
		section{"", []line{{4, kuryrStats()}}, false},
		section{"Kubernetes", kuryrKubernetes(of), false},
		section{"Quota", []line{{8, []panel{quotaLeft(of), quotaLeftOverTime(of)}}}, false},
		section{"Components and CNI requests", kuryrComponents(), true},
		section{"Nodes", kuryrNodes(of), true})
}

// kuryrStats returns the summary of the controller and the daemons.
func kuryrStats() []panel {
	return []panel{
		stat("Watches closed", "How many watches are closed now on at least one of the chosen instances. CLOSED for half a minute fails ready (KubernetesWatchDown).",
			numbers("short").from(1, red), now(`sum(1 - min by (resource) (vitals_kubernetes_watch_connected{$vitals}))`, "")),
		stat("Access denied", "How many permissions or custom resource definitions the controller lacks.",
			numbers("short").from(1, red), now(`sum(1 - (min by (verb, resource) (vitals_kubernetes_access_allowed{$vitals}) or min by (crd) (vitals_kubernetes_crd_present{$vitals})))`, "")),
		stat("Fullest quota", "The used fraction of the fullest quota. At 100 % no new pod or service gets its ports.",
			numbers("percentunit").from(0.8, yellow).from(1, red), now(`max(vitals_neutron_quota_used{$vitals} / on (job, instance, dependency, resource) vitals_neutron_quota_limit{$vitals})`, "")),
		stat("Components not ready", "How many components are not ready, or not alive, now on at least one of the chosen instances.",
			numbers("short").from(1, red), now(`sum(1 - min by (component) (vitals_component_ready{$vitals} or vitals_component_alive{$vitals}))`, "")),
		stat("Failures in a row", "The most failures since the last success that a component reports. Above the limit the CNI daemon fails alive (CNIAddFailing).",
			numbers("short").from(1, yellow), now(`max(vitals_component_consecutive_failures{$vitals})`, "")),
		stat("Nodes without netlink", "On how many nodes the kernel does not list the links. Without it no pod gets an interface.",
			numbers("short").from(1, red), now(`count(vitals_netlink_up{$vitals}) - sum(vitals_netlink_up{$vitals})`, "")),
	}
}

// memoryInUse has the working set and the swap of each cgroup.
func memoryInUse() string {
	const working, swap = `vitals_cgroup_memory_working_set_bytes{$vitals}`, `vitals_cgroup_memory_swap_bytes{$vitals}`
	return `max by (who, cgroup) (` + who(working+` + `+swap+` or `+working) + `)`
}

func kuryrKubernetes(of thresholds) []line {
	return []line{
		{7, []panel{
			timeline("Watches",
				"Whether each watch is open on all chosen instances. The server closes a watch now and then, and the client opens it again at once. CLOSED for half a minute fails ready (KubernetesWatchDown).",
				switches("CLOSED", "OPEN"), over(`min by (resource) (`+least(`vitals_kubernetes_watch_connected{$vitals}`)+`)`, "{{resource}}")),
			timeline("Why watches are closed",
				"The reason for which a watch is not open. forbidden: the service account lacks the verb watch; not_found: the resource's definition is not installed.",
				flags("FAIL", red).orElse("No failure is known"), over(`max by (resource, reason) (`+most(`vitals_kubernetes_watch_failure{$vitals}`)+`) > 0`, "{{resource}}: {{reason}}")),
		}},
		{7, []panel{
			graph("Time since the last watch event",
				"Time since the API server last sent anything on each watch. It sends bookmarks about once a minute, even if nothing changes. A watch without any for longer is open but dead.",
				numbers("dthms"),
				over(`max by (resource) (timestamp(vitals_kubernetes_watch_last_contact_timestamp_seconds{$vitals}) - vitals_kubernetes_watch_last_contact_timestamp_seconds{$vitals})`, "{{resource}}"),
				of.line("KubernetesWatchStale")),
			graph("Watch restarts",
				"How often watches were reopened, failed attempts included. A few an hour are normal. Many: the API server or a proxy before it closes connections.",
				numbers("short").whole(), over(`round(sum by (resource) (increase(vitals_kubernetes_watch_restarts_total{$vitals}[$__rate_interval])))`, "{{resource}}")),
		}},
		{7, []panel{
			timeline("Access",
				"Whether the service account has the permissions that Kuryr needs. DENIED: the cluster role lacks the rule, or its binding is gone.",
				switches("DENIED", "OK"), over(`min by (verb, resource) (`+least(`vitals_kubernetes_access_allowed{$vitals}`)+`)`, "{{verb}} {{resource}}")),
			timeline("Custom resource definitions",
				"Whether each custom resource definition exists and is established. MISSING: install Kuryr's definitions again.",
				switches("MISSING", "OK"), over(`min by (crd) (`+least(`vitals_kubernetes_crd_present{$vitals}`)+`)`, "{{crd}}")),
		}},
		{7, []panel{
			graph("Certificates expire in",
				"Time until the certificates of the API server and of the client expire. Renew them before the line reaches zero; after that every request fails.",
				numbers("dtdhms"),
				over(`min by (dependency) (vitals_kubernetes_certificate_expiry_timestamp_seconds{$vitals} - time())`, "{{dependency}} server"),
				over(`min by (dependency) (vitals_kubernetes_client_certificate_expiry_timestamp_seconds{$vitals} - time())`, "{{dependency}} client")),
		}},
	}
}

// left selects how much of each quota is left. Unlimited quotas are not in it.
const left = `min by (resource) (vitals_neutron_quota_limit{$vitals} - on (job, instance, dependency, resource) vitals_neutron_quota_used{$vitals})`

func quotaLeft(of thresholds) panel {
	low, none := of.number("QuotaLow"), of.number("QuotaExhausted")
	return stat("Quota left now",
		"How many more of each resource can be created. Red fails ready (QuotaExhausted): no new pod or service gets its ports. Yellow warns (QuotaLow). Delete unused resources, or request a larger quota.",
		numbers("short").below(red).orLess().from(none+1, yellow).from(low+1, green),
		now(left, "{{resource}}"),
		now(`max by (resource) (vitals_neutron_quota_unlimited{$vitals}) == 1`, "{{resource}}").shown(flags("unlimited", green)))
}

func quotaLeftOverTime(of thresholds) panel {
	return graph("Quota left",
		"How many more of each resource could be created over time. A line that falls steadily is a leak of ports or load balancers: compare it with the number of pods and services.",
		numbers("short"), over(left, "{{resource}}"), of.line("QuotaLow"), of.line("QuotaExhausted"))
}

func kuryrComponents() []line {
	return []line{
		{8, []panel{
			timeline("Components",
				"The state that each component reports. Not ready takes the pod out of service. Not alive may be fixed by a restart (ComponentDead); a component that misses its deadline is not alive either.",
				switches("NO", "YES"),
				over(`min by (component) (`+least(`vitals_component_ready{$vitals}`)+`)`, "{{component}} ready"),
				over(`min by (component) (`+least(`vitals_component_alive{$vitals}`)+`)`, "{{component}} alive")),
			graph("Failures in a row",
				"Failures since the last success, without those that a restart cannot fix. Above the limit the CNI daemon fails alive (CNIAddFailing). One success resets the count.",
				numbers("short"),
				over(`max by (component, event) (vitals_component_consecutive_failures{$vitals})`, "{{component}} {{event}}"),
				limit(`max by (event) (vitals_component_consecutive_failures_limit{$vitals})`, "limit of {{event}}")),
		}},
		{8, []panel{
			graph("Requests by result",
				"Requests that the daemon reports, by result. \"excused\" are failures that a restart cannot fix, such as a deleted pod. They do not lead to a restart.",
				stacked(numbers("ops")), over(`sum by (event, result) (rate(vitals_component_events_total{$vitals}[$__rate_interval]))`, "{{event}} {{result}}")),
			graph("Failures by class",
				"Failures that the daemon reports, by the class of the error. netlink and internal are errors of the daemon itself; timeout means that Neutron did not activate a port.",
				stacked(numbers("ops")), over(`sum by (event, error) (rate(vitals_component_event_errors_total{$vitals}[$__rate_interval]))`, "{{event}} {{error}}")),
		}},
		{8, []panel{
			graph("Requests in the daemon's own histogram",
				"Requests from the daemon's own metrics, which Vitals scrapes. They do not include netlink failures, so the reported requests above are the better source.",
				stacked(numbers("ops")),
				over(`sum by (command) (rate(kuryr_cni_request_duration_seconds_count{error!="True",$vitals}[$__rate_interval]))`, "{{command}} ok"),
				over(`sum by (command) (rate(kuryr_cni_request_duration_seconds_count{error="True",$vitals}[$__rate_interval]))`, "{{command}} failed")),
			graph("Duration of CNI ADD",
				"How long adding a pod took, from the daemon's own histogram. Its smallest bucket ends at 10 s: below that the lines are interpolated.",
				numbers("s"),
				over(`histogram_quantile(0.5, sum by (le) (rate(kuryr_cni_request_duration_seconds_bucket{command="ADD",$vitals}[$__rate_interval])))`, "median"),
				over(`histogram_quantile(0.99, sum by (le) (rate(kuryr_cni_request_duration_seconds_bucket{command="ADD",$vitals}[$__rate_interval])))`, "99 %")),
		}},
	}
}

func kuryrNodes(of thresholds) []line {
	return []line{
		{7, []panel{
			timeline("Netlink",
				"Whether the kernel lists the links of each node. Without it no pod gets an interface. A timeout three times in a row fails alive (NetlinkStuck).",
				switches("DOWN", "UP"), over(`min by (who) (`+who(least(`vitals_netlink_up{$vitals}`))+`)`, "{{who}}")),
			timeline("Interfaces",
				"Whether the configured interfaces exist and are up, on all chosen nodes. Open vSwitch or the operating system creates them.",
				display{empty: "NO DATA", states: []stateWord{{0, "MISSING", red}, {1, "DOWN", yellow}, {2, "UP", green}}},
				over(`min by (interface) (`+leastOfLink("present")+` + `+leastOfLink("up")+` or `+leastOfLink("present")+`)`, "{{interface}}")),
			timeline("Capabilities",
				"Whether the daemon has the capabilities that it needs, on all chosen nodes. GONE: the configuration of the pod or the unit does not grant them; a restart changes nothing.",
				switches("GONE", "OK"), over(`min by (process, capability) (`+least(`vitals_process_capability{set="effective",$vitals}`)+`)`, "{{process}} {{capability}}")),
			timeline("Files",
				"Whether the CNI configuration, the plugin and kuryr.conf are installed on all chosen nodes. MISSING: install the files of the node again.",
				switches("MISSING", "OK"), over(`min by (file) (`+least(`vitals_file_exists{$vitals}`)+`)`, "{{file}}")),
		}},
		{8, []panel{
			graph("Memory against the limit",
				"The working set and the swap of the daemon, against the limits of kuryr.conf and of the kernel. Three measurements above the limit of kuryr.conf fail alive (MemoryLimitExceeded).",
				numbers("bytes"),
				over(memoryInUse(), "{{who}} {{cgroup}}"),
				limit(`min by (cgroup) (vitals_memory_limit_bytes{$vitals})`, "limit of kuryr.conf for {{cgroup}}"),
				limit(`min by (cgroup) (vitals_cgroup_memory_limit_bytes{$vitals} < +Inf)`, "kernel's limit for {{cgroup}}")),
			graph("Waiting for memory",
				"The fraction of the last minute in which all processes of the daemon waited for memory. Usually the host is short of memory, and a restart would need even more (MemoryPressure warns).",
				numbers("percentunit"),
				over(`max by (who, cgroup) (`+who(`vitals_cgroup_memory_pressure_ratio{kind="full",window="60s",$vitals}`)+`)`, "{{who}} {{cgroup}}"),
				of.line("MemoryPressure")),
			graph("Time to list the links",
				"How long the kernel took to list the links. It grows with their number and with the load on netlink.",
				numbers("s"), over(`max by (who) (`+who(`vitals_netlink_latency_seconds{$vitals}`)+`)`, "{{who}}")),
		}},
	}
}
