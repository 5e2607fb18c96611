package dashboards

const ofDependency = `dependency=~"$dependency",$vitals`

// openstack returns the dashboard of OpenStack and other dependencies.
func openstack() dashboard {
	return newDashboard("vitals-openstack", "Vitals / OpenStack",
		"Whether Keystone, Neutron and the other dependencies respond, how fast, and how much of the quota is left.",
		[]variable{choice("dependency", "Dependency", `vitals_dependency_up{`+chosen+`}`)},
		section{"", []line{
			{4, dependencyStats()},
			{8, []panel{
				timeline("Dependencies",
					"Whether the check of each dependency succeeds, on all chosen instances. An outage of a dependency takes the workload out of service. It does not restart the workload, because that would not fix the dependency.",
					switches("DOWN", "UP"), over(`min by (dependency) (`+least(`vitals_dependency_up{`+ofDependency+`}`)+`)`, "{{dependency}}")),
				timeline("Reasons",
					"Why checks failed. refused, timeout and dns point to the network or the server; auth and forbidden to credentials and roles; missing_endpoint to Keystone's catalog.",
					flags("FAIL", red).orElse("No failure is known"), over(`max by (dependency, reason) (`+most(`vitals_dependency_failure{`+ofDependency+`}`)+`) > 0`, "{{dependency}}: {{reason}}")),
			}},
			{8, []panel{
				graph("Latency",
					"Response time of the last successful check of each dependency; the worst of the chosen instances. A check that takes longer than the collector's timeout is an outage.",
					numbers("s"), over(`max by (dependency) (vitals_dependency_latency_seconds{`+ofDependency+`})`, "{{dependency}}")),
				graph("Certificates expire in",
					"Time until the first certificate in each server's chain expires. Renew it before the line reaches zero; after that every check fails with the reason tls.",
					numbers("dtdhms"), over(`min by (dependency) (vitals_tls_certificate_expiry_timestamp_seconds{`+ofDependency+`} - time())`, "{{dependency}}")),
			}},
		}, false},
		section{"Keystone", []line{{7, []panel{
			graph("Tokens are valid for",
				"Remaining lifetime of the current tokens. Vitals renews them in time; a line that falls to zero means that Keystone refuses to issue one.",
				numbers("dthms"), over(`min by (dependency) (vitals_keystone_token_expiry_timestamp_seconds{`+ofDependency+`} - time())`, "{{dependency}}")),
			graph("Tokens issued",
				"Tokens that Keystone issued to Vitals. A few an hour are normal; many mean that tokens are revoked, or that each request is refused and retried.",
				numbers("short").whole(), over(`round(sum by (dependency) (increase(vitals_keystone_tokens_issued_total{`+ofDependency+`}[$__rate_interval])))`, "{{dependency}}")),
			timeline("Endpoints in the catalog",
				"Whether the catalog has an endpoint for each service in the configuration, for its region and interface. MISSING: an administrator of Keystone has to add it.",
				switches("MISSING", "OK"), over(`min by (service) (`+least(`vitals_keystone_endpoint_present{`+ofDependency+`}`)+`)`, "{{service}}")),
		}}}, true},
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
				graph("Free addresses",
					"Addresses in the allocation pools of each subnet that no port has. A subnet without any can have no further port.",
					numbers("short"), over(`min by (subnet) (vitals_neutron_subnet_addresses{`+ofDependency+`} - on (job, instance, dependency, subnet) vitals_neutron_subnet_addresses_used{`+ofDependency+`})`, "{{subnet}}")),
				timeline("Subnets",
					"Whether each subnet of the configuration exists.",
					switches("GONE", "OK"), over(`min by (subnet) (`+least(`vitals_neutron_subnet_present{`+ofDependency+`}`)+`)`, "{{subnet}}")),
			}},
			{7, []panel{
				graph("Agents without a recent heartbeat",
					"Registered agents of each type that have sent no recent heartbeat to Neutron. Check their hosts: \"openstack network agent list\" names them.",
					numbers("short"), over(`max by (agent_type) (vitals_neutron_agents{`+ofDependency+`} - on (job, instance, dependency, agent_type) vitals_neutron_agents_alive{`+ofDependency+`})`, "{{agent_type}}")),
				timeline("API extensions",
					"Whether Neutron has loaded each API extension in the configuration. MISSING: a plugin or a driver is not loaded in the server.",
					switches("MISSING", "OK"), over(`min by (extension) (`+least(`vitals_neutron_extension_present{`+ofDependency+`}`)+`)`, "{{extension}}")),
			}},
		}, true},
		section{"Load balancers and other services", services(), true},
		section{"HTTP and TCP checks", requests(), true},
		section{"Databases and queries", databases(), true},
		section{"Redis and memcached", caches(), true},
		section{"DNS and gRPC checks", append(names(), calls()...), true},
		section{"NTP checks", clocks(), true},
		section{"ICMP checks", echoes(), true},
		section{"Certificates", certificates(), true})
}

