package collectors

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/expfmt"
	"golang.org/x/sys/unix"
)

const linkWorks = unix.IFF_UP | unix.IFF_RUNNING | unix.IFF_LOWER_UP

// netlinkRound collects with a time limit of one second and joins what came of it.
func netlinkRound(t testing.TB, c Collector) (lines string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	samples, err := c.Collect(ctx)
	return netlinkLines(samples), err
}

func TestNetlinkExposition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kernel := &fakeKernel{
			links: []fakeLink{{name: "lo", flags: linkWorks}, {name: "br-int", flags: linkWorks}, {name: "eth1", flags: unix.IFF_UP}},
			sends: func(context.Context, netlinkMessage) error {
				time.Sleep(250 * time.Microsecond)
				return nil
			},
		}
		c := fakeNetlink(t, NetlinkConfig{Interfaces: []string{"br-int", "eth1", "eth2"}, WriteTest: netlinkVeth}, kernel)
		samples, err := c.Collect(t.Context())
		if err != nil {
			t.Fatalf("Collect() = %v, want no error", err)
		}
		e := osExported{t, map[string]Desc{}, samples}
		for _, d := range c.Describe() {
			e.descs[d.Name] = d
		}
		registry := prometheus.NewPedanticRegistry()
		registry.MustRegister(e)
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		for _, family := range families {
			if _, err := expfmt.MetricFamilyToText(&got, family); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(filepath.Join("testdata", "netlink", "metrics.prom"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got.String()); diff != "" {
			t.Errorf("exposition differs from testdata/netlink/metrics.prom (-want +got):\n%s\n%s", diff, got.String())
		}
		if findings, err := promlint.NewWithMetricFamilies(families).Lint(); err != nil || len(findings) > 0 {
			t.Errorf("Lint() = %v, %v, want no findings", findings, err)
		}
	})
}

func TestNetlinkListsTheLinksOfThisHost(t *testing.T) {
	for _, config := range []NetlinkConfig{
		{Interfaces: []string{"lo"}},
		{Interfaces: []string{"lo"}, Socket: netlinkHeld},
		{Interfaces: []string{"lo"}, NetNS: "/proc/self/ns/net"},
		{Interfaces: []string{"lo"}, NetNS: "/proc/self/ns/net", Socket: netlinkHeld},
	} {
		c, err := config.New(Env{Name: "host"})
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
				t.Errorf("%+v: Collect() = %v, want that netlink works and lo is there", config, samples)
			}
		}
	}
}
