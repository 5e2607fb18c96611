package kubernetes

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// aPod returns a pod with this status and metadata.
func aPod(name, metadata, status string) string {
	return fmt.Sprintf(`{"kind":"Pod","metadata":{"namespace":"lab","name":%q%s},
		"spec":{"containers":[{"ports":[{"name":"http","containerPort":8080,"protocol":"TCP"},{"name":"metrics","containerPort":9090}]}]},"status":%s}`, name, metadata, status)
}

// aSlice returns an EndpointSlice of a type with these endpoints and ports.
func aSlice(name, addressType, endpoints, ports string) string {
	return fmt.Sprintf(`{"kind":"EndpointSlice","metadata":{"namespace":"lab","name":%q},"addressType":%q,"endpoints":[%s],"ports":%s}`, name, addressType, endpoints, ports)
}

const (
	httpPort  = `[{"name":"http","port":8080,"protocol":"TCP"}]`
	podA      = `"targetRef":{"kind":"Pod","namespace":"lab","name":"a"}`
	ready     = `"conditions":{"ready":true,"serving":true,"terminating":false}`
	notReady  = `"conditions":{"ready":false,"serving":false,"terminating":false}`
	leaving   = `"conditions":{"ready":false,"serving":true,"terminating":true}`
	aIsReady  = `{"addresses":["10.0.0.1"],` + ready + `,` + podA + `}`
	running   = `{"phase":"Running","podIP":"10.0.0.1","podIPs":[{"ip":"10.0.0.1"},{"ip":"fd00::1"}],"conditions":[{"type":"Ready","status":"True"}]}`
	unready   = `{"phase":"Running","podIP":"10.0.0.2","podIPs":[{"ip":"10.0.0.2"}],"conditions":[{"type":"Ready","status":"False"}]}`
	noAddress = `{"phase":"Pending"}`
)