// requests returns the panels of the kinds http and tcp.
func requests() []line {
	phases := func(kind string) string {
		return `max by (dependency, phase) (vitals_` + kind + `_phase_duration_seconds{` + ofDependency + `})`
	}
	return []line{
		{8, []panel{
			timeline("Expectations",
				"Whether each answer is as the configuration expects it: its status, headers, body and certificate.",
				switches("FAIL", "OK"), over(`min by (dependency, expectation) (`+least(`vitals_http_expectation_met{`+ofDependency+`}`)+`)`, "{{dependency}} {{expectation}}")),
			table("Answers now",
				"Status and version of the last answer of each HTTP server, and whether it came over TLS.",
				"No HTTP check",
				answerColumns(),
				now(`max by (dependency) (vitals_http_status_code{`+ofDependency+`})`, ""),
				now(`max by (dependency) (vitals_http_version{`+ofDependency+`})`, ""),
				now(`min by (dependency) (vitals_http_tls{`+ofDependency+`})`, ""),
				now(`max by (dependency) (vitals_http_redirects{`+ofDependency+`})`, ""),
				now(`max by (dependency) (vitals_http_response_size_bytes{`+ofDependency+`})`, "")),
		}},
		{8, []panel{
			graph("Phases of checks",
				"How long each phase of the last check took. Slow resolving points to DNS, slow connecting to the network, and slow processing to the server.",
				numbers("s"), over(phases("http"), "{{dependency}} {{phase}}"), over(phases("tcp"), "{{dependency}} {{phase}} (tcp)")),
			timeline("Galera",
				"The state of each MySQL server in its Galera cluster. DONOR: it sends its data to another member. Only SYNCED members are up to date.",
				display{empty: "NO DATA", states: []stateWord{{0, "OUT", red}, {1, "JOINING", yellow}, {2, "DONOR", yellow}, {3, "JOINED", yellow}, {4, "SYNCED", green}}},
				over(`min by (dependency) (`+least(`vitals_mysql_wsrep_local_state{`+ofDependency+`}`)+`)`, "{{dependency}}")),
			timeline("Galera writes",
				"Whether each MySQL server accepts writes. A read-only one fails every request that changes something.",
				switches("READ", "WRITE"),
				over(`1 - max by (dependency) (`+most(`vitals_mysql_read_only{`+ofDependency+`}`)+`)`, "{{dependency}}")),
		}},
	}
}

// names returns the panels of the kind dns.
func names() []line {
	plain, once := numbers("none").below("text"), switches("no", "yes")
	return []line{{8, []panel{
		timeline("Expected records",
			"Whether the response of each DNS server has each record of the configuration. FAIL: the name has other data, or the server has an old zone.",
			switches("FAIL", "OK"), over(`min by (dependency, answer) (`+least(`vitals_dns_answer_present{`+ofDependency+`}`)+`)`, "{{dependency}} {{answer}}")),
		timeline("Response codes",
			"The response code of each DNS query: one row for each code other than NOERROR that occurred.",
			switches("no", "YES"), over(`max by (dependency, rcode) (`+most(`vitals_dns_rcode{`+ofDependency+`,rcode!="noerror"}`)+`) > 0`, "{{dependency}} {{rcode}}")),
		table("DNS responses now",
			"The records of the last response of each DNS server. Verified is DNSSEC's AD bit. Servers of one zone have the same serial number.",
			"No DNS check",
			[]column{
				{field: "dependency", title: "Dependency"}, {field: "Value #A", title: "Records", display: &plain},
				{field: "Value #B", title: "Unexpected", display: &plain}, {field: "Value #C", title: "Matching", display: &plain},
				{field: "Value #D", title: "TTL (s)", display: &plain}, {field: "Value #E", title: "Serial", display: &plain},
				{field: "Value #F", title: "Verified", display: &once}, {field: "Value #G", title: "Authority", display: &once},
			},
			now(`min by (dependency) (vitals_dns_answers{`+ofDependency+`})`, ""),
			now(`max by (dependency) (vitals_dns_unexpected_answers{`+ofDependency+`})`, ""),
			now(`min by (dependency) (vitals_dns_matching_answers{`+ofDependency+`})`, ""),
			now(`min by (dependency) (vitals_dns_ttl_seconds{`+ofDependency+`})`, ""),
			now(`min by (dependency) (vitals_dns_soa_serial{`+ofDependency+`})`, ""),
			now(`min by (dependency) (vitals_dns_authenticated{`+ofDependency+`})`, ""),
			now(`min by (dependency) (vitals_dns_authoritative{`+ofDependency+`})`, "")),
	}}}
}

