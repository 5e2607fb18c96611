package postgres

import (
	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/collectors/remote/query"
)

// The reasons that remote.Reasons does not have.
const (
	reasonTooManyConnections remote.Reason = "too_many_connections"
	reasonStartingUp         remote.Reason = "starting_up"
)

// ownReasons returns the reasons of vitals_dependency_failure that only this kind has.
func ownReasons() []remote.Reason {
	return []remote.Reason{reasonTooManyConnections, reasonStartingUp, query.ReasonReadOnly}
}

// The metrics of the kind postgres.
var (
	inRecoveryMetric       = collectors.NewGauge("vitals_postgres_in_recovery", "Whether the server is in recovery (1), as a standby is, or not (0).", "dependency")
	readOnlyMetric         = collectors.NewGauge("vitals_postgres_read_only", "Whether transactions of the user are read-only (1) or may write (0): by recovery or by default_transaction_read_only.", "dependency")
	connectionsMetric      = collectors.NewGauge("vitals_postgres_connections", "How many connections of clients the server has, with that of the check.", "dependency")
	connectionsLimitMetric = collectors.NewGauge("vitals_postgres_connections_limit", "How many connections ordinary users can have: max_connections without the reserved ones.", "dependency")
	walReceiverMetric      = collectors.NewGauge("vitals_postgres_wal_receiver_up", "Whether the WAL receiver of the standby runs (1) or not (0); absent outside of recovery.", "dependency")
	lagMetric              = collectors.NewGauge("vitals_postgres_replication_lag_seconds", "The age of the last transaction that the standby replayed, 0 if it replayed all that it receives; absent outside of recovery.", "dependency")
	lagBytesMetric         = collectors.NewGauge("vitals_postgres_replication_lag_bytes", "How much of the received WAL the standby has not replayed, in bytes; absent outside of recovery.", "dependency")
)

// stateDefs are the metrics of the state, in the order of the columns of stateSQL.
func stateDefs() []*collectors.Def {
	return []*collectors.Def{inRecoveryMetric, readOnlyMetric, connectionsMetric, connectionsLimitMetric, walReceiverMetric, lagMetric, lagBytesMetric}
}

// defs are the metrics of the kind postgres.
func defs() []*collectors.Def {
	all := append(remote.DependencyDefs(), stateDefs()...)
	return append(append(all, query.Defs()...), remote.CertificateExpiryMetric)
}

// Metrics implements Kind.
func (c *Config) Metrics(name string) []collectors.Metric {
	m := collectors.NewCatalog(defs(), "dependency", name)
	remote.DescribeDependency(m, ownReasons()...)
	address, _ := remote.ParseAddress(c.Address)
	m.Without(c.SSLMode == sslDisable || address.Socket != "", remote.CertificateExpiryMetric)
	m.Bools(inRecoveryMetric, readOnlyMetric, walReceiverMetric)
	m.Vanishing(append(stateDefs(), remote.CertificateExpiryMetric)...)
	c.Queries.Describe(m)
	return m.List()
}
