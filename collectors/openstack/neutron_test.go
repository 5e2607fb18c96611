package openstack

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/remote"
)

const quotaCall = "GET /v2.0/quotas/" + testProject + "/details.json"

// withPrefix returns the series whose names have the prefix, without the label dependency.
func withPrefix(series map[string]float64, prefix string) map[string]float64 {
	got := map[string]float64{}
	for key, value := range series {
		if strings.HasPrefix(key, prefix) {
			got[strings.NewReplacer(`dependency="neutron",`, "", `,dependency="neutron"`, "").Replace(key)] = value
		}
	}
	return got
}

func TestNeutronExportsTheConfiguredQuotas(t *testing.T) {
	cloud := newFakeCloud(t)
	n := cloud.newNeutron(nil, func(c *NeutronConfig) {
		c.Resources = []string{"port", "security_group", "security_group_rule", "floatingip", "not_there"}
	})
	series, err := collect(t, n)
	if err != nil || downReason(t, series, "neutron") != "" {
		t.Fatalf("reason %q, error %v, want up", downReason(t, series, "neutron"), err)
	}
	want := map[string]float64{
		`vitals_neutron_quota_limit{resource="port"}`:                    500,
		`vitals_neutron_quota_used{resource="port"}`:                     498,
		`vitals_neutron_quota_reserved{resource="port"}`:                 2,
		`vitals_neutron_quota_unlimited{resource="port"}`:                0,
		`vitals_neutron_quota_limit{resource="security_group"}`:          0,
		`vitals_neutron_quota_used{resource="security_group"}`:           3,
		`vitals_neutron_quota_reserved{resource="security_group"}`:       0,
		`vitals_neutron_quota_unlimited{resource="security_group"}`:      0,
		`vitals_neutron_quota_used{resource="security_group_rule"}`:      12,
		`vitals_neutron_quota_reserved{resource="security_group_rule"}`:  0,
		`vitals_neutron_quota_unlimited{resource="security_group_rule"}`: 1,
		`vitals_neutron_quota_limit{resource="floatingip"}`:              50,
		`vitals_neutron_quota_used{resource="floatingip"}`:               0,
		`vitals_neutron_quota_reserved{resource="floatingip"}`:           0,
		`vitals_neutron_quota_unlimited{resource="floatingip"}`:          0,
		`vitals_neutron_quota_measured{resource="port"}`:                 1,
		`vitals_neutron_quota_measured{resource="security_group"}`:       1,
		`vitals_neutron_quota_measured{resource="security_group_rule"}`:  1,
		`vitals_neutron_quota_measured{resource="floatingip"}`:           1,
		`vitals_neutron_quota_measured{resource="not_there"}`:            0,
	}
	if diff := cmp.Diff(want, withPrefix(series, "vitals_neutron_quota"), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("quotas (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{quotaCall}, cloud.neutronCalls()); diff != "" {
		t.Errorf("calls of a collection (-want +got):\n%s", diff)
	}
}

func TestNeutronTakesNoResourceNamesFromTheServer(t *testing.T) {
	cloud := newFakeCloud(t)
	series, err := collect(t, cloud.newNeutron(nil, nil))
	if err != nil {
		t.Fatal(err)
	}
	for key, value := range series {
		if strings.Contains(key, "made_up") || value < 0 {
			t.Errorf("%s = %v, want neither resources outside of the configuration nor negative values", key, value)
		}
	}
}

func TestNeutronQuotaThatBecomesUnlimited(t *testing.T) {
	cloud := newFakeCloud(t)
	n := cloud.newNeutron(nil, func(c *NeutronConfig) { c.Resources = []string{"port"} })
	for _, step := range []struct {
		limit     string
		wantLimit bool
		unlimited float64
	}{{"500", true, 0}, {"-1", false, 1}, {"0", true, 0}} {
		cloud.set(func(c *fakeCloud) {
			c.atNeutron = responder(200, "application/json", `{"quota": {"port": {"limit": `+step.limit+`, "used": 4, "reserved": 0}}}`)
		})
		series, err := collect(t, n)
		if err != nil {
			t.Fatal(err)
		}
		_, limit := series[`vitals_neutron_quota_limit{dependency="neutron",resource="port"}`]
		if unlimited := series[`vitals_neutron_quota_unlimited{dependency="neutron",resource="port"}`]; limit != step.wantLimit || unlimited != step.unlimited {
			t.Errorf("limit %s: limit exported %v, unlimited %v, want %v, %v", step.limit, limit, unlimited, step.wantLimit, step.unlimited)
		}
	}
}

func TestNeutronReadsTheQuotaOfAnotherProject(t *testing.T) {
	cloud := newFakeCloud(t)
	n := cloud.newNeutron(nil, func(c *NeutronConfig) { c.Project = "0123456789abcdef" })
	cloud.set(func(c *fakeCloud) {
		c.atNeutron = responder(http.StatusForbidden, "application/json", readFixture(t, "neutron_403.json"))
	})
	faultCase{want: remote.ReasonForbidden, text: "admin privileges"}.check(t, n, "neutron")
	if diff := cmp.Diff([]string{"GET /v2.0/quotas/0123456789abcdef/details.json"}, cloud.neutronCalls()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestNeutronWithoutQuotaDetailsListsOneNetwork(t *testing.T) {
	cloud := newFakeCloud(t)
	n := cloud.newNeutron(nil, nil)
	cloud.set(func(c *fakeCloud) {
		c.atNeutron = func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.Path, "quotas") {
				respond(w, http.StatusNotFound, "application/json", readFixture(t, "neutron_404.json"))
				return
			}
			c.respondNeutron(w, r)
		}
	})
	series, err := collect(t, n)
	if got := downReason(t, series, "neutron"); got != "" || err != nil {
		t.Errorf("reason %q, error %v, want up", got, err)
	}
	got := withPrefix(series, "vitals_neutron_quota")
	if value, ok := got[`vitals_neutron_quota_measured{resource="port"}`]; !ok || value != 0 || len(got) != len(neutronResources()) {
		t.Errorf("quotas = %v, want only that none is measured", got)
	}
	if diff := cmp.Diff([]string{quotaCall, "GET /v2.0/networks?limit=1&fields=id"}, cloud.neutronCalls()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestNeutronExtensions(t *testing.T) {
	cloud := newFakeCloud(t)
	n := cloud.newNeutron(nil, func(c *NeutronConfig) { c.Extensions = []string{"security-group", "trunk", "bgp"} })
	series, err := collect(t, n)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{
		`vitals_neutron_extension_present{extension="security-group"}`: 1,
		`vitals_neutron_extension_present{extension="trunk"}`:          1,
		`vitals_neutron_extension_present{extension="bgp"}`:            0,
	}
	if diff := cmp.Diff(want, withPrefix(series, "vitals_neutron_extension")); diff != "" {
		t.Errorf("extensions (-want +got):\n%s", diff)
	}
}

func TestNeutronAgents(t *testing.T) {
	config := func(c *NeutronConfig) { c.Agents = []string{"Open vSwitch agent", "DHCP agent", "L3 agent"} }
	counted := map[string]float64{
		`vitals_neutron_agents{agent_type="Open vSwitch agent"}`:       2,
		`vitals_neutron_agents_alive{agent_type="Open vSwitch agent"}`: 1,
		`vitals_neutron_agents{agent_type="DHCP agent"}`:               1,
		`vitals_neutron_agents_alive{agent_type="DHCP agent"}`:         1,
		`vitals_neutron_agents{agent_type="L3 agent"}`:                 0,
		`vitals_neutron_agents_alive{agent_type="L3 agent"}`:           0,
	}
	for _, test := range []struct {
		name string
		code int
		body string
		want map[string]float64
		text string
	}{
		{"counted by type", 200, readFixture(t, "agents.json"), counted, ""},
		{"hidden by policy", 200, `{"agents": []}`, map[string]float64{}, "lists no agents"},
		{"forbidden", 403, readFixture(t, "neutron_403.json"), map[string]float64{}, "403 Forbidden"},
		{"only a part of them", 200, `{"agents": [{"agent_type": "DHCP agent", "alive": true}], "agents_links": [{"rel": "next"}]}`, map[string]float64{}, "pagination_max_limit"},
		{"not the expected response", 200, `{}`, map[string]float64{}, `no "agents"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			cloud := newFakeCloud(t)
			n := cloud.newNeutron(nil, config)
			cloud.set(func(c *fakeCloud) {
				c.atNeutron = func(w http.ResponseWriter, r *http.Request) {
					if strings.HasSuffix(r.URL.Path, "/agents") {
						respond(w, test.code, "application/json", test.body)
						return
					}
					c.respondNeutron(w, r)
				}
			})
			series, err := collect(t, n)
			if got := downReason(t, series, "neutron"); got != "" {
				t.Errorf("reason = %q, want up: agents do not affect it", got)
			}
			if (err != nil) != (test.text != "") || err != nil && !strings.Contains(err.Error(), test.text) {
				t.Errorf("error = %v, want one with %q", err, test.text)
			}
			if diff := cmp.Diff(test.want, withPrefix(series, "vitals_neutron_agents")); diff != "" {
				t.Errorf("agents (-want +got):\n%s", diff)
			}
		})
	}
}

func neutronFaults() []faultCase {
	return append(commonFaults(),
		faultCase{name: "database gone", handler: fixed(500, "application/json", "neutron_500.json"), want: remote.ReasonServerError, text: "internal server error while processing"},
		faultCase{name: "keystone is gone", handler: fixed(503, "application/json", "neutron_503.json"), want: remote.ReasonServerError, text: "The Keystone service is temporarily unavailable"},
		faultCase{name: "wrong path", handler: fixed(404, "text/html", "not_found.html"), want: remote.ReasonNotFound, text: "networks?limit=1"},
		faultCase{name: "quota that is a string", handler: plain(200, `{"quota": {"port": "many"}}`), want: remote.ReasonProtocol},
		faultCase{name: "limit that is no number", handler: plain(200, `{"quota": {"port": {"limit": "many"}}}`), want: remote.ReasonProtocol, text: "not a whole number"},
	)
}

func TestNeutronFaults(t *testing.T) {
	for _, fault := range neutronFaults() {
		t.Run(fault.name, func(t *testing.T) {
			cloud := newFakeCloud(t)
			k := cloud.newKeystone(nil)
			n := cloud.newNeutron(k, nil)
			wantUp(t, k, "keystone")
			cloud.set(func(c *fakeCloud) { c.atNeutron = fault.handler(c) })
			fault.check(t, n, "neutron")
			wantUp(t, k, "keystone")
			cloud.set(func(c *fakeCloud) { c.atNeutron = nil })
			wantUp(t, n, "neutron")
		})
	}
}

func TestNeutronEndpoints(t *testing.T) {
	cloud := newFakeCloud(t)
	closed := collectortest.Refusing(t)
	one := func(url string) string {
		return `[{"interface": "public", "region": "RegionOne", "region_id": "RegionOne", "url": "` + url + `"}]`
	}
	for _, test := range []struct {
		name, endpoints, region, side string
		want                          remote.Reason
		text                          string
		calls                         []string
	}{
		{"without a version", "", "", "", "", "", []string{quotaCall}},
		{"ends in its version", one("NEUTRON/v2.0"), "", "", "", "", []string{quotaCall}},
		{"ends in its version and a slash", one("NEUTRON/v2.0/"), "", "", "", "", []string{quotaCall}},
		{"another region", "", "RegionTwo", "", "", "", []string{"GET /two/v2.0/quotas/" + testProject + "/details.json"}},
		{"another interface", "", "", "internal", "", "", []string{"GET /internal/v2.0/quotas/" + testProject + "/details.json"}},
		{"no endpoints", "[]", "", "", remote.ReasonMissingEndpoint, "No suitable endpoint", nil},
		{"a region without it", "", "RegionNine", "", remote.ReasonMissingEndpoint, "No suitable endpoint", nil},
		{"an interface without it", "", "", "admin", remote.ReasonMissingEndpoint, "No suitable endpoint", nil},
		{"an endpoint without an address", one(""), "", "", remote.ReasonMissingEndpoint, "No suitable endpoint", nil},
		{"no listener", one("http://" + closed), "", "", remote.ReasonRefused, "connection refused", nil},
		{"an invalid address", one("neutron:9696"), "", "", remote.ReasonProtocol, "unsupported protocol scheme", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			cloud.set(func(c *fakeCloud) {
				c.endpoints = test.endpoints
				if c.endpoints == "" {
					c.endpoints = readFixture(t, "network_endpoints.json")
				}
			})
			k := cloud.newKeystone(nil)
			n := cloud.newNeutron(k, func(c *NeutronConfig) { c.Region, c.Interface = test.region, test.side })
			series, err := collect(t, n)
			if got := downReason(t, series, "neutron"); got != test.want {
				t.Errorf("reason = %q (%v), want %q", got, err, test.want)
			}
			if test.text != "" && !strings.Contains(err.Error(), test.text) {
				t.Errorf("error = %v, want one with %q", err, test.text)
			}
			if diff := cmp.Diff(test.calls, cloud.neutronCalls()); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNeutronHostThatDoesNotResolve(t *testing.T) {
	cloud := newFakeCloud(t)
	cloud.endpoints = `[{"interface": "public", "region": "RegionOne", "url": "http://neutron.invalid:9696"}]`
	n := cloud.newNeutron(nil, nil)
	setDial(n.own, func(ctx context.Context, network, address string) (c net.Conn, err error) {
		if strings.HasPrefix(address, "neutron.invalid") {
			return unknownHost(ctx, network, address)
		}
		return dialTCP(ctx, network, address)
	})
	faultCase{want: remote.ReasonDNS, text: "no such host"}.check(t, n, "neutron")
}
