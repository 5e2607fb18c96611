package kubernetes_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"go.uber.org/goleak"

	"github.com/vitals-health/vitals/collectors"
)

// run runs a collector until stop or the end of the test. The channel receives its requests for
// a collection.
func run(t *testing.T, k collectors.Collector) (changed <-chan struct{}, stop func()) {
	t.Helper()
	calls := make(chan struct{}, 100)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		k.(collectors.Runner).Run(ctx, func() {
			select {
			case calls <- struct{}{}:
			default:
			}
		})
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			t.Error("Run() has not returned 10 s after the end of its context")
		}
	})
	t.Cleanup(stop)
	return calls, stop
}

// await collects after each request until ok returns true, and returns those samples.
func await(t *testing.T, k collectors.Collector, changed <-chan struct{}, what string, ok func(samplesBySeries) bool) (samplesBySeries, error) {
	t.Helper()
	deadline := time.After(15 * time.Second)
	for {
		samples, err := collect(t, k, 5*time.Second)
		if ok(samples) {
			return samples, err
		}
		select {
		case <-changed:
		case <-deadline:
			t.Fatalf("no collection with %s within 15 s; the last one: %v (error %v)", what, samples, err)
		}
	}
}

const (
	connectedSeries = `vitals_kubernetes_watch_connected{dependency="kubernetes",resource="pods"}`
	pods            = "/api/v1/pods"
)

// connectedIn returns the series of the watch on pods in a namespace.
func connectedIn(namespace string) string {
	return `vitals_kubernetes_watch_connected{dependency="kubernetes",namespace="` + namespace + `",resource="pods"}`
}

// onWatch uses the handler for the watch only, not for the list.
func (a *api) onWatch(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("watch") {
			h(w, r)
			return
		}
		a.object(w, r)
	}
}

// then returns a handler that writes a text to the stream of a watch and keeps it open.
func (a *api) then(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, text)
		a.hold(w, r)
	}
}

func TestWatchFaults(t *testing.T) {
	for _, test := range []struct {
		name  string
		fault func(a *api) http.HandlerFunc
		want  string
	}{
		{"open", func(*api) http.HandlerFunc { return nil }, ""},
		{"open and silent so far", func(a *api) http.HandlerFunc { return a.onWatch(a.hold) }, ""},
		{"list rejected", func(*api) http.HandlerFunc { return status(401) }, "auth"},
		{"list allowed, watch forbidden", func(a *api) http.HandlerFunc { return a.onWatch(status(403)) }, "forbidden"},
		{"resource is not served", func(*api) http.HandlerFunc { return status(404) }, "not_found"},
		{"server error", func(a *api) http.HandlerFunc { return a.onWatch(status(503)) }, "server_error"},
		{"list is garbage", func(*api) http.HandlerFunc { return text("{]") }, "protocol"},
		{"list without a position", func(*api) http.HandlerFunc { return text("{}") }, "protocol"},
		{"connection dropped", func(a *api) http.HandlerFunc { return a.onWatch(dropped) }, "protocol"},
		{"watch closed at once", func(a *api) http.HandlerFunc { return a.onWatch(text("")) }, "closed"},
		{"hung mid-watch", func(a *api) http.HandlerFunc {
			return a.onWatch(a.then(`{"type":"ADDED","object":{"metadata":{"resourceVersion":"7"}}}{"type":`))
		}, "hung"},
		{"garbage in the stream", func(a *api) http.HandlerFunc { return a.onWatch(a.then("<html>")) }, "protocol"},
		{"event of another type", func(a *api) http.HandlerFunc { return a.onWatch(a.then(`{"type":"NEWS"}`)) }, "protocol"},
		{"event cut short", func(a *api) http.HandlerFunc { return a.onWatch(text(`{"type":"ADDED",`)) }, "protocol"},
		{"event larger than the bound", func(a *api) http.HandlerFunc {
			return a.onWatch(a.then(`{"type":"ADDED","object":{"data":"` + strings.Repeat("x", 9<<20)))
		}, "protocol"},
		{"error event", func(a *api) http.HandlerFunc {
			return a.onWatch(a.then(`{"type":"ERROR","object":{"kind":"Status","code":500,"message":"etcd is away"}}`))
		}, "server_error"},
		{"error event without a status", func(a *api) http.HandlerFunc { return a.onWatch(a.then(`{"type":"ERROR"}`)) }, "protocol"},
		{"410 Gone for a fresh position, as status", func(a *api) http.HandlerFunc { return a.onWatch(status(410)) }, "client_error"},
		{"410 Gone for a fresh position, as event", func(a *api) http.HandlerFunc {
			return a.onWatch(a.then(`{"type":"ERROR","object":{"code":410}}`))
		}, "client_error"},
	} {
		t.Run(test.name, func(t *testing.T) {
			leaks := goleak.IgnoreCurrent()
			api := newAPI(t)
			api.fault(pods, test.fault(api))
			c := api.config()
			c.Watch = []string{"pods"}
			if test.want == "hung" {
				c.WatchIdleTimeout = model.Duration(50 * time.Millisecond)
			}
			k := newCollector(t, c)
			changed, stop := run(t, k)
			const failure, labels = "vitals_kubernetes_watch_failure", `dependency="kubernetes",`
			reason := func(s samplesBySeries) string {
				podsOnly := samplesBySeries{}
				for series, v := range s {
					podsOnly[strings.TrimSuffix(series, `,resource="pods"}`)] = v
				}
				return podsOnly.reason(t, failure, labels)
			}
			samples, err := await(t, k, changed, "the reason "+test.want, func(s samplesBySeries) bool {
				_, tried := s[connectedSeries] // not before the first attempt has ended
				return reason(s) == test.want && tried
			})
			if connected, found := samples[connectedSeries]; !found || (connected == 1) != (test.want == "") {
				t.Errorf("%s = %v (exported: %t), want it to agree with the reason %q", connectedSeries, connected, found, test.want)
			}
			if (err != nil) != (test.want != "") || err != nil && len(err.Error()) > 512 {
				t.Errorf("Collect() = %v, want an error of at most 512 bytes only while the watch is not open", err)
			}
			if down := samples.down(t); down != "" {
				t.Errorf("dependency reason = %q, want up: only the watch is broken", down)
			}
			stop()
			api.stop()
			goleak.VerifyNone(t, leaks)
		})
	}
}

