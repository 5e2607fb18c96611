package rulecheck

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/collectors/kinds"
	"github.com/vitals-health/vitals/collectors/scrape"
	"github.com/vitals-health/vitals/internal/config"
	"github.com/vitals-health/vitals/internal/profiles"
	"github.com/vitals-health/vitals/rules/lint"
)

// shown is a metric of a vocabulary in one line.
func shown(m lint.Metric) string {
	var labels, marks []string
	for _, label := range slices.Sorted(maps.Keys(m.Labels)) {
		values := "*"
		if m.Labels[label] != nil {
			values = strings.Join(m.Labels[label], "|")
		}
		labels = append(labels, label+"="+values)
	}
	for _, mark := range []struct {
		word string
		set  bool
	}{{"bool", m.Bool}, {"vanishes", m.Vanishes}, {"external", m.External}, {"perhaps", m.MayBeLocal}} {
		if mark.set {
			marks = append(marks, mark.word)
		}
	}
	of := m.Kind + " " + m.Collector + " " + m.Interval.String()
	return strings.TrimSpace(fmt.Sprintf("%s{%s} %s of %s %s", m.Name, strings.Join(labels, ","), m.Type, of, strings.Join(marks, " ")))
}

// entries are the lines of all metrics of a name.
func entries(v *lint.Vocabulary, name string) []string {
	var lines []string
	for _, m := range slices.Concat(v.Metrics, v.Others) {
		if m.Name == name {
			lines = append(lines, shown(m))
		}
	}
	return lines
}

func TestVocabularyOfAProfile(t *testing.T) {
	l, errs := profiles.Load(profiles.Options{Name: "kuryr-controller"})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	v := Vocabulary(l)
	if !v.Configured {
		t.Error("Configured = false, want true")
	}
	if got := slices.IndexFunc(v.Kinds, func(m lint.Metric) bool { return m.Name == "vitals_netlink_up" && m.Kind == "netlink" }); got < 0 {
		t.Error("Kinds lacks what the kind netlink exports, want the metrics of all kinds")
	}
	for name, want := range map[string][]string{
		"vitals_dependency_up": {
			"vitals_dependency_up{dependency=kubernetes} gauge of kubernetes kubernetes 10s bool external",
			"vitals_dependency_up{dependency=keystone} gauge of keystone keystone 10s bool external",
			"vitals_dependency_up{dependency=neutron} gauge of neutron neutron 10s bool external",
		},
		"vitals_dependency_latency_seconds": {
			"vitals_dependency_latency_seconds{dependency=kubernetes} gauge of kubernetes kubernetes 10s vanishes external",
			"vitals_dependency_latency_seconds{dependency=keystone} gauge of keystone keystone 10s vanishes external",
			"vitals_dependency_latency_seconds{dependency=neutron} gauge of neutron neutron 10s vanishes external",
		},
		"vitals_kubernetes_watch_connected": {
			"vitals_kubernetes_watch_connected{dependency=kubernetes,resource=pods|services} gauge of kubernetes kubernetes 10s bool external",
		},
		"vitals_keystone_endpoint_present": {
			"vitals_keystone_endpoint_present{dependency=keystone,service=network} gauge of keystone keystone 10s bool external",
		},
		"vitals_component_alive": {
			"vitals_component_alive{component=*} gauge of components components 0s bool vanishes",
		},
		"vitals_neutron_extension_present": nil,
		"vitals_process_up":                nil,
		"vitals_state":                     {"vitals_state{state=ready|alive|started} gauge of vitals  1s bool"},
		"vitals_collector_success":         {"vitals_collector_success{collector=kubernetes|keystone|neutron|components} gauge of vitals  1s bool"},
		"vitals_config_last_reload_successful": {
			"vitals_config_last_reload_successful{} gauge of vitals  1s bool",
		},
		"vitals_http_requests_total": nil, // on /metrics only: no rule can see it
		"":                           nil, // no scrape
	} {
		if diff := cmp.Diff(want, entries(v, name)); diff != "" {
			t.Errorf("metrics named %q differ (-want +got):\n%s", name, diff)
		}
	}
	rule := entries(v, "vitals_rule_status")
	if len(rule) != 1 || !strings.Contains(rule[0], "{rule=KubernetesDown|KubernetesWatchDown|") ||
		!strings.Contains(rule[0], ",state=ready|alive,status=ok|pending|failing|unknown}") {
		t.Errorf("vitals_rule_status = %v, want the rules of the profile, their states and all statuses", rule)
	}
}

func TestVocabularyOfAScrape(t *testing.T) {
	l := &config.Loaded{Config: config.Config{Collectors: []kinds.Config{
		{Name: "here", Interval: 15e9, Kinds: kinds.Kinds{Scrape: &scrape.Config{URL: "http://127.0.0.1:9100/metrics"}}},
		{Name: "there", Interval: 20e9, Kinds: kinds.Kinds{Scrape: &scrape.Config{URL: "http://192.0.2.1:9100/metrics"}}},
	}}}
	want := []string{"{component=here}  of scrape here 15s", "{component=there}  of scrape there 20s external"}
	if diff := cmp.Diff(want, entries(Vocabulary(l), "")); diff != "" {
		t.Errorf("what scrapes pass on differs (-want +got):\n%s", diff)
	}
	if got := entries(Vocabulary(l), "vitals_scrape_up"); len(got) != 2 {
		t.Errorf("vitals_scrape_up = %v, want one of each collector", got)
	}
}

