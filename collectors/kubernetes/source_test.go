package kubernetes_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/kubernetes"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/collectors/targets"
)

// cluster is an API server with the objects of one path, which it lists in pages and watches.
type cluster struct {
	*api
	path string

	mu      sync.Mutex // guards what follows
	objects map[string]string
	events  []string
	changed chan struct{}
}

func newCluster(t *testing.T, path string) *cluster {
	t.Helper()
	c := &cluster{api: newAPI(t), path: path, objects: map[string]string{}, changed: make(chan struct{})}
	c.fault(path, c.serve)
	c.fault("/apis/discovery.k8s.io", text(`{"kind":"APIGroup","preferredVersion":{"groupVersion":"discovery.k8s.io/v1","version":"v1"}}`))
	return c
}

// set adds, replaces or removes an object; %s in its text is its resourceVersion.
func (c *cluster) set(name, object string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	kind := "ADDED"
	if _, exists := c.objects[name]; exists {
		kind = "MODIFIED"
	}
	version := strconv.Itoa(len(c.events) + 1)
	if object == "" {
		kind, object = "DELETED", c.objects[name]
		delete(c.objects, name)
	} else {
		c.objects[name] = object
	}
	object = strings.Replace(object, `"metadata":{`, `"metadata":{"resourceVersion":"`+version+`",`, 1)
	c.events = append(c.events, fmt.Sprintf(`{"type":%q,"object":%s}`+"\n", kind, object))
	close(c.changed)
	c.changed = make(chan struct{})
}

// since returns the events after a position, and a channel that is closed at the next one.
func (c *cluster) since(position int) ([]string, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.events[min(position, len(c.events)):]), c.changed
}

func (c *cluster) serve(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	if query.Get("labelSelector") != "app=api" || strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadata") {
		status(400)(w, r)
		return
	}
	if !query.Has("watch") {
		c.list(w, query.Get("limit"), query.Get("continue"))
		return
	}
	position, _ := strconv.Atoi(query.Get("resourceVersion"))
	for {
		events, changed := c.since(position)
		_, _ = io.WriteString(w, strings.Join(events, ""))
		w.(http.Flusher).Flush()
		position += len(events)
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		case <-c.done:
			return
		}
	}
}

// list writes a page of the objects. The token of a page is the index of its first object.
func (c *cluster) list(w io.Writer, limit, token string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	size, _ := strconv.Atoi(limit)
	from, _ := strconv.Atoi(token)
	names := slices.Sorted(maps.Keys(c.objects))
	next := ""
	if from+size < len(names) {
		next = strconv.Itoa(from + size)
	}
	var items []string
	for _, name := range names[from:min(from+size, len(names))] {
		items = append(items, c.objects[name])
	}
	fmt.Fprintf(w, `{"metadata":{"resourceVersion":"%d","continue":%q},"items":[%s]}`, len(c.events), next, strings.Join(items, ","))
}

