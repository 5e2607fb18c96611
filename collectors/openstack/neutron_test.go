package openstack

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/vitals-health/vitals/collectors/remote"
)

const osQuotaCall = "GET /v2.0/quotas/" + osProject + "/details.json"

// osOnly returns the series whose name begins with prefix.
func osOnly(series map[string]float64, prefix string) map[string]float64 {
	got := map[string]float64{}
	for key, value := range series {
		if strings.HasPrefix(key, prefix) {
			got[strings.NewReplacer(`dependency="neutron",`, "", `,dependency="neutron"`, "").Replace(key)] = value
		}
	}
	return got
}

func TestNeutronExportsTheQuotasNamed(t *testing.T) {
	cloud := osNewCloud(t)
	n := cloud.newNeutron(nil, func(c *NeutronConfig) {
		c.Resources = []string{"port", "security_group", "security_group_rule", "floatingip", "not_there"}
	})
	series, err := osCollect(t, n)
	if err != nil || osReason(t, series, "neutron") != "" {
		t.Fatalf("reason %q, error %v, want up", osReason(t, series, "neutron"), err)
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
	}
	if diff := cmp.Diff(want, osOnly(series, "vitals_neutron_quota"), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("quotas (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{osQuotaCall}, cloud.neutronCalls()); diff != "" {
		t.Errorf("calls of a round (-want +got):\n%s", diff)
	}
}

func TestNeutronTakesNoResourceNamesFromTheServer(t *testing.T) {
	cloud := osNewCloud(t)
	series, err := osCollect(t, cloud.newNeutron(nil, nil))
	if err != nil {
		t.Fatal(err)
	}
	for key, value := range series {
		if strings.Contains(key, "made_up") || value < 0 {
			t.Errorf("%s = %v, want neither resources that nobody configured nor negative values", key, value)
		}
	}
}

func TestNeutronQuotaThatBecomesUnlimited(t *testing.T) {
	cloud := osNewCloud(t)
	n := cloud.newNeutron(nil, func(c *NeutronConfig) { c.Resources = []string{"port"} })
	for _, step := range []struct {
		limit     string
		wantLimit bool
		unlimited float64
	}{{"500", true, 0}, {"-1", false, 1}, {"0", true, 0}} {
		cloud.set(func(c *osCloud) {
			c.atNeutron = osAnswers(200, "application/json", `{"quota": {"port": {"limit": `+step.limit+`, "used": 4, "reserved": 0}}}`)
		})
		series, err := osCollect(t, n)
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
	cloud := osNewCloud(t)
	n := cloud.newNeutron(nil, func(c *NeutronConfig) { c.Project = "0123456789abcdef" })
	cloud.set(func(c *osCloud) {
		c.atNeutron = osAnswers(http.StatusForbidden, "application/json", osFixture(t, "neutron_403.json"))
	})
	osFault{want: remote.ReasonForbidden, says: "admin privileges"}.check(t, n, "neutron")
	if diff := cmp.Diff([]string{"GET /v2.0/quotas/0123456789abcdef/details.json"}, cloud.neutronCalls()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestNeutronWithoutQuotaDetailsListsOneNetwork(t *testing.T) {
	cloud := osNewCloud(t)
	n := cloud.newNeutron(nil, nil)
	cloud.set(func(c *osCloud) {
		c.atNeutron = func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.Path, "quotas") {
				osAnswer(w, http.StatusNotFound, "application/json", osFixture(t, "neutron_404.json"))
				return
			}
			c.answerNeutron(w, r)
		}
	})
	series, err := osCollect(t, n)
	if got := osReason(t, series, "neutron"); got != "" || err != nil {
		t.Errorf("reason %q, error %v, want up", got, err)
	}
	if got := osOnly(series, "vitals_neutron_quota"); len(got) > 0 {
		t.Errorf("quotas = %v, want none", got)
	}
	if diff := cmp.Diff([]string{osQuotaCall, "GET /v2.0/networks?limit=1&fields=id"}, cloud.neutronCalls()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestNeutronExtensions(t *testing.T) {
	cloud := osNewCloud(t)
	n := cloud.newNeutron(nil, func(c *NeutronConfig) { c.Extensions = []string{"security-group", "trunk", "bgp"} })
	series, err := osCollect(t, n)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{
		`vitals_neutron_extension_present{extension="security-group"}`: 1,
		`vitals_neutron_extension_present{extension="trunk"}`:          1,
		`vitals_neutron_extension_present{extension="bgp"}`:            0,
	}
	if diff := cmp.Diff(want, osOnly(series, "vitals_neutron_extension")); diff != "" {
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
		name   string
		code   int
		answer string
		want   map[string]float64
		says   string
	}{
		{"counted by type", 200, osFixture(t, "agents.json"), counted, ""},
		{"hidden by policy", 200, `{"agents": []}`, map[string]float64{}, "shows no agents"},
		{"forbidden", 403, osFixture(t, "neutron_403.json"), map[string]float64{}, "403 Forbidden"},
		{"only a part of them", 200, `{"agents": [{"agent_type": "DHCP agent", "alive": true}], "agents_links": [{"rel": "next"}]}`, map[string]float64{}, "pagination_max_limit"},
		{"not the expected answer", 200, `{}`, map[string]float64{}, `no "agents"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			cloud := osNewCloud(t)
			n := cloud.newNeutron(nil, config)
			cloud.set(func(c *osCloud) {
				c.atNeutron = func(w http.ResponseWriter, r *http.Request) {
					if strings.HasSuffix(r.URL.Path, "/agents") {
						osAnswer(w, test.code, "application/json", test.answer)
						return
					}
					c.answerNeutron(w, r)
				}
			})
			series, err := osCollect(t, n)
			if got := osReason(t, series, "neutron"); got != "" {
				t.Errorf("reason = %q, want up: agents do not decide it", got)
			}
			if (err != nil) != (test.says != "") || err != nil && !strings.Contains(err.Error(), test.says) {
				t.Errorf("error = %v, want one that says %q", err, test.says)
			}
			if diff := cmp.Diff(test.want, osOnly(series, "vitals_neutron_agents")); diff != "" {
				t.Errorf("agents (-want +got):\n%s", diff)
			}
		})
	}
}

func osNeutronFaults() []osFault {
	return append(osCommonFaults(),
		osFault{name: "database gone", handler: osFixed(500, "application/json", "neutron_500.json"), want: remote.ReasonServerError, says: "internal server error while processing"},
		osFault{name: "keystone behind it is gone", handler: osFixed(503, "application/json", "neutron_503.json"), want: remote.ReasonServerError, says: "The Keystone service is temporarily unavailable"},
		osFault{name: "wrong path", handler: osFixed(404, "text/html", "not_found.html"), want: remote.ReasonNotFound, says: "networks?limit=1"},
		osFault{name: "quota that is a text", handler: osText(200, `{"quota": {"port": "many"}}`), want: remote.ReasonProtocol},
		osFault{name: "limit that is no number", handler: osText(200, `{"quota": {"port": {"limit": "many"}}}`), want: remote.ReasonProtocol, says: "not a whole number"},
	)
}

func TestNeutronFaults(t *testing.T) {
	for _, fault := range osNeutronFaults() {
		t.Run(fault.name, func(t *testing.T) {
			cloud := osNewCloud(t)
			k := cloud.newKeystone(nil)
			n := cloud.newNeutron(k, nil)
			osRecovers(t, k, "keystone")
			cloud.set(func(c *osCloud) { c.atNeutron = fault.handler(c) })
			fault.check(t, n, "neutron")
			osRecovers(t, k, "keystone")
			cloud.set(func(c *osCloud) { c.atNeutron = nil })
			osRecovers(t, n, "neutron")
		})
	}
}

func TestNeutronEndpoints(t *testing.T) {
	cloud := osNewCloud(t)
	closed := osClosedPort(t)
	one := func(url string) string {
		return `[{"interface": "public", "region": "RegionOne", "region_id": "RegionOne", "url": "` + url + `"}]`
	}
	for _, test := range []struct {
		name, endpoints, region, side string
		want                          remote.Reason
		says                          string
		calls                         []string
	}{
		{"as it is registered", "", "", "", "", "", []string{osQuotaCall}},
		{"ends in its version", one("NEUTRON/v2.0"), "", "", "", "", []string{osQuotaCall}},
		{"ends in its version and a slash", one("NEUTRON/v2.0/"), "", "", "", "", []string{osQuotaCall}},
		{"another region", "", "RegionTwo", "", "", "", []string{"GET /two/v2.0/quotas/" + osProject + "/details.json"}},
		{"another interface", "", "", "internal", "", "", []string{"GET /internal/v2.0/quotas/" + osProject + "/details.json"}},
		{"no endpoints", "[]", "", "", remote.ReasonMissingEndpoint, "No suitable endpoint", nil},
		{"a region without it", "", "RegionNine", "", remote.ReasonMissingEndpoint, "No suitable endpoint", nil},
		{"an interface without it", "", "", "admin", remote.ReasonMissingEndpoint, "No suitable endpoint", nil},
		{"an endpoint without an address", one(""), "", "", remote.ReasonMissingEndpoint, "No suitable endpoint", nil},
		{"nobody listens", one("http://" + closed), "", "", remote.ReasonRefused, "connection refused", nil},
		{"an address that is none", one("neutron:9696"), "", "", remote.ReasonProtocol, "unsupported protocol scheme", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			cloud.set(func(c *osCloud) {
				c.endpoints = test.endpoints
				if c.endpoints == "" {
					c.endpoints = osFixture(t, "network_endpoints.json")
				}
			})
			k := cloud.newKeystone(nil)
			n := cloud.newNeutron(k, func(c *NeutronConfig) { c.Region, c.Interface = test.region, test.side })
			series, err := osCollect(t, n)
			if got := osReason(t, series, "neutron"); got != test.want {
				t.Errorf("reason = %q (%v), want %q", got, err, test.want)
			}
			if test.says != "" && !strings.Contains(err.Error(), test.says) {
				t.Errorf("error = %v, want one that says %q", err, test.says)
			}
			if diff := cmp.Diff(test.calls, cloud.neutronCalls()); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNeutronHostThatDoesNotResolve(t *testing.T) {
	cloud := osNewCloud(t)
	cloud.endpoints = `[{"interface": "public", "region": "RegionOne", "url": "http://neutron.invalid:9696"}]`
	n := cloud.newNeutron(nil, nil)
	osDial(n.own, func(ctx context.Context, network, address string) (c net.Conn, err error) {
		if strings.HasPrefix(address, "neutron.invalid") {
			return osUnknownHost(ctx, network, address)
		}
		return dialOpenStack(ctx, network, address)
	})
	osFault{want: remote.ReasonDNS, says: "no such host"}.check(t, n, "neutron")
}
