package dashboards

// services returns the panels of the kind openstack.
func services() []line {
	return []line{
		{8, []panel{
			timeline("APIs respond",
				"Whether each service of OpenStack returns its version document, which needs neither a token nor a database. OK while the dependency is down: a process responds, and its database or its login has failed.",
				switches("DOWN", "OK"), over(`min by (dependency) (`+least(`vitals_openstack_api_responding{`+ofDependency+`}`)+`)`, "{{dependency}}")),
			graph("Processes that are not up",
				"Enabled processes of each service that its own list does not have as up. Check their hosts.",
				numbers("short").whole(), over(`max by (dependency, binary) (sum by (job, instance, dependency, binary) (vitals_openstack_processes{`+ofDependency+`,state!="up",status="enabled"}))`, "{{dependency}} {{binary}}")),
			graph("Amphorae",
				"Octavia's amphorae by status. One in error does not forward traffic; allocated ones do.",
				numbers("short").whole(), over(`max by (dependency, status) (vitals_openstack_amphorae{`+ofDependency+`}) > 0`, "{{dependency}} {{status}}")),
		}},
		{8, []panel{
			timeline("Load balancers",
				"Whether each load balancer of the configuration exists.",
				switches("GONE", "OK"), over(`min by (load_balancer) (`+least(`vitals_openstack_load_balancer_present{`+ofDependency+`}`)+`)`, "{{load_balancer}}")),
			timeline("States of load balancers",
				"States other than active and online: one row for each that occurred. error: Octavia could not make the last change. pending: a change is under way.",
				switches("no", "YES"),
				over(`max by (load_balancer, status) (`+most(`vitals_openstack_load_balancer_provisioning_status{`+ofDependency+`,status!="active"}`)+`) > 0`, "{{load_balancer}} {{status}}"),
				over(`max by (load_balancer, status) (`+most(`vitals_openstack_load_balancer_operating_status{`+ofDependency+`,status!="online"}`)+`) > 0`, "{{load_balancer}} operates {{status}}")),
		}},
		{8, []panel{
			graph("Members of load balancers",
				"Members of each load balancer by operating status, and of its smallest pool. A pool without members answers no request.",
				numbers("short").whole(),
				over(`max by (load_balancer, status) (vitals_openstack_load_balancer_members{`+ofDependency+`}) > 0`, "{{load_balancer}} {{status}}"),
				over(`min by (load_balancer) (vitals_openstack_load_balancer_smallest_pool_members{`+ofDependency+`})`, "{{load_balancer}} smallest pool")),
			graph("Listeners that are not online",
				"Listeners of each load balancer with another operating status than online.",
				numbers("short").whole(), over(`max by (load_balancer, status) (vitals_openstack_load_balancer_listeners{`+ofDependency+`,status!="online"}) > 0`, "{{load_balancer}} {{status}}")),
		}},
	}
}
