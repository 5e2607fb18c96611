package collectors

import (
	"slices"
	"strconv"

	"github.com/prometheus/common/model"
)

// processDescs are the metrics of the kind process.
func processDescs() []Desc {
	return []Desc{
		{"vitals_process_up", "Whether at least one of the processes runs (1) or not (0); absent when nobody can say.", model.MetricTypeGauge},
		processFailureDesc(),
		{"vitals_process_instances", "How many of the processes run, zombies not counted.", model.MetricTypeGauge},
		{"vitals_process_states", "How many of the processes are in the state, zombies counted.", model.MetricTypeGauge},
		{"vitals_process_start_time_seconds", "When the oldest of the processes was started, in seconds since the epoch.", model.MetricTypeGauge},
		{"vitals_process_restarts_total", "How often the oldest of the processes was another one than in the round before.", model.MetricTypeCounter},
		{"vitals_process_resident_memory_bytes", "Memory that the processes have in RAM, in bytes; what they share counts for each.", model.MetricTypeGauge},
		{"vitals_process_threads", "How many threads the processes have.", model.MetricTypeGauge},
		{"vitals_process_open_fds", "How many descriptors are open in the process that is nearest to its limit.", model.MetricTypeGauge},
		{"vitals_process_max_fds", "How many descriptors that process may open.", model.MetricTypeGauge},
		{"vitals_process_zombie_children", "How many children of the processes have ended without being waited for.", model.MetricTypeGauge},
		{"vitals_process_connections", "How many TCP sockets of the processes with that remote port are in the state; in time_wait, those of their network namespaces.", model.MetricTypeGauge},
		{"vitals_process_listening", "Whether one of the processes listens on the TCP port, or has a UDP socket with it (1), or none (0).", model.MetricTypeGauge},
		{"vitals_process_unix_socket", "Whether one of the processes has the Unix socket, open for others (1), or none (0).", model.MetricTypeGauge},
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
	m := newCatalog(processDescs(), "process", name)
	m.processFailure()
	m.closed("state", states, "vitals_process_states")
	m.configured("port", numbers(c.Connections), "vitals_process_connections")
	m.closed("state", tcp, "vitals_process_connections")
	m.configured("port", numbers(slices.Concat(c.Listen, c.UDP)), "vitals_process_listening")
	m.chosen("protocol", protocols, []string{"tcp", "udp"}, "vitals_process_listening")
	m.configured("path", c.UnixSockets, "vitals_process_unix_socket")
	m.bools("vitals_process_up", "vitals_process_listening", "vitals_process_unix_socket")
	m.vanishing("vitals_process_zombie_children") // not every kernel tells the children
	return m.list()
}

// processFailure completes what processFailureDesc describes.
func (c *catalog) processFailure() {
	reasons := processReasons()
	c.closed("reason", texts(reasons[:]), "vitals_process_failure")
	c.bools("vitals_process_failure")
}

// numbers are ports as a label has them, each once.
func numbers(ports []int) []string {
	var all []string
	for _, port := range ports {
		all = append(all, strconv.Itoa(port))
	}
	return unique(all)
}
