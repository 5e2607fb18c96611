package collectors

import (
	"strings"
)

// The metrics of the kind capability.
var (
	capabilityProcessCapabilityMetric = newGauge("vitals_process_capability", "Whether the process has the capability in the set (1) or not (0); of several processes, whether all have it. Absent when nobody can say.", "process", "capability", "set")
)

// capabilityDefs are the metrics of the kind capability.
func capabilityDefs() []*Def {
	return []*Def{
		capabilityProcessCapabilityMetric,
		processFailureMetric,
	}
}

// Metrics implements Kind.
func (c *CapabilityConfig) Metrics(name string) []Metric {
	var wanted, sets []string
	for _, text := range c.Capabilities {
		wanted = append(wanted, capabilityName(text))
	}
	for _, s := range capabilitySets() {
		sets = append(sets, s.set)
	}
	m := newCatalog(capabilityDefs(), "process", name)
	describeProcessFailure(m)
	m.chosen("capability", wanted, strings.Fields(capabilityNames), capabilityProcessCapabilityMetric)
	m.closed("set", sets, capabilityProcessCapabilityMetric)
	m.bools(capabilityProcessCapabilityMetric)
	return m.list()
}
