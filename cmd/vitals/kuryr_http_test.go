package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// httpCase is one scenario of the HTTP contract: a request to a Vitals that finds all
// well, and the answer.
type httpCase struct {
	id, name     string
	method, path string
	code         int
	// body is the whole body, or with "..." at its end the beginning.
	body string
	// header has names and values in turn that the answer must have.
	header []string
}

func kuryrHTTPCases() []httpCase {
	text := []string{"Content-Type", "text/plain; charset=utf-8", "X-Content-Type-Options", "nosniff", "Cache-Control", "no-store"}
	allow := []string{"Allow", "GET, HEAD"}
	get, head := http.MethodGet, http.MethodHead
	return []httpCase{
		{"H01", "GET ready", get, "/ready", 200, "ok", text},
		{"H01", "GET alive", get, "/alive", 200, "ok", text},
		{"H02", "HEAD ready", head, "/ready", 200, "", append([]string{"Content-Length", "2"}, text...)},
		{"H02", "HEAD alive", head, "/alive", 200, "", text},
		{"H03", "OPTIONS", http.MethodOptions, "/ready", 405, "method OPTIONS is not allowed here: use GET or HEAD\n", allow},
		{"H04", "POST", http.MethodPost, "/ready", 405, "method POST is not allowed here: use GET or HEAD\n", allow},
		{"H04", "PUT", http.MethodPut, "/alive", 405, "method PUT is not allowed here: use GET or HEAD\n", allow},
		{"H04", "DELETE", http.MethodDelete, "/alive", 405, "method DELETE is not allowed here: use GET or HEAD\n", allow},
		{"H05", "an unknown path", get, "/nothing", 404, "there is nothing at this path: ...", text},
		{"H06", "a slash at the end of ready", get, "/ready/", 404, "...", text},
		{"H06", "a slash at the end of alive", get, "/alive/", 404, "...", text},
		{"H07", "a query without a known parameter", get, "/ready?x=1", 200, "ok", text},
		{"H07", "a query for details", get, "/ready?verbose", 200, "[+]KubernetesDown ok\n...", text},
		{"H09", "the type of an answer", get, "/alive?verbose", 200, "[+]...", text},
	}
}

func TestKuryrHTTP(t *testing.T) {
	t.Parallel()
	runHTTPCases(t, startKuryrLab(t, labOptions{pace: calmPace}))
}

// runHTTPCases runs the HTTP contract in a lab.
func runHTTPCases(t *testing.T, lab *kuryrLab) {
	t.Helper()
	lab.report(t, "watcher", true, true, "")
	lab.await(t, "ready", verdict{})
	soon(t, func() string {
		if status := lab.rule(t, "ComponentDead").Status.String(); status != "ok" {
			return "ComponentDead is " + status + ": the report has not arrived"
		}
		return ""
	})
	for _, c := range kuryrHTTPCases() {
		t.Run(c.id+" "+c.name, func(t *testing.T) {
			got := lab.query(t, c.method, c.path)
			start, partly := strings.CutSuffix(c.body, "...")
			if got.code != c.code || !partly && got.body != c.body || !strings.HasPrefix(got.body, start) {
				t.Errorf("%s %s = %d %q, want %d %q", c.method, c.path, got.code, got.body, c.code, c.body)
			}
			for i := 0; i < len(c.header); i += 2 {
				if value := got.header.Get(c.header[i]); value != c.header[i+1] {
					t.Errorf("%s = %q, want %q", c.header[i], value, c.header[i+1])
				}
			}
			if strings.Contains(strings.ToLower(got.body), "<html") {
				t.Errorf("body = %q, want no HTML", got.body)
			}
		})
	}
}

// kuryrHTTPChecks are the scenarios of the HTTP contract that need more than one
// request, each in a separate lab.
func kuryrHTTPChecks(newLab func(*testing.T, labOptions) *kuryrLab) []scenarioCheck {
	return []scenarioCheck{
		{"H08", "a connection for each probe", "GET `/alive`: 200, then closed", func(t *testing.T) { connectionIsClosed(t, newLab(t, labOptions{})) }},
		{"H10", "nothing is known yet", "GET `/ready`: 500, naming what is unknown", func(t *testing.T) { withoutData(t, newLab(t, labOptions{})) }},
	}
}

// scenarioCheck is a scenario with a separate test.
type scenarioCheck struct {
	id, name string
	// answer is the response in the documentation.
	answer string
	check  func(*testing.T)
}

func TestKuryrHTTPChecks(t *testing.T) {
	t.Parallel()
	for _, c := range kuryrHTTPChecks(newKuryrLab) {
		t.Run(c.id+" "+c.name, c.check)
	}
}

// connectionIsClosed probes as the kubelet does, with a connection for each probe,
// and checks that the server leaves none of them open.
func connectionIsClosed(t *testing.T, lab *kuryrLab) {
	t.Helper()
	states := make(chan http.ConnState, 64)
	lab.web = httptest.NewUnstartedServer(lab.web.Config.Handler)
	lab.web.Config.ConnState = func(_ net.Conn, s http.ConnState) { states <- s }
	lab.web.Start()
	t.Cleanup(lab.web.Close)
	lab.run(t)
	const probes = 3
	for range probes {
		if got := lab.get(t, "/alive", "Connection", "close"); got.code != 200 || got.body != "ok" {
			t.Errorf("GET /alive = %d %q, want 200 ok", got.code, got.body)
		}
	}
	count := map[http.ConnState]int{}
	soon(t, func() string {
		select {
		case s := <-states:
			count[s]++
		default:
		}
		if count[http.StateClosed] < probes {
			return "the server holds a connection open"
		}
		return ""
	})
	if count[http.StateNew] != probes {
		t.Errorf("%d connections for %d probes, want one each", count[http.StateNew], probes)
	}
}

// withoutData sends requests before the first measurement. The original answers a generic
// page in HTML when something is missing that it does not expect to miss.
func withoutData(t *testing.T, lab *kuryrLab) {
	t.Helper()
	ready, alive := lab.get(t, "/ready"), lab.get(t, "/alive")
	first, _, _ := strings.Cut(ready.body, "\n")
	const want = `KubernetesDown unknown: no data for vitals_dependency_up{dependency="kubernetes"}; cannot determine whether this holds: The Kubernetes API does not answer or refuses the service account. (since `
	if ready.code != 500 || !strings.HasPrefix(first, want) {
		t.Errorf("GET /ready = %d %q, want 500 %q", ready.code, first, want)
	}
	if got := ready.header.Get("Content-Type"); got != "text/plain; charset=utf-8" {
		t.Errorf("Content-Type = %q, want plain text", got)
	}
	if alive.code != 200 || alive.body != "ok" {
		t.Errorf("GET /alive = %d %q, want 200 ok", alive.code, alive.body)
	}
}
