package dashboards

// host returns the dashboard of what runs on a host: processes, programs, units, scripts, files
// and file systems. The profiles tripleo and sonic measure most of it.
func host() dashboard {
	return newDashboard("vitals-host", "Vitals / Host",
		"What runs on each host: processes, programs of supervisord, units of systemd, scripts, files and file systems. Sections of collectors that the configuration does not have are empty.", nil,
		section{"", []line{{4, hostStats()}, {8, []panel{notWell()}}}, false},
		section{"Processes", hostProcesses(), true},
		section{"Connections and sockets", hostSockets(), true},
		section{"Programs of supervisord", hostPrograms(), true},
		section{"Units of systemd", hostUnits(), true},
		section{"Scripts", hostScripts(), true},
		section{"Files", hostFiles(), true},
		section{"File systems", hostDisks(), true},
		section{"Memory of cgroups", hostMemory(), true},
		section{"Network links", hostLinks(), true})
}

// The queries for what is not well on a host, each with the label what.
const (
	processesDown = `vitals_process_up{$vitals} == 0`
	programsDown  = `vitals_supervisor_process_state{state=~"fatal|backoff|unknown",$vitals} == 1`
	unitsDown     = `vitals_systemd_unit_state{state="failed",$vitals} == 1`
	scriptsFailed = `vitals_script_exit_code{$vitals} != 0`
	filesMissing  = `vitals_file_exists{$vitals} == 0`
	disksReadOnly = `vitals_disk_writable{$vitals} == 0`
)

func hostStats() []panel {
	count := func(title, about, expr, all string) panel {
		return stat(title, about, numbers("short").from(1, red), now(`count(`+expr+`) or 0 * count(`+all+`)`, ""))
	}
	return []panel{
		count("Processes down", "How many of the configured processes do not run. The table below names them.", processesDown, `vitals_process_up{$vitals}`),
		count("Programs failed", "How many programs supervisord could not start, or starts again and again.", programsDown, `vitals_supervisor_process_state{$vitals}`),
		count("Units failed", "How many units of systemd have failed.", unitsDown, `vitals_systemd_unit_state{$vitals}`),
		count("Scripts failing", "How many scripts exited with another code than 0.", scriptsFailed, `vitals_script_exit_code{$vitals}`),
		count("Files missing", "How many of the configured files do not exist.", filesMissing, `vitals_file_exists{$vitals}`),
		count("Disks read-only", "How many file systems are mounted read-only, as the kernel does after an error.", disksReadOnly, `vitals_disk_writable{$vitals}`),
	}
}

// notWell returns the table of what is not well.
func notWell() panel {
	bad := flags("FAIL", red)
	named := func(expr, label string) string {
		return `label_replace(0 * (` + expr + `) + 1, "what", "$1", "` + label + `", "(.*)")`
	}
	kinds := []struct{ expr, label, kind string }{
		{processesDown, "process", "process does not run"}, {programsDown, "program", "program does not start"},
		{unitsDown, "unit", "unit has failed"}, {scriptsFailed, "script", "script failed"},
		{filesMissing, "file", "file does not exist"}, {disksReadOnly, "path", "file system is read-only"},
	}
	expr := ""
	for i, k := range kinds {
		if i > 0 {
			expr += " or "
		}
		expr += `label_replace(` + named(k.expr, k.label) + `, "problem", "` + k.kind + `", "", "")`
	}
	return table("Not well now",
		"What does not run, has failed or is missing. The sections below show when it began. Whether it fails a probe depends on the rules: see Vitals / Overview.",
		"Nothing is known to be down, failed or missing",
		[]column{
			{field: "what", title: "Name"}, {field: "problem", title: "Problem"},
			{field: "who", title: "Instance"}, {field: "Value", title: "Now", display: &bad},
		},
		now(`max by (what, problem, who) (`+who("("+expr+")")+`)`, ""))
}

