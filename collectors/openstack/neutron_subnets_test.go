package openstack

import (
	"encoding/json"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	subnetCall = "GET /v2.0/subnets?fields=id&fields=allocation_pools&name=ns%2Fdefault-subnet"
	portsCall  = "GET /v2.0/ports?fields=fixed_ips&fixed_ips=subnet_id%3Ds-1"
)

// newSubnets returns a neutron collector with one subnet.
func (c *fakeCloud) newSubnets() *neutron {
	return c.newNeutron(nil, func(c *NeutronConfig) {
		c.Resources, c.Subnets = []string{"port"}, []string{"ns/default-subnet"}
	})
}

// The pool has 509 addresses. Ports have two of them, one twice; a gateway and another subnet do not
// count.
func TestSubnets(t *testing.T) {
	cloud := newFakeCloud(t)
	n := cloud.newSubnets()
	series, err := collect(t, n)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{
		`vitals_neutron_subnet_present{subnet="ns/default-subnet"}`:        1,
		`vitals_neutron_subnet_addresses{subnet="ns/default-subnet"}`:      509,
		`vitals_neutron_subnet_addresses_used{subnet="ns/default-subnet"}`: 2,
	}
	if diff := cmp.Diff(want, withPrefix(series, "vitals_neutron_subnet")); diff != "" {
		t.Errorf("subnets (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{quotaCall, subnetCall, portsCall}, cloud.neutronCalls()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestSubnetsThatCannotBeRead(t *testing.T) {
	for _, test := range []struct {
		name, subnets, ports string
		text                 string // of the error
		want                 map[string]float64
	}{
		{name: "gone", subnets: `{"subnets": []}`, want: map[string]float64{`vitals_neutron_subnet_present{subnet="ns/default-subnet"}`: 0}},
		{name: "two with one name", subnets: `{"subnets": [{"id": "a"}, {"id": "b"}]}`, text: `2 subnets have the name "ns/default-subnet"`},
		{name: "without an id", subnets: `{"subnets": [{}]}`, text: "no id"},
		{name: "a pool backwards", subnets: `{"subnets": [{"id": "s-1", "allocation_pools": [{"start": "10.0.0.9", "end": "10.0.0.2"}]}]}`, text: "no range of addresses"},
		{name: "a pool of two families", subnets: `{"subnets": [{"id": "s-1", "allocation_pools": [{"start": "10.0.0.9", "end": "fe80::1"}]}]}`, text: "no range of addresses"},
		{name: "a pool without an address", subnets: `{"subnets": [{"id": "s-1", "allocation_pools": [{"start": "x", "end": "y"}]}]}`, text: "unable to parse IP"},
		{name: "no list", subnets: `{}`, text: `no "subnets"`},
		{name: "no ports", ports: `{}`, text: `no "ports"`},
		{name: "one page of the ports", ports: `{"ports": [], "ports_links": [{"rel": "next", "href": "x"}]}`, text: "lists only 0 ports at once"},
	} {
		t.Run(test.name, func(t *testing.T) {
			cloud := newFakeCloud(t)
			cloud.set(func(c *fakeCloud) {
				c.atNeutron = func(w http.ResponseWriter, r *http.Request) {
					switch {
					case strings.HasSuffix(r.URL.Path, "/subnets") && test.subnets != "":
						respond(w, http.StatusOK, "application/json", test.subnets)
					case strings.HasSuffix(r.URL.Path, "/ports") && test.ports != "":
						respond(w, http.StatusOK, "application/json", test.ports)
					default:
						c.respondNeutron(w, r)
					}
				}
			})
			series, err := collect(t, cloud.newSubnets())
			if got := downReason(t, series, "neutron"); got != "" {
				t.Errorf("reason = %q, want up", got)
			}
			if (err == nil) != (test.text == "") || err != nil && !strings.Contains(err.Error(), test.text) {
				t.Errorf("error = %v, want one with %q", err, test.text)
			}
			if test.want == nil {
				test.want = map[string]float64{}
			}
			if diff := cmp.Diff(test.want, withPrefix(series, "vitals_neutron_subnet")); diff != "" {
				t.Errorf("subnets (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSubnetOfIPv6(t *testing.T) {
	var response neutronSubnets
	if err := json.Unmarshal([]byte(`{"subnets": [{"id": "s", "allocation_pools": [{"start": "fd00::", "end": "fd00::ffff:ffff:ffff:ffff"}]}]}`), &response); err != nil {
		t.Fatal(err)
	}
	if err := response.validate(); err != nil {
		t.Fatal(err)
	}
	if got := response.Subnets[0].size(); got != math.Pow(2, 64) {
		t.Errorf("size() = %v, want 2^64", got)
	}
}
