package process

import (
	"slices"
	"strconv"

	"github.com/vitals-health/vitals/collectors"
)

// The metrics of the kind process.
var (
	upMetric             = collectors.NewGauge("vitals_process_up", "Whether at least one of the processes runs (1) or not (0); absent if unknown.", "process")
	instancesMetric      = collectors.NewGauge("vitals_process_instances", "Number of running processes, without zombies.", "process")
	statesMetric         = collectors.NewGauge("vitals_process_states", "Number of processes in the state, with zombies.", "process", "state")
	startTimeMetric      = collectors.NewGauge("vitals_process_start_time_seconds", "Start time of the oldest process, in seconds since the epoch.", "process")
	restartsMetric       = collectors.NewCounter("vitals_process_restarts_total", "Number of collections in which the oldest process was not that of the previous one.", "process")
	residentMemoryMetric = collectors.NewGauge("vitals_process_resident_memory_bytes", "Memory of the processes in RAM, in bytes; shared memory counts for each.", "process")
	threadsMetric        = collectors.NewGauge("vitals_process_threads", "Number of threads of the processes.", "process")
	openFDsMetric        = collectors.NewGauge("vitals_process_open_fds", "Number of open descriptors of the process nearest to its limit.", "process")
	maxFDsMetric         = collectors.NewGauge("vitals_process_max_fds", "Limit of open descriptors of that process.", "process")
	zombieChildrenMetric = collectors.NewGauge("vitals_process_zombie_children", "Number of children of the processes that have ended and were not waited for.", "process")
	connectionsMetric    = collectors.NewGauge("vitals_process_connections", "Number of TCP sockets of the processes with the remote port in the state; for time_wait, those of their network namespaces.", "process", "port", "state")
	listeningMetric      = collectors.NewGauge("vitals_process_listening", "Whether one of the processes listens on the TCP port, or has a UDP socket with it (1), or none (0).", "process", "port", "protocol")
	unixSocketMetric     = collectors.NewGauge("vitals_process_unix_socket", "Whether one of the processes has the Unix socket, open for others (1), or none (0).", "process", "path")
)

// defs are the metrics of the kind process.
func defs() []*collectors.Def {
	return []*collectors.Def{
		upMetric,
		FailureMetric,
		instancesMetric,
		statesMetric,
		startTimeMetric,
		restartsMetric,
		residentMemoryMetric,
		threadsMetric,
		openFDsMetric,
		maxFDsMetric,
		zombieChildrenMetric,
		connectionsMetric,
		listeningMetric,
		unixSocketMetric,
	}
}

// Metrics implements Kind.
func (c *Config) Metrics(name string) []collectors.Metric {
	var states, tcp, protocols []string
	for _, s := range processStates() {
		states = append(states, s.state)
	}
	for _, state := range tcpStates() {
		if state != "" {
			tcp = append(tcp, state)
		}
	}
	if len(c.Listen) > 0 {
		protocols = append(protocols, "tcp")
	}
	if len(c.UDP) > 0 {
		protocols = append(protocols, "udp")
	}
	m := collectors.NewCatalog(defs(), "process", name)
	DescribeFailure(m)
	m.Closed("state", states, statesMetric)
	m.Configured("port", numbers(c.Connections), connectionsMetric)
	m.Closed("state", tcp, connectionsMetric)
	m.Configured("port", numbers(slices.Concat(c.Listen, c.UDP)), listeningMetric)
	m.Chosen("protocol", protocols, []string{"tcp", "udp"}, listeningMetric)
	m.Configured("path", c.UnixSockets, unixSocketMetric)
	m.Bools(upMetric, listeningMetric, unixSocketMetric)
	m.Vanishing(zombieChildrenMetric) // not every kernel lists children
	return m.List()
}

// DescribeFailure adds the labels of FailureMetric to a catalog.
func DescribeFailure(c *collectors.Catalog) {
	reasons := reasons()
	c.Closed("reason", collectors.Texts(reasons[:]), FailureMetric)
	c.Bools(FailureMetric)
}

// numbers formats ports as label values, each once.
func numbers(ports []int) []string {
	var all []string
	for _, port := range ports {
		all = append(all, strconv.Itoa(port))
	}
	return collectors.Unique(all)
}
