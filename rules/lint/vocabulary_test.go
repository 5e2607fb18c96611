package lint_test

import (
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/rules/lint"
)

// own lists the metrics of Vitals itself: name, type, labels. A label without values can
// have any; "vanishes" and "bool" are not labels.
const own = `
	vitals_state                                      gauge   bool state=ready,alive,started
	vitals_state_transitions_total                    counter state=ready,alive,started
	vitals_rule_status                                gauge   bool rule state=ready,alive,started status=ok,pending,failing,unknown
	vitals_collector_success                          gauge   bool collector=keystone,neutron,kubernetes,local,components,app,daemon,memory,conf,net-admin,units
	vitals_collector_duration_seconds                 gauge   collector=keystone,neutron,kubernetes,local,components,app,daemon,memory,conf,net-admin,units
	vitals_collector_last_success_timestamp_seconds   gauge   vanishes collector=keystone,neutron,kubernetes,local,components,app,daemon,memory,conf,net-admin,units
	vitals_evaluation_timestamp_seconds               gauge
	vitals_config_last_reload_successful              gauge   bool
`

// exporters lists the collectors of the corpus' configuration, "name kind interval", each
// followed by its metrics.
const exporters = `
keystone keystone 10s external
	vitals_dependency_up                              gauge   bool dependency=keystone
	vitals_dependency_latency_seconds                 gauge   vanishes dependency=keystone
	vitals_dependency_failure                         gauge   bool dependency=keystone reason=dns,refused,timeout,tls,auth,forbidden,not_found,client_error,server_error,protocol,missing_endpoint
	vitals_keystone_tokens_issued_total               counter dependency=keystone
	vitals_keystone_token_expiry_timestamp_seconds    gauge   vanishes dependency=keystone
	vitals_keystone_endpoint_present                  gauge   bool dependency=keystone service=network
neutron neutron 10s external
	vitals_dependency_up                              gauge   bool dependency=neutron
	vitals_dependency_latency_seconds                 gauge   vanishes dependency=neutron
	vitals_dependency_failure                         gauge   bool dependency=neutron reason=dns,refused,timeout,tls,auth,forbidden,not_found,client_error,server_error,protocol,missing_endpoint
	vitals_neutron_quota_limit                        gauge   vanishes dependency=neutron resource=network,port,subnet,security_group
	vitals_neutron_quota_unlimited                    gauge   bool vanishes dependency=neutron resource=network,port,subnet,security_group
	vitals_neutron_quota_used                         gauge   vanishes dependency=neutron resource=network,port,subnet,security_group
	vitals_neutron_quota_reserved                     gauge   vanishes dependency=neutron resource=network,port,subnet,security_group
	vitals_neutron_agents_alive                       gauge   dependency=neutron agent_type
kubernetes kubernetes 10s external
	vitals_dependency_up                              gauge   bool dependency=kubernetes
	vitals_dependency_latency_seconds                 gauge   vanishes dependency=kubernetes
	vitals_dependency_failure                         gauge   bool dependency=kubernetes reason=dns,refused,timeout,tls,auth,forbidden,not_found,client_error,server_error,protocol,missing_endpoint
	vitals_kubernetes_watch_connected                 gauge   bool dependency=kubernetes resource=pods
	vitals_kubernetes_watch_last_contact_timestamp_seconds gauge dependency=kubernetes resource=pods
	vitals_kubernetes_watch_restarts_total            counter dependency=kubernetes resource=pods
	vitals_kubernetes_access_allowed                  gauge   bool dependency=kubernetes verb=list,patch resource=pods namespace=,kuryr
	vitals_kubernetes_crd_present                     gauge   bool dependency=kubernetes crd=kuryrports.openstack.org
local http 10s
	vitals_dependency_up                              gauge   bool dependency=local
	vitals_dependency_latency_seconds                 gauge   vanishes dependency=local
	vitals_dependency_failure                         gauge   bool dependency=local reason=dns,refused,timeout,tls,auth,forbidden,not_found,client_error,server_error,protocol,missing_endpoint
	vitals_http_status_code                           gauge   dependency=local
	vitals_http_phase_duration_seconds                gauge   vanishes dependency=local phase=resolve,connect,tls,processing,transfer
components components 0s
	vitals_component_expected                         gauge   bool component=watcher,server
	vitals_component_reported                         gauge   bool component=watcher,server
	vitals_component_alive                            gauge   bool vanishes component=watcher,server
	vitals_component_ready                            gauge   bool vanishes component=watcher,server
	vitals_component_last_report_timestamp_seconds    gauge   vanishes component=watcher,server
	vitals_component_reports_total                    counter component=watcher,server
	vitals_component_events_total                     counter vanishes component=watcher,server event=cni_add,cni_del result=success,failure,excused
	vitals_component_consecutive_failures             gauge   vanishes component=watcher,server event=cni_add,cni_del
	vitals_component_consecutive_failures_limit       gauge   event=cni_add,cni_del
app scrape 15s passes-on
	vitals_scrape_up                                  gauge   bool component=app
	vitals_scrape_duration_seconds                    gauge   component=app
	vitals_scrape_samples                             gauge   component=app
	vitals_scrape_failure                             gauge   bool component=app reason=dns,refused,timeout,protocol
daemon process 10s
	vitals_process_up                                 gauge   bool process=daemon
	vitals_process_instances                          gauge   process=daemon
	vitals_process_states                             gauge   process=daemon state=running,sleeping,waiting,zombie,stopped
	vitals_process_start_time_seconds                 gauge   process=daemon
	vitals_process_restarts_total                     counter process=daemon
	vitals_process_uptime_seconds                     gauge   process=daemon
	vitals_process_resident_memory_bytes              gauge   process=daemon
	vitals_process_open_fds                           gauge   process=daemon
	vitals_process_max_fds                            gauge   process=daemon
	vitals_process_listening                          gauge   bool process=daemon port=8080 protocol=tcp
sidecar process 10s
	vitals_process_up                                 gauge   bool process=sidecar
	vitals_process_listening                          gauge   bool process=sidecar port=9090 protocol=tcp
memory cgroup 10s
	vitals_cgroup_memory_usage_bytes                  gauge   cgroup=memory
	vitals_cgroup_memory_working_set_bytes            gauge   cgroup=memory
	vitals_cgroup_memory_swap_bytes                   gauge   vanishes cgroup=memory
	vitals_cgroup_memory_limit_bytes                  gauge   cgroup=memory
	vitals_cgroup_memory_oom_kills_total              counter vanishes cgroup=memory
	vitals_cgroup_memory_pressure_ratio               gauge   vanishes cgroup=memory kind=some,full window=10s,60s,300s
	vitals_memory_limit_bytes                         gauge   cgroup=memory
	vitals_cgroup_failure                             gauge   bool cgroup=memory reason=missing,forbidden,unsupported
conf file 1m
	vitals_file_exists                                gauge   bool file=conf
	vitals_file_size_bytes                            gauge   vanishes file=conf
	vitals_file_mtime_timestamp_seconds               gauge   vanishes file=conf
	vitals_file_valid                                 gauge   bool vanishes file=conf format=ini
net-admin capability 10s
	vitals_process_capability                         gauge   bool process=net-admin capability=NET_ADMIN set=effective,permitted,inheritable,bounding,ambient
units systemd 10s
	vitals_systemd_up                                 gauge   bool systemd=units
	vitals_systemd_unit_state                         gauge   bool systemd=units unit=nova-compute.service state=active,reloading,inactive,failed,activating,deactivating
	vitals_systemd_unit_restarts_total                counter vanishes systemd=units unit=nova-compute.service
`

