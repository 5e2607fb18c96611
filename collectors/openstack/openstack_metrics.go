package openstack

import (
	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// The lists that a role may not be allowed to read.
const (
	listBinaries = "binaries"
	listAmphorae = "amphorae"
)

// The metrics of the kind openstack.
var (
	serviceRespondingMetric    = collectors.NewGauge("vitals_openstack_api_responding", "Whether the service returned its version document, which needs neither a token nor a database (1), or not (0).", "dependency")
	serviceListMeasuredMetric  = collectors.NewGauge("vitals_openstack_list_measured", "Whether the last collection read the list (1) or not, as without the right to read it (0).", "dependency", "list")
	serviceProcessesMetric     = collectors.NewGauge("vitals_openstack_processes", "Number of processes of the service in its own list, by binary and state, enabled or disabled by an operator.", "dependency", "binary", "state", "status")
	amphoraeMetric             = collectors.NewGauge("vitals_openstack_amphorae", "Number of Octavia's amphorae in the status.", "dependency", "status")
	balancerPresentMetric      = collectors.NewGauge("vitals_openstack_load_balancer_present", "Whether the load balancer exists (1) or not (0).", "dependency", "load_balancer")
	balancerProvisioningMetric = collectors.NewGauge("vitals_openstack_load_balancer_provisioning_status", "Whether Octavia's last change of the load balancer has the status (1) or not (0).", "dependency", "load_balancer", "status")
	balancerOperatingMetric    = collectors.NewGauge("vitals_openstack_load_balancer_operating_status", "Whether the load balancer has the operating status (1) or not (0).", "dependency", "load_balancer", "status")
	balancerListenersMetric    = collectors.NewGauge("vitals_openstack_load_balancer_listeners", "Number of listeners of the load balancer with the operating status.", "dependency", "load_balancer", "status")
	balancerMembersMetric      = collectors.NewGauge("vitals_openstack_load_balancer_members", "Number of members of all pools of the load balancer with the operating status.", "dependency", "load_balancer", "status")
	balancerSmallestPoolMetric = collectors.NewGauge("vitals_openstack_load_balancer_smallest_pool_members", "Number of members of the pool with the fewest; absent without a pool.", "dependency", "load_balancer")
)

// serviceDefs returns the metrics of the kind openstack.
func serviceDefs() []*collectors.Def {
	defs := append(remote.DependencyDefs(), serviceRespondingMetric, serviceListMeasuredMetric, serviceProcessesMetric, amphoraeMetric)
	return append(append(defs, balancerDefs()...), remote.CertificateExpiryMetric)
}

// balancerDefs returns the metrics of load balancers.
func balancerDefs() []*collectors.Def {
	return []*collectors.Def{
		balancerPresentMetric, balancerProvisioningMetric, balancerOperatingMetric,
		balancerListenersMetric, balancerMembersMetric, balancerSmallestPoolMetric,
	}
}

// Metrics implements collectors.Kind.
func (c *ServiceConfig) Metrics(name string) []collectors.Metric {
	m := collectors.NewCatalog(serviceDefs(), "dependency", name)
	remote.DescribeDependency(m)
	m.Vanishing(remote.CertificateExpiryMetric, serviceRespondingMetric) // the catalog has the service's address
	var lists []string
	if len(c.Binaries) > 0 {
		lists = append(lists, listBinaries)
	}
	if c.Amphorae {
		lists = append(lists, listAmphorae)
	}
	m.Chosen("list", lists, []string{listBinaries, listAmphorae}, serviceListMeasuredMetric)
	m.Chosen("binary", c.Binaries, allBinaries(), serviceProcessesMetric)
	m.Closed("state", processStates(), serviceProcessesMetric)
	m.Closed("status", processStatuses(), serviceProcessesMetric)
	m.Without(!c.Amphorae, amphoraeMetric)
	m.Closed("status", amphoraStatuses(), amphoraeMetric)
	m.Vanishing(serviceProcessesMetric, amphoraeMetric) // the role may not read the list
	m.Configured("load_balancer", c.LoadBalancers, balancerDefs()...)
	m.Closed("status", provisioningStatuses(), balancerProvisioningMetric)
	m.Closed("status", operatingStatuses(), balancerOperatingMetric, balancerListenersMetric, balancerMembersMetric)
	m.Vanishing(balancerProvisioningMetric, balancerOperatingMetric, balancerListenersMetric, balancerMembersMetric, balancerSmallestPoolMetric)
	m.Bools(serviceRespondingMetric, serviceListMeasuredMetric, balancerPresentMetric, balancerProvisioningMetric, balancerOperatingMetric)
	return m.List()
}

// allBinaries returns the processes of all services.
func allBinaries() []string {
	var all []string
	for _, s := range services() {
		all = append(all, s.binaries...)
	}
	return all
}
