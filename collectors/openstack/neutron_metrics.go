package openstack

import (
	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// The metrics of the kind neutron.
var (
	neutronQuotaLimitMetric       = collectors.NewGauge("vitals_neutron_quota_limit", "Limit of the project for the resource; absent without a limit.", "dependency", "resource")
	neutronQuotaUnlimitedMetric   = collectors.NewGauge("vitals_neutron_quota_unlimited", "Whether the project has no limit for the resource (1) or a limit (0).", "dependency", "resource")
	neutronQuotaUsedMetric        = collectors.NewGauge("vitals_neutron_quota_used", "Number of resources that the project uses.", "dependency", "resource")
	neutronQuotaReservedMetric    = collectors.NewGauge("vitals_neutron_quota_reserved", "Number of resources that are being created and count against the limit.", "dependency", "resource")
	neutronQuotaMeasuredMetric    = collectors.NewGauge("vitals_neutron_quota_measured", "Whether the last collection read the limit and the used part of the quota (1) or not (0).", "dependency", "resource")
	neutronExtensionPresentMetric = collectors.NewGauge("vitals_neutron_extension_present", "Whether Neutron has loaded the API extension (1) or not (0).", "dependency", "extension")
	neutronAgentsMetric           = collectors.NewGauge("vitals_neutron_agents", "Number of agents of the type in Neutron's list, alive or not.", "dependency", "agent_type")
	neutronAgentsAliveMetric      = collectors.NewGauge("vitals_neutron_agents_alive", "Number of agents of the type that Neutron reports as alive.", "dependency", "agent_type")
	neutronSubnetPresentMetric    = collectors.NewGauge("vitals_neutron_subnet_present", "Whether the subnet exists (1) or not (0).", "dependency", "subnet")
	neutronSubnetAddressesMetric  = collectors.NewGauge("vitals_neutron_subnet_addresses", "Number of addresses in the allocation pools of the subnet, used or free.", "dependency", "subnet")
	neutronSubnetUsedMetric       = collectors.NewGauge("vitals_neutron_subnet_addresses_used", "Number of addresses in the allocation pools of the subnet that ports have.", "dependency", "subnet")
)

// neutronDefs returns the metrics of the kind neutron.
func neutronDefs() []*collectors.Def {
	return append(remote.DependencyDefs(),
		neutronQuotaLimitMetric,
		neutronQuotaUnlimitedMetric,
		neutronQuotaUsedMetric,
		neutronQuotaReservedMetric,
		neutronQuotaMeasuredMetric,
		neutronExtensionPresentMetric,
		neutronAgentsMetric,
		neutronAgentsAliveMetric,
		neutronSubnetPresentMetric,
		neutronSubnetAddressesMetric,
		neutronSubnetUsedMetric,
		remote.CertificateExpiryMetric,
	)
}

// Metrics implements collectors.Kind.
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
	m.Configured("resource", resources, append(quotas, neutronQuotaMeasuredMetric)...)
	m.Vanishing(remote.CertificateExpiryMetric) // the catalog has Neutron's address
	m.Vanishing(quotas...)                      // Neutron may have no quota details, or not this quota
	m.Configured("extension", c.Extensions, neutronExtensionPresentMetric)
	m.Configured("agent_type", c.Agents, neutronAgentsMetric, neutronAgentsAliveMetric)
	m.Configured("subnet", c.Subnets, neutronSubnetPresentMetric, neutronSubnetAddressesMetric, neutronSubnetUsedMetric)
	m.Vanishing(neutronSubnetAddressesMetric, neutronSubnetUsedMetric) // the subnet may not exist
	m.Bools(neutronQuotaUnlimitedMetric, neutronQuotaMeasuredMetric, neutronExtensionPresentMetric, neutronSubnetPresentMetric)
	return m.List()
}