// kubeconfig writes a kubeconfig for this server.
func (a *api) kubeconfig(t *testing.T) string {
	t.Helper()
	return file(t, "kubeconfig", fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: c, clusters: [{name: c, cluster: {server: %q, certificate-authority: %q}}],
		users: [{name: u, user: {token: hush-hush-token}}], contexts: [{name: c, context: {cluster: c, user: u}}]}`, a.URL, a.ca))
}

// calls has what a Source has passed to found.
type calls struct {
	t     *testing.T
	calls chan call
	stop  func()
}

type call struct {
	targets string
	err     error
}

// discover runs a Source until stop or the end of the test.
func (c *cluster) discover(t *testing.T, change func(*kubernetes.Discovery)) *calls {
	t.Helper()
	d := &kubernetes.Discovery{Role: "endpointslices", Namespace: "lab", Selector: "app=api", Port: "http", Kubeconfig: c.kubeconfig(t)}
	if change != nil {
		change(d)
	}
	if problems := d.Problems(); len(problems) > 0 {
		t.Fatalf("Problems() = %v, want none", problems)
	}
	source, err := d.Source(collectors.Env{Name: "api", Logger: slog.New(slog.DiscardHandler)}, func(address string) string { return address })
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	calls, done := &calls{t: t, calls: make(chan call, 1000)}, make(chan struct{})
	go func() {
		defer close(done)
		source.Run(ctx, func(found []targets.Target, err error) {
			var all []string
			for _, target := range found {
				name, ok := strings.CutPrefix(target.Name, "api-")
				if !ok {
					t.Errorf("a target is named %s, want api- at its begin", target.Name)
				}
				all = append(all, name+"="+target.Address)
			}
			calls.calls <- call{strings.Join(all, " "), err}
		})
	}()
	calls.stop = sync.OnceFunc(func() {
		cancel()
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			t.Error("Run() has not returned 10 s after the end of its context")
		}
	})
	t.Cleanup(calls.stop)
	return calls
}

// until returns the next call that is ok, and fails for one with an error before.
func (c *calls) until(what string, ok func(call) bool) call {
	c.t.Helper()
	deadline := time.After(30 * time.Second)
	for {
		select {
		case got := <-c.calls:
			if ok(got) {
				return got
			}
			c.t.Logf("before %s: %q, %v", what, got.targets, got.err)
		case <-deadline:
			c.t.Fatalf("no call with %s within 30 s", what)
		}
	}
}

func (c *calls) targets(want string) {
	c.t.Helper()
	c.until("the targets "+want, func(got call) bool { return got.err == nil && got.targets == want })
}

const (
	slicesPath = "/apis/discovery.k8s.io/v1/namespaces/lab/endpointslices"
	podsPath   = "/api/v1/namespaces/lab/pods"
)

// slice returns an EndpointSlice with one endpoint of a pod.
func slice(name, pod, address, condition string) string {
	return fmt.Sprintf(`{"kind":"EndpointSlice","metadata":{"namespace":"lab","name":%q},"addressType":"IPv4","ports":[{"name":"http","port":8080}],
		"endpoints":[{"addresses":[%q],"conditions":{%s},"targetRef":{"kind":"Pod","name":%q}}]}`, name, address, condition, pod)
}

func TestDiscoveryFollowsTheObjects(t *testing.T) {
	leaks := goleak.IgnoreCurrent()
	c := newCluster(t, slicesPath)
	c.set("one", slice("one", "a", "10.0.0.1", `"ready":true`))
	found := c.discover(t, nil)
	found.targets("a=10.0.0.1:8080")
	c.set("two", slice("two", "b", "10.0.0.2", `"ready":false`))
	found.targets("a=10.0.0.1:8080 b=10.0.0.2:8080")
	c.set("one", slice("one", "a", "10.0.0.9", `"ready":true`))
	found.targets("a=10.0.0.9:8080 b=10.0.0.2:8080")
	c.set("one", slice("one", "a", "10.0.0.9", `"terminating":true`))
	found.targets("b=10.0.0.2:8080")
	c.set("two", "")
	found.targets("")
	found.stop()
	c.stop()
	goleak.VerifyNone(t, leaks)
}

func TestDiscoveryReadsAllPages(t *testing.T) {
	c := newCluster(t, "/api/v1/pods")
	var want []string
	for i := range 350 {
		name := fmt.Sprintf("p%03d", i)
		c.set(name, fmt.Sprintf(`{"metadata":{"namespace":"lab","name":%q},"status":{"podIP":"10.0.%d.%d"}}`, name, i/250, i%250))
		want = append(want, fmt.Sprintf("lab.%s=10.0.%d.%d:80", name, i/250, i%250))
	}
	found := c.discover(t, func(d *kubernetes.Discovery) { d.Role, d.Namespace, d.Port = "pods", "", "80" })
	got := found.until("targets", func(got call) bool { return true })
	if diff := cmp.Diff(strings.Join(want, " "), got.targets); diff != "" || got.err != nil {
		t.Errorf("found(targets, %v) differs (-want +got):\n%s", got.err, diff)
	}
	lists := slices.DeleteFunc(c.requested(), func(r string) bool { return strings.Contains(r, "watch=1") })
	if len(lists) != 4 {
		t.Errorf("requests for a list: %q, want 4 pages", lists)
	}
}

// A rollout of many pods is a few sets.
func TestDiscoveryJoinsChanges(t *testing.T) {
	c := newCluster(t, podsPath)
	found := c.discover(t, func(d *kubernetes.Discovery) { d.Role, d.Port = "pods", "80" })
	found.targets("")
	for i := range 200 {
		c.set(fmt.Sprint("p", i), fmt.Sprintf(`{"metadata":{"namespace":"lab","name":"p%03d"},"status":{"podIP":"10.0.0.%d"}}`, i, i))
	}
	sets := 0
	found.until("200 targets", func(got call) bool { sets++; return strings.Count(got.targets, "=") == 200 })
	if sets > 100 {
		t.Errorf("%d sets for 200 changes at once, want few", sets)
	}
}

// onWatch uses the handler for the watch only.
func (c *cluster) onWatch(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("watch") {
			h(w, r)
			return
		}
		c.serve(w, r)
	}
}

// Each fault is an error that names it, and the targets follow once it is over.
func TestDiscoveryFaults(t *testing.T) {
	for _, test := range []struct {
		name   string
		fault  func(c *cluster) http.HandlerFunc
		reason remote.Reason
		text   string
	}{
		{"list rejected", func(*cluster) http.HandlerFunc { return status(401) }, "auth", "list"},
		{"list forbidden", func(*cluster) http.HandlerFunc { return status(403) }, "forbidden", "the account lacks the right to list discovery.k8s.io/endpointslices in namespace lab"},
		{"watch forbidden", func(c *cluster) http.HandlerFunc { return c.onWatch(status(403)) }, "forbidden", "the account lacks the right to watch discovery.k8s.io/endpointslices in namespace lab"},
		{"server error", func(*cluster) http.HandlerFunc { return status(503) }, "server_error", "503"},
		{"list is garbage", func(*cluster) http.HandlerFunc { return text("{]") }, "protocol", "unexpected response"},
		{"list without a position", func(*cluster) http.HandlerFunc { return text("{}") }, "protocol", "resourceVersion"},
		{"list of 24 MiB", func(*cluster) http.HandlerFunc {
			return text(`{"metadata":{"resourceVersion":"1"},"items":[` + strings.Repeat("{},", 8<<20))
		}, "protocol", "longer than"},
		{"list cut short", func(*cluster) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, `{"metadata":{`)
				w.(http.Flusher).Flush()
				panic(http.ErrAbortHandler)
			}
		}, "protocol", "list"},
		{"connection dropped", func(*cluster) http.HandlerFunc { return dropped }, "protocol", "list"},
		{"watch closed at once", func(c *cluster) http.HandlerFunc { return c.onWatch(text("")) }, "", "the server ended the watch at once"},
		{"garbage in the stream", func(c *cluster) http.HandlerFunc { return c.onWatch(c.then("<html>")) }, "protocol", "unexpected response"},
		{"an object of another shape", func(c *cluster) http.HandlerFunc {
			return c.onWatch(c.then(`{"type":"ADDED","object":{"endpoints":5}}`))
		}, "protocol", "unexpected response"},
		{"an event of 10 MiB", func(c *cluster) http.HandlerFunc {
			return c.onWatch(c.then(`{"type":"ADDED","object":{"data":"` + strings.Repeat("x", 10<<20)))
		}, "protocol", "event is longer than 8 MiB"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, slicesPath)
			c.set("one", slice("one", "a", "10.0.0.1", ""))
			c.fault(slicesPath, test.fault(c))
			found := c.discover(t, nil)
			err := found.until("an error", func(got call) bool { return got.err != nil }).err
			if reason := remote.ReasonOf(err); test.reason != "" && reason != test.reason || !strings.Contains(err.Error(), test.text) || strings.Contains(err.Error(), "hush") {
				t.Errorf("found(nil, %v) with the reason %q, want %q with %q", err, reason, test.reason, test.text)
			}
			c.fault(slicesPath, c.serve)
			found.targets("a=10.0.0.1:8080")
		})
	}
}

// The last set stays while the API server is away. What changed meanwhile is found afterwards.
func TestDiscoveryAfterAnOutage(t *testing.T) {
	c := newCluster(t, slicesPath)
	c.set("one", slice("one", "a", "10.0.0.1", ""))
	found := c.discover(t, nil)
	found.targets("a=10.0.0.1:8080")
	c.fault(slicesPath, dropped)
	c.CloseClientConnections()
	if got := found.until("an error", func(got call) bool { return got.err != nil }); got.targets != "" {
		t.Errorf("found(%q, %v), want no targets with an error", got.targets, got.err)
	}
	c.set("two", slice("two", "b", "10.0.0.2", ""))
	c.set("one", "")
	c.fault(slicesPath, c.serve)
	// The watch may continue before the outage: both changes are then events of their own.
	const a, b = "a=10.0.0.1:8080", "b=10.0.0.2:8080"
	if got := found.until("targets", func(got call) bool { return got.err == nil }); !slices.Contains([]string{a, a + " " + b, b}, got.targets) {
		t.Errorf("after the outage, found(%q), want the set before it, after it, or between both changes", got.targets)
	}
	c.set("three", slice("three", "c", "10.0.0.3", ""))
	found.targets("b=10.0.0.2:8080 c=10.0.0.3:8080")
}

// A position that the API server no longer has leads to a new list, without an error.
func TestDiscoveryAfterGone(t *testing.T) {
	c := newCluster(t, slicesPath)
	c.set("one", slice("one", "a", "10.0.0.1", ""))
	found := c.discover(t, nil)
	found.targets("a=10.0.0.1:8080")
	var once sync.Once
	c.fault(slicesPath, c.onWatch(func(w http.ResponseWriter, r *http.Request) {
		gone := false
		once.Do(func() { gone = true })
		if gone {
			status(410)(w, r)
			return
		}
		c.serve(w, r)
	}))
	c.CloseClientConnections() // an error, and the next watch continues at the position
	c.set("one", "")
	c.set("two", slice("two", "b", "10.0.0.2", ""))
	found.targets("b=10.0.0.2:8080")
}
