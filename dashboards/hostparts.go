package dashboards

// unitState is the state of each unit of systemd, in the order in which it is worse.
func unitState() string {
	of := func(states string) string {
		return most(`vitals_systemd_unit_state{state=~"` + states + `",$vitals}`)
	}
	return `3 * ` + of("failed") + ` or 2 * ` + of("inactive|maintenance") + ` or ` + of("activating|deactivating|reloading")
}

func hostUnits() []line {
	return []line{
		{8, []panel{
			timeline("Units",
				"The worst state of each unit on the chosen instances. CHANGES: it is starting, stopping or reloading.",
				display{empty: "NO DATA", states: []stateWord{{0, "ACTIVE", green}, {1, "CHANGES", yellow}, {2, "ENDED", "blue"}, {3, "FAILED", red}}},
				over(`max by (unit) (`+unitState()+`)`, "{{unit}}")),
			timeline("Systemd",
				"Whether systemd returned the states of all units, on all chosen instances.",
				switches("DOWN", "UP"), over(`min by (systemd) (`+least(`vitals_systemd_up{$vitals}`)+`)`, "{{systemd}}")),
		}},
		{8, []panel{
			units(),
			graph("Restarts of units",
				"Automatic restarts by systemd. A unit that restarts again and again is ACTIVE most of the time.",
				numbers("short").whole(), over(`round(sum by (unit) (increase(vitals_systemd_unit_restarts_total{$vitals}[$__rate_interval])))`, "{{unit}}")),
		}},
	}
}

func units() panel {
	ago, one := numbers("dateTimeFromNow").below("text"), flags("yes", "text")
	return table("Units now",
		"Since when each unit is active, whether systemd could read its configuration, and the result of its last run.",
		"No unit is measured",
		[]column{
			{field: "unit", title: "Unit"}, {field: "who", title: "Instance"}, {field: "Value #A", title: "Active since", display: &ago},
			{field: "load", title: "Configuration"}, {field: "result", title: "Last result"},
			{field: "Value #B", title: "Known", display: &one},
		},
		now(`1000 * max by (unit, who) (`+who(`vitals_systemd_unit_start_timestamp_seconds{$vitals}`)+`)`, ""),
		now(`max by (unit, who, load) (`+who(`label_replace(vitals_systemd_unit_load_state{$vitals} == 1, "load", "$1", "state", "(.*)")`)+`)`, ""),
		now(`max by (unit, who, result) (`+who(`vitals_systemd_unit_result{$vitals}`)+`) == 1`, ""))
}

func hostScripts() []line {
	status := func(word string) string { return most(`vitals_script_status{status="` + word + `",$vitals}`) }
	return []line{
		{8, []panel{
			timeline("Status of scripts",
				"The worst status of each script by its convention, such as Nagios', on the chosen instances.",
				display{empty: "NO DATA", states: []stateWord{{0, "OK", green}, {1, "WARN", yellow}, {2, "UNKNOWN", purple}, {3, "CRIT", red}}},
				over(`max by (script) (3 * `+status("critical")+` or 2 * `+status("unknown")+` or `+status("warning")+`)`, "{{script}}")),
			timeline("Objects of scripts",
				"Whether each object that a script reports is OK, on all chosen instances.",
				switches("FAIL", "OK"), over(`min by (script, category, object) (`+least(`vitals_script_object_ok{$vitals}`)+`)`, "{{script}} {{category}} {{object}}")),
		}},
		{8, []panel{
			graph("Exit codes",
				"The exit code of each script; the greatest of the chosen instances.",
				numbers("none"),
				over(`max by (script) (vitals_script_exit_code{$vitals})`, "{{script}}"),
				over(`max by (script) (vitals_script_signal{$vitals}) > 0`, "{{script}} ended by signal")),
			graph("Duration of scripts",
				"How long each script ran. One that reaches its timeout is ended and counts as failed.",
				numbers("s"), over(`max by (script) (vitals_script_duration_seconds{$vitals})`, "{{script}}")),
			graph("Measurements of scripts",
				"The numbers that scripts report, in base units. Dashed: the thresholds that they report with them.",
				numbers("short"),
				over(`max by (script, label) (vitals_script_perfdata{$vitals})`, "{{script}} {{label}}"),
				limit(`min by (script, label) (vitals_script_perfdata_warning{$vitals})`, "{{script}} {{label}} warns"),
				limit(`min by (script, label) (vitals_script_perfdata_critical{$vitals})`, "{{script}} {{label}} fails")),
		}},
	}
}

func hostFiles() []line {
	return []line{
		{8, []panel{
			timeline("Files on hosts",
				"Whether each file exists, on all chosen instances.",
				switches("MISSING", "OK"), over(`min by (file) (`+least(`vitals_file_exists{$vitals}`)+`)`, "{{file}}")),
			timeline("Content of files",
				"Whether each file is valid in its format and has the expected keys, on all chosen instances.",
				switches("INVALID", "OK"),
				over(`min by (file, format) (`+least(`vitals_file_valid{$vitals}`)+`)`, "{{file}} {{format}}"),
				over(`min by (file, key) (`+least(`vitals_file_key_present{$vitals}`)+`)`, "{{file}} key {{key}}")),
		}},
		{8, []panel{
			graph("Age of files",
				"Time since the content of each file changed, and since the time in it. Dashed: the configured limit.",
				numbers("dtdhms"),
				over(`max by (file) (time() - vitals_file_mtime_timestamp_seconds{$vitals})`, "{{file}}"),
				over(`max by (file, key) (time() - vitals_file_epoch_timestamp_seconds{$vitals})`, "{{file}} {{key}}"),
				limit(`min by (file) (vitals_file_age_limit_seconds{$vitals})`, "limit of {{file}}")),
			graph("Size of files",
				"Size of each file; the greatest of the chosen instances.",
				numbers("bytes"), over(`max by (file) (vitals_file_size_bytes{$vitals})`, "{{file}}")),
			graph("Lines of crontabs",
				"How many lines of each crontab run a command, and how many are no comments.",
				numbers("short"),
				over(`min by (file) (vitals_file_active_lines{$vitals})`, "{{file}} active"),
				over(`min by (file) (vitals_file_uncommented_lines{$vitals})`, "{{file}} uncommented")),
		}},
		{8, []panel{owners()}},
	}
}

