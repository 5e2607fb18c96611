package collectors

// The metrics of the kind neutron.
var (
	neutronQuotaLimitMetric       = newGauge("vitals_neutron_quota_limit", "How many resources the project may have; absent while there is no limit.", "dependency", "resource")
	neutronQuotaUnlimitedMetric   = newGauge("vitals_neutron_quota_unlimited", "Whether the project may have any number of the resource (1) or there is a limit (0).", "dependency", "resource")
	neutronQuotaUsedMetric        = newGauge("vitals_neutron_quota_used", "How many resources the project has.", "dependency", "resource")
	neutronQuotaReservedMetric    = newGauge("vitals_neutron_quota_reserved", "How many resources of the project are being created and count against the limit.", "dependency", "resource")
	neutronExtensionPresentMetric = newGauge("vitals_neutron_extension_present", "Whether Neutron has loaded the API extension (1) or not (0).", "dependency", "extension")
	neutronAgentsMetric           = newGauge("vitals_neutron_agents", "How many agents of the type Neutron knows, alive or not.", "dependency", "agent_type")
	neutronAgentsAliveMetric      = newGauge("vitals_neutron_agents_alive", "How many agents of the type Neutron has heard from lately.", "dependency", "agent_type")
)

// neutronDefs are the metrics of the kind neutron.
func neutronDefs() []*Def {
	return append(dependencyDefs(),
		neutronQuotaLimitMetric,
		neutronQuotaUnlimitedMetric,
		neutronQuotaUsedMetric,
		neutronQuotaReservedMetric,
		neutronExtensionPresentMetric,
		neutronAgentsMetric,
		neutronAgentsAliveMetric,
	)
}

// Metrics implements Kind.
func (c *NeutronConfig) Metrics(name string) []Metric {
	resources := c.Resources
	if len(resources) == 0 {
		resources = neutronResources()
	}
	quotas := []*Def{
		neutronQuotaLimitMetric, neutronQuotaUnlimitedMetric,
		neutronQuotaUsedMetric, neutronQuotaReservedMetric,
	}
	m := newCatalog(neutronDefs(), "dependency", name)
	describeDependency(m)
	m.configured("resource", resources, quotas...)
	m.vanishing(quotas...) // a Neutron may have no quota details, or not this quota
	m.configured("extension", c.Extensions, neutronExtensionPresentMetric)
	m.configured("agent_type", c.Agents, neutronAgentsMetric, neutronAgentsAliveMetric)
	m.bools(neutronQuotaUnlimitedMetric, neutronExtensionPresentMetric)
	return m.list()
}
