package dashboards

// caches returns the panels of the kinds redis and memcached.
func caches() []line {
	of := func(metric string) string { return metric + `{` + ofDependency + `}` }
	worst := func(metric string) string { return `max by (dependency) (` + of(metric) + `)` }
	share := func(used, limit string) string {
		return `max by (dependency) (` + of(used) + ` / on (job, instance, dependency) ` + of(limit) + `)`
	}
	rates := func(metric string) string { return `sum by (dependency) (rate(` + of(metric) + `[$__rate_interval]))` }
	lowest := func(metric string) string { return `min by (dependency) (` + least(of(metric)) + `)` }
	return []line{
		{8, []panel{
			timeline("Roles of Redis",
				"Whether each Redis is a master. A replica refuses writes, so a role that changes shows a failover.",
				switches("REPLICA", "MASTER"), over(`min by (dependency) (`+least(`vitals_redis_role{`+ofDependency+`,role="master"}`)+`)`, "{{dependency}}")),
			timeline("Replicas and their master",
				"Whether each replica has a connection to its master. Without one, its data ages.",
				switches("CUT OFF", "LINKED"), over(lowest("vitals_redis_master_link_up"), "{{dependency}}")),
			graph("Replication lag of Redis",
				"How long ago each replica received something from its master, and how long it has had no connection. On a master: how long ago a replica confirmed what it has.",
				numbers("s"), over(worst("vitals_redis_master_last_io_seconds"), "{{dependency}} last I/O"),
				over(worst("vitals_redis_master_link_down_seconds"), "{{dependency}} cut off"), over(worst("vitals_redis_replica_lag_seconds"), "{{dependency}} slowest replica")),
			graph("Replication lag of Redis in bytes",
				"How far the last of the online replicas of each master is behind.",
				numbers("bytes"), over(worst("vitals_redis_replica_lag_bytes"), "{{dependency}}")),
		}},
		{8, []panel{
			graph("Memory of Redis and memcached",
				"The used fraction of the limit of memory. Without a limit, there is none. At 100 % the server removes keys, or refuses writes.",
				numbers("percentunit").from(0.8, yellow).from(1, red),
				over(share("vitals_redis_memory_used_bytes", "vitals_redis_memory_limit_bytes"), "{{dependency}}"),
				over(share("vitals_memcached_memory_used_bytes", "vitals_memcached_memory_limit_bytes"), "{{dependency}}")),
			graph("Evictions a second",
				"How many keys each server removes to have memory for others.",
				numbers("short"), over(rates("vitals_redis_evicted_keys_total"), "{{dependency}}"), over(rates("vitals_memcached_evictions_total"), "{{dependency}}")),
			graph("Connections of Redis and memcached",
				"The used fraction of the connections that each server accepts. At 100 % it refuses every further one.",
				numbers("percentunit").from(0.8, yellow).from(1, red),
				over(share("vitals_redis_clients", "vitals_redis_clients_limit"), "{{dependency}}"),
				over(share("vitals_memcached_connections", "vitals_memcached_connections_limit"), "{{dependency}}")),
			graph("Refused connections a second",
				"How many connections each server refuses, because it has as many as it accepts.",
				numbers("short"), over(rates("vitals_redis_connections_rejected_total"), "{{dependency}}"), over(rates("vitals_memcached_connections_rejected_total"), "{{dependency}}")),
		}},
		{8, []panel{
			timeline("Persistence of Redis",
				"Whether the last attempt of each operation succeeded: a snapshot, a write to the append-only file, and its rewrite.",
				switches("FAIL", "OK"), over(`min by (dependency, operation) (`+least(of("vitals_redis_persistence_ok"))+`)`, "{{dependency}} {{operation}}")),
			timeline("Redis serves its data",
				"Whether each Redis has loaded its data. LOADING: it answers no query until the file is read.",
				switches("LOADING", "OK"), over(`1 - max by (dependency) (`+most(of("vitals_redis_loading"))+`)`, "{{dependency}}")),
			timeline("Redis Cluster",
				"Whether each node serves queries by the state of its cluster.",
				switches("FAIL", "OK"), over(lowest("vitals_redis_cluster_ok"), "{{dependency}}")),
			table("Redis now",
				"Online replicas, blocked clients, whether the server removes keys at its limit of memory, and the nodes and the served slots of a cluster.",
				"No Redis check",
				[]column{
					{field: "dependency", title: "Dependency"}, {field: "Value #A", title: "Replicas", display: new(numbers("none").below("text"))},
					{field: "Value #B", title: "Blocked", display: new(numbers("none").below("text"))}, {field: "Value #C", title: "Evicts", display: new(numbers("none").below("text"))},
					{field: "Value #D", title: "Nodes", display: new(numbers("none").below("text"))}, {field: "Value #E", title: "Slots", display: new(numbers("none").below("text"))},
				},
				now(`min by (dependency) (`+of("vitals_redis_replicas_online")+`)`, ""), now(worst("vitals_redis_clients_blocked"), ""),
				now(worst("vitals_redis_memory_evicts"), ""), now(`min by (dependency) (`+of("vitals_redis_cluster_nodes")+`)`, ""),
				now(`min by (dependency) (vitals_redis_cluster_slots{`+ofDependency+`,state="ok"})`, "")),
		}},
	}
}