func TestTargetsOfObjects(t *testing.T) {
	slices := Discovery{Role: "endpointslices", Namespace: "lab", Port: "http"}
	pods := Discovery{Role: "pods", Namespace: "lab", Port: "http"}
	legacy := Discovery{Role: "endpoints", Namespace: "lab", Port: "http"}
	with := func(d Discovery, change func(*Discovery)) Discovery {
		change(&d)
		return d
	}
	everywhere := func(d *Discovery) { d.Namespace = "" }
	readyOnly := func(d *Discovery) { d.ReadyOnly = true }
	port := func(p string) func(*Discovery) { return func(d *Discovery) { d.Port = p } }
	family := func(f string) func(*Discovery) { return func(d *Discovery) { d.IPFamily = f } }
	dual := []string{
		aSlice("v6", "IPv6", `{"addresses":["fd00::1"],`+ready+`,`+podA+`}`, httpPort),
		aSlice("v4", "IPv4", aIsReady, httpPort),
	}
	long := strings.Repeat("a", 253)
	for _, test := range []struct {
		name    string
		d       Discovery
		objects []string
		want    string
		lacking int
	}{
		{"a pod", pods, []string{aPod("a", "", running)}, "a=10.0.0.1:8080", 0},
		{"a pod of all namespaces", with(pods, everywhere), []string{aPod("a", "", running)}, "lab.a=10.0.0.1:8080", 0},
		{"a pod with both families", with(pods, family("IPv6")), []string{aPod("a", "", running)}, "a=[fd00::1]:8080", 0},
		{"a pod without the family", with(pods, family("IPv6")), []string{aPod("a", "", unready)}, "", 0},
		{"a pod that is not ready", pods, []string{aPod("a", "", unready)}, "a=10.0.0.2:8080", 0},
		{"only ready pods", with(pods, readyOnly), []string{aPod("a", "", running), aPod("b", "", unready)}, "a=10.0.0.1:8080", 0},
		{"a pod that ends", pods, []string{aPod("a", `,"deletionTimestamp":"2026-01-01T00:00:00Z"`, running)}, "", 0},
		{"a pod that has ended", pods, []string{aPod("a", "", strings.Replace(running, "Running", "Succeeded", 1))}, "", 0},
		{"a pod that has failed", pods, []string{aPod("a", "", strings.Replace(running, "Running", "Failed", 1))}, "", 0},
		{"a pod without an address", pods, []string{aPod("a", "", noAddress)}, "", 0},
		{"a pod with an address that is none", pods, []string{aPod("a", "", `{"podIP":"10.0.0.1%eth0"}`), aPod("b", "", `{"podIP":"evil.example"}`)}, "", 0},
		{"a pod with a name that is none", pods, []string{aPod(`a\"} 1`, "", running), aPod(strings.Repeat("a", 400), "", running)}, "", 0},
		{"a pod with a long name", pods, []string{aPod(long, "", running)}, long + "=10.0.0.1:8080", 0},
		{"a pod without the port", with(pods, port("grpc")), []string{aPod("a", "", running)}, "", 1},
		{"a pod with two ports, and none is chosen", with(pods, port("")), []string{aPod("a", "", running)}, "", 1},
		{"a port that is not declared", with(pods, port("1234")), []string{aPod("a", "", running)}, "a=10.0.0.1:1234", 0},
		{"a port of a sidecar", with(pods, port("side")), []string{`{"metadata":{"name":"a"},"spec":{"initContainers":[
			{"ports":[{"name":"side","containerPort":1}]},{"restartPolicy":"Always","ports":[{"name":"side","containerPort":2}]}]},"status":{"podIP":"10.0.0.1"}}`}, "a=10.0.0.1:2", 0},

		{"an endpoint", slices, []string{aSlice("s", "IPv4", aIsReady, httpPort)}, "a=10.0.0.1:8080", 0},
		{"an endpoint of all namespaces", with(slices, everywhere), []string{aSlice("s", "IPv4", aIsReady, httpPort)}, "lab.a=10.0.0.1:8080", 0},
		{"the only port", with(slices, port("")), []string{aSlice("s", "IPv4", aIsReady, `[{"port":80}]`)}, "a=10.0.0.1:80", 0},
		{"one port in TCP and UDP", with(slices, port("")), []string{aSlice("s", "IPv4", aIsReady, `[{"name":"a","port":53},{"name":"b","port":53}]`)}, "a=10.0.0.1:53", 0},
		{"a port without a number", slices, []string{aSlice("s", "IPv4", aIsReady, `[{"name":"http"}]`)}, "", 1},
		{"a port that cannot be", slices, []string{aSlice("s", "IPv4", aIsReady, `[{"name":"http","port":65536},{"name":"http","port":-1}]`)}, "", 1},
		{"no ports", slices, []string{aSlice("s", "IPv4", aIsReady, `null`)}, "", 1},
		{"dual stack", slices, dual, "a=10.0.0.1:8080", 0},
		{"dual stack, IPv6", with(slices, family("IPv6")), dual, "a=[fd00::1]:8080", 0},
		{"an endpoint that is not ready", slices, []string{aSlice("s", "IPv4", `{"addresses":["10.0.0.1"],`+notReady+`,`+podA+`}`, httpPort)}, "a=10.0.0.1:8080", 0},
		{"only ready endpoints", with(slices, readyOnly), []string{aSlice("s", "IPv4", `{"addresses":["10.0.0.1"],`+notReady+`},{"addresses":["10.0.0.3"]}`, httpPort)}, "10.0.0.3=10.0.0.3:8080", 0},
		{"an endpoint that ends", slices, []string{aSlice("s", "IPv4", `{"addresses":["10.0.0.1"],`+leaving+`,`+podA+`}`, httpPort)}, "", 0},
		{"an endpoint in two slices", with(slices, readyOnly), []string{
			aSlice("s", "IPv4", `{"addresses":["10.0.0.1"],`+notReady+`,`+podA+`}`, httpPort), aSlice("t", "IPv4", aIsReady, httpPort),
		}, "a=10.0.0.1:8080", 0},
		{"an endpoint with two ports of a name", slices, []string{
			aSlice("s", "IPv4", aIsReady, `[{"name":"http","port":9000}]`), aSlice("t", "IPv4", aIsReady, httpPort),
		}, "a=10.0.0.1:8080", 0},
		{"endpoints without pods", slices, []string{
			aSlice("s", "IPv4", `{"addresses":["192.0.2.7"]},{"addresses":["192.0.2.8"],"targetRef":{"kind":"Node","name":"n"}}`, httpPort),
			aSlice("t", "IPv6", `{"addresses":["2001:db8::7"]}`, httpPort),
			aSlice("u", "FQDN", `{"addresses":["db.example.com"]},{"addresses":["no host/"]}`, httpPort),
		}, "192.0.2.7=192.0.2.7:8080 192.0.2.8=192.0.2.8:8080 2001-0db8-0000-0000-0000-0000-0000-0007=[2001:db8::7]:8080 db.example.com=db.example.com:8080", 0},
		{"an endpoint without addresses", slices, []string{aSlice("s", "IPv4", `{"addresses":[]},{}`, httpPort)}, "", 0},

		{"an Endpoints object", legacy, []string{`{"kind":"Endpoints","metadata":{"namespace":"lab","name":"api"},"subsets":[
			{"addresses":[{"ip":"10.0.0.1",` + podA + `},{"ip":"10.0.0.9"}],"notReadyAddresses":[{"ip":"10.0.0.2"}],"ports":` + httpPort + `},
			{"addresses":[{"ip":"10.0.0.3"}],"ports":[{"name":"other","port":1}]}]}`}, "10.0.0.2=10.0.0.2:8080 10.0.0.9=10.0.0.9:8080 a=10.0.0.1:8080", 1},
		{"an Endpoints object, only ready", with(legacy, readyOnly), []string{`{"metadata":{"name":"api"},"subsets":[
			{"addresses":[{"ip":"10.0.0.1"}],"notReadyAddresses":[{"ip":"10.0.0.2"}],"ports":` + httpPort + `}]}`}, "10.0.0.1=10.0.0.1:8080", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := &members{discovery: &test.d, role: roles()[test.d.Role], changed: func() {}}
			m.held = held{listed: true, objects: map[string]member{}}
			for _, text := range test.objects {
				if err := m.change("ADDED", []byte(text)); err != nil {
					t.Fatal(err)
				}
			}
			var got []string
			targets, _, lacking, _ := m.found()
			for _, target := range targets {
				got = append(got, target.name+"="+target.address())
			}
			if diff := cmp.Diff(test.want, strings.Join(got, " ")); diff != "" || lacking != test.lacking {
				t.Errorf("found() differs (-want +got):\n%s%d lack the port, want %d", diff, lacking, test.lacking)
			}
			for _, text := range test.objects {
				if err := m.change(eventDeleted, []byte(text)); err != nil {
					t.Fatal(err)
				}
			}
			if left, beyond, _, _ := m.found(); len(left) > 0 || beyond > 0 || m.held.endpoints > 0 {
				t.Errorf("after all are deleted, found() = %v, %d beyond, %d are held, want none", left, beyond, m.held.endpoints)
			}
		})
	}
}

