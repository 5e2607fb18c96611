//go:build e2e

package e2e_test

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// discoveryWithin bounds what shows with the next collections, and a pause of the watch.
const discoveryWithin = time.Minute

// discoveryConfig follows endpoints in one collector and pods in another one.
const discoveryConfig = `
evaluation_interval: 500ms
collectors:
  - name: api
    interval: 1s
    timeout: 1s
    http: {discovery: {kubernetes: {role: endpointslices, namespace: default, selector: app=discovered, port: http, path: /healthz, kubeconfig: %[1]q}}}
  - name: pods
    interval: 1s
    timeout: 1s
    tcp: {discovery: {limit: 1, kubernetes: {role: pods, namespace: default, selector: app=discovered, port: %[2]d, ready_only: true, kubeconfig: %[1]q}}}
`

const (
	discoveredSlices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"
	discoveredPods   = "/api/v1/namespaces/default/pods"
)

// discovering is a daemon that discovers targets, the API server that has them, and the workload
// that they have.
type discovering struct {
	apiServer
	vitals   daemon
	config   string
	workload *net.TCPAddr
	// failing has the workload fail, and requests counts those of its health.
	failing  atomic.Bool
	requests atomic.Int64
}

// ServeHTTP is the workload.
func (d *discovering) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.requests.Add(1)
	if d.failing.Load() || r.URL.Path != "/healthz" {
		w.WriteHeader(http.StatusInternalServerError)
	}
}

// hostAddress returns an IPv4 address of this host that is not loopback, which endpoints in
// Kubernetes may not have.
func hostAddress(t *testing.T) net.IP {
	t.Helper()
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && n.IP.IsGlobalUnicast() {
			return n.IP
		}
	}
	t.Fatalf("the addresses of this host are %v, want one of IPv4 beside loopback", all)
	return nil
}

