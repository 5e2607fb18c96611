package kubernetes_test

import (
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/kubernetes"
)

// dropped closes the connection without a response.
func dropped(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

func TestDependencyFaults(t *testing.T) {
	late := func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-time.After(20 * time.Second):
			text("ok")(w, r)
		}
	}
	both := func(h http.HandlerFunc) map[string]http.HandlerFunc {
		return map[string]http.HandlerFunc{"/readyz": h, reviews: h}
	}
	for _, test := range []struct {
		name   string
		faults map[string]http.HandlerFunc
		want   string
	}{
		{"no fault", nil, ""},
		{"401 everywhere", both(status(401)), "auth"},
		{"token rejected although readyz is open", map[string]http.HandlerFunc{reviews: status(401)}, "auth"},
		{"readyz forbidden", map[string]http.HandlerFunc{"/readyz": status(403)}, "forbidden"},
		{"no right to request a review", map[string]http.HandlerFunc{reviews: status(403)}, "forbidden"},
		{"no readyz, but healthz", map[string]http.HandlerFunc{"/readyz": status(404), "/healthz": text("ok")}, ""},
		{"no readyz and unhealthy", map[string]http.HandlerFunc{"/readyz": status(404), "/healthz": status(500)}, "server_error"},
		{"neither readyz nor healthz", map[string]http.HandlerFunc{"/readyz": status(404)}, "not_found"},
		{"not ready, with a healthz that would pass", map[string]http.HandlerFunc{"/readyz": status(500), "/healthz": text("ok")}, "server_error"},
		{"overloaded", both(status(429)), "client_error"},
		{"redirect within the same host", map[string]http.HandlerFunc{
			"/readyz": http.RedirectHandler("/ready", http.StatusFound).ServeHTTP, "/ready": text("ok"),
			reviews: http.RedirectHandler("/reviews", http.StatusFound).ServeHTTP, "/reviews": text(`{"kind":"SelfSubjectAccessReview","status":{"allowed":true}}`),
		}, ""},
		{"redirect to another host", map[string]http.HandlerFunc{"/readyz": http.RedirectHandler("https://api.invalid/", http.StatusFound).ServeHTTP}, "protocol"},
		{"redirect in a circle", map[string]http.HandlerFunc{"/readyz": http.RedirectHandler("/readyz", http.StatusFound).ServeHTTP}, "protocol"},
		{"review is garbage", map[string]http.HandlerFunc{reviews: text("<html>")}, "protocol"},
		{"review is another object", map[string]http.HandlerFunc{reviews: text(`{"kind":"Status"}`)}, "protocol"},
		{"review without end", map[string]http.HandlerFunc{reviews: text(strings.Repeat(" ", 2<<20))}, "protocol"},
		{"headers without end", map[string]http.HandlerFunc{"/readyz": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Long", strings.Repeat("x", 1<<20))
			text("ok")(w, r)
		}}, "protocol"},
		{"connection dropped", both(dropped), "protocol"},
		{"response after the deadline", both(late), "timeout"},
		{"ready in time, review after the deadline", map[string]http.HandlerFunc{reviews: late}, "timeout"},
	} {
		t.Run(test.name, func(t *testing.T) {
			api := newAPI(t)
			for path, h := range test.faults {
				api.fault(path, h)
			}
			timeout := 10 * time.Second
			if test.want == "timeout" {
				timeout = 300 * time.Millisecond
			}
			samples, err := collect(t, newCollector(t, api.config()), timeout)
			if got := samples.down(t); got != test.want {
				t.Errorf("reason = %q (error %v), want %q", got, err, test.want)
			}
			if (err != nil) != (test.want != "") || err != nil && len(err.Error()) > 512 {
				t.Errorf("Collect() = %v, want an error of at most 512 bytes only while down", err)
			}
		})
	}
}

func TestErrorNamesTheFailingChecks(t *testing.T) {
	api := newAPI(t)
	api.fault("/readyz", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		text("[+]ping ok\n[+]log ok\n[-]etcd failed: reason withheld\n[-]informer-sync failed: reason withheld\nreadyz check failed\n")(w, nil)
	})
	_, err := collect(t, newCollector(t, api.config()), 5*time.Second)
	if want := `get /readyz: status 500: "[-]etcd [-]informer-sync"`; err == nil || err.Error() != want {
		t.Errorf("Collect() = %v, want %s", err, want)
	}
}