func owners() panel {
	id, yes := numbers("none").below("text"), switches("no", "yes")
	may := func(class, permission string) target {
		return now(`min by (file, who) (`+who(`vitals_file_permission{class="`+class+`",permission="`+permission+`",$vitals}`)+`)`, "")
	}
	return table("Owners and permissions now",
		"The owner and the group of each file, and whether others than the owner may read or write it.",
		"No file is measured",
		[]column{
			{field: "file", title: "File"}, {field: "who", title: "Instance"}, {field: "path", title: "Path"}, {field: "type", title: "Type"},
			{field: "Value #A", title: "Owner", display: &id}, {field: "Value #B", title: "Group", display: &id},
			{field: "Value #C", title: "Group writes", display: &yes}, {field: "Value #D", title: "Others read", display: &yes},
			{field: "Value #E", title: "Others write", display: &yes},
		},
		now(`max by (file, who) (`+who(`vitals_file_owner_uid{$vitals}`)+`)`, ""),
		now(`max by (file, who) (`+who(`vitals_file_owner_gid{$vitals}`)+`)`, ""),
		may("group", "write"), may("other", "read"), may("other", "write"),
		now(`max by (file, who, path, type) (`+who(`vitals_file_info{$vitals}`)+`)`, ""))
}

func hostDisks() []line {
	used := func(free, size string) string {
		return `max by (who, path) (` + who(`1 - vitals_disk_`+free+`{$vitals} / (vitals_disk_`+size+`{$vitals} > 0)`) + `)`
	}
	return []line{{8, []panel{
		graph("Space in use",
			"The used fraction of each file system, without the space that only root can use; the series for root include it.",
			numbers("percentunit").upTo(1), over(used("available_bytes", "size_bytes"), "{{who}} {{path}}"), over(used("free_bytes", "size_bytes"), "{{who}} {{path}} for root")),
		graph("Inodes in use",
			"The used fraction of the inodes. At 100 % no file can be created, whatever space is left.",
			numbers("percentunit").upTo(1), over(used("inodes_free", "inodes"), "{{who}} {{path}}")),
		timeline("Writable",
			"Whether each file system is mounted for writing, on all chosen instances. The kernel mounts it read-only after an error.",
			switches("READ", "WRITE"), over(`min by (disk, path) (`+least(`vitals_disk_writable{$vitals}`)+`)`, "{{disk}} {{path}}")),
	}}}
}

func hostMemory() []line {
	return []line{{8, []panel{
		graph("Memory of cgroups",
			"Memory of each cgroup: the working set with swap, and all with the page cache. Dashed: the smallest limit of the kernel.",
			numbers("bytes"),
			over(memoryInUse(), "{{who}} {{cgroup}}"),
			over(`max by (who, cgroup) (`+who(`vitals_cgroup_memory_usage_bytes{$vitals}`)+`)`, "{{who}} {{cgroup}} with cache"),
			limit(`min by (cgroup) (vitals_cgroup_memory_limit_bytes{$vitals} < +Inf)`, "limit of {{cgroup}}")),
		graph("Killed for lack of memory",
			"Processes that the kernel killed. Give the workload more memory, or find its leak.",
			numbers("short").whole(), over(`round(sum by (cgroup) (increase(vitals_cgroup_memory_oom_kills_total{$vitals}[$__rate_interval])))`, "{{cgroup}}")),
		graph("Time without memory",
			"The fraction of time in which some or all (full) processes of the cgroup waited for memory.",
			numbers("percentunit"), over(`max by (who, cgroup, kind) (`+who(`rate(vitals_cgroup_memory_pressure_seconds_total{$vitals}[$__rate_interval])`)+`)`, "{{who}} {{cgroup}} {{kind}}")),
	}}}
}

// leastOfLink reads the least value of a metric of links, for each link of an instance. A sum
// would count a pod and its successor at the same address twice.
func leastOfLink(metric string) string {
	return `min by (job, instance, netlink, interface) ` + least(`vitals_netlink_interface_`+metric+`{$vitals}`)
}

func hostLinks() []line {
	return []line{{8, []panel{
		timeline("Interfaces of hosts",
			"Whether each configured interface is up and has a carrier, on all chosen instances.",
			display{empty: "NO DATA", states: []stateWord{{0, "DOWN", red}, {1, "NO LINK", yellow}, {2, "UP", green}}},
			over(`min by (interface) (`+leastOfLink("running")+` + `+leastOfLink("up")+`)`, "{{interface}}")),
		timeline("Netlink writes",
			"Whether a link could be created and deleted. Where it is not, no container gets a network.",
			switches("FAIL", "OK"), over(`min by (netlink) (`+least(`vitals_netlink_write_up{$vitals}`)+`)`, "{{netlink}}")),
		graph("Links",
			"Number of links in the network namespace. If it only grows, interfaces of deleted containers stay.",
			numbers("short"), over(`max by (who) (`+who(`vitals_netlink_links{$vitals}`)+`)`, "{{who}}")),
		graph("Time to create a link",
			"How long creating and deleting a link took.",
			numbers("s"), over(`max by (who) (`+who(`vitals_netlink_write_latency_seconds{$vitals}`)+`)`, "{{who}}")),
	}}}
}
