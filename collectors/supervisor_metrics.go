package collectors

import "github.com/prometheus/common/model"

// supervisorDescs are the metrics of the kind supervisor.
func supervisorDescs() []Desc {
	return []Desc{
		{"vitals_supervisor_up", "Whether supervisord told of its programs (1) or not (0).", model.MetricTypeGauge},
		{"vitals_supervisor_failure", "Why the programs are not known, or not as the configuration wants them: 1 for that reason, 0 for all others.", model.MetricTypeGauge},
		{"vitals_supervisor_state", "The state of supervisord itself: 1 for it, 0 for all others; absent while it tells nothing.", model.MetricTypeGauge},
		{"vitals_supervisor_process_present", "Whether supervisord knows a program or a group that the configuration names (1) or not (0).", model.MetricTypeGauge},
		{"vitals_supervisor_process_state", "The state of the program: 1 for it, 0 for all others.", model.MetricTypeGauge},
		{"vitals_supervisor_process_exit_status", "With which status the program ended, -1 by a signal; absent unless its state is exited.", model.MetricTypeGauge},
		{"vitals_supervisor_process_uptime_seconds", "For how long the program has been running; absent unless its state is running.", model.MetricTypeGauge},
		{"vitals_supervisor_process_spawn_error", "Whether supervisord has an error of the program (1), as after an end that it did not expect, or not (0).", model.MetricTypeGauge},
		{"vitals_supervisor_process_critical", "Whether the program is one of the critical ones (1) or not (0).", model.MetricTypeGauge},
	}
}

// Metrics implements Kind.
func (c *SupervisorConfig) Metrics(name string) []Metric {
	ofPrograms := []string{
		"vitals_supervisor_process_state", "vitals_supervisor_process_exit_status", "vitals_supervisor_process_uptime_seconds",
		"vitals_supervisor_process_spawn_error", "vitals_supervisor_process_critical",
	}
	names := c.named()
	programs, groups := c.shown(names)
	m := newCatalog(supervisorDescs(), "supervisor", name)
	m.closed("reason", texts(supervisorReasons()), "vitals_supervisor_failure")
	m.closed("state", words(supervisorStates()), "vitals_supervisor_state")
	m.closed("state", words(programStates()), "vitals_supervisor_process_state")
	if c.CriticalFile != "" && !m.any {
		m.open("program", nil, "vitals_supervisor_process_present")
		m.vanishing("vitals_supervisor_process_present") // the file may name none
	} else {
		var present []string
		for _, n := range names {
			present = append(present, n.String())
		}
		m.configured("program", unique(present), "vitals_supervisor_process_present")
	}
	m.open("program", programs, ofPrograms...)
	m.open("group", groups, ofPrograms...)
	m.bools("vitals_supervisor_up", "vitals_supervisor_failure", "vitals_supervisor_state", "vitals_supervisor_process_present",
		"vitals_supervisor_process_state", "vitals_supervisor_process_spawn_error", "vitals_supervisor_process_critical")
	m.vanishing(append(ofPrograms, "vitals_supervisor_state")...) // supervisord may not know a program
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
