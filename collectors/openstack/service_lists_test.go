package openstack

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/collectors/remote"
)

// of returns the series with the prefix that are not 0, without the label dependency.
func of(series map[string]float64, prefix string) map[string]float64 {
	got := map[string]float64{}
	for key, value := range series {
		if strings.HasPrefix(key, prefix) && value != 0 {
			got[strings.NewReplacer(prefix, "", `dependency="service",`, "", `,dependency="service"`, "", `dependency="service"`, "").Replace(key)] = value
		}
	}
	return got
}

func TestProcesses(t *testing.T) {
	for _, test := range []struct {
		name, service, check, list, body string
		want                             map[string]float64
	}{
		{"Nova", "compute", `/v2.1/servers?limit=1 {"servers": []}`, "/v2.1/os-services", `{"services": [
			{"binary": "nova-compute", "state": "up", "status": "enabled"}, {"binary": "nova-compute", "state": "down", "status": "disabled"},
			{"binary": "nova-scheduler", "state": "down", "status": "enabled", "forced_down": false}]}`, map[string]float64{
			`{binary="nova-compute",state="up",status="enabled"}`:     1,
			`{binary="nova-compute",state="down",status="disabled"}`:  1,
			`{binary="nova-scheduler",state="down",status="enabled"}`: 1,
		}},
		{"Heat", "orchestration", `/v1/` + testProject + `/stacks?limit=1 {"stacks": []}`, "/v1/" + testProject + "/services", `{"services": [
			{"binary": "heat-engine", "status": "up"}, {"binary": "heat-engine", "status": "down"}]}`, map[string]float64{
			`{binary="heat-engine",state="up",status="enabled"}`: 1, `{binary="heat-engine",state="down",status="enabled"}`: 1,
		}},
		{"Ironic", "baremetal", `/v1/nodes?limit=1&fields=uuid {"nodes": []}`, "/v1/conductors", `{"conductors": [
			{"hostname": "a", "alive": true}, {"hostname": "b", "alive": false}, {"hostname": "c"}]}`, map[string]float64{
			`{binary="ironic-conductor",state="up",status="enabled"}`: 1, `{binary="ironic-conductor",state="down",status="enabled"}`: 1,
			`{binary="ironic-conductor",state="other",status="enabled"}`: 1,
		}},
		{"Designate", "dns", `/v2/zones?limit=1 {"zones": []}`, "/v2/service_statuses?limit=1000", `{"service_statuses": [
			{"service_name": "central", "status": "UP"}, {"service_name": "worker", "status": "WARNING"}, {"service_name": "worker", "status": "DOWN"}], "links": {"self": "x"}}`,
			map[string]float64{
				`{binary="central",state="up",status="enabled"}`: 1, `{binary="worker",state="warning",status="enabled"}`: 1,
				`{binary="worker",state="down",status="enabled"}`: 1,
			}},
		{"Manila", "shared-file-system", `/v2/shares?limit=1 {"shares": []}`, "/v2/services", `{"services": [
			{"binary": "manila-share", "state": "up", "status": "enabled"}]}`, map[string]float64{`{binary="manila-share",state="up",status="enabled"}`: 1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newFakeService(t, "", test.service)
			check, body, _ := strings.Cut(test.check, " ")
			s.respondTo(check, body)
			s.respondTo(test.list, test.body)
			c := s.newService(nil, func(c *ServiceConfig) { c.Service, c.Binaries = test.service, serviceOf(test.service).binaries })
			series, err := collect(t, c)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, of(series, "vitals_openstack_processes")); diff != "" {
				t.Errorf("processes (-want +got):\n%s", diff)
			}
		})
	}
}

// A list that cannot be read is not measured, and the service stays up. A missing right is not an
// error.
func TestListsThatCannotBeRead(t *testing.T) {
	for _, test := range []struct {
		name, body string
		text       string // of the error; empty means none
	}{
		{"the role may not read it", "status 403", ""},
		{"the API has no such list", "status 404", "404"},
		{"the API is too old", "status 406", "406"},
		{"the database is gone", "status 500", "500"},
		{"another document", `{"amphora": []}`, `no "amphorae"`},
		{"null", "null", `no "amphorae"`},
		{"one page of several", `{"amphorae": [{"status": "READY"}], "amphorae_links": [{"rel": "next", "href": "x"}]}`, "lists only 1 amphorae at once"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newOctavia(t)
			s.respondTo(amphoraeCall, test.body)
			series, err := collect(t, s.newService(nil, func(c *ServiceConfig) { c.Amphorae = true }))
			if got := downReason(t, series, "service"); got != "" {
				t.Errorf("reason = %q, want up", got)
			}
			if got, ok := series[`vitals_openstack_list_measured{dependency="service",list="amphorae"}`]; !ok || got != 0 {
				t.Errorf("measured = %v (present: %t), want 0", got, ok)
			}
			if (err == nil) != (test.text == "") || err != nil && !strings.Contains(err.Error(), test.text) {
				t.Errorf("error = %v, want one with %q", err, test.text)
			}
			for key := range series {
				if strings.HasPrefix(key, "vitals_openstack_amphorae") {
					t.Errorf("%s is exported, want nothing of a list that was not read", key)
				}
			}
		})
	}
}

