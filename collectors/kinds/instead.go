package kinds

import "slices"

// Instead returns where a measurement is that is expected as a kind of its own, "" for any other
// key. It implements strictyaml.Redirecter.
func (c *Config) Instead(key string) string {
	for instead, keys := range otherNames() {
		if slices.Contains(keys, key) {
			return instead
		}
	}
	return ""
}

// otherNames returns the names under which users look for a kind, by what to write. A name that is
// similar to that of the kind needs no line.
func otherNames() map[string][]string {
	const mysql = "tcp with protocol: mysql"
	return map[string][]string{
		"postgres":               {"postgresql", "pgsql", "pg", "pgbouncer"},
		mysql:                    {"mysql", "mariadb", "percona"},
		mysql + ", galera: true": {"galera", "clustercheck"},
		"postgres, or " + mysql + ", and queries": {"sql", "database", "db"},
		"redis":                                  {"valkey", "keydb", "dragonfly"},
		"redis with the address of the Sentinel": {"sentinel"},
		"tcp with protocol: amqp":                {"amqp", "rabbitmq", "rabbit"},
		"tcp with protocol: etcd":                {"etcd"},
		"tcp with protocol: ovsdb":               {"ovsdb", "ovs", "openvswitch", "ovn"},
		"tcp with query_response":                {"smtp", "imap", "pop3", "ftp", "ssh", "sshd", "socket"},
		"tcp":                                    {"port", "connect"},
		"http with an https URL":                 {"https"},
		"http":                                   {"url", "web", "rest", "api", "consul", "vault", "elasticsearch", "opensearch", "haproxy", "nginx", "apache"},
		"certificate, or http and tcp with tls for that of a server": {"tls", "ssl", "cert", "x509"},
		"openstack with service: load-balancer":                      {"octavia"},
		"openstack with service: compute":                            {"nova"},
		"openstack with service: block-storage":                      {"cinder"},
		"openstack with service: image":                              {"glance"},
		"kubernetes":                                                 {"k8s", "kube", "kubelet", "apiserver"},
		"keystone":                                                   {"identity"},
		"neutron":                                                    {"network"},
		"script":                                                     {"exec", "command", "cmd", "shell", "nagios", "nrpe"},
		"dns":                                                        {"resolver", "nameserver", "domain"},
		"ntp":                                                        {"chrony", "chronyd", "time", "clock", "timesync"},
		"systemd":                                                    {"unit", "units", "service", "services"},
		"supervisor":                                                 {"supervisord", "supervisorctl"},
		"process":                                                    {"proc", "pid", "pidfile", "pgrep", "sockets"},
		"capability":                                                 {"caps"},
		"cgroup":                                                     {"memory", "mem", "oom"},
		"disk":                                                       {"filesystem", "mount", "storage", "df"},
		"netlink":                                                    {"interface", "interfaces", "link", "route", "routes", "ethernet"},
		"scrape":                                                     {"exporter", "metrics", "openmetrics"},
		"textfile":                                                   {"prom", "node_textfile", "cron", "cronjob"},
		"components":                                                 {"heartbeat", "watchdog", "notify", "sd_notify"},
	}
}
