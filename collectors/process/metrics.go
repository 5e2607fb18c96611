package process

import (
	"slices"
	"strconv"

	"github.com/vitals-health/vitals/collectors"
)

// The metrics of the kind process.
var (
	upMetric             = collectors.NewGauge("vitals_process_up", "Whether at least one of the processes runs (1) or not (0); absent when nobody can say.", "process")
	instancesMetric      = collectors.NewGauge("vitals_process_instances", "How many of the processes run, zombies not counted.", "process")
	statesMetric         = collectors.NewGauge("vitals_process_states", "How many of the processes are in the state, zombies counted.", "process", "state")
	startTimeMetric      = collectors.NewGauge("vitals_process_start_time_seconds", "When the oldest of the processes was started, in seconds since the epoch.", "process")
	restartsMetric       = collectors.NewCounter("vitals_process_restarts_total", "How often the oldest of the processes was another one than in the round before.", "process")
	residentMemoryMetric = collectors.NewGauge("vitals_process_resident_memory_bytes", "Memory that the processes have in RAM, in bytes; what they share counts for each.", "process")
	threadsMetric        = collectors.NewGauge("vitals_process_threads", "How many threads the processes have.", "process")
	openFDsMetric        = collectors.NewGauge("vitals_process_open_fds", "How many descriptors are open in the process that is nearest to its limit.", "process")
	maxFDsMetric         = collectors.NewGauge("vitals_process_max_fds", "How many descriptors that process may open.", "process")
	zombieChildrenMetric = collectors.NewGauge("vitals_process_zombie_children", "How many children of the processes have ended without being waited for.", "process")
	connectionsMetric    = collectors.NewGauge("vitals_process_connections", "How many TCP sockets of the processes with that remote port are in the state; in time_wait, those of their network namespaces.", "process", "port", "state")
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
	DescribeProcessFailure(m)
	m.Closed("state", states, statesMetric)
	m.Configured("port", numbers(c.Connections), connectionsMetric)
	m.Closed("state", tcp, connectionsMetric)
	m.Configured("port", numbers(slices.Concat(c.Listen, c.UDP)), listeningMetric)
	m.Chosen("protocol", protocols, []string{"tcp", "udp"}, listeningMetric)
	m.Configured("path", c.UnixSockets, unixSocketMetric)
	m.Bools(upMetric, listeningMetric, unixSocketMetric)
	m.Vanishing(zombieChildrenMetric) // not every kernel tells the children
	return m.List()
}

// DescribeProcessFailure completes what processFailureDesc describes.
func DescribeProcessFailure(c *collectors.Catalog) {
	reasons := reasons()
	c.Closed("reason", collectors.Texts(reasons[:]), FailureMetric)
	c.Bools(FailureMetric)
}

// numbers are ports as a label has them, each once.
func numbers(ports []int) []string {
	var all []string
	for _, port := range ports {
		all = append(all, strconv.Itoa(port))
	}
	return collectors.Unique(all)
}