func hostProcesses() []line {
	return []line{
		{8, []panel{
			timeline("Processes",
				"Whether at least one process of each name runs, on all chosen instances.",
				switches("DOWN", "UP"), over(`min by (process) (`+least(`vitals_process_up{$vitals}`)+`)`, "{{process}}")),
			graph("Running processes",
				"How many processes of each name run, without zombies.",
				numbers("short"), over(`max by (process) (vitals_process_instances{$vitals})`, "{{process}}")),
		}},
		{8, []panel{
			graph("Age of processes",
				"Time since the start of the oldest process of each name. A line that falls to zero is a restart.",
				numbers("dtdhms"), over(`max by (process) (time() - vitals_process_start_time_seconds{$vitals})`, "{{process}}")),
			graph("Restarts of processes",
				"How often the oldest process was another one than before.",
				numbers("short").whole(), over(`round(sum by (process) (increase(vitals_process_restarts_total{$vitals}[$__rate_interval])))`, "{{process}}")),
			graph("Processes by state",
				"Processes in each state of the kernel, with zombies. Many in disk sleep wait for storage.",
				stacked(numbers("short")), over(`sum by (state) (vitals_process_states{$vitals})`, "{{state}}")),
		}},
		{8, []panel{
			graph("Memory of processes",
				"Memory of the processes in RAM. Shared memory counts for each.",
				numbers("bytes"), over(`max by (process) (vitals_process_resident_memory_bytes{$vitals})`, "{{process}}")),
			graph("Descriptors in use",
				"Open file descriptors of the process nearest to its limit, as a fraction of the limit. At 100 % it can open no file and no connection.",
				numbers("percentunit"), over(`max by (process) (vitals_process_open_fds{$vitals} / vitals_process_max_fds{$vitals})`, "{{process}}"), limit(`vector(1)`, "limit")),
			graph("Threads and zombies",
				"Threads of the processes, and their children that have ended and were not waited for. If either only grows, it is a leak.",
				numbers("short"),
				over(`max by (process) (vitals_process_threads{$vitals})`, "{{process}} threads"),
				over(`max by (process) (vitals_process_zombie_children{$vitals})`, "{{process}} zombies")),
		}},
	}
}

func hostSockets() []line {
	return []line{{8, []panel{
		timeline("Listening",
			"Whether a process has each of its ports and Unix sockets open, on all chosen instances. CLOSED: clients are refused.",
			switches("CLOSED", "OPEN"),
			over(`min by (process, protocol, port) (`+least(`vitals_process_listening{$vitals}`)+`)`, "{{process}} {{protocol}} {{port}}"),
			over(`min by (process, path) (`+least(`vitals_process_unix_socket{$vitals}`)+`)`, "{{process}} {{path}}")),
		graph("Connections",
			"TCP connections of the processes to each remote port, by state. Many in close_wait: the process does not close its side.",
			numbers("short"), over(`max by (process, port, state) (vitals_process_connections{$vitals})`, "{{process}} {{port}} {{state}}")),
	}}}
}

func hostPrograms() []line {
	return []line{
		{8, []panel{
			timeline("Programs",
				"The worst state of each program on the chosen instances. FATAL: supervisord has given up; BACKOFF: it ends at once and is started again.",
				display{empty: "NO DATA", states: []stateWord{{0, "RUNNING", green}, {1, "CHANGES", yellow}, {2, "ENDED", "blue"}, {3, "BACKOFF", orange}, {4, "FATAL", red}}},
				over(`max by (program) (`+programState()+`)`, "{{program}}")),
			timeline("Supervisord",
				"Whether supervisord answers, and whether the configured programs exist. MISSING: its configuration has no such program.",
				switches("MISSING", "OK"),
				over(`min by (supervisor) (`+least(`vitals_supervisor_up{$vitals}`)+`)`, "{{supervisor}}"),
				over(`min by (program) (`+least(`vitals_supervisor_process_present{$vitals}`)+`)`, "{{program}} configured")),
		}},
		{8, []panel{programs(), graph("Uptime of programs",
			"Time since the start of each program. A line that falls to zero is a restart.",
			numbers("dtdhms"), over(`min by (program) (vitals_supervisor_process_uptime_seconds{$vitals})`, "{{program}}"))}},
	}
}

// programState is the state of each program, in the order in which it is worse.
func programState() string {
	of := func(states string) string {
		return most(`vitals_supervisor_process_state{state=~"` + states + `",$vitals}`)
	}
	return `4 * ` + of("fatal|unknown") + ` or 3 * ` + of("backoff") + ` or 2 * ` + of("exited|stopped") + ` or ` + of("starting|stopping")
}

func programs() panel {
	code, age, critical, mistake := numbers("none").below("text"), numbers("dtdhms").below("text"), flags("yes", "text"), flags("ERROR", red)
	return table("Programs now",
		"The exit status of programs that have ended (-1 after a signal), the time since the start of those that run, and errors that supervisord reports. A critical program ends the container.",
		"No program is measured",
		[]column{
			{field: "program", title: "Program"}, {field: "who", title: "Instance"},
			{field: "Value #A", title: "Exit status", display: &code}, {field: "Value #B", title: "Uptime", display: &age},
			{field: "Value #C", title: "Critical", display: &critical}, {field: "Value #D", title: "Error", display: &mistake},
		},
		now(`max by (program, who) (`+who(`vitals_supervisor_process_exit_status{$vitals}`)+`)`, ""),
		now(`min by (program, who) (`+who(`vitals_supervisor_process_uptime_seconds{$vitals}`)+`)`, ""),
		now(`max by (program, who) (`+who(`vitals_supervisor_process_critical{$vitals}`)+`) == 1`, ""),
		now(`max by (program, who) (`+who(`vitals_supervisor_process_spawn_error{$vitals}`)+`) == 1`, ""))
}
