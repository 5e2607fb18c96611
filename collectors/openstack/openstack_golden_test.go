package openstack

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/collectors"
)

var osUpdate = flag.Bool("update-openstack", false, "write the golden files of keystone and neutron anew")

// OsExported is a prometheus.Collector of samples that were already taken.
type OsExported struct {
	t       *testing.T
	Descs   map[string]collectors.Desc
	samples []collectors.Sample
}

func (e OsExported) Describe(chan<- *prometheus.Desc) {}

func (e OsExported) Collect(metrics chan<- prometheus.Metric) {
	for _, s := range e.samples {
		name := s.Labels.Get(model.MetricNameLabel)
		desc, ok := e.Descs[name]
		if !ok {
			e.t.Errorf("%s is exported and not described", name)
		}
		kind := prometheus.GaugeValue
		if desc.Type == model.MetricTypeCounter {
			kind = prometheus.CounterValue
		}
		var names, values []string
		s.Labels.Range(func(l labels.Label) {
			if l.Name != model.MetricNameLabel {
				names, values = append(names, l.Name), append(values, l.Value)
			}
		})
		metrics <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, desc.Help, names, nil), kind, s.Value, values...)
	}
}

// osExposition collects once and returns the text exposition. The latency, which
// differs from run to run, is checked and set to 0.25.
func osExposition(t *testing.T, c collectors.Collector) string {
	t.Helper()
	samples, err := c.Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	e := OsExported{t, map[string]collectors.Desc{}, samples}
	for _, d := range c.Describe() {
		e.Descs[d.Name] = d
	}
	for i, s := range samples {
		if s.Labels.Get(model.MetricNameLabel) == "vitals_dependency_latency_seconds" {
			if s.Value <= 0 || s.Value > 10 {
				t.Errorf("latency = %v, want the seconds that a request took", s.Value)
			}
			samples[i].Value = 0.25
		}
	}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(e)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	for _, family := range families {
		if _, err := expfmt.MetricFamilyToText(&text, family); err != nil {
			t.Fatal(err)
		}
	}
	problems, err := promlint.New(bytes.NewReader(text.Bytes())).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("lint: %v %v", problems, err)
	}
	return text.String()
}

func osGolden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *osUpdate {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func TestKeystoneExposition(t *testing.T) {
	cloud := osNewCloud(t)
	k := cloud.newKeystone(func(c *KeystoneConfig) { c.Endpoints = []string{"network", "load-balancer"} })
	osRecovers(t, k, "keystone")
	cloud.pass(time.Minute)
	osGolden(t, "keystone.prom", osExposition(t, k))
}

func TestNeutronExposition(t *testing.T) {
	cloud := osNewCloud(t)
	n := cloud.newNeutron(nil, func(c *NeutronConfig) {
		c.Resources = []string{"port", "security_group_rule"}
		c.Extensions = []string{"trunk", "bgp"}
		c.Agents = []string{"DHCP agent", "Open vSwitch agent"}
	})
	osGolden(t, "neutron.prom", osExposition(t, n))
}