func TestLoadBalancers(t *testing.T) {
	s := newOctavia(t)
	s.respondTo("/v2.0/lbaas/loadbalancers?fields=id&name=gone", `{"loadbalancers": []}`)
	s.respondTo("/v2.0/lbaas/loadbalancers?fields=id&name=deleted", `{"loadbalancers": [{"id": "lb-2"}]}`)
	s.respondTo("/v2.0/lbaas/loadbalancers?fields=id&name=new", `{"loadbalancers": [{"id": "lb-3"}]}`)
	s.respondTo("/v2.0/lbaas/loadbalancers/lb-3/status", `{"statuses": {"loadbalancer": {"provisioning_status": "REBUILDING", "operating_status": "OFFLINE", "listeners": []}}}`)
	series, err := collect(t, s.newService(nil, func(c *ServiceConfig) {
		c.LoadBalancers = []string{"default/kubernetes", "gone", "deleted", "new"}
	}))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{
		`present{load_balancer="default/kubernetes"}`:                             1,
		`present{load_balancer="new"}`:                                            1,
		`provisioning_status{load_balancer="default/kubernetes",status="active"}`: 1,
		`operating_status{load_balancer="default/kubernetes",status="degraded"}`:  1,
		`provisioning_status{load_balancer="new",status="other"}`:                 1,
		`operating_status{load_balancer="new",status="offline"}`:                  1,
		`listeners{load_balancer="default/kubernetes",status="online"}`:           1,
		`listeners{load_balancer="default/kubernetes",status="offline"}`:          1,
		`members{load_balancer="default/kubernetes",status="online"}`:             2,
		`members{load_balancer="default/kubernetes",status="error"}`:              1,
		`members{load_balancer="default/kubernetes",status="no_monitor"}`:         1,
		`smallest_pool_members{load_balancer="default/kubernetes"}`:               1,
	}
	if diff := cmp.Diff(want, of(series, "vitals_openstack_load_balancer_")); diff != "" {
		t.Errorf("load balancers (-want +got):\n%s", diff)
	}
	for _, name := range []string{"gone", "deleted"} {
		if got, ok := series[`vitals_openstack_load_balancer_present{dependency="service",load_balancer="`+name+`"}`]; !ok || got != 0 {
			t.Errorf("present of %s = %v (present: %t), want 0", name, got, ok)
		}
	}
	if _, ok := series[`vitals_openstack_load_balancer_smallest_pool_members{dependency="service",load_balancer="new"}`]; ok {
		t.Error("a load balancer without a pool has a smallest one, want none")
	}
}

// A load balancer that cannot be read has no sample. The others have theirs, and Octavia is up.
func TestLoadBalancersThatCannotBeRead(t *testing.T) {
	for _, test := range []struct{ name, uri, body, text string }{
		{"two with one name", kubernetesLB, `{"loadbalancers": [{"id": "lb-1"}, {"id": "lb-2"}]}`, `2 load balancers have the name "default/kubernetes"`},
		{"one without an id", kubernetesLB, `{"loadbalancers": [{}]}`, "no id"},
		{"no list", kubernetesLB, `{}`, `no "loadbalancers"`},
		{"an error of the list", kubernetesLB, "status 500", "500"},
		{"an error of the status", statusLB, "status 500", "500"},
		{"no status", statusLB, `{"statuses": {}}`, `no "loadbalancer"`},
		{"cut off", statusLB, `{"statuses": {"loadbalancer": {"listeners": [`, "EOF"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newOctavia(t)
			s.respondTo("/v2.0/lbaas/loadbalancers?fields=id&name=second", `{"loadbalancers": []}`)
			s.respondTo(test.uri, test.body)
			series, err := collect(t, s.newService(nil, func(c *ServiceConfig) { c.LoadBalancers = []string{"default/kubernetes", "second"} }))
			if err == nil || !strings.Contains(err.Error(), test.text) {
				t.Errorf("error = %v, want one with %q", err, test.text)
			}
			if got := downReason(t, series, "service"); got != "" {
				t.Errorf("reason = %q, want up", got)
			}
			for key := range series {
				if strings.Contains(key, "default/kubernetes") {
					t.Errorf("%s is exported, want nothing", key)
				}
			}
			if _, ok := series[`vitals_openstack_load_balancer_present{dependency="service",load_balancer="second"}`]; !ok {
				t.Error("the second load balancer has no sample")
			}
		})
	}
}