// newDiscovering makes the account of the daemon, with the role that vitals generate rbac prints,
// and returns that role.
func newDiscovering(t *testing.T) (d *discovering, role string) {
	t.Helper()
	d = &discovering{apiServer: newAPIServer(t, env(t).state, nil)}
	listener, err := net.Listen("tcp", net.JoinHostPort(hostAddress(t).String(), "0"))
	if err != nil {
		t.Fatal(err)
	}
	served := &httptest.Server{Listener: listener, Config: &http.Server{Handler: d}}
	served.Start()
	t.Cleanup(served.Close)
	d.workload = listener.Addr().(*net.TCPAddr)
	dir := shortDirectory(t, "")
	d.config = filepath.Join(dir, "vitals.yml")
	text := fmt.Sprintf(discoveryConfig, filepath.Join(dir, "kubeconfig"), d.workload.Port)
	if err := os.WriteFile(d.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	printed, err := exec.Command(env(t).vitals, "generate", "rbac", "--config.file="+d.config, "--name=discovering", "--service-account=my-app").CombinedOutput()
	objects := strings.Split(string(printed), "---\n")
	if err != nil || len(objects) != 2 {
		t.Fatalf("vitals generate rbac = %v\n%s\nwant a role and its binding", err, printed)
	}
	d.makeAccount(t, map[string]string{"Role": objects[0], "RoleBinding": objects[1]})
	d.kubeconfig(t, dir)
	return d, objects[0]
}

// start runs the daemon.
func (d *discovering) start(t *testing.T) {
	t.Helper()
	listen := address(t)
	d.vitals = daemon{launch(t, listen, env(t).vitals, "run", "--config.file="+d.config, "--web.listen-address="+listen, "--web.unix-socket=")}
}

// until waits for metrics.
func (d *discovering) until(t *testing.T, what string, check func(m metrics) error) {
	t.Helper()
	await(t, what, discoveryWithin, func() error {
		m, err := d.vitals.metrics()
		if err == nil {
			err = check(m)
		}
		return err
	})
}

// targets compares the targets of a collector that are up.
func (m metrics) targets(collector string, dropped float64, want ...string) error {
	errs := []error{
		m.want(1, "vitals_discovery_up", "collector", collector), m.want(float64(len(want)), "vitals_discovery_targets", "collector", collector),
		m.want(dropped, "vitals_discovery_dropped_targets", "collector", collector),
	}
	for _, name := range want {
		errs = append(errs, m.want(1, "vitals_dependency_up", "dependency", collector+"-"+name))
	}
	prefix := series("vitals_dependency_up", "dependency", collector+"-")
	prefix = strings.TrimSuffix(prefix, `"}`)
	for key := range m {
		if name, ok := strings.CutPrefix(key, prefix); ok && !slices.Contains(want, strings.TrimSuffix(name, `"}`)) {
			errs = append(errs, fmt.Errorf("%s is there, want it gone", key))
		}
	}
	return errors.Join(errs...)
}

// slice makes or replaces an EndpointSlice whose endpoint is the workload, with these conditions.
func (d *discovering) slice(t *testing.T, name, conditions string) {
	t.Helper()
	d.put(t, discoveredSlices, name, fmt.Sprintf(`{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: %[1]s, labels: {app: discovered}}, addressType: IPv4,
  ports: [{name: http, port: %[2]d, protocol: TCP}], endpoints: [{addresses: ["%[3]s"], conditions: {%[4]s}, targetRef: {kind: Pod, namespace: default, name: %[1]s}}]}`, name, d.workload.Port, d.workload.IP, conditions))
}

// pod makes a pod whose address is the workload's, or changes whether it is ready.
func (d *discovering) pod(t *testing.T, name, ready string) {
	t.Helper()
	const pod = "{apiVersion: v1, kind: Pod, metadata: {name: %s, labels: {app: discovered}}, spec: {nodeName: none, containers: [{name: a, image: a}]}, status: %s}"
	status := fmt.Sprintf(`{phase: Running, podIP: "%[1]s", podIPs: [{ip: "%[1]s"}], conditions: [{type: Ready, status: "%[2]s"}]}`, d.workload.IP, ready)
	if got, _, err := d.send(http.MethodGet, discoveredPods+"/"+name, ""); err == nil && got == http.StatusNotFound {
		d.put(t, discoveredPods, name, fmt.Sprintf(pod, name, "{}"))
	}
	if got, body, err := d.send(http.MethodPut, discoveredPods+"/"+name+"/status", fmt.Sprintf(pod, name, status)); err != nil || got != http.StatusOK {
		t.Fatalf("PUT the status of %s = %d %s, %v, want 200", name, got, body, err)
	}
}

// put makes an object, or replaces it, until the end of the test.
func (d *discovering) put(t *testing.T, path, name, text string) {
	t.Helper()
	status, body, err := d.send(http.MethodPost, path+"?fieldValidation=Strict", text)
	if status == http.StatusConflict {
		status, body, err = d.send(http.MethodPut, path+"/"+name, text)
	} else {
		t.Cleanup(func() { _, _, _ = d.send(http.MethodDelete, path+"/"+name+"?gracePeriodSeconds=0", "") })
	}
	if err != nil || status != http.StatusCreated && status != http.StatusOK {
		t.Fatalf("%s %s = %d %s, %v, want it made", path, name, status, body, err)
	}
}

// remove deletes an object at once.
func (d *discovering) remove(t *testing.T, path, name string) {
	t.Helper()
	if status, body, err := d.send(http.MethodDelete, path+"/"+name+"?gracePeriodSeconds=0", ""); err != nil || status != http.StatusOK {
		t.Fatalf("DELETE %s/%s = %d %s, %v, want 200", path, name, status, body, err)
	}
}

// The targets are the endpoints and pods of the API server. While that is killed, the last ones are
// checked on.
func TestDiscoveryInKubernetes(t *testing.T) {
	d, _ := newDiscovering(t)
	d.start(t)
	d.until(t, "no targets", func(m metrics) error { return errors.Join(m.targets("api", 0), m.targets("pods", 0)) })
	d.slice(t, "one", "ready: true")
	d.slice(t, "two", "ready: true")
	d.until(t, "two endpoints", func(m metrics) error { return m.targets("api", 0, "one", "two") })
	d.slice(t, "one", "ready: false")
	d.slice(t, "two", "ready: false, serving: true, terminating: true")
	d.until(t, "one endpoint is not ready, and one ends", func(m metrics) error { return m.targets("api", 0, "one") })

	d.pod(t, "a", "True")
	d.pod(t, "b", "True")
	d.until(t, "one pod of two", func(m metrics) error { return m.targets("pods", 1, "a") })
	d.pod(t, "a", "False")
	d.until(t, "the other pod is ready", func(m metrics) error { return m.targets("pods", 0, "b") })
	d.remove(t, discoveredPods, "b")
	d.until(t, "no pod", func(m metrics) error { return m.targets("pods", 0) })

	heal := broken(t, "kubernetes", "apiserver-killed")
	d.until(t, "the outage", func(m metrics) error {
		return errors.Join(m.want(0, "vitals_discovery_up", "collector", "api"), m.want(1, "vitals_discovery_targets", "collector", "api"), m.want(1, "vitals_dependency_up", "dependency", "api-one"))
	})
	before := d.requests.Load()
	d.failing.Store(true)
	d.until(t, "a check during the outage", func(m metrics) error { return m.want(0, "vitals_dependency_up", "dependency", "api-one") })
	if d.requests.Load() == before {
		t.Error("the workload got no request during the outage")
	}
	d.failing.Store(false)
	heal()
	d.until(t, "the end of the outage", func(m metrics) error { return m.targets("api", 0, "one") })
	d.remove(t, discoveredSlices, "one")
	d.until(t, "no targets after the outage", func(m metrics) error { return m.targets("api", 0) })
}

// The generated role is enough. Without one of its rights, the error of the collector names it.
func TestDiscoveryNeedsItsRightsOnly(t *testing.T) {
	d, role := newDiscovering(t)
	d.slice(t, "one", "ready: true")
	for _, test := range []struct{ verb, resource, shown, collector string }{
		{"list", "[pods]", "pods", "pods"}, {"watch", "[pods]", "pods", "pods"},
		{"list", "[endpointslices]", "discovery.k8s.io/endpointslices", "api"}, {"watch", "[endpointslices]", "discovery.k8s.io/endpointslices", "api"},
	} {
		t.Run(test.verb+" "+test.collector, func(t *testing.T) {
			before, rule, found := strings.Cut(role, test.resource)
			if !found {
				t.Fatalf("the role has no resource %s:\n%s", test.resource, role)
			}
			d.replace(t, before+test.resource+strings.Replace(rule, "[list, watch]", map[string]string{"list": "[watch]", "watch": "[list]"}[test.verb], 1))
			d.start(t)
			want := fmt.Sprintf("the account lacks the right to %s %s in namespace default", test.verb, test.shown)
			await(t, want, discoveryWithin, func() error {
				_, body, err := d.vitals.get("/api/v1/status")
				if err == nil && !strings.Contains(body, want) {
					err = fmt.Errorf("GET /api/v1/status = %s, want %q", body, want)
				}
				return err
			})
			d.until(t, "the discovery is down", func(m metrics) error { return m.want(0, "vitals_discovery_up", "collector", test.collector) })
			d.replace(t, role)
			d.until(t, "the discovery is up", func(m metrics) error { return errors.Join(m.targets("api", 0, "one"), m.targets("pods", 0)) })
			d.vitals.stop(t)
		})
	}
}
