package supervisor

import "github.com/vitals-health/vitals/collectors"

// The metrics of the kind supervisor.
var (
	upMetric                = collectors.NewGauge("vitals_supervisor_up", "Whether supervisord told of its programs (1) or not (0).", "supervisor")
	failureMetric           = collectors.NewGauge("vitals_supervisor_failure", "Why the programs are not known, or not as the configuration wants them: 1 for that reason, 0 for all others.", "supervisor", "reason")
	stateMetric             = collectors.NewGauge("vitals_supervisor_state", "The state of supervisord itself: 1 for it, 0 for all others; absent while it tells nothing.", "supervisor", "state")
	processPresentMetric    = collectors.NewGauge("vitals_supervisor_process_present", "Whether supervisord knows a program or a group that the configuration names (1) or not (0).", "supervisor", "program")
	processStateMetric      = collectors.NewGauge("vitals_supervisor_process_state", "The state of the program: 1 for it, 0 for all others.", "supervisor", "group", "program", "state")
	processExitStatusMetric = collectors.NewGauge("vitals_supervisor_process_exit_status", "With which status the program ended, -1 by a signal; absent unless its state is exited.", "supervisor", "group", "program")
	processUptimeMetric     = collectors.NewGauge("vitals_supervisor_process_uptime_seconds", "For how long the program has been running; absent unless its state is running.", "supervisor", "group", "program")
	processSpawnErrorMetric = collectors.NewGauge("vitals_supervisor_process_spawn_error", "Whether supervisord has an error of the program (1), as after an end that it did not expect, or not (0).", "supervisor", "group", "program")
	processCriticalMetric   = collectors.NewGauge("vitals_supervisor_process_critical", "Whether the program is one of the critical ones (1) or not (0).", "supervisor", "group", "program")
)

// defs are the metrics of the kind supervisor.
func defs() []*collectors.Def {
	return []*collectors.Def{
		upMetric,
		failureMetric,
		stateMetric,
		processPresentMetric,
		processStateMetric,
		processExitStatusMetric,
		processUptimeMetric,
		processSpawnErrorMetric,
		processCriticalMetric,
	}
}

// Metrics implements Kind.
func (c *Config) Metrics(name string) []collectors.Metric {
	ofPrograms := []*collectors.Def{
		processStateMetric, processExitStatusMetric, processUptimeMetric,
		processSpawnErrorMetric, processCriticalMetric,
	}
	names := c.named()
	programs, groups := c.shown(names)
	m := collectors.NewCatalog(defs(), "supervisor", name)
	m.Closed("reason", collectors.Texts(reasons()), failureMetric)
	m.Closed("state", words(states()), stateMetric)
	m.Closed("state", words(programStates()), processStateMetric)
	if c.CriticalFile != "" && !m.Any {
		m.Open("program", nil, processPresentMetric)
		m.Vanishing(processPresentMetric) // the file may name none
	} else {
		var present []string
		for _, n := range names {
			present = append(present, n.String())
		}
		m.Configured("program", collectors.Unique(present), processPresentMetric)
	}
	m.Open("program", programs, ofPrograms...)
	m.Open("group", groups, ofPrograms...)
	m.Bools(upMetric, failureMetric, stateMetric, processPresentMetric,
		processStateMetric, processSpawnErrorMetric, processCriticalMetric)
	m.Vanishing(append(ofPrograms, stateMetric)...) // supervisord may not know a program
	return m.List()
}

// named are the names of the configuration itself.
func (c *Config) named() []supervisorName {
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
func (c *Config) shown(names []supervisorName) (programs, groups []string) {
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
	return collectors.Unique(programs), collectors.Unique(groups)
}

// words are the words for codes.
func words(all []coded) []string {
	var list []string
	for _, c := range all {
		list = append(list, c.word)
	}
	return list
}
