package openstack

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/collectors"
)

// FuzzServiceResponses reads the answers of the services of the catalog.
func FuzzServiceResponses(f *testing.F) {
	for _, body := range []string{
		`{"loadbalancers": [{"id": "lb-1"}, {}]}`, `{"statuses": {"loadbalancer": {"provisioning_status": "ACTIVE", "operating_status": "ONLINE", "listeners": [{"operating_status": "ONLINE", "pools": [{"id": "p", "members": [{"operating_status": "X"}]}, {"id": "p"}, {}]}]}}}`,
		`{"amphorae": [{"status": "READY"}, {"status": null}], "amphorae_links": [{"rel": "next"}]}`, `{"services": [{"binary": "nova-compute", "state": "up", "status": "disabled"}, {"binary": "heat-engine", "status": "down"}]}`,
		`{"conductors": [{"alive": true}, {"alive": null}], "next": "x"}`, `{"service_statuses": [{"service_name": "worker", "status": "WARNING"}]}`, `{"versions": []}`, "null", "[]", `"x"`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, response := range []validated{&checkResponse{}, &checkResponse{key: "versions"}, &balancerList{}, &balancerResponse{}, &amphoraList{}, &processList{}} {
			if json.Unmarshal(body, response) != nil || response.validate() != nil {
				continue
			}
			switch r := response.(type) {
			case *checkResponse:
				if r.key != "" && !json.Valid(r.content) {
					t.Errorf("an invalid document has the member %q", r.key)
				}
			case *balancerResponse:
				checkBalancer(t, r.Statuses.Balancer)
			case *amphoraList:
				checkCounts(t, r.counts(), amphoraStatuses(), len(r.Amphorae))
			case *processList:
				counts := map[string]int{}
				for p, n := range r.counts() {
					if !slices.Contains(processStatuses(), p.status) {
						t.Errorf("status %q, want one of the set", p.status)
					}
					counts[p.state] += n
				}
				checkCounts(t, counts, processStates(), len(r.Services)+len(r.Conductors)+len(r.Statuses))
			}
		}
	})
}

// checkCounts fails the test unless each of n things is counted once, under a status of the set.
func checkCounts(t *testing.T, counts map[string]int, set []string, n int) {
	t.Helper()
	sum := 0
	for status, count := range counts {
		if !slices.Contains(set, status) {
			t.Errorf("status %q, want one of %q", status, set)
		}
		sum += count
	}
	if sum != n {
		t.Errorf("%d things were counted, want %d", sum, n)
	}
}

// checkBalancer fails the test unless exactly one status of each state set is 1.
func checkBalancer(t *testing.T, tree *balancerTree) {
	t.Helper()
	var b collectors.Batch
	tree.add(&b, "octavia", "lb")
	sets := map[string]float64{}
	for _, s := range b.Samples {
		if name := s.Labels.Get("__name__"); strings.HasSuffix(name, "_status") {
			sets[name] += s.Value
		} else if s.Value < 0 {
			t.Errorf("%s = %v, want a number from 0", s.Labels, s.Value)
		}
	}
	for name, sum := range sets {
		if sum != 1 {
			t.Errorf("%s has %v statuses, want one", name, sum)
		}
	}
}

// FuzzAddresses reads endpoints of the catalog.
func FuzzAddresses(f *testing.F) {
	for _, endpoint := range []string{"http://h:9876/", "https://h/load-balancer/v2.0", "http://h:8776/v3/p/", "http://h/v1/AUTH_p", "http://h/%2f/v2?x=1#f", "v2", "%zz"} {
		f.Add(endpoint)
	}
	f.Fuzz(func(t *testing.T, endpoint string) {
		for _, s := range services() {
			api, document, err := s.addresses(endpoint, testProject)
			if err != nil {
				continue
			}
			a, err := url.Parse(api)
			d, other := url.Parse(document)
			if err != nil || other != nil || a.Host != d.Host || a.Scheme != d.Scheme {
				t.Fatalf("addresses(%q) = %q, %q (%v, %v), want URLs of one host", endpoint, api, document, err, other)
			}
			if !strings.HasSuffix(a.Path, "/") || a.RawQuery != "" || a.Fragment != "" {
				t.Errorf("addresses(%q) = %q, want a slash at its end", endpoint, api)
			}
		}
	})
}
