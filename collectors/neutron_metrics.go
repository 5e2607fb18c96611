package collectors

import "github.com/prometheus/common/model"

// neutronDescs are the metrics of the kind neutron.
func neutronDescs() []Desc {
	return append(dependencyDescs(),
		Desc{"vitals_neutron_quota_limit", "How many resources the project may have; absent while there is no limit.", model.MetricTypeGauge},
		Desc{"vitals_neutron_quota_unlimited", "Whether the project may have any number of the resource (1) or there is a limit (0).", model.MetricTypeGauge},
		Desc{"vitals_neutron_quota_used", "How many resources the project has.", model.MetricTypeGauge},
		Desc{"vitals_neutron_quota_reserved", "How many resources of the project are being created and count against the limit.", model.MetricTypeGauge},
		Desc{"vitals_neutron_extension_present", "Whether Neutron has loaded the API extension (1) or not (0).", model.MetricTypeGauge},
		Desc{"vitals_neutron_agents", "How many agents of the type Neutron knows, alive or not.", model.MetricTypeGauge},
		Desc{"vitals_neutron_agents_alive", "How many agents of the type Neutron has heard from lately.", model.MetricTypeGauge},
	)
}

// Metrics implements Kind.
func (c *NeutronConfig) Metrics(name string) []Metric {
	resources := c.Resources
	if len(resources) == 0 {
		resources = neutronResources()
	}
	quotas := []string{
		"vitals_neutron_quota_limit", "vitals_neutron_quota_unlimited",
		"vitals_neutron_quota_used", "vitals_neutron_quota_reserved",
	}
	m := newCatalog(neutronDescs(), "dependency", name)
	m.dependency()
	m.configured("resource", resources, quotas...)
	m.vanishing(quotas...) // a Neutron may have no quota details, or not this quota
	m.configured("extension", c.Extensions, "vitals_neutron_extension_present")
	m.configured("agent_type", c.Agents, "vitals_neutron_agents", "vitals_neutron_agents_alive")
	m.bools("vitals_neutron_quota_unlimited", "vitals_neutron_extension_present")
	return m.list()
}
