package profiles_test

import "strings"

// processes are those of a container that may be there: the first ones run.
func processes(running string, all ...string) string {
	var b strings.Builder
	for _, p := range all {
		b.WriteString(`vitals_process_up{process="` + p + `"} ` + flag(strings.Contains(" "+running+" ", " "+p+" ")) + "\n")
	}
	return b.String()
}

func tripleoSwiftCases() []tripleoCase {
	const (
		api     = "vitals_dependency_up{dependency=\"swift-object\"} "
		limit   = "vitals_file_age_limit_seconds{file=\"replication\"} 300\n"
		last    = "vitals_file_epoch_timestamp_seconds{file=\"replication\",key=\"replication_last\"} "
		stale   = "ReplicationStale: failing swift-object-replicator finished its last pass "
		nothing = "NothingToCheck: unknown no data for tripleo_role"
		rsync   = "vitals_process_listening{process=\"rsync\",port=\"873\",protocol=\"tcp\"} "
	)
	running := func(name string) string {
		return processes(name, "swift-object-server", "swift-object-replicator", "rsync")
	}
	server, replicator := running("swift-object-server"), running("swift-object-replicator")
	return []tripleoCase{
		{"a server of Swift answers", "swift", server + api + "1\n" + rsync + "0", "", ""},
		{"a server of Swift does not answer", "swift", server + api + "0\nvitals_dependency_failure{dependency=\"swift-object\",reason=\"refused\"} 1",
			"APIDown: failing swift-object does not answer as it should: refused.", ""},
		{"a server of Swift was not queried", "swift", server, "APIDown: failing swift-object does not answer as it should: there is no result of it.", ""},
		{"a server beside its replicator", "swift", running("swift-object-server swift-object-replicator rsync") + api + "1\n" + rsync + "0", "", ""},
		{"replicated a moment ago", "swift", replicator + api + "0\n" + limit + last + "1699999999", "", ""},
		{"replicated at the limit", "swift", replicator + limit + last + "1699999700", "", ""},
		{"replicated too long ago (E26)", "swift", replicator + limit + last + "1699999699", stale + "5m 1s ago; its interval is 5m 0s.", ""},
		{"replicated in the future (E25)", "swift", replicator + limit + last + "1700003600", stale + "in the future, so a clock is wrong; its interval is 5m 0s.", ""},
		{"replicated by a clock that is a bit ahead", "swift", replicator + limit + last + "1700000059", "", ""},
		{"the cache has no time of replication", "swift", replicator + limit, stale + "at an unknown time; its interval is 5m 0s.", ""},
		{"rsync of Swift listens", "swift", running("rsync") + rsync + "1\n" + api + "0\n" + limit, "", ""},
		{"rsync of Swift does not listen", "swift", running("rsync") + rsync + "0", "NotListening: failing rsync does not listen on port 873/tcp.", ""},
		{"nothing of Swift runs that shows anything (E27)", "swift", running("") + api + "1\n" + rsync + "1\n" + limit + last + "1699999999", nothing, ""},
		{"nothing is known of Swift", "swift", "", nothing, ""},
		{"nothing is known of Swift's server", "swift", processes("swift-object-replicator rsync", "swift-object-replicator", "rsync") + limit + last + "1699999999\n" + rsync + "1", nothing, ""},
		{"nothing is known of Swift's replicator", "swift", processes("rsync", "swift-object-server", "rsync") + rsync + "1", nothing, ""},
		{"the proxy answers", "swift", processes("swift-proxy-server", "swift-proxy-server") + `vitals_dependency_up{dependency="swift-proxy"} 1`, "", ""},
		{"no proxy runs (E27)", "swift", processes("", "swift-proxy-server") + `vitals_dependency_up{dependency="swift-proxy"} 1`, nothing, ""},
	}
}

