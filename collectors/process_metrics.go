package collectors

import (
	"slices"
	"strconv"
)

// The metrics of the kind process.
var (
	processUpMetric             = newGauge("vitals_process_up", "Whether at least one of the processes runs (1) or not (0); absent when nobody can say.", "process")
	processInstancesMetric      = newGauge("vitals_process_instances", "How many of the processes run, zombies not counted.", "process")
	processStatesMetric         = newGauge("vitals_process_states", "How many of the processes are in the state, zombies counted.", "process", "state")
	processStartTimeMetric      = newGauge("vitals_process_start_time_seconds", "When the oldest of the processes was started, in seconds since the epoch.", "process")
	processRestartsMetric       = newCounter("vitals_process_restarts_total", "How often the oldest of the processes was another one than in the round before.", "process")
	processResidentMemoryMetric = newGauge("vitals_process_resident_memory_bytes", "Memory that the processes have in RAM, in bytes; what they share counts for each.", "process")
	processThreadsMetric        = newGauge("vitals_process_threads", "How many threads the processes have.", "process")
	processOpenFDsMetric        = newGauge("vitals_process_open_fds", "How many descriptors are open in the process that is nearest to its limit.", "process")
	processMaxFDsMetric         = newGauge("vitals_process_max_fds", "How many descriptors that process may open.", "process")
	processZombieChildrenMetric = newGauge("vitals_process_zombie_children", "How many children of the processes have ended without being waited for.", "process")
	processConnectionsMetric    = newGauge("vitals_process_connections", "How many TCP sockets of the processes with that remote port are in the state; in time_wait, those of their network namespaces.", "process", "port", "state")
	processListeningMetric      = newGauge("vitals_process_listening", "Whether one of the processes listens on the TCP port, or has a UDP socket with it (1), or none (0).", "process", "port", "protocol")
	processUnixSocketMetric     = newGauge("vitals_process_unix_socket", "Whether one of the processes has the Unix socket, open for others (1), or none (0).", "process", "path")
)

// processDefs are the metrics of the kind process.
func processDefs() []*Def {
	return []*Def{
		processUpMetric,
		processFailureMetric,
		processInstancesMetric,
		processStatesMetric,
		processStartTimeMetric,
		processRestartsMetric,
		processResidentMemoryMetric,
		processThreadsMetric,
		processOpenFDsMetric,
		processMaxFDsMetric,
		processZombieChildrenMetric,
		processConnectionsMetric,
		processListeningMetric,
		processUnixSocketMetric,
	}
}

// Metrics implements Kind.
func (c *ProcessConfig) Metrics(name string) []Metric {
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
	m := newCatalog(processDefs(), "process", name)
	describeProcessFailure(m)
	m.closed("state", states, processStatesMetric)
	m.configured("port", numbers(c.Connections), processConnectionsMetric)
	m.closed("state", tcp, processConnectionsMetric)
	m.configured("port", numbers(slices.Concat(c.Listen, c.UDP)), processListeningMetric)
	m.chosen("protocol", protocols, []string{"tcp", "udp"}, processListeningMetric)
	m.configured("path", c.UnixSockets, processUnixSocketMetric)
	m.bools(processUpMetric, processListeningMetric, processUnixSocketMetric)
	m.vanishing(processZombieChildrenMetric) // not every kernel tells the children
	return m.list()
}

// describeProcessFailure completes what processFailureDesc describes.
func describeProcessFailure(c *catalog) {
	reasons := processReasons()
	c.closed("reason", texts(reasons[:]), processFailureMetric)
	c.bools(processFailureMetric)
}

// numbers are ports as a label has them, each once.
func numbers(ports []int) []string {
	var all []string
	for _, port := range ports {
		all = append(all, strconv.Itoa(port))
	}
	return unique(all)
}
