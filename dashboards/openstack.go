package dashboards

const ofDependency = `dependency=~"$dependency",$vitals`

// openstack is about what OpenStack answers, and the other dependencies beside it.
func openstack() dashboard {
	return newDashboard("vitals-openstack", "Vitals / OpenStack",
		"Do Keystone, Neutron and the other dependencies answer, how fast, and how much of the quota is left.",
		[]variable{choice("dependency", "Dependency", `vitals_dependency_up{job=~"$job",instance=~"$instance"}`)},
		section{"", []line{
			{4, dependencyStats()},
			{8, []panel{
				timeline("Dependencies",
					"Whether each dependency did what the workload needs of it, on all chosen instances. An outage of a dependency takes the workload out of service and does not restart it: a restart cures no dependency.",
					switches("DOWN", "UP"), over(`min by (dependency) (vitals_dependency_up{`+ofDependency+`})`, "{{dependency}}")),
				timeline("Reasons",
					"Why checks failed. refused, timeout and dns point to the network or the server; auth and forbidden to credentials and roles; missing_endpoint to Keystone's catalog.",
					flags("FAIL", red).orElse("Nothing failed"), over(`max by (dependency, reason) (vitals_dependency_failure{`+ofDependency+`}) > 0`, "{{dependency}}: {{reason}}")),
			}},
			{8, []panel{
				graph("Latency",
					"How long each dependency took to answer the last check that it answered; the worst of the chosen instances. A check that takes longer than the collector's timeout is an outage.",
					numbers("s"), over(`max by (dependency) (vitals_dependency_latency_seconds{`+ofDependency+`})`, "{{dependency}}")),
				graph("Certificates expire in",
					"How long the first certificate that each server's depends on is valid. Renew it before the line meets zero: then every check fails with the reason tls.",
					numbers("s"), over(`min by (dependency) (vitals_tls_certificate_expiry_timestamp_seconds{`+ofDependency+`} - time())`, "{{dependency}}")),
			}},
		}},
		section{"Keystone", []line{{7, []panel{
			graph("Tokens are valid for",
				"How much longer the held tokens are valid. Vitals gets a new one in time; a line that goes down to zero means that Keystone refuses to issue one.",
				numbers("s"), over(`min by (dependency) (vitals_keystone_token_expiry_timestamp_seconds{`+ofDependency+`} - time())`, "{{dependency}}")),
			graph("Tokens issued",
				"Tokens that Keystone issued to Vitals. A few an hour are normal; many mean that tokens are revoked, or that each request is refused and tried anew.",
				numbers("short"), over(`sum by (dependency) (increase(vitals_keystone_tokens_issued_total{`+ofDependency+`}[$__rate_interval]))`, "{{dependency}}")),
			timeline("Endpoints in the catalog",
				"Whether the catalog has an endpoint for each service that the configuration asks for, in its region and interface. MISSING: whoever administers Keystone has to add it.",
				switches("MISSING", "OK"), over(`min by (service) (vitals_keystone_endpoint_present{`+ofDependency+`})`, "{{service}}")),
		}}}},
		section{"Neutron", []line{
			{8, []panel{
				graph("Quota in use",
					"The part of each quota that is used; what has no limit is not shown. At the line nothing more of the resource can be made: delete some, or ask for a larger quota.",
					numbers("percentunit"),
					over(`max by (resource) (vitals_neutron_quota_used{`+ofDependency+`} / on (job, instance, dependency, resource) vitals_neutron_quota_limit{`+ofDependency+`})`, "{{resource}}"),
					limit(`vector(1)`, "the quota")),
				quotas(),
			}},
			{7, []panel{
				graph("Agents that Neutron does not hear from",
					"Agents of each type that Neutron knows and has not heard from lately. Look at the hosts of those agents: \"openstack network agent list\" names them.",
					numbers("short"), over(`max by (agent_type) (vitals_neutron_agents{`+ofDependency+`} - on (job, instance, dependency, agent_type) vitals_neutron_agents_alive{`+ofDependency+`})`, "{{agent_type}}")),
				timeline("API extensions",
					"Whether Neutron has loaded each API extension that the configuration asks for. MISSING: a plugin or a driver is not loaded in the server.",
					switches("MISSING", "OK"), over(`min by (extension) (vitals_neutron_extension_present{`+ofDependency+`})`, "{{extension}}")),
			}},
		}})
}

func dependencyStats() []panel {
	return []panel{
		stat("Dependencies down", "How many dependencies do not do what the workload needs of them, as at least one of the chosen instances sees it. The timeline below names them.",
			numbers("short").from(1, red), now(`sum(1 - min by (dependency) (vitals_dependency_up{`+ofDependency+`}))`, "")),
		stat("Slowest answer", "The longest that a dependency took to answer its last check. Slow answers come before timeouts.",
			numbers("s").from(1, yellow).from(5, red), now(`max(vitals_dependency_latency_seconds{`+ofDependency+`})`, "")),
		stat("Quota in use", "The part that is used of the quota that is used most. At 100 % nothing more of that resource can be made.",
			numbers("percentunit").from(0.8, yellow).from(1, red),
			now(`max(vitals_neutron_quota_used{`+ofDependency+`} / on (job, instance, dependency, resource) vitals_neutron_quota_limit{`+ofDependency+`})`, "")),
		stat("Agents missing", "How many agents Neutron knows and has not heard from lately, of all types together.",
			numbers("short").from(1, yellow), now(`sum(max by (agent_type) (vitals_neutron_agents{`+ofDependency+`} - on (job, instance, dependency, agent_type) vitals_neutron_agents_alive{`+ofDependency+`}))`, "")),
	}
}

// quotas is a table of all quotas, those without a limit included.
func quotas() panel {
	plain, unlimited := numbers("short").below("text"), flags("unlimited", green)
	return table("Quotas now",
		"What the project uses and may use of each resource. What is reserved belongs to requests that are under way and counts against the limit, too.",
		"No quota is measured",
		[]column{
			{field: "resource", title: "Resource"},
			{field: "Value #A", title: "Used", display: &plain}, {field: "Value #B", title: "Reserved", display: &plain},
			{field: "Value #C", title: "Limit", display: &plain}, {field: "Value #D", title: "Or", display: &unlimited},
		},
		now(`max by (resource) (vitals_neutron_quota_used{`+ofDependency+`})`, ""),
		now(`max by (resource) (vitals_neutron_quota_reserved{`+ofDependency+`})`, ""),
		now(`min by (resource) (vitals_neutron_quota_limit{`+ofDependency+`})`, ""),
		now(`max by (resource) (vitals_neutron_quota_unlimited{`+ofDependency+`}) == 1`, ""))
}
