package openstack

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/collectors"
)

// fakeService is a service of the catalog on loopback, with the Keystone of a fakeCloud.
type fakeService struct {
	*fakeCloud
	server *httptest.Server
	// responses are the bodies by the URI of the request; at replaces them. Both are guarded by the
	// cloud's mu, as are the requests.
	responses map[string]string
	at        http.HandlerFunc
	requests  []string
	header    http.Header
}

// newFakeService starts a service. The catalog has it with these types, each at the path.
func newFakeService(t *testing.T, path string, types ...string) *fakeService {
	t.Helper()
	s := &fakeService{fakeCloud: newFakeCloud(t), responses: map[string]string{}}
	s.server = s.serve(s.handle)
	t.Cleanup(s.server.Close)
	s.publish(s.server.URL+path, types...)
	return s
}

// publish replaces the further entries of the catalog.
func (s *fakeService) publish(url string, types ...string) {
	var entries strings.Builder
	for _, name := range types {
		fmt.Fprintf(&entries, `, {"type": %q, "name": "", "endpoints": [{"interface": "public", "region": "RegionOne", "region_id": "RegionOne", "url": %q}]}`, name, url)
	}
	s.set(func(c *fakeCloud) { c.services = entries.String() })
}

func (s *fakeService) handle(w http.ResponseWriter, r *http.Request) {
	token := r.Header.Get("X-Auth-Token")
	s.mu.Lock()
	s.requests = append(s.requests, r.Method+" "+r.URL.RequestURI())
	s.header = r.Header.Clone()
	body, known := s.responses[r.URL.RequestURI()]
	at, good := s.at, s.goodLocked(token)
	s.mu.Unlock()
	switch {
	case token != "" && at != nil:
		at(w, r)
	case token != "" && !good:
		respond(w, http.StatusUnauthorized, "application/json", readFixture(s.t, "neutron_401.json"))
	case strings.HasPrefix(body, "status "):
		respond(w, int(body[7]-'0')*100+int(body[8]-'0')*10+int(body[9]-'0'), "application/json", `{"message": "no"}`)
	case known:
		respond(w, http.StatusOK, "application/json", body)
	case token == "" && !strings.HasSuffix(r.URL.Path, "/info"):
		respond(w, http.StatusMultipleChoices, "application/json", `{"versions": [{"id": "v2.0", "status": "CURRENT"}]}`)
	default:
		respond(w, http.StatusNotFound, "application/json", readFixture(s.t, "neutron_404.json"))
	}
}

// seen returns the requests since the previous call.
func (s *fakeService) seen() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	requests := s.requests
	s.requests = nil
	return requests
}

// respondTo sets the body of the response to a request; "status 403" is a status without one.
func (s *fakeService) respondTo(uri, body string) {
	s.set(func(*fakeCloud) { s.responses[uri] = body })
}

// newService returns an openstack collector with a login of its own, or with the token of peer.
func (s *fakeService) newService(peer collectors.Collector, change func(*ServiceConfig)) *catalogService {
	s.t.Helper()
	config := &ServiceConfig{Service: "load-balancer", Keystone: "keystone"}
	config.SetDefaults()
	if peer == nil {
		config = &ServiceConfig{Service: "load-balancer", Auth: s.auth()}
	}
	if change != nil {
		change(config)
	}
	if problems := config.Problems(); len(problems) > 0 {
		s.t.Fatalf("Problems() = %v, want none", problems)
	}
	made, err := config.New(collectors.Env{Name: "service", Peer: func(string) collectors.Collector { return peer }})
	if err != nil {
		s.t.Fatal(err)
	}
	c := made.(*catalogService)
	if c.own != nil {
		s.adopt(c.own)
	}
	s.run(c)
	return c
}

const (
	balancersCall = "/v2.0/lbaas/loadbalancers?limit=1&fields=id"
	kubernetesLB  = "/v2.0/lbaas/loadbalancers?fields=id&name=default%2Fkubernetes"
	statusLB      = "/v2.0/lbaas/loadbalancers/lb-1/status"
	amphoraeCall  = "/v2.0/octavia/amphorae?fields=status"
)

// newOctavia starts a load balancer service with one load balancer and three amphorae.
func newOctavia(t *testing.T) *fakeService {
	t.Helper()
	s := newFakeService(t, "", "load-balancer")
	s.respondTo(balancersCall, `{"loadbalancers": [{"id": "lb-1"}], "loadbalancers_links": [{"rel": "next", "href": "`+s.server.URL+`/v2.0/lbaas/loadbalancers?limit=1&marker=lb-1"}]}`)
	s.respondTo(kubernetesLB, `{"loadbalancers": [{"id": "lb-1"}], "loadbalancers_links": []}`)
	s.respondTo(statusLB, readFixture(t, "balancer_status.json"))
	s.respondTo(amphoraeCall, `{"amphorae": [{"status": "ALLOCATED"}, {"status": "ALLOCATED"}, {"status": "ERROR"}], "amphorae_links": []}`)
	return s
}