// calls returns the panels of the kind grpc.
func calls() []line {
	return []line{{8, []panel{
		timeline("gRPC health",
			"Whether the health service of each gRPC server returns SERVING. Without data, the call failed: see the reasons above.",
			switches("DOWN", "OK"),
			over(`min by (dependency) (`+least(`vitals_grpc_serving_status{`+ofDependency+`,status="serving"}`)+`)`, "{{dependency}}")),
		graph("Status codes of gRPC calls",
			"The code of each call: 0 is OK, 5 an unknown service, 12 a server without the health service, 14 unavailable, 16 missing credentials.",
			numbers("none"), over(`max by (dependency) (vitals_grpc_status_code{`+ofDependency+`})`, "{{dependency}}")),
	}}}
}

// clocks returns the panels of the kind ntp.
func clocks() []line {
	return []line{{8, []panel{
		graph("Clock offset",
			"How far the clock of each NTP server is ahead of that of the host. A token or a certificate may be rejected where clocks differ.",
			numbers("s"), over(`max by (dependency) (vitals_ntp_offset_seconds{`+ofDependency+`})`, "{{dependency}}"),
			over(`max by (dependency) (vitals_ntp_root_distance_seconds{`+ofDependency+`})`, "{{dependency}} root distance"),
			over(`max by (dependency) (vitals_ntp_round_trip_seconds{`+ofDependency+`})`, "{{dependency}} round trip")),
		timeline("Time servers",
			"Whether each NTP server is synchronized.",
			switches("DOWN", "OK"),
			over(`1 - max by (dependency) (`+most(`vitals_ntp_leap{`+ofDependency+`,leap="unsynchronized"}`)+`)`, "{{dependency}}")),
		table("Time servers now",
			"The stratum of each NTP server, and how long ago its clock was corrected.",
			"No NTP check",
			[]column{
				{field: "dependency", title: "Dependency"}, {field: "Value #A", title: "Stratum", display: new(numbers("none").below("text"))},
				{field: "Value #B", title: "Corrected", display: new(numbers("s").below("text"))},
			},
			now(`max by (dependency) (vitals_ntp_stratum{`+ofDependency+`})`, ""),
			now(`max by (dependency) (time() - vitals_ntp_reference_timestamp_seconds{`+ofDependency+`})`, "")),
	}}}
}

func answerColumns() []column {
	plain, size, over := numbers("none").below("text"), numbers("bytes").below("text"), switches("no", "yes")
	return []column{
		{field: "dependency", title: "Dependency"}, {field: "Value #A", title: "Status", display: &plain},
		{field: "Value #B", title: "HTTP", display: &plain}, {field: "Value #C", title: "TLS", display: &over},
		{field: "Value #D", title: "Redirects", display: &plain}, {field: "Value #E", title: "Size", display: &size},
	}
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
	plain, unlimited := numbers("short").below("text"), flags("yes", green)
	share := numbers("percentunit").from(0.8, yellow).from(1, red)
	return table("Quotas now",
		"Usage and limit of each resource of the project. Reserved amounts belong to pending requests, and count against the limit as well.",
		"No quota is measured",
		[]column{
			{field: "resource", title: "Resource"},
			{field: "Value #A", title: "Used", display: &plain}, {field: "Value #B", title: "Reserved", display: &plain},
			{field: "Value #C", title: "Limit", display: &plain}, {field: "Value #D", title: "Unlimited", display: &unlimited},
			{field: "Value #E", title: "In use", display: &share},
		},
		now(`max by (resource) (vitals_neutron_quota_used{`+ofDependency+`})`, ""),
		now(`max by (resource) (vitals_neutron_quota_reserved{`+ofDependency+`})`, ""),
		now(`min by (resource) (vitals_neutron_quota_limit{`+ofDependency+`})`, ""),
		now(`max by (resource) (vitals_neutron_quota_unlimited{`+ofDependency+`}) == 1`, ""),
		now(`max by (resource) (vitals_neutron_quota_used{`+ofDependency+`} / on (job, instance, dependency, resource) vitals_neutron_quota_limit{`+ofDependency+`})`, ""))
}