// vocabulary returns the metrics of the collectors above. Features are "unconfigured": the
// metrics that their kinds can export in any configuration; "closed": without the collector
// that scrapes other programs; "nothing": no vocabulary at all.
func vocabulary(features []string) *lint.Vocabulary {
	if slices.Contains(features, "nothing") {
		return nil
	}
	configured := !slices.Contains(features, "unconfigured")
	v := &lint.Vocabulary{Configured: configured}
	if configured {
		v.Kinds = []lint.Metric{{Name: "vitals_netlink_up", Kind: "netlink"}, {Name: "vitals_process_failure", Kind: "capability"}, {Name: "vitals_process_failure", Kind: "process"}}
	}
	var exporter lint.Metric
	exported := own + exporters
	if slices.Contains(features, "unexpected") {
		exported = strings.ReplaceAll(exported, "component=watcher,server", "component")
	}
	for line := range strings.Lines(exported) {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0:
		case line[0] == '\t':
			v.Metrics = append(v.Metrics, metric(exporter, fields, configured))
		default:
			exporter = collector(fields, configured)
			if slices.Contains(fields, "passes-on") && !slices.Contains(features, "closed") {
				passed := exporter
				passed.Labels = map[string][]string{"component": values(fields[0], configured)}
				v.Others = append(v.Others, passed)
			}
		}
	}
	return v
}

func collector(fields []string, configured bool) lint.Metric {
	interval, err := model.ParseDuration(fields[2])
	if err != nil {
		panic(err)
	}
	m := lint.Metric{
		Collector: fields[0], Kind: fields[1], Interval: time.Duration(interval),
		External: slices.Contains(fields, "external"),
	}
	if !configured {
		m.Collector, m.Interval = "", 0
		m.MayBeLocal = slices.Contains([]string{"http", "tcp"}, m.Kind)
		m.External = m.External || m.MayBeLocal
	}
	return m
}

// configurable are the labels whose values come from the configuration.
const configurable = "namespace dependency component process cgroup file systemd collector resource service verb crd event unit port capability format"

func metric(exporter lint.Metric, fields []string, configured bool) lint.Metric {
	m := exporter
	m.Name, m.Type, m.Labels = fields[0], model.MetricType(fields[1]), map[string][]string{}
	for _, field := range fields[2:] {
		switch name, list, _ := strings.Cut(field, "="); {
		case field == "bool":
			m.Bool = true
		case field == "vanishes":
			m.Vanishes = true
		case list == "":
			m.Labels[name] = nil
		default:
			m.Labels[name] = values(list, configured || !slices.Contains(strings.Fields(configurable), name))
		}
	}
	return m
}

func values(list string, known bool) []string {
	if !known {
		return nil
	}
	return strings.Split(list, ",")
}