func tripleoGuessCases() []tripleoCase {
	const (
		nothing = "NothingToCheck: unknown no data for tripleo_role"
		sshd    = "vitals_process_listening{process=\"sshd\",port=\"2022\",protocol=\"tcp\"} "
		tftp    = "vitals_process_listening{process=\"dnsmasq\",port=\"69\",protocol=\"udp\"} "
	)
	compute := func(running string) string { return processes(running, "nova-compute", "sshd") }
	up := func(name string) string { return `vitals_dependency_up{dependency="` + name + "\"} 1\n" }
	down := func(name string) string {
		return `vitals_dependency_up{dependency="` + name + "\"} 0\n" + `vitals_dependency_failure{dependency="` + name + "\",reason=\"timeout\"} 1\n"
	}
	silent := func(rule, name string) string {
		return rule + ": failing " + name + " does not answer as it should: timeout."
	}
	return append([]tripleoCase{
		{"nova-compute is connected", "nova-compute", compute("nova-compute") + connections("nova-compute", "established") + sshd + "0", "", ""},
		{"nova-compute is connecting (E12)", "nova-compute", compute("nova-compute") + connections("nova-compute", "syn_sent") + sshd + "1",
			"RabbitMQNotConnected: failing nova-compute has no established connection to RabbitMQ (ports 5671, 5672), 1 in syn_sent.", ""},
		{"nova-compute's sockets cannot be seen", "nova-compute", compute("nova-compute"),
			"RabbitMQNotConnected: failing nova-compute has no established connection to RabbitMQ, as its sockets cannot be seen.", ""},
		{"nova-compute and an sshd of the host", "nova-compute", compute("nova-compute sshd") + connections("nova-compute", "established") + sshd + "0", "", ""},
		{"the target of migrations listens", "nova-compute", compute("sshd") + connections("nova-compute", "") + sshd + "1", "", ""},
		{"the target of migrations does not listen", "nova-compute", compute("sshd") + sshd + "0", "NotListening: failing sshd does not listen on port 2022/tcp.", ""},
		{"nothing is known of nova-compute", "nova-compute", processes("sshd", "sshd") + sshd + "1", nothing, ""},
		{"neither nova-compute nor sshd (E27)", "nova-compute", compute("") + connections("nova-compute", "") + sshd + "0", nothing, ""},

		{"the compute API answers", "nova-api", processes("", "metadata") + up("nova-api"), "", ""},
		{"the compute API is down", "nova-api", processes("", "metadata") + down("nova-api") + up("nova-metadata"), silent("APIDown", "nova-api"), ""},
		{"the metadata API answers", "nova-api", processes("metadata", "metadata") + up("nova-metadata") + down("nova-api"), "", ""},
		{"the metadata API is down", "nova-api", processes("metadata", "metadata") + down("nova-metadata") + up("nova-api"), silent("APIDown", "nova-metadata"), ""},
		{"the metadata API was not queried", "nova-api", processes("metadata", "metadata") + up("nova-api"),
			"APIDown: failing nova-metadata does not answer as it should: there is no result of it.", ""},
		{"it is unknown which API it is", "nova-api", up("nova-api") + up("nova-metadata"), "APIDown: unknown no data for tripleo_role", ""},

		{"the database answers", "mariadb", processes("", "socat") + up("mysql"), "", ""},
		{"the database is down", "mariadb", processes("", "socat") + down("mysql") + up("clustercheck"), silent("DatabaseDown", "mysql"), ""},
		{"clustercheck answers", "mariadb", processes("socat", "socat") + up("clustercheck") + down("mysql"), "", ""},
		{"clustercheck reports that the node is out of sync", "mariadb", processes("socat", "socat") + down("clustercheck") + up("mysql"), silent("DatabaseDown", "clustercheck"), ""},
	}, []tripleoCase{
		{"dnsmasq of the inspector runs", "ironic-inspector", processes("dnsmasq", "dnsmasq") + down("ironic-inspector"), "", ""},
		{"the inspector answers", "ironic-inspector", processes("", "dnsmasq") + up("ironic-inspector"), "", ""},
		{"neither the inspector nor dnsmasq", "ironic-inspector", processes("", "dnsmasq") + down("ironic-inspector"), silent("APIDown", "ironic-inspector"), ""},
		{"nothing is known of the inspector", "ironic-inspector", "", "APIDown: unknown no data for tripleo_role", ""},

		{"images come over HTTP", "ironic-pxe", processes("httpd", "httpd", "dnsmasq", "in.tftpd") + up("ironic-pxe") + tftp + "0", "", ""},
		{"images do not come over HTTP", "ironic-pxe", processes("httpd", "httpd", "dnsmasq", "in.tftpd") + down("ironic-pxe"), silent("APIDown", "ironic-pxe"), ""},
		{"images come over TFTP", "ironic-pxe", processes("dnsmasq", "httpd", "dnsmasq", "in.tftpd") + down("ironic-pxe") + tftp + "1", "", ""},
		{"images do not come over TFTP", "ironic-pxe", processes("dnsmasq", "httpd", "dnsmasq", "in.tftpd") + tftp + "0", "NotListening: failing dnsmasq does not listen on port 69/udp.", ""},
		{"images come over TFTP, and nothing is known of Apache", "ironic-pxe", processes("dnsmasq", "dnsmasq", "in.tftpd") + tftp + "1", nothing, ""},
		{"images come over HTTP and not over TFTP", "ironic-pxe", processes("httpd dnsmasq", "httpd", "dnsmasq", "in.tftpd") + up("ironic-pxe") + tftp + "0",
			"NotListening: failing dnsmasq does not listen on port 69/udp.", ""},
		{"no process serves images (E27)", "ironic-pxe", processes("", "httpd", "dnsmasq", "in.tftpd") + up("ironic-pxe") + tftp + "1", nothing, ""},
	}...)
}
