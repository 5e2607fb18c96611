package fakes_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/internal/fakes"
)

// watchEvent is an event of a watch.
type watchEvent struct {
	Type   string `json:"type"`
	Object struct {
		Kind     string         `json:"kind"`
		Code     int            `json:"code"`
		Status   any            `json:"status"`
		Metadata map[string]any `json:"metadata"`
	} `json:"object"`
}

// watching is a watch that is read in the background.
type watching struct {
	t      *testing.T
	events chan watchEvent // closed when the watch has ended
}

// watch opens a watch; it ends with the test.
func (l *lab) watch(path string, header ...string) *watching {
	l.t.Helper()
	ctx, cancel := context.WithCancel(l.t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, l.KubernetesURL()+path, http.NoBody)
	if err != nil {
		l.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+l.Token())
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := l.client.Do(req)
	if err != nil {
		l.t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		l.t.Fatalf("watch %s = %d, want 200", path, resp.StatusCode)
	}
	w := &watching{t: l.t, events: make(chan watchEvent)}
	go func() {
		defer close(w.events)
		defer resp.Body.Close()
		for dec := json.NewDecoder(resp.Body); ; {
			var e watchEvent
			if dec.Decode(&e) != nil {
				return
			}
			select {
			case w.events <- e:
			case <-ctx.Done():
				return
			}
		}
	}()
	l.t.Cleanup(func() {
		cancel()
		for range w.events {
		}
	})
	return w
}

func (w *watching) next() watchEvent {
	w.t.Helper()
	select {
	case e, ok := <-w.events:
		if !ok {
			w.t.Fatal("the watch has ended, want an event")
		}
		return e
	case <-time.After(patience):
		w.t.Fatal("no event, want one")
	}
	return watchEvent{}
}

// wantEnd reads until the watch ends.
func (w *watching) wantEnd() {
	w.t.Helper()
	deadline := time.After(patience)
	for {
		select {
		case _, ok := <-w.events:
			if !ok {
				return
			}
		case <-deadline:
			w.t.Fatal("the watch goes on, want its end")
		}
	}
}

// wantSilence reads until nothing has come for a while, and fails when the watch
// ends or does not fall silent.
func (w *watching) wantSilence() {
	w.t.Helper()
	deadline := time.After(patience)
	for {
		select {
		case _, ok := <-w.events:
			if !ok {
				w.t.Fatal("the watch has ended, want it open and silent")
			}
		case <-time.After(150 * time.Millisecond):
			return
		case <-deadline:
			w.t.Fatal("the watch goes on, want silence")
		}
	}
}

const lively = 5 * time.Millisecond

func TestWatchSendsObjectsAndChanges(t *testing.T) {
	l := start(t, fakes.Options{EventInterval: lively})
	w := l.watch("/api/v1/nodes?watch=true")
	seen := make(map[string]bool)
	for len(seen) < 3 {
		e := w.next()
		seen[e.Type] = true
		if e.Object.Kind != "Node" {
			t.Fatalf("kind = %q, want Node", e.Object.Kind)
		}
	}
	if diff := cmp.Diff(map[string]bool{"ADDED": true, "MODIFIED": true, "DELETED": true}, seen); diff != "" {
		t.Errorf("types of events (-want +got):\n%s", diff)
	}
}

func TestWatchSendsBookmarksOnRequest(t *testing.T) {
	l := start(t, fakes.Options{BookmarkInterval: lively, EventInterval: 20 * lively})
	with := l.watch("/api/v1/pods?watch=1&allowWatchBookmarks=true&resourceVersion=1000")
	e := with.next()
	for e.Type != "BOOKMARK" {
		e = with.next()
	}
	if version, _ := e.Object.Metadata["resourceVersion"].(string); e.Object.Kind != "Pod" || version < "1000" {
		t.Errorf("bookmark of %s at %q, want one of Pod at 1000 or later", e.Object.Kind, version)
	}
	plain := l.watch("/api/v1/pods?watch=1&resourceVersion=1000")
	for range 3 {
		if e := plain.next(); e.Type == "BOOKMARK" {
			t.Error("bookmark in a watch without allowWatchBookmarks, want none")
		}
	}
}

