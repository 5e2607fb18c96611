package openstack

import (
	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// The metrics of the kind neutron.
var (
	neutronQuotaLimitMetric       = collectors.NewGauge("vitals_neutron_quota_limit", "How many resources the project may have; absent while there is no limit.", "dependency", "resource")
	neutronQuotaUnlimitedMetric   = collectors.NewGauge("vitals_neutron_quota_unlimited", "Whether the project may have any number of the resource (1) or there is a limit (0).", "dependency", "resource")
	neutronQuotaUsedMetric        = collectors.NewGauge("vitals_neutron_quota_used", "How many resources the project has.", "dependency", "resource")
	neutronQuotaReservedMetric    = collectors.NewGauge("vitals_neutron_quota_reserved", "How many resources of the project are being created and count against the limit.", "dependency", "resource")
	neutronExtensionPresentMetric = collectors.NewGauge("vitals_neutron_extension_present", "Whether Neutron has loaded the API extension (1) or not (0).", "dependency", "extension")
	neutronAgentsMetric           = collectors.NewGauge("vitals_neutron_agents", "How many agents of the type Neutron knows, alive or not.", "dependency", "agent_type")
	neutronAgentsAliveMetric      = collectors.NewGauge("vitals_neutron_agents_alive", "How many agents of the type Neutron has heard from lately.", "dependency", "agent_type")
)

// neutronDefs are the metrics of the kind neutron.
func neutronDefs() []*collectors.Def {
	return append(remote.DependencyDefs(),
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
func (c *NeutronConfig) Metrics(name string) []collectors.Metric {
	resources := c.Resources
	if len(resources) == 0 {
		resources = neutronResources()
	}
	quotas := []*collectors.Def{
		neutronQuotaLimitMetric, neutronQuotaUnlimitedMetric,
		neutronQuotaUsedMetric, neutronQuotaReservedMetric,
	}
	m := collectors.NewCatalog(neutronDefs(), "dependency", name)
	remote.DescribeDependency(m)
	m.Configured("resource", resources, quotas...)
	m.Vanishing(quotas...) // a Neutron may have no quota details, or not this quota
	m.Configured("extension", c.Extensions, neutronExtensionPresentMetric)
	m.Configured("agent_type", c.Agents, neutronAgentsMetric, neutronAgentsAliveMetric)
	m.Bools(neutronQuotaUnlimitedMetric, neutronExtensionPresentMetric)
	return m.List()
}
