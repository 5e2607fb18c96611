package supervisor

import "github.com/vitals-health/vitals/collectors"

// The metrics of the kind supervisor.
var (
	upMetric                = collectors.NewGauge("vitals_supervisor_up", "Whether supervisord returned its programs (1) or not (0).", "supervisor")
	failureMetric           = collectors.NewGauge("vitals_supervisor_failure", "Reason of a failure: 1 for that reason, 0 for all others.", "supervisor", "reason")
	stateMetric             = collectors.NewGauge("vitals_supervisor_state", "State of supervisord: 1 for it, 0 for all others; absent without an answer.", "supervisor", "state")
	processPresentMetric    = collectors.NewGauge("vitals_supervisor_process_present", "Whether a configured program or group exists (1) or not (0).", "supervisor", "program")
	processStateMetric      = collectors.NewGauge("vitals_supervisor_process_state", "State of the program: 1 for it, 0 for all others.", "supervisor", "group", "program", "state")
	processExitStatusMetric = collectors.NewGauge("vitals_supervisor_process_exit_status", "Exit status of the program, -1 after a signal; absent unless its state is exited.", "supervisor", "group", "program")
	processUptimeMetric     = collectors.NewGauge("vitals_supervisor_process_uptime_seconds", "Time since the start of the program; absent unless its state is running.", "supervisor", "group", "program")
	processSpawnErrorMetric = collectors.NewGauge("vitals_supervisor_process_spawn_error", "Whether supervisord has an error of the program (1), such as an unexpected end, or not (0).", "supervisor", "group", "program")
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
		m.Vanishing(processPresentMetric) // the file may be empty
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
	m.Vanishing(append(ofPrograms, stateMetric)...) // a program may not exist
	return m.List()
}

// named returns the names in the configuration without the file.
func (c *Config) named() []programName {
	var names []programName
	for _, text := range c.Programs {
		if n, err := parseName(text); err == nil {
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

// shown returns the programs and groups that can be selected; nil is any.
func (c *Config) shown(names []programName) (programs, groups []string) {
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