// The id of a load balancer is no path of its own.
func TestLoadBalancerWithAnIDThatIsAPath(t *testing.T) {
	s := newOctavia(t)
	s.respondTo(kubernetesLB, `{"loadbalancers": [{"id": "../../v2.0/x"}]}`)
	s.respondTo("/v2.0/lbaas/loadbalancers/..%2F..%2Fv2.0%2Fx/status", `{"statuses": {"loadbalancer": {"provisioning_status": "ACTIVE"}}}`)
	series, err := collect(t, s.newService(nil, func(c *ServiceConfig) { c.LoadBalancers = []string{"default/kubernetes"} }))
	if got := series[`vitals_openstack_load_balancer_present{dependency="service",load_balancer="default/kubernetes"}`]; err != nil || got != 1 {
		t.Errorf("present = %v, error = %v, want 1", got, err)
	}
}

func TestServiceProblems(t *testing.T) {
	login := Auth{Reauthenticate: 1}
	many := make([]string, maxBalancers+1)
	for i := range many {
		many[i] = fmt.Sprint("lb-", i)
	}
	for _, test := range []struct {
		name   string
		config ServiceConfig
		want   []string
	}{
		{"complete", ServiceConfig{Service: "load-balancer", Auth: login, Amphorae: true, LoadBalancers: []string{"default/kubernetes"}}, nil},
		{"any type", ServiceConfig{Service: "rating", Auth: login, Path: "v1/info/config?x=1"}, nil},
		{"shared", ServiceConfig{Service: "compute", Keystone: "keystone", Binaries: []string{"nova-compute"}}, nil},
		{"no service", ServiceConfig{Auth: login}, []string{"service"}},
		{"not a type", ServiceConfig{Service: "Load Balancer", Auth: login}, []string{"service"}},
		{"keystone", ServiceConfig{Service: "identity", Auth: login}, []string{"service"}},
		{"both logins", ServiceConfig{Service: "image", Keystone: "k", Auth: Auth{Cloud: "c"}}, []string{"cloud"}},
		{"an absolute path", ServiceConfig{Service: "image", Auth: login, Path: "/v2/images"}, []string{"path"}},
		{"a URL", ServiceConfig{Service: "image", Auth: login, Path: "http://x/ y"}, []string{"path"}},
		{"a binary of another service", ServiceConfig{Service: "compute", Auth: login, Binaries: []string{"cinder-volume"}}, []string{"binaries[0]"}},
		{"a binary twice", ServiceConfig{Service: "compute", Auth: login, Binaries: []string{"nova-compute", "nova-compute"}}, []string{"binaries[1]"}},
		{"binaries of a service without them", ServiceConfig{Service: "image", Auth: login, Binaries: []string{"glance-api"}}, []string{"binaries[0]"}},
		{"load balancers of Nova", ServiceConfig{Service: "compute", Auth: login, LoadBalancers: []string{"a"}, Amphorae: true}, []string{"amphorae", "load_balancers"}},
		{"a name that is none", ServiceConfig{Service: "load-balancer", Auth: login, LoadBalancers: []string{"", "a\n"}}, []string{"load_balancers[0]", "load_balancers[1]"}},
		{"too many", ServiceConfig{Service: "load-balancer", Auth: login, LoadBalancers: many}, []string{"load_balancers"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, p := range test.config.Problems() {
				got = append(got, p.Path)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("paths of the problems (-want +got):\n%s", diff)
			}
		})
	}
}

// The list of processes of a service that cannot be reached is not measured either.
func TestListsOfADeadService(t *testing.T) {
	s := newOctavia(t)
	s.set(func(*fakeCloud) { s.at = responder(http.StatusInternalServerError, "application/json", "") })
	series, err := collect(t, s.newService(nil, func(c *ServiceConfig) { c.Amphorae = true }))
	if got := downReason(t, series, "service"); got != remote.ReasonServerError || err == nil || strings.Count(err.Error(), "500") != 1 {
		t.Errorf("reason = %q, error = %v, want server_error once", got, err)
	}
	if got, ok := series[`vitals_openstack_list_measured{dependency="service",list="amphorae"}`]; !ok || got != 0 {
		t.Errorf("measured = %v (present: %t), want 0", got, ok)
	}
}