func TestUnreachable(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	expired, expiredFile, _ := collectortest.Certificate(t, "test", time.Now().Add(-time.Hour))
	_, strangerFile, _ := collectortest.Certificate(t, "test", time.Now().Add(time.Hour))
	for _, test := range []struct {
		name, server, ca, want string
	}{
		{"refused", "https://" + collectortest.Refusing(t), "", "refused"},
		{"accepted without a response", "https://" + listener.Addr().String(), "", "timeout"},
		{"certificate has expired", newAPIWith(t, &expired).URL, expiredFile, "tls"},
		{"certificate of an unknown authority", newAPI(t).URL, strangerFile, "tls"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := &kubernetes.Config{Server: test.server, CAFile: test.ca}
			c.SetDefaults()
			c.Access = []kubernetes.Access{{Verb: "list", Resource: "pods"}}
			c.CRDs = []string{"a.example.org", "b.example.org", "c.example.org", "d.example.org"}
			timeout := 5 * time.Second
			if test.want == "timeout" {
				timeout = 300 * time.Millisecond
			}
			samples, err := collect(t, newCollector(t, c), timeout)
			if got := samples.down(t); got != test.want {
				t.Errorf("reason = %q (error %v), want %q", got, err, test.want)
			}
			for series := range samples {
				if strings.HasPrefix(series, "vitals_kubernetes_access") || strings.HasPrefix(series, "vitals_kubernetes_crd_present") ||
					strings.HasPrefix(series, "vitals_dependency_latency") {
					t.Errorf("%s is exported, want no sample without a measurement", series)
				}
			}
			expiry := samples[`vitals_kubernetes_certificate_expiry_timestamp_seconds{dependency="kubernetes"}`]
			if (expiry > 0) != (test.want == "tls") {
				t.Errorf("certificate expiry = %v, want it only if the server sent a certificate", expiry)
			}
		})
	}
}

func TestNewConnectionAfterATimeout(t *testing.T) {
	api := newAPI(t)
	c := api.config()
	c.TokenFile = file(t, "token", "secret")
	k := newCollector(t, c)
	connections := make(chan string, 100)
	// collectFrom returns the connections of the requests that arrived during a collection.
	collectFrom := func(handler http.HandlerFunc, timeout time.Duration, want string) []string {
		t.Helper()
		api.fault("/readyz", func(w http.ResponseWriter, r *http.Request) {
			connections <- r.RemoteAddr
			handler(w, r)
		})
		if samples, err := collect(t, k, timeout); samples.down(t) != want {
			t.Errorf("reason = %q (error %v), want %q", samples.down(t), err, want)
		}
		var all []string
		for len(connections) > 0 {
			all = append(all, <-connections)
		}
		return all
	}
	first := collectFrom(text("ok"), collectortest.Patience, "")
	if second := collectFrom(text("ok"), collectortest.Patience, ""); len(first) != 1 || !slices.Equal(first, second) {
		t.Fatalf("two requests came from %v and %v, want the same connection", first, second)
	}
	// The transport forgets a cancelled request some moments later; the next collection would be
	// too early for that. A busy machine needs longer, also for a new connection.
	for timeout := 250 * time.Millisecond; ; timeout *= 2 {
		if slices.ContainsFunc(collectFrom(api.silent, timeout, "timeout"), func(c string) bool { return c != first[0] }) {
			break
		}
		if timeout > collectortest.Patience {
			t.Fatalf("the requests after a timeout came from %s, want a new connection", first[0])
		}
		time.Sleep(timeout / 5)
	}
	collectFrom(text("ok"), collectortest.Patience, "")
}

func TestDefinitions(t *testing.T) {
	const crd = "kuryrports.openstack.org"
	for _, test := range []struct {
		name  string
		fault http.HandlerFunc
		want  string
	}{
		{"established", nil, "1"},
		{"missing", status(404), "0"},
		{"exists, not established", definition("False"), "0"},
		{"exists, without conditions", text(`{"kind":"CustomResourceDefinition"}`), "0"},
		{"forbidden", status(403), "absent"},
		{"server error", status(503), "absent"},
		{"garbage", text("{"), "absent"},
		{"another object", text(`{"kind":"Pod"}`), "absent"},
	} {
		t.Run(test.name, func(t *testing.T) {
			api := newAPI(t)
			c := api.config()
			c.CRDs = []string{crd}
			if test.fault != nil {
				api.fault(crds+crd, test.fault)
			}
			samples, err := collect(t, newCollector(t, c), 5*time.Second)
			got := "absent"
			if v, ok := samples[`vitals_kubernetes_crd_present{crd="`+crd+`",dependency="kubernetes"}`]; ok {
				got = map[float64]string{0: "0", 1: "1"}[v]
			}
			if got != test.want || (err != nil) != (got == "absent") {
				t.Errorf("crd_present = %s (error %v), want %s", got, err, test.want)
			}
			if reason := samples.down(t); reason != "" {
				t.Errorf("reason = %q, want up: a definition does not affect the API server", reason)
			}
		})
	}
}

