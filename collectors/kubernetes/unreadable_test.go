package kubernetes_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/vitals-health/vitals/collectors"
)

// A definition that cannot be read leaves no sample of an earlier collection, but the reason. A
// requested collection exports the same, without checks.
func TestUnreadableDefinition(t *testing.T) {
	const (
		crd     = "kuryrports.openstack.org"
		present = `vitals_kubernetes_crd_present{crd="` + crd + `",dependency="kubernetes"}`
		labels  = `crd="` + crd + `",dependency="kubernetes",`
	)
	for _, test := range []struct {
		name  string
		fault func(a *api) http.HandlerFunc
		want  string
	}{
		{"403", func(*api) http.HandlerFunc { return status(403) }, "forbidden"},
		{"401", func(*api) http.HandlerFunc { return status(401) }, "auth"},
		{"429", func(*api) http.HandlerFunc { return status(429) }, "client_error"},
		{"500", func(*api) http.HandlerFunc { return status(500) }, "server_error"},
		{"HTML", func(*api) http.HandlerFunc { return text("<html><body>Welcome</body></html>") }, "protocol"},
		{"silence", func(a *api) http.HandlerFunc { return a.silent }, "timeout"},
		{"half an answer", func(a *api) http.HandlerFunc { return a.then(`{"kind":"Custom`) }, "timeout"},
	} {
		t.Run(test.name, func(t *testing.T) {
			api := newAPI(t)
			c := api.config()
			c.CRDs = []string{crd}
			k := newCollector(t, c)
			for _, step := range []struct {
				fault   http.HandlerFunc
				present bool
				want    string
			}{{nil, true, ""}, {test.fault(api), false, test.want}, {test.fault(api), false, test.want}, {nil, true, ""}} {
				api.fault(crds+crd, step.fault)
				timeout := 5 * time.Second
				if step.want == "timeout" {
					timeout = time.Second
				}
				samples, err := collect(t, k, timeout)
				if _, found := samples[present]; found != step.present || (err == nil) != step.present {
					t.Errorf("%s is exported: %t (error %v), want %t", present, found, err, step.present)
				}
				if got := samples.reason(t, "vitals_kubernetes_crd_failure", labels); got != step.want {
					t.Errorf("reason = %q, want %q", got, step.want)
				}
				before := len(api.requested())
				again, _ := k.Collect(collectors.WithRequest(t.Context())) // its error is that above
				if len(again) != len(samples) || len(api.requested()) != before {
					t.Errorf("a requested collection has %d samples after %d requests, want the same %d after none", len(again), len(api.requested())-before, len(samples))
				}
			}
		})
	}
}