// The metrics of Vitals that a target may export depend on what the collector honours.
func TestVocabularyOfAnotherVitals(t *testing.T) {
	for _, tt := range []struct {
		name                string
		config              scrape.Config
		alive, state, other []string
	}{
		{"by default", scrape.Config{}, nil, []string{"vitals_state{state=ready|alive|started} gauge of vitals  0s bool"}, []string{"{component=c}  of scrape c 15s external"}},
		{"its labels", scrape.Config{HonorLabels: true}, nil, []string{"vitals_state{state=ready|alive|started} gauge of vitals  0s bool"}, []string{"{component=*}  of scrape c 15s external"}},
		{"its metrics", scrape.Config{HonorVitalsMetrics: true}, []string{
			"vitals_component_alive{component=c,exported_component=*} gauge of scrape c 15s bool vanishes external",
		}, []string{
			"vitals_state{component=c,state=*} gauge of scrape c 15s bool vanishes external",
			"vitals_state{state=ready|alive|started} gauge of vitals  0s bool",
		}, []string{"{component=c}  of scrape c 15s external"}},
		{"its labels and one metric", scrape.Config{HonorVitalsMetrics: true, HonorLabels: true, Keep: []string{"vitals_state"}}, nil, []string{
			"vitals_state{component=*,state=*} gauge of scrape c 15s bool vanishes external",
			"vitals_state{state=ready|alive|started} gauge of vitals  0s bool",
		}, []string{"{component=*}  of scrape c 15s external"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.config.URL = "http://192.0.2.1:9100/metrics"
			v := Vocabulary(&config.Loaded{Config: config.Config{
				Collectors: []kinds.Config{{Name: "c", Interval: 15e9, Kinds: kinds.Kinds{Scrape: &tt.config}}},
			}})
			for name, want := range map[string][]string{"vitals_component_alive": tt.alive, "vitals_state": tt.state, "": tt.other} {
				if diff := cmp.Diff(want, entries(v, name)); diff != "" {
					t.Errorf("metrics named %q differ (-want +got):\n%s", name, diff)
				}
			}
			if got := len(entries(v, "vitals_scrape_up")); got != 1 {
				t.Errorf("vitals_scrape_up has %d entries, want that of the collector", got)
			}
		})
	}
}

func TestVocabularyWithoutAConfiguration(t *testing.T) {
	v := AnyVocabulary()
	if v.Configured {
		t.Error("Configured = true, want false")
	}
	for name, want := range map[string][]string{
		"vitals_dependency_up": {
			"vitals_dependency_up{dependency=*} gauge of kubernetes  0s bool external",
			"vitals_dependency_up{dependency=*} gauge of keystone  0s bool external",
			"vitals_dependency_up{dependency=*} gauge of neutron  0s bool external",
			"vitals_dependency_up{dependency=*} gauge of openstack  0s bool external",
			"vitals_dependency_up{dependency=*} gauge of http  0s bool external perhaps",
			"vitals_dependency_up{dependency=*} gauge of tcp  0s bool external perhaps",
			"vitals_dependency_up{dependency=*} gauge of postgres  0s bool external perhaps",
			"vitals_dependency_up{dependency=*} gauge of redis  0s bool external perhaps",
			"vitals_dependency_up{dependency=*} gauge of memcached  0s bool external perhaps",
			"vitals_dependency_up{dependency=*} gauge of dns  0s bool external perhaps",
			"vitals_dependency_up{dependency=*} gauge of grpc  0s bool external perhaps",
			"vitals_dependency_up{dependency=*} gauge of ntp  0s bool external perhaps",
			"vitals_dependency_up{dependency=*} gauge of prometheus  0s bool external",
			"vitals_dependency_up{dependency=*} gauge of icmp  0s bool external perhaps",
			"vitals_dependency_up{dependency=*} gauge of certificate  0s bool external perhaps",
		},
		"vitals_process_listening": {"vitals_process_listening{port=*,process=*,protocol=tcp|udp} gauge of process  0s bool"},
		"vitals_component_reported": {
			"vitals_component_reported{component=*} gauge of components  0s bool",
		},
		"vitals_rule_status": {"vitals_rule_status{rule=*,state=*,status=ok|pending|failing|unknown} gauge of vitals  0s bool"},
		"vitals_collector_last_success_timestamp_seconds": {
			"vitals_collector_last_success_timestamp_seconds{collector=*} gauge of vitals  0s vanishes",
		},
		"vitals_rule_info": {
			"vitals_rule_info{mode=|observe,no_data=|fail|pass|hold,rule=*,severity=critical|warning,state=*} gauge of vitals  0s bool",
		},
		"vitals_state_transitions_total": {"vitals_state_transitions_total{state=*} counter of vitals  0s"},
		"":                               {"{component=*}  of scrape  0s", "{component=*}  of textfile  0s"},
	} {
		if diff := cmp.Diff(want, entries(v, name)); diff != "" {
			t.Errorf("metrics named %q differ (-want +got):\n%s", name, diff)
		}
	}
	for _, m := range v.Metrics {
		if outside := slices.Contains([]string{"kubernetes", "keystone", "neutron", "openstack", "http", "tcp", "postgres", "redis", "memcached", "dns", "grpc", "ntp", "prometheus", "icmp", "certificate"}, m.Kind); m.External != outside {
			t.Errorf("%s of %s is external: %t, want %t", m.Name, m.Kind, m.External, outside)
		}
		if m.Interval != time.Duration(0) {
			t.Errorf("%s has the interval %s, want none without a configuration", m.Name, m.Interval)
		}
	}
}
