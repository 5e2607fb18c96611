package collectors

import (
	"strings"

	"github.com/prometheus/common/model"
)

// capabilityDescs are the metrics of the kind capability.
func capabilityDescs() []Desc {
	return []Desc{
		{"vitals_process_capability", "Whether the process has the capability in the set (1) or not (0); of several processes, whether all have it. Absent when nobody can say.", model.MetricTypeGauge},
		processFailureDesc(),
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
	m := newCatalog(capabilityDescs(), "process", name)
	m.processFailure()
	m.chosen("capability", wanted, strings.Fields(capabilityNames), "vitals_process_capability")
	m.closed("set", sets, "vitals_process_capability")
	m.bools("vitals_process_capability")
	return m.list()
}
