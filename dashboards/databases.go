package dashboards

// databases returns the panels of PostgreSQL servers, and of queries at databases and Prometheus servers.
func databases() []line {
	worst := func(metric string) string { return `max by (dependency) (` + metric + `{` + ofDependency + `})` }
	return []line{
		{8, []panel{
			graph("Connections of PostgreSQL",
				"The used fraction of the connections that ordinary users can have. At 100 % the server refuses every further login.",
				numbers("percentunit").from(0.8, yellow).from(1, red),
				over(`max by (dependency) (vitals_postgres_connections{`+ofDependency+`} / on (job, instance, dependency) vitals_postgres_connections_limit{`+ofDependency+`})`, "{{dependency}}")),
			timeline("PostgreSQL writes",
				"Whether each PostgreSQL server accepts writes. A read-only one fails every request that changes something.",
				switches("READ", "WRITE"),
				over(`1 - max by (dependency) (`+most(`vitals_postgres_read_only{`+ofDependency+`}`)+`)`, "{{dependency}}")),
			timeline("PostgreSQL recovery",
				"Whether each PostgreSQL server is a primary. A standby, and a server that recovers, is in recovery.",
				switches("STANDBY", "PRIMARY"),
				over(`1 - max by (dependency) (`+most(`vitals_postgres_in_recovery{`+ofDependency+`}`)+`)`, "{{dependency}}")),
		}},
		{8, []panel{
			graph("Replication lag",
				"The age of the last transaction that each standby replayed; 0 if it replayed all that it receives. It grows on a standby without its primary.",
				numbers("s"), over(worst("vitals_postgres_replication_lag_seconds"), "{{dependency}}")),
			graph("Replication lag in bytes",
				"How much of the received WAL each standby has not replayed. It grows if a query on the standby keeps it from replaying.",
				numbers("bytes"), over(worst("vitals_postgres_replication_lag_bytes"), "{{dependency}}")),
			timeline("WAL receivers",
				"Whether the WAL receiver of each standby runs. STOPPED: the standby has no connection to its primary, and its data ages.",
				switches("STOPPED", "RUNNING"),
				over(`min by (dependency) (`+least(`vitals_postgres_wal_receiver_up{`+ofDependency+`}`)+`)`, "{{dependency}}")),
		}},
		{8, []panel{
			graph("Values of queries",
				"The largest number that each query returns.",
				numbers("short"), over(`max by (dependency, query) (vitals_query_value{`+ofDependency+`})`, "{{dependency}} {{query}}")),
			timeline("Queries",
				"Whether each query succeeds. One that fails has no value; its reason is in vitals_query_failure.",
				switches("FAIL", "OK"),
				over(`min by (dependency, query) (`+least(`vitals_query_success{`+ofDependency+`}`)+`)`, "{{dependency}} {{query}}")),
			graph("Durations of queries",
				"How long each query took. A slow one is ended at its share of the timeout.",
				numbers("s"), over(`max by (dependency, query) (vitals_query_duration_seconds{`+ofDependency+`})`, "{{dependency}} {{query}}")),
			graph("Warnings of queries",
				"How many warnings each query of a Prometheus server returned. Its result may be incomplete.",
				numbers("short").from(1, yellow), over(`max by (dependency, query) (vitals_prometheus_query_warnings{`+ofDependency+`})`, "{{dependency}} {{query}}")),
		}},
	}
}
