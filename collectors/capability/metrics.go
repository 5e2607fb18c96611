package capability

import (
	"strings"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/process"
)

// The metrics of the kind capability.
var (
	capabilityMetric = collectors.NewGauge("vitals_process_capability", "Whether the process has the capability in the set (1) or not (0); of several processes, whether all have it. Absent if unknown.", "process", "capability", "set")
)

// defs are the metrics of the kind capability.
func defs() []*collectors.Def {
	return []*collectors.Def{
		capabilityMetric,
		process.FailureMetric,
	}
}

// Metrics implements Kind.
func (c *Config) Metrics(name string) []collectors.Metric {
	var wanted, sets []string
	for _, text := range c.Capabilities {
		wanted = append(wanted, labelOf(text))
	}
	for _, s := range exportedSets() {
		sets = append(sets, s.set)
	}
	m := collectors.NewCatalog(defs(), "process", name)
	process.DescribeFailure(m)
	m.Chosen("capability", wanted, strings.Fields(names), capabilityMetric)
	m.Closed("set", sets, capabilityMetric)
	m.Bools(capabilityMetric)
	return m.List()
}
