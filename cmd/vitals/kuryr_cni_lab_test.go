package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/kinds"
	"github.com/vitals-health/vitals/collectors/process"
	"github.com/vitals-health/vitals/collectors/scrape"
	"github.com/vitals-health/vitals/internal/config"
)

// newCNILab loads the profile kuryr-cni for a healthy node, and starts
// nothing. In the values of --set, TREE is the node's directory.
func newCNILab(t *testing.T, o labOptions) *kuryrLab {
	t.Helper()
	n := newNode(t)
	o.profile = "kuryr-cni"
	set := map[string]string{}
	for name, value := range o.set {
		set[name] = strings.ReplaceAll(value, "TREE", n.dir)
	}
	o.set = set
	adjust := o.adjust
	o.adjust = func(c *config.Config) {
		n.adjust(c)
		if adjust != nil {
			adjust(c)
		}
	}
	lab := newKuryrLab(t, o)
	lab.node = n
	return lab
}

// startCNILab runs the profile until the test ends.
func startCNILab(t *testing.T, o labOptions) *kuryrLab {
	t.Helper()
	lab := newCNILab(t, o)
	lab.run(t)
	return lab
}

// adjust points the profile at the node.
func (n *node) adjust(c *config.Config) {
	daemon := &process.Selector{PID: 4711, ProcFS: n.path("proc")}
	for i := range c.Collectors {
		switch col := &c.Collectors[i]; col.Name {
		case "net-admin":
			col.Capability.Process = daemon
		case "memory":
			col.Cgroup.Path, col.Cgroup.Process = "", daemon
		case "netlink":
			played := &scrape.Config{}
			played.SetDefaults()
			played.URL, played.HonorVitalsMetrics = n.exporter.URL+"/netlink", true
			col.Kinds = kinds.Kinds{Scrape: played}
		case "cni-metrics":
			col.Scrape.URL = n.exporter.URL + "/metrics"
		case "cni-config":
			col.File.Path = n.path("cni/net.d/10-kuryr.conflist")
		case "cni-plugin":
			col.File.Path = n.path("cni/bin/kuryr-cni")
		case "kuryr-conf":
			col.File.Path = n.path("kuryr/kuryr.conf")
		}
	}
}

// requests has the component server report how CNI requests ended, all alike; later
// it reports that one was served.
func requests(count int, event, result, class string) step {
	return func(t *testing.T, l *kuryrLab) func() {
		t.Helper()
		l.requests(t, count, event, result, class)
		return func() { l.requests(t, 1, "cni_add", "success", "") }
	}
}

// requests reports as the server of the daemon would.
func (l *kuryrLab) requests(t *testing.T, count int, event, result, class string) {
	t.Helper()
	events := make([]collectors.Event, count)
	for i := range events {
		events[i] = collectors.Event{Event: event, Result: result, Error: class}
	}
	body, err := json.Marshal(map[string]any{"ready": true, "events": events})
	if err != nil {
		t.Fatal(err)
	}
	if got := send(t, http.MethodPut, l.local.URL+"/api/v1/components/server", string(body)); got.code != http.StatusNoContent {
		t.Fatalf("report of %d %s = %d %s, want 204", count, event, got.code, got.body)
	}
}