func TestWatchStart(t *testing.T) {
	l := start(t, fakes.Options{})
	for _, c := range []struct{ name, path, want string }{
		{"without a version, at the objects", "/api/v1/services?watch=1", "ADDED kubernetes, ADDED web"},
		{
			"as a streaming list, which ends with a bookmark",
			"/api/v1/services?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan",
			"ADDED kubernetes, ADDED web, BOOKMARK true",
		},
		{"in a namespace", "/apis/apps/v1/namespaces/default/deployments?watch=1", "ADDED web"},
		{"too far back", "/api/v1/services?watch=1&resourceVersion=7", "ERROR 410"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := l.watch(c.path + "&timeoutSeconds=30")
			var got []string
			for range strings.Count(c.want, ",") + 1 {
				e := w.next()
				what, _ := e.Object.Metadata["name"].(string)
				switch e.Type {
				case "BOOKMARK":
					notes, _ := e.Object.Metadata["annotations"].(map[string]any)
					what, _ = notes["k8s.io/initial-events-end"].(string)
				case "ERROR":
					what = http.StatusText(e.Object.Code)
					if e.Object.Code == http.StatusGone {
						what = "410"
					}
				}
				got = append(got, e.Type+" "+what)
			}
			if got := strings.Join(got, ", "); got != c.want {
				t.Errorf("events = %s, want %s", got, c.want)
			}
		})
	}
}

func TestWatchResumes(t *testing.T) {
	l := start(t, fakes.Options{EventInterval: lively})
	first := l.watch("/api/v1/pods?watch=1&resourceVersion=1000").next()
	version, _ := first.Object.Metadata["resourceVersion"].(string)
	second := l.watch("/api/v1/pods?watch=1&resourceVersion=" + version).next()
	if got, _ := second.Object.Metadata["resourceVersion"].(string); len(got) < len(version) || len(got) == len(version) && got <= version {
		t.Errorf("first event after %s has version %s, want a later one", version, got)
	}
}

func TestWatchEndsAtItsTimeout(t *testing.T) {
	l := start(t, fakes.Options{})
	began := time.Now()
	l.watch("/api/v1/pods?watch=1&timeoutSeconds=1").wantEnd()
	if took := time.Since(began); took < time.Second {
		t.Errorf("watch ended after %s, want 1s", took)
	}
}

func TestWatchOfMetadata(t *testing.T) {
	l := start(t, fakes.Options{})
	e := l.watch("/api/v1/pods?watch=1", "Accept", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1").next()
	if e.Object.Kind != "PartialObjectMetadata" || e.Object.Status != nil {
		t.Errorf("event of %s with status %v, want PartialObjectMetadata without", e.Object.Kind, e.Object.Status)
	}
}

func TestFaultsAffectRunningWatches(t *testing.T) {
	for _, c := range []struct {
		fault  string
		silent bool // and not ended
	}{
		{"hang", true},
		{"freeze-watch", true},
		{"drop-watch", false},
		{"deny-access", false},
		{"refuse", false},
		{"401", false},
		{"500", false},
	} {
		t.Run(c.fault, func(t *testing.T) {
			l := start(t, fakes.Options{EventInterval: lively, BookmarkInterval: lively})
			w := l.watch("/api/v1/pods?watch=1&allowWatchBookmarks=1")
			w.next()
			l.set("kubernetes", c.fault)
			if !c.silent {
				w.wantEnd()
				return
			}
			w.wantSilence()
			l.set("kubernetes", fakes.None)
			w.next()
		})
	}
}

func TestNewWatchesUnderAFault(t *testing.T) {
	l := start(t, fakes.Options{EventInterval: lively})
	l.set("kubernetes", "drop-watch")
	l.watch("/api/v1/pods?watch=1").wantEnd()
	l.set("kubernetes", "freeze-watch")
	w := l.watch("/api/v1/pods?watch=1")
	w.wantSilence()
	if got := l.kube("/api/v1/pods?limit=1").outcome; got != "200" {
		t.Errorf("list while watches are frozen = %s, want 200", got)
	}
	l.set("kubernetes", fakes.None)
	w.next()
}

func TestRemovedCustomResourceEndsOnlyItsWatches(t *testing.T) {
	l := start(t, fakes.Options{EventInterval: lively})
	ports := l.watch("/apis/openstack.org/v1/kuryrports?watch=1")
	pods := l.watch("/api/v1/pods?watch=1")
	l.set("kubernetes", "remove-crd")
	ports.wantEnd()
	for range 10 {
		pods.next()
	}
}