// Each namespace has a watch of its own. A forbidden watch does not affect the other.
func TestWatchesOfNamespaces(t *testing.T) {
	api := newAPI(t)
	api.fault("/api/v1/namespaces/web/pods", status(403))
	c := api.config()
	c.Watch, c.Namespaces = []string{"pods"}, []string{"shop", "web"}
	k := newCollector(t, c)
	changed, _ := run(t, k)
	samples, err := await(t, k, changed, "both watches tried", func(s samplesBySeries) bool {
		_, tried := s[connectedIn("web")]
		return tried && s[connectedIn("shop")] == 1
	})
	if got := samples[connectedIn("web")]; got != 0 {
		t.Errorf("%s = %v, want 0", connectedIn("web"), got)
	}
	for _, namespace := range []string{"shop", "web"} {
		want := collectors.Number(namespace == "web")
		series := `vitals_kubernetes_watch_failure{dependency="kubernetes",namespace="` + namespace + `",reason="forbidden",resource="pods"}`
		if got, ok := samples[series]; !ok || got != want {
			t.Errorf("%s = %v (exported: %t), want %v", series, got, ok, want)
		}
	}
	if got, ok := samples[connectedSeries]; ok {
		t.Errorf("%s = %v, want no watch in all namespaces", connectedSeries, got)
	}
	const want = "watch pods in namespace web: list: the account lacks the right to list pods in namespace web: status 403"
	if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "shop") {
		t.Errorf("Collect() = %v, want only %q", err, want)
	}
	for _, r := range api.requested() {
		if strings.Contains(r, "/pods") && !strings.Contains(r, "/api/v1/namespaces/shop/pods?") && !strings.Contains(r, "/api/v1/namespaces/web/pods?") {
			t.Errorf("request %q, want only lists and watches in the two namespaces", r)
		}
	}
}

