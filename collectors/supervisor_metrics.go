package collectors

// The metrics of the kind supervisor.
var (
	supervisorUpMetric                = newGauge("vitals_supervisor_up", "Whether supervisord told of its programs (1) or not (0).", "supervisor")
	supervisorFailureMetric           = newGauge("vitals_supervisor_failure", "Why the programs are not known, or not as the configuration wants them: 1 for that reason, 0 for all others.", "supervisor", "reason")
	supervisorStateMetric             = newGauge("vitals_supervisor_state", "The state of supervisord itself: 1 for it, 0 for all others; absent while it tells nothing.", "supervisor", "state")
	supervisorProcessPresentMetric    = newGauge("vitals_supervisor_process_present", "Whether supervisord knows a program or a group that the configuration names (1) or not (0).", "supervisor", "program")
	supervisorProcessStateMetric      = newGauge("vitals_supervisor_process_state", "The state of the program: 1 for it, 0 for all others.", "supervisor", "group", "program", "state")
	supervisorProcessExitStatusMetric = newGauge("vitals_supervisor_process_exit_status", "With which status the program ended, -1 by a signal; absent unless its state is exited.", "supervisor", "group", "program")
	supervisorProcessUptimeMetric     = newGauge("vitals_supervisor_process_uptime_seconds", "For how long the program has been running; absent unless its state is running.", "supervisor", "group", "program")
	supervisorProcessSpawnErrorMetric = newGauge("vitals_supervisor_process_spawn_error", "Whether supervisord has an error of the program (1), as after an end that it did not expect, or not (0).", "supervisor", "group", "program")
	supervisorProcessCriticalMetric   = newGauge("vitals_supervisor_process_critical", "Whether the program is one of the critical ones (1) or not (0).", "supervisor", "group", "program")
)

// supervisorDefs are the metrics of the kind supervisor.
func supervisorDefs() []*Def {
	return []*Def{
		supervisorUpMetric,
		supervisorFailureMetric,
		supervisorStateMetric,
		supervisorProcessPresentMetric,
		supervisorProcessStateMetric,
		supervisorProcessExitStatusMetric,
		supervisorProcessUptimeMetric,
		supervisorProcessSpawnErrorMetric,
		supervisorProcessCriticalMetric,
	}
}

// Metrics implements Kind.
func (c *SupervisorConfig) Metrics(name string) []Metric {
	ofPrograms := []*Def{
		supervisorProcessStateMetric, supervisorProcessExitStatusMetric, supervisorProcessUptimeMetric,
		supervisorProcessSpawnErrorMetric, supervisorProcessCriticalMetric,
	}
	names := c.named()
	programs, groups := c.shown(names)
	m := newCatalog(supervisorDefs(), "supervisor", name)
	m.closed("reason", texts(supervisorReasons()), supervisorFailureMetric)
	m.closed("state", words(supervisorStates()), supervisorStateMetric)
	m.closed("state", words(programStates()), supervisorProcessStateMetric)
	if c.CriticalFile != "" && !m.any {
		m.open("program", nil, supervisorProcessPresentMetric)
		m.vanishing(supervisorProcessPresentMetric) // the file may name none
	} else {
		var present []string
		for _, n := range names {
			present = append(present, n.String())
		}
		m.configured("program", unique(present), supervisorProcessPresentMetric)
	}
	m.open("program", programs, ofPrograms...)
	m.open("group", groups, ofPrograms...)
	m.bools(supervisorUpMetric, supervisorFailureMetric, supervisorStateMetric, supervisorProcessPresentMetric,
		supervisorProcessStateMetric, supervisorProcessSpawnErrorMetric, supervisorProcessCriticalMetric)
	m.vanishing(append(ofPrograms, supervisorStateMetric)...) // supervisord may not know a program
	return m.list()
}

// named are the names of the configuration itself.
func (c *SupervisorConfig) named() []supervisorName {
	var names []supervisorName
	for _, text := range c.Programs {
		if n, err := parseSupervisorName(text); err == nil {
			names = append(names, n)
		}
	}
	for _, text := range c.Critical {
		if n, err := parseCritical(text); err == nil {
			names = append(names, n)
		}
	}
	return names
}

// shown are the programs and groups that can be looked at; nil means any.
func (c *SupervisorConfig) shown(names []supervisorName) (programs, groups []string) {
	if len(c.Programs) == 0 || c.CriticalFile != "" {
		return nil, nil
	}
	anyProgram, anyGroup := false, false
	for _, n := range names {
		anyProgram, anyGroup = anyProgram || n.program == "", anyGroup || n.group == ""
		programs, groups = append(programs, n.program), append(groups, n.group)
	}
	if anyProgram {
		programs = nil
	}
	if anyGroup {
		groups = nil
	}
	return unique(programs), unique(groups)
}

// words are the words for codes.
func words(all []coded) []string {
	var list []string
	for _, c := range all {
		list = append(list, c.word)
	}
	return list
}