// What is beyond the limits is counted and not held.
func TestMembersAreBounded(t *testing.T) {
	m := &members{discovery: &Discovery{Role: "endpointslices", Port: "80"}, role: roles()["endpointslices"], changed: func() {}}
	m.held = held{listed: true, objects: map[string]member{}}
	var addresses []string
	for i := range maxEndpoints - 1 {
		addresses = append(addresses, fmt.Sprintf(`{"addresses":["10.1.%d.%d"]}`, i/256, i%256))
	}
	one := `{"addresses":["10.0.0.1"]},{"addresses":["10.0.0.2"]},{"addresses":["10.0.0.3"]}`
	change := func(eventType, name, endpoints string, wantTargets, wantBeyond int) {
		t.Helper()
		if err := m.change(eventType, []byte(aSlice(name, "IPv4", endpoints, "[]"))); err != nil {
			t.Fatal(err)
		}
		if targets, beyond, _, _ := m.found(); len(targets) != wantTargets || beyond != wantBeyond {
			t.Errorf("after %s of %s: %d targets and %d beyond, want %d and %d", eventType, name, len(targets), beyond, wantTargets, wantBeyond)
		}
	}
	change("ADDED", "many", strings.Join(addresses, ","), maxEndpoints-1, 0)
	change("ADDED", "more", one, maxEndpoints, 2)
	change(eventDeleted, "many", "", 1, 2)
	change("MODIFIED", "more", one, 3, 0)
	for i := range maxObjects - 1 {
		m.objects[fmt.Sprint(i)] = member{}
	}
	change("ADDED", "another", one, 3, 1)
	change("MODIFIED", "more", one, 3, 1)
	change(eventDeleted, "another", one, 3, 0)
}
