package openstack

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/remote"
)

// Each type of service is checked by the requests of its API, wherever the version of the API is in
// the catalog.
func TestServiceRequests(t *testing.T) {
	for _, test := range []struct {
		name, catalog, service string
		path                   string
		check, body            string
		// document is the request for the version document; default GET /.
		document string
	}{
		{name: "Octavia", service: "load-balancer", check: balancersCall, body: `{"loadbalancers": []}`},
		{name: "Octavia behind a proxy", service: "load-balancer", path: "/load-balancer/", check: "/load-balancer" + balancersCall, body: `{"loadbalancers": []}`, document: "/load-balancer/"},
		{name: "Octavia with its version", service: "load-balancer", path: "/load-balancer/v2.0", check: "/load-balancer" + balancersCall, body: `{"loadbalancers": []}`, document: "/load-balancer/"},
		{name: "Nova", service: "compute", path: "/v2.1", check: "/v2.1/servers?limit=1", body: `{"servers": [{}], "servers_links": []}`},
		{name: "Nova with a project", service: "compute", path: "/v2.1/" + testProject, check: "/v2.1/" + testProject + "/servers?limit=1", body: `{"servers": []}`},
		{name: "Nova without its version", service: "compute", check: "/v2.1/servers?limit=1", body: `{"servers": []}`},
		{name: "Cinder", service: "block-storage", path: "/v3/" + testProject, check: "/v3/" + testProject + "/volumes?limit=1", body: `{"volumes": []}`},
		{name: "Cinder by an older name", service: "block-storage", catalog: "volumev3", check: "/v3/" + testProject + "/volumes?limit=1", body: `{"volumes": []}`},
		{name: "Cinder by the name in the catalog", service: "volumev3", path: "/v3", check: "/v3/volumes?limit=1", body: `{"volumes": []}`},
		{name: "Glance", service: "image", check: "/v2/images?limit=1", body: `{"images": []}`},
		{name: "Heat", service: "orchestration", path: "/v1/" + testProject, check: "/v1/" + testProject + "/stacks?limit=1", body: `{"stacks": []}`},
		{name: "Ironic", service: "baremetal", check: "/v1/nodes?limit=1&fields=uuid", body: `{"nodes": []}`},
		{name: "Placement", service: "placement", path: "/placement", check: "/placement/usages?project_id=" + testProject, body: `{"usages": {}}`, document: "/placement/"},
		{name: "Swift", service: "object-store", path: "/v1/AUTH_" + testProject, check: "/v1/AUTH_" + testProject + "/?limit=1&format=json", body: `[]`, document: "/info"},
		{name: "Barbican", service: "key-manager", check: "/v1/secrets?limit=1", body: `{"secrets": [], "total": 0}`},
		{name: "Designate", service: "dns", check: "/v2/zones?limit=1", body: `{"zones": []}`},
		{name: "Manila", service: "shared-file-system", catalog: "sharev2", path: "/v2", check: "/v2/shares?limit=1", body: `{"shares": []}`},
		{name: "Neutron", service: "network", check: "/v2.0/networks?limit=1&fields=id", body: `{"networks": []}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			catalog, document := test.catalog, test.document
			if catalog == "" {
				catalog = test.service
			}
			if document == "" {
				document = "/"
			}
			s := newFakeService(t, test.path, catalog)
			if test.service == "network" {
				s.set(func(c *fakeCloud) { c.endpoints = "[]" })
			}
			s.respondTo(test.check, test.body)
			if document == "/info" {
				s.respondTo(document, `{"swift": {"version": "2.30.0"}}`)
			}
			c := s.newService(nil, func(c *ServiceConfig) { c.Service = test.service })
			series, err := collect(t, c)
			if got := downReason(t, series, "service"); got != "" || err != nil {
				t.Errorf("reason %q, error %v, want up", got, err)
			}
			if got := series[`vitals_openstack_api_responding{dependency="service"}`]; got != 1 {
				t.Errorf("responding = %v, want 1", got)
			}
			if diff := cmp.Diff([]string{"GET " + document, "GET " + test.check}, s.seen()); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			known := serviceOf(test.service)
			if known.header != "" && s.header.Get(known.header) != known.microversion {
				t.Errorf("header %s = %q, want %q", known.header, s.header.Get(known.header), known.microversion)
			}
		})
	}
}

// The newest of several names in the catalog is used, whatever their order.
func TestServiceWithTwoNamesInTheCatalog(t *testing.T) {
	for _, types := range [][]string{{"volumev2", "volumev3"}, {"volumev3", "volumev2"}} {
		s := newFakeService(t, "", types...)
		old := s.serve(func(http.ResponseWriter, *http.Request) { t.Error("the endpoint of volumev2 is used") })
		t.Cleanup(old.Close)
		s.set(func(c *fakeCloud) {
			before, after, _ := strings.Cut(c.services, `"type": "volumev2"`)
			c.services = before + `"type": "volumev2"` + strings.Replace(after, s.server.URL, old.URL, 1)
		})
		s.respondTo("/v3/"+testProject+"/volumes?limit=1", `{"volumes": []}`)
		wantUp(t, s.newService(nil, func(c *ServiceConfig) { c.Service = "block-storage" }), "service")
	}
}

// A type without a known check is up with its version document, or with the configured request.
func TestServiceOfAnotherType(t *testing.T) {
	s := newFakeService(t, "/rating", "rating")
	c := s.newService(nil, func(c *ServiceConfig) { c.Service = "rating" })
	wantUp(t, c, "service")
	if diff := cmp.Diff([]string{"GET /rating/"}, s.seen()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	s.respondTo("/rating/", "status 500")
	faultCase{want: remote.ReasonServerError, text: "500"}.check(t, c, "service")

	s.respondTo("/rating/v1/info/config", `{"collect": {}}`)
	s.seen()
	c = s.newService(nil, func(c *ServiceConfig) { c.Service, c.Path = "rating", "v1/info/config" })
	wantUp(t, c, "service")
	if diff := cmp.Diff([]string{"GET /rating/", "GET /rating/v1/info/config"}, s.seen()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	s.respondTo("/rating/v1/info/config", `"text"`)
	faultCase{want: remote.ReasonProtocol, text: "no object and no list"}.check(t, c, "service")
}

func TestServiceFaults(t *testing.T) {
	for _, fault := range append(commonFaults(),
		faultCase{name: "database gone", handler: plain(500, `{"faultcode": "Server", "faultstring": "unable to open database file", "debuginfo": null}`), want: remote.ReasonServerError, text: "500 Internal Server Error"},
		faultCase{name: "rejects every token", handler: fixed(401, "application/json", "neutron_401.json"), want: remote.ReasonAuth, text: "401"},
		faultCase{name: "role missing", handler: fixed(403, "application/json", "neutron_403.json"), want: remote.ReasonForbidden, text: "403"},
		faultCase{name: "wrong path", handler: fixed(404, "text/html", "not_found.html"), want: remote.ReasonNotFound, text: "404"},
		faultCase{name: "answer of another service", handler: plain(200, `{"volumes": []}`), want: remote.ReasonProtocol, text: `no "loadbalancers"`},
		faultCase{name: "its service account is broken", handler: fixed(503, "application/json", "neutron_503.json"), want: remote.ReasonServerError, text: "503"},
	) {
		t.Run(fault.name, func(t *testing.T) {
			s := newOctavia(t)
			c := s.newService(nil, nil)
			wantUp(t, c, "service")
			at := fault.handler(s.fakeCloud)
			s.set(func(*fakeCloud) { s.at = at })
			const responding = `vitals_openstack_api_responding{dependency="service"}`
			within := fault.within
			if within == 0 {
				within = 10 * time.Second
			}
			series, _ := collectWithin(t, c, within)
			for series[responding] != 1 && within < 5*time.Second { // a busy machine needs longer for the version document
				within *= 2
				series, _ = collectWithin(t, c, within)
			}
			if got := series[responding]; got != 1 {
				t.Errorf("responding = %v, want 1: the fault is behind the version document", got)
			}
			fault.check(t, c, "service")
			s.set(func(*fakeCloud) { s.at = nil })
			wantUp(t, c, "service")
		})
	}
}

// The faults of a server as a whole.
func TestServiceGone(t *testing.T) {
	s := newOctavia(t)
	c := s.newService(nil, func(c *ServiceConfig) { c.LoadBalancers, c.Amphorae = []string{"default/kubernetes"}, true })
	wantUp(t, c, "service")
	listed := s.services
	down := func(name string, fault faultCase) {
		t.Helper()
		series, _ := collectWithin(t, c, 2*time.Second)
		for key, value := range series {
			if strings.HasPrefix(key, "vitals_openstack_") && value != 0 {
				t.Errorf("%s: %s = %v, want no measurement", name, key, value)
			}
		}
		fault.within = 2 * time.Second
		fault.check(t, c, "service")
	}
	s.revoke()
	s.publish("http://"+collectortest.Refusing(t), "load-balancer")
	s.pass(6 * time.Minute) // a new login reads the catalog
	down("stopped", faultCase{want: remote.ReasonRefused, text: "connection refused"})

	silent := s.serve(s.hangs)
	t.Cleanup(silent.Close)
	s.publish(silent.URL, "load-balancer")
	s.pass(6 * time.Minute)
	down("frozen", faultCase{want: remote.ReasonTimeout, text: "deadline exceeded"})

	s.publish("", "load-balancer")
	s.pass(6 * time.Minute)
	down("an endpoint without an address", faultCase{want: remote.ReasonMissingEndpoint, text: "find the service load-balancer in the catalog"})

	s.set(func(c *fakeCloud) { c.services = "" })
	s.pass(6 * time.Minute)
	down("no endpoint", faultCase{want: remote.ReasonMissingEndpoint, text: "find the service load-balancer in the catalog"})

	s.set(func(c *fakeCloud) { c.services, c.password = listed, "changed" })
	s.revoke()
	s.pass(2 * time.Hour)
	down("wrong password", faultCase{want: remote.ReasonAuth, text: "no token for load-balancer: authenticate at"})

	s.set(func(c *fakeCloud) { c.password = testPassword })
	s.pass(time.Minute)
	wantUp(t, c, "service")
}

// A dead version document does not make a service down that does its work.
func TestServiceWithoutAVersionDocument(t *testing.T) {
	s := newOctavia(t)
	s.respondTo("/", "status 404")
	c := s.newService(nil, nil)
	series, err := collect(t, c)
	if got := downReason(t, series, "service"); got != "" || err != nil {
		t.Errorf("reason %q, error %v, want up", got, err)
	}
	if got := series[`vitals_openstack_api_responding{dependency="service"}`]; got != 0 {
		t.Errorf("responding = %v, want 0", got)
	}
}

func TestServiceSharesTheTokenOfKeystone(t *testing.T) {
	s := newOctavia(t)
	k := s.newKeystone(nil)
	c, n := s.newService(k, nil), s.newNeutron(k, nil)
	for range 60 { // ten minutes
		wantUp(t, c, "service")
		wantUp(t, n, "neutron")
		wantUp(t, k, "keystone")
		s.pass(10 * time.Second)
	}
	if issued, _ := s.counts(); issued != 2 {
		t.Errorf("%d tokens in ten minutes of three collectors, want 2", issued)
	}
	s.revoke()
	s.seen()
	wantUp(t, c, "service")
	check := "GET " + balancersCall
	if diff := cmp.Diff([]string{"GET /", check, check}, s.seen()); diff != "" {
		t.Errorf("requests with a revoked token (-want +got):\n%s", diff)
	}
}

func TestServiceWithoutItsPeer(t *testing.T) {
	s := newOctavia(t)
	for _, peer := range []collectors.Collector{nil, s.newNeutron(nil, nil)} {
		c := s.newService(s.newKeystone(nil), nil)
		c.peer = func(string) collectors.Collector { return peer }
		samples, err := c.Collect(t.Context())
		if len(samples) > 0 || err == nil || !strings.Contains(err.Error(), `"keystone"`) {
			t.Errorf("Collect() = %v, %v, want nothing and an error with the peer", samples, err)
		}
	}
}

func TestServiceExposition(t *testing.T) {
	s := newOctavia(t)
	c := s.newService(nil, func(c *ServiceConfig) { c.LoadBalancers, c.Amphorae = []string{"default/kubernetes"}, true })
	collectortest.Golden(t, "openstack.prom", exposition(t, c))
}

func TestProcessesExposition(t *testing.T) {
	s := newFakeService(t, "/v3/"+testProject, "volumev3")
	s.respondTo("/v3/"+testProject+"/volumes?limit=1", `{"volumes": []}`)
	s.respondTo("/v3/"+testProject+"/os-services", `{"services": [
		{"binary": "cinder-scheduler", "host": "c0", "zone": "nova", "status": "enabled", "state": "up"},
		{"binary": "cinder-volume", "host": "c0@lvm", "zone": "nova", "status": "disabled", "state": "down"},
		{"binary": "cinder-volume", "host": "c1@lvm", "zone": "nova", "status": "enabled", "state": "up"},
		{"binary": "made-up", "host": "c1", "status": "enabled", "state": "up"}]}`)
	c := s.newService(nil, func(c *ServiceConfig) {
		c.Service, c.Binaries = "block-storage", []string{"cinder-scheduler", "cinder-volume", "cinder-backup"}
	})
	collectortest.Golden(t, "openstack_processes.prom", exposition(t, c))
}