// The message of the API server is limited, and names the right at its end.
func TestForbiddenDefinitionNamesTheRight(t *testing.T) {
	const crd = "kuryrports.openstack.org"
	api := newAPI(t)
	c := api.config()
	c.CRDs = []string{crd}
	api.fault(crds+crd, status(403))
	_, err := collect(t, newCollector(t, c), 5*time.Second)
	const want = "the account lacks the right to get apiextensions.k8s.io/customresourcedefinitions " + crd + ": status 403"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("Collect() = %v, want %q", err, want)
	}
}

func TestDefinitionIsReadAgainOnlyAfterAChange(t *testing.T) {
	const crd = "kuryrports.openstack.org"
	api := newAPI(t)
	c := api.config()
	c.CRDs = []string{crd}
	k := newCollector(t, c)
	series := `vitals_kubernetes_crd_present{crd="` + crd + `",dependency="kubernetes"}`
	count := func() int { return strings.Count(strings.Join(api.requested(), "\n"), crds+crd) }
	for i, want := range []int{2, 3, 4} { // metadata and object, then the metadata only
		if samples, _ := collect(t, k, 5*time.Second); samples[series] != 1 || count() != want {
			t.Errorf("collection %d: present = %v after %d requests, want 1 after %d", i, samples[series], count(), want)
		}
	}
	api.fault(crds+crd, definition("False"))
	if samples, _ := collect(t, k, 5*time.Second); samples[series] != 0 || count() != 6 {
		t.Errorf("after the change: present = %v after %d requests, want 0 after 6", samples[series], count())
	}
}

func TestAccessWithoutAResponse(t *testing.T) {
	api := newAPI(t)
	c := api.config()
	c.Access = []kubernetes.Access{{Verb: "list", Resource: "pods"}}
	k := newCollector(t, c)
	const series = `vitals_kubernetes_access_allowed{dependency="kubernetes",resource="pods",verb="list"}`
	if samples, _ := collect(t, k, 5*time.Second); samples[series] != 1 {
		t.Errorf("%s = %v, want 1", series, samples[series])
	}
	api.fault(reviews, status(500))
	if samples, _ := collect(t, k, 5*time.Second); samples.down(t) != "server_error" {
		t.Errorf("reason = %q, want server_error", samples.down(t))
	} else if v, ok := samples[series]; ok {
		t.Errorf("%s = %v, want it absent without a response", series, v)
	}
}

func TestRotatedToken(t *testing.T) {
	api := newAPI(t)
	api.accept("first")
	c := api.config()
	c.TokenFile = file(t, "token", "first\n")
	k := newCollector(t, c)
	step := func(what, want string) {
		t.Helper()
		if samples, err := collect(t, k, 5*time.Second); samples.down(t) != want {
			t.Errorf("%s: reason = %q (error %v), want %q", what, samples.down(t), err, want)
		} else if err != nil && strings.Contains(err.Error(), "second") {
			t.Errorf("%s: the error %q contains the token", what, err)
		}
	}
	write := func(token string) {
		t.Helper()
		if err := os.WriteFile(c.TokenFile, []byte(token), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	step("first token", "")
	api.accept("second")
	step("first token revoked", "auth")
	write("second")
	step("second token in the file", "")
	write("")
	step("empty file: the last token is used", "")
	if err := os.Remove(c.TokenFile); err != nil {
		t.Fatal(err)
	}
	step("no file: the last token is used", "")
}

func TestKubeconfig(t *testing.T) {
	api := newAPI(t)
	api.accept("secret")
	path := file(t, "config", `apiVersion: v1
kind: Config
current-context: wrong
clusters: [{name: lab, cluster: {server: "`+api.URL+`", certificate-authority: "`+api.ca+`"}}]
users: [{name: good, user: {token: secret}}, {name: bad, user: {token: guess}}]
contexts:
- {name: right, context: {cluster: lab, user: good}}
- {name: wrong, context: {cluster: lab, user: bad}}
`)
	for _, test := range []struct{ name, context, want string }{
		{"context named", "right", ""},
		{"current context, with a wrong token", "", "auth"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := &kubernetes.Config{Kubeconfig: path, Context: test.context}
			c.SetDefaults()
			if samples, err := collect(t, newCollector(t, c), 5*time.Second); samples.down(t) != test.want {
				t.Errorf("reason = %q (error %v), want %q", samples.down(t), err, test.want)
			}
		})
	}
}