func TestWatchContinuesAtItsPosition(t *testing.T) {
	api := newAPI(t)
	cut := make(chan struct{})
	api.fault(pods, api.onWatch(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"type":"MODIFIED","object":{"metadata":{"resourceVersion":"250"}}}`)
		w.(http.Flusher).Flush()
		<-cut
		panic(http.ErrAbortHandler)
	}))
	c := api.config()
	c.Watch = []string{"pods"}
	k := newCollector(t, c)
	changed, _ := run(t, k)
	await(t, k, changed, "an open watch", func(s samplesBySeries) bool { return s[connectedSeries] == 1 })
	seen := make(chan struct{})
	api.fault(pods, api.onWatch(func(w http.ResponseWriter, r *http.Request) {
		select { // the next watch is not open before a collection has seen the loss
		case <-seen:
			api.watch(w, r)
		case <-r.Context().Done():
		}
	}))
	close(cut)
	await(t, k, changed, "a lost watch", func(s samplesBySeries) bool { return s[connectedSeries] == 0 })
	close(seen)
	await(t, k, changed, "an open watch again", func(s samplesBySeries) bool { return s[connectedSeries] == 1 })
	var watches, lists []string
	for _, r := range api.requested() {
		switch {
		case strings.Contains(r, "watch=1"):
			watches = append(watches, r)
		case strings.Contains(r, pods):
			lists = append(lists, r)
		}
	}
	if len(watches) != 2 || len(lists) != 1 || !strings.Contains(watches[0], "resourceVersion=100&") || !strings.Contains(watches[1], "resourceVersion=250&") {
		t.Errorf("requests = %q and %q, want one list and two watches, from 100 and then from 250", lists, watches)
	}
	if len(lists) == 1 && lists[0] != "GET /api/v1/pods?limit=1" {
		t.Errorf("list = %q, want the limit of one object", lists[0])
	}
	if len(watches) > 0 && (!strings.Contains(watches[0], "allowWatchBookmarks=true") || !strings.Contains(watches[0], "timeoutSeconds=2") && !strings.Contains(watches[0], "timeoutSeconds=300")) {
		t.Errorf("watch = %q, want bookmarks and a time-out of 240 to 300 s", watches[0])
	}
}

func TestWatchUsesTheNewVersionOfItsGroup(t *testing.T) {
	api := newAPI(t)
	api.fault("/apis/apps/v1/deployments", status(404))
	c := api.config()
	c.Watch = []string{"apps/deployments"}
	k := newCollector(t, c)
	changed, _ := run(t, k)
	series := strings.Replace(connectedSeries, "pods", "apps/deployments", 1)
	await(t, k, changed, "a failed watch", func(s samplesBySeries) bool { v, ok := s[series]; return ok && v == 0 })
	api.fault("/apis/apps", text(`{"kind":"APIGroup","preferredVersion":{"groupVersion":"apps/v2","version":"v2"}}`))
	api.fault("/apis/apps/v2/deployments", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("watch") {
			api.watch(w, r)
			return
		}
		text(`{"metadata":{"resourceVersion":"1"}}`)(w, r)
	})
	await(t, k, changed, "a watch of the new version", func(s samplesBySeries) bool { return s[series] == 1 })
}

// freezer is a proxy to a server. After frozen is closed, it forwards nothing and keeps the
// connections open.
type freezer struct {
	net.Listener
	frozen chan struct{}
}

func newFreezer(t *testing.T, to string) *freezer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &freezer{listener, make(chan struct{})}
	var wg sync.WaitGroup
	closing := make(chan struct{})
	wg.Go(func() {
		for {
			in, err := listener.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				in.Close()
				continue
			}
			wg.Go(func() { <-closing; in.Close(); out.Close() })
			wg.Go(func() { f.copy(out, in) })
			wg.Go(func() { f.copy(in, out) })
		}
	})
	t.Cleanup(func() { close(closing); listener.Close(); wg.Wait() })
	return f
}

func (f *freezer) copy(to io.Writer, from io.Reader) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		select {
		case <-f.frozen:
			return
		default:
		}
		if _, werr := to.Write(buf[:n]); err != nil || werr != nil {
			return
		}
	}
}

func TestWatchOnAFrozenConnection(t *testing.T) {
	// The names and the meaning, seconds, are those of k8s.io/apimachinery/pkg/util/net.
	t.Setenv("HTTP2_READ_IDLE_TIMEOUT_SECONDS", "1")
	t.Setenv("HTTP2_PING_TIMEOUT_SECONDS", "1")
	api := newAPI(t)
	freezer := newFreezer(t, api.Listener.Addr().String())
	c := api.config()
	c.Server = "https://" + freezer.Addr().String()
	c.Watch = []string{"pods"}
	k := newCollector(t, c)
	changed, _ := run(t, k)
	await(t, k, changed, "an open watch", func(s samplesBySeries) bool { return s[connectedSeries] == 1 })
	close(freezer.frozen)
	deadline := time.After(15 * time.Second)
	for {
		select {
		case <-changed:
		case <-deadline:
			t.Fatal("no requested collection within 15 s of the freeze")
		}
		samples, _ := collect(t, k, 100*time.Millisecond)
		if samples[connectedSeries] == 1 {
			continue
		}
		if v := samples[`vitals_kubernetes_watch_failure{dependency="kubernetes",reason="hung",resource="pods"}`]; v != 1 {
			t.Errorf("watch failure hung = %v, want 1 with the samples %v", v, samples)
		}
		return
	}
}
