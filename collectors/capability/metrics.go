package capability

import (
	"strings"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/process"
)

// The metrics of the kind capability.
var (
	processCapabilityMetric = collectors.NewGauge("vitals_process_capability", "Whether the process has the capability in the set (1) or not (0); of several processes, whether all have it. Absent when nobody can say.", "process", "capability", "set")
)

// defs are the metrics of the kind capability.
func defs() []*collectors.Def {
	return []*collectors.Def{
		processCapabilityMetric,
		process.FailureMetric,
	}
}

// Metrics implements Kind.
func (c *Config) Metrics(name string) []collectors.Metric {
	var wanted, sets []string
	for _, text := range c.Capabilities {
		wanted = append(wanted, capabilityName(text))
	}
	for _, s := range capabilitySets() {
		sets = append(sets, s.set)
	}
	m := collectors.NewCatalog(defs(), "process", name)
	process.DescribeFailure(m)
	m.Chosen("capability", wanted, strings.Fields(names), processCapabilityMetric)
	m.Closed("set", sets, processCapabilityMetric)
	m.Bools(processCapabilityMetric)
	return m.List()
}
