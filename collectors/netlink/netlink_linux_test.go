package netlink

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
)

const linkWorks = unix.IFF_UP | unix.IFF_RUNNING | unix.IFF_LOWER_UP

// collect runs a collection with a time limit of one second and formats its samples.
func collect(t testing.TB, c collectors.Collector) (lines string, err error) {
	t.Helper()
	return collectWithin(t, c, time.Second)
}

// collectWithin is collect with another time limit.
func collectWithin(t testing.TB, c collectors.Collector, limit time.Duration) (lines string, err error) {
	t.Helper()
	samples, err := collectortest.CollectWithin(t, c, limit)
	return sampleLines(samples), err
}

func TestExposition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kernel := &fakeKernel{
			links: []fakeLink{{name: "lo", flags: linkWorks}, {name: "br-int", flags: linkWorks}, {name: "eth1", flags: unix.IFF_UP}},
			sends: func(<-chan struct{}, netlink.Message) error {
				time.Sleep(250 * time.Microsecond)
				return nil
			},
		}
		c := fakeCollector(t, Config{Interfaces: []string{"br-int", "eth1", "eth2"}, WriteTest: veth}, kernel)
		samples, err := c.Collect(t.Context())
		if err != nil {
			t.Fatalf("Collect() = %v, want no error", err)
		}
		collectortest.Golden(t, "metrics.prom", collectortest.Exposition(samples, c.Describe()))
	})
}

func TestListsTheLinksOfThisHost(t *testing.T) {
	for _, config := range []Config{
		{Interfaces: []string{"lo"}},
		{Interfaces: []string{"lo"}, Socket: held},
		{Interfaces: []string{"lo"}, NetNS: "/proc/self/ns/net"},
		{Interfaces: []string{"lo"}, NetNS: "/proc/self/ns/net", Socket: held},
	} {
		c, err := config.New(collectors.Env{Name: "host"})
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			samples, err := c.Collect(ctx)
			cancel()
			if err != nil {
				t.Fatalf("%+v: Collect() = %v, want no error", config, err)
			}
			found := map[string]float64{}
			for _, s := range samples {
				found[s.Labels.Get("__name__")] += s.Value
			}
			if found["vitals_netlink_up"] != 1 || found["vitals_netlink_links"] < 1 || found["vitals_netlink_latency_seconds"] <= 0 || found["vitals_netlink_interface_present"] != 1 {
				t.Errorf("%+v: Collect() = %v, want a list with lo", config, samples)
			}
		}
	}
}
