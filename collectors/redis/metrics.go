package redis

import (
	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// The reasons that remote.Reasons does not have.
const (
	reasonLoginRequired      remote.Reason = "login_required"
	reasonTooManyConnections remote.Reason = "too_many_connections"
	reasonLoading            remote.Reason = "loading"
	reasonMasterDown         remote.Reason = "master_down"
	reasonBusy               remote.Reason = "busy"
	reasonCannotSave         remote.Reason = "cannot_save"
)

// ownReasons returns the reasons of vitals_dependency_failure that only this kind has.
func ownReasons() []remote.Reason {
	return []remote.Reason{reasonLoginRequired, reasonTooManyConnections, reasonLoading, reasonMasterDown, reasonBusy, reasonCannotSave}
}

// The metrics of the kind redis.
var (
	roleMetric           = collectors.NewGauge("vitals_redis_role", "The role of the server in its replication: 1 for that role, 0 for the other; absent for a Sentinel.", "dependency", "role")
	masterLinkMetric     = collectors.NewGauge("vitals_redis_master_link_up", "Whether the replica has a connection to its master (1) or not (0); absent for a master.", "dependency")
	masterLinkDownMetric = collectors.NewGauge("vitals_redis_master_link_down_seconds", "How long the replica has had no connection to its master, in seconds; absent for a master and with a connection.", "dependency")
	masterIOMetric       = collectors.NewGauge("vitals_redis_master_last_io_seconds", "How long ago the replica received something from its master, in seconds; absent for a master and without a connection.", "dependency")
	offsetMetric         = collectors.NewGauge("vitals_redis_replication_offset_bytes", "How far the server is in the stream of replication: what a master has written, or a replica has applied, in bytes.", "dependency")
	replicasMetric       = collectors.NewGauge("vitals_redis_replicas_online", "How many replicas receive the changes of the server.", "dependency")
	replicaLagMetric     = collectors.NewGauge("vitals_redis_replica_lag_bytes", "How far the last of the online replicas is behind, in bytes; absent without one.", "dependency")
	replicaAgeMetric     = collectors.NewGauge("vitals_redis_replica_lag_seconds", "How long ago the most silent of the online replicas confirmed what it has, in seconds; absent without one.", "dependency")
	memoryMetric         = collectors.NewGauge("vitals_redis_memory_used_bytes", "How much memory the data and the buffers use, in bytes.", "dependency")
	memoryLimitMetric    = collectors.NewGauge("vitals_redis_memory_limit_bytes", "How much memory the server may use, its maxmemory, in bytes; absent without a limit.", "dependency")
	evictsMetric         = collectors.NewGauge("vitals_redis_memory_evicts", "Whether the server removes keys at its limit of memory (1) or refuses writes (0); absent without a limit.", "dependency")
	evictedMetric        = collectors.NewCounter("vitals_redis_evicted_keys_total", "How many keys the server has removed because of its limit of memory.", "dependency")
	clientsMetric        = collectors.NewGauge("vitals_redis_clients", "How many connections of clients the server has, with that of the check and without those of replicas.", "dependency")
	clientsLimitMetric   = collectors.NewGauge("vitals_redis_clients_limit", "How many connections the server accepts, its maxclients.", "dependency")
	clientsBlockedMetric = collectors.NewGauge("vitals_redis_clients_blocked", "How many clients wait in a blocking command such as BLPOP.", "dependency")
	rejectedMetric       = collectors.NewCounter("vitals_redis_connections_rejected_total", "How many connections the server has refused because of maxclients.", "dependency")
	loadingMetric        = collectors.NewGauge("vitals_redis_loading", "Whether the server loads its data from a file (1) or not (0).", "dependency")
	persistenceMetric    = collectors.NewGauge("vitals_redis_persistence_ok", "Whether the last attempt of an operation of persistence succeeded (1) or failed (0); those of the append-only file are absent without one.", "dependency", "operation")
	clusterMetric        = collectors.NewGauge("vitals_redis_cluster_ok", "Whether the node serves queries by the state of its cluster (1) or not (0); absent without a cluster.", "dependency")
	clusterSlotsMetric   = collectors.NewGauge("vitals_redis_cluster_slots", "How many of the 16384 slots of the cluster are in a state: assigned to a node, and of those with a node that is ok, suspected (pfail) or failed (fail); absent without a cluster.", "dependency", "state")
	clusterNodesMetric   = collectors.NewGauge("vitals_redis_cluster_nodes", "How many nodes of the cluster the server has in its list; absent without a cluster.", "dependency")
)

// roles are the values of the label role.
func roles() []string { return []string{"master", "replica"} }

// operations are the values of the label operation, with their fields in INFO.
func operations() []named {
	return []named{{"rdb_last_bgsave_status", "rdb_save"}, {"aof_last_bgrewrite_status", "aof_rewrite"}, {"aof_last_write_status", "aof_write"}}
}

// slotStates are the values of the label state, with their fields in CLUSTER INFO.
func slotStates() []named {
	return []named{{"cluster_slots_assigned", "assigned"}, {"cluster_slots_ok", "ok"}, {"cluster_slots_pfail", "pfail"}, {"cluster_slots_fail", "fail"}}
}

// named is a field and the value of a label.
type named struct{ field, label string }

func labelsOf(all []named) []string {
	var labels []string
	for _, n := range all {
		labels = append(labels, n.label)
	}
	return labels
}

// ownDefs are the metrics of the state of a server.
func ownDefs() []*collectors.Def {
	return []*collectors.Def{
		roleMetric, masterLinkMetric, masterLinkDownMetric, masterIOMetric, offsetMetric, replicasMetric, replicaLagMetric, replicaAgeMetric,
		memoryMetric, memoryLimitMetric, evictsMetric, evictedMetric,
		clientsMetric, clientsLimitMetric, clientsBlockedMetric, rejectedMetric,
		loadingMetric, persistenceMetric, clusterMetric, clusterSlotsMetric, clusterNodesMetric,
	}
}

func defs() []*collectors.Def {
	return append(append(remote.DependencyDefs(), ownDefs()...), remote.CertificateExpiryMetric)
}

// Metrics implements collectors.Kind.
func (c *Config) Metrics(name string) []collectors.Metric {
	m := collectors.NewCatalog(defs(), "dependency", name)
	remote.DescribeDependency(m, ownReasons()...)
	m.Without(c.TLS == nil, remote.CertificateExpiryMetric)
	m.Closed("role", roles(), roleMetric)
	m.Closed("operation", labelsOf(operations()), persistenceMetric)
	m.Closed("state", labelsOf(slotStates()), clusterSlotsMetric)
	m.Bools(roleMetric, masterLinkMetric, evictsMetric, loadingMetric, persistenceMetric, clusterMetric)
	m.Vanishing(append(ownDefs(), remote.CertificateExpiryMetric)...) // what a server does not have, or does not answer
	return m.List()
}
