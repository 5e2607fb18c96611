package dashboards

const ofDependency = `dependency=~"$dependency",$vitals`

// openstack returns the dashboard of OpenStack and other dependencies.
func openstack() dashboard {
	return newDashboard("vitals-openstack", "Vitals / OpenStack",
		"Whether Keystone, Neutron and the other dependencies respond, how fast, and how much of the quota is left.",
		[]variable{choice("dependency", "Dependency", `vitals_dependency_up{job=~"$job",instance=~"$instance"}`)},
		section{"", []line{
			{4, dependencyStats()},
			{8, []panel{
				timeline("Dependencies",
					"Whether the check of each dependency succeeds, on all chosen instances. An outage of a dependency takes the workload out of service. It does not restart the workload, because that would not fix the dependency.",
					switches("DOWN", "UP"), over(`min by (dependency) (vitals_dependency_up{`+ofDependency+`})`, "{{dependency}}")),
				timeline("Reasons",
					"Why checks failed. refused, timeout and dns point to the network or the server; auth and forbidden to credentials and roles; missing_endpoint to Keystone's catalog.",
					flags("FAIL", red).orElse("Nothing failed"), over(`max by (dependency, reason) (vitals_dependency_failure{`+ofDependency+`}) > 0`, "{{dependency}}: {{reason}}")),
			}},
			{8, []panel{
				graph("Latency",
					"Response time of the last successful check of each dependency; the worst of the chosen instances. A check that takes longer than the collector's timeout is an outage.",
					numbers("s"), over(`max by (dependency) (vitals_dependency_latency_seconds{`+ofDependency+`})`, "{{dependency}}")),
				graph("Certificates expire in",
					"Time until the first certificate in each server's chain expires. Renew it before the line reaches zero; after that every check fails with the reason tls.",
					numbers("s"), over(`min by (dependency) (vitals_tls_certificate_expiry_timestamp_seconds{`+ofDependency+`} - time())`, "{{dependency}}")),
			}},
		}},
		section{"Keystone", []line{{7, []panel{
			graph("Tokens are valid for",
				"Remaining lifetime of the current tokens. Vitals renews them in time; a line that falls to zero means that Keystone refuses to issue one.",
				numbers("s"), over(`min by (dependency) (vitals_keystone_token_expiry_timestamp_seconds{`+ofDependency+`} - time())`, "{{dependency}}")),
			graph("Tokens issued",
				"Tokens that Keystone issued to Vitals. A few an hour are normal; many mean that tokens are revoked, or that each request is refused and retried.",
				numbers("short"), over(`sum by (dependency) (increase(vitals_keystone_tokens_issued_total{`+ofDependency+`}[$__rate_interval]))`, "{{dependency}}")),
			timeline("Endpoints in the catalog",
				"Whether the catalog has an endpoint for each service in the configuration, for its region and interface. MISSING: an administrator of Keystone has to add it.",
				switches("MISSING", "OK"), over(`min by (service) (vitals_keystone_endpoint_present{`+ofDependency+`})`, "{{service}}")),
		}}}},
		section{"Neutron", []line{
			{8, []panel{
				graph("Quota in use",
					"The used fraction of each quota; unlimited quotas are not shown. At the line no more of the resource can be created: delete some, or request a larger quota.",
					numbers("percentunit"),
					over(`max by (resource) (vitals_neutron_quota_used{`+ofDependency+`} / on (job, instance, dependency, resource) vitals_neutron_quota_limit{`+ofDependency+`})`, "{{resource}}"),
					limit(`vector(1)`, "the quota")),
				quotas(),
			}},
			{7, []panel{
				graph("Agents without a recent heartbeat",
					"Registered agents of each type that have sent no recent heartbeat to Neutron. Check their hosts: \"openstack network agent list\" names them.",
					numbers("short"), over(`max by (agent_type) (vitals_neutron_agents{`+ofDependency+`} - on (job, instance, dependency, agent_type) vitals_neutron_agents_alive{`+ofDependency+`})`, "{{agent_type}}")),
				timeline("API extensions",
					"Whether Neutron has loaded each API extension in the configuration. MISSING: a plugin or a driver is not loaded in the server.",
					switches("MISSING", "OK"), over(`min by (extension) (vitals_neutron_extension_present{`+ofDependency+`})`, "{{extension}}")),
			}},
		}})
}

func dependencyStats() []panel {
	return []panel{
		stat("Dependencies down", "How many dependencies fail their check on at least one of the chosen instances. The timeline below names them.",
			numbers("short").from(1, red), now(`sum(1 - min by (dependency) (vitals_dependency_up{`+ofDependency+`}))`, "")),
		stat("Slowest response", "The slowest response of any dependency to its last check. Slow responses often precede timeouts.",
			numbers("s").from(1, yellow).from(5, red), now(`max(vitals_dependency_latency_seconds{`+ofDependency+`})`, "")),
		stat("Quota in use", "The used fraction of the fullest quota. At 100 % no more of that resource can be created.",
			numbers("percentunit").from(0.8, yellow).from(1, red),
			now(`max(vitals_neutron_quota_used{`+ofDependency+`} / on (job, instance, dependency, resource) vitals_neutron_quota_limit{`+ofDependency+`})`, "")),
		stat("Agents missing", "How many registered agents of all types have sent no recent heartbeat to Neutron.",
			numbers("short").from(1, yellow), now(`sum(max by (agent_type) (vitals_neutron_agents{`+ofDependency+`} - on (job, instance, dependency, agent_type) vitals_neutron_agents_alive{`+ofDependency+`}))`, "")),
	}
}

// quotas returns a table of all quotas, unlimited ones included.
func quotas() panel {
	plain, unlimited := numbers("short").below("text"), flags("unlimited", green)
	return table("Quotas now",
		"Usage and limit of each resource of the project. Reserved amounts belong to pending requests, and count against the limit as well.",
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
