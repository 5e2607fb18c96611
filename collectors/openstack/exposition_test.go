package openstack

import (
	"testing"
	"time"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
)

// exposition runs one collection and returns the text exposition, with a latency of 0.25 s in
// place of the measured one.
func exposition(t *testing.T, c collectors.Collector) string {
	t.Helper()
	samples, err := collectortest.Collect(t, c)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range samples {
		if s.Labels.Get(model.MetricNameLabel) == "vitals_dependency_latency_seconds" {
			if s.Value <= 0 || s.Value > 10 {
				t.Errorf("latency = %v, want the seconds that a request took", s.Value)
			}
			samples[i].Value = 0.25
		}
	}
	return collectortest.Exposition(samples, c.Describe())
}

func TestKeystoneExposition(t *testing.T) {
	cloud := newFakeCloud(t)
	k := cloud.newKeystone(func(c *KeystoneConfig) { c.Endpoints = []string{"network", "load-balancer"} })
	wantUp(t, k, "keystone")
	cloud.pass(time.Minute)
	collectortest.Golden(t, "keystone.prom", exposition(t, k))
}

func TestNeutronExposition(t *testing.T) {
	cloud := newFakeCloud(t)
	n := cloud.newNeutron(nil, func(c *NeutronConfig) {
		c.Resources = []string{"port", "security_group_rule"}
		c.Extensions = []string{"trunk", "bgp"}
		c.Agents = []string{"DHCP agent", "Open vSwitch agent"}
		c.Subnets = []string{"ns/default-subnet"}
	})
	collectortest.Golden(t, "neutron.prom", exposition(t, n))
}
