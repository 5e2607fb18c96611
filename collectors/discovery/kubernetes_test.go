package discovery_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	httpkind "github.com/vitals-health/vitals/collectors/http"
	"github.com/vitals-health/vitals/collectors/icmp"
	"github.com/vitals-health/vitals/collectors/kubernetes"
	"github.com/vitals-health/vitals/collectors/scrape"
	"github.com/vitals-health/vitals/collectors/tcp"
)

// kubeconfig writes a kubeconfig for an API server with one pod, which has this address.
func kubeconfig(t *testing.T, address string) string {
	t.Helper()
	api := collectortest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path != "/api/v1/namespaces/shop/pods" || r.URL.Query().Get("labelSelector") != "app=api":
			w.WriteHeader(http.StatusNotFound)
		case r.URL.Query().Has("watch"):
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		default:
			fmt.Fprintf(w, `{"metadata":{"resourceVersion":"1"},"items":[{"metadata":{"namespace":"shop","name":"api-1"},"status":{"podIP":%q}}]}`, address)
		}
	})
	path := filepath.Join(t.TempDir(), "kubeconfig")
	collectortest.Write(t, path, fmt.Sprintf("{apiVersion: v1, kind: Config, current-context: c, clusters: [{name: c, cluster: {server: %q}}], contexts: [{name: c, context: {cluster: c}}]}", api.URL))
	return path
}

// A pod is a target of each kind, in the form of address that the kind has.
func TestPodsAreTargets(t *testing.T) {
	app := collectortest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/healthz" || r.URL.Path == "/metrics" {
			_, _ = io.WriteString(w, "app_up 1\n")
			return
		}
		w.WriteHeader(http.StatusNotFound)
	})
	u, err := url.Parse(app.URL)
	if err != nil {
		t.Fatal(err)
	}
	const pods = "{discovery: {kubernetes: {role: pods, namespace: shop, selector: app=api, kubeconfig: '%s'%s}}}"
	for _, tt := range []struct {
		name, options, series string
		kind                  collectors.Kind
	}{
		{"http", ", port: PORT, path: /healthz", `vitals_dependency_up{dependency="web-api-1"} 1`, &httpkind.Config{}},
		{"http at its default path", ", port: PORT", `vitals_http_status_code{dependency="web-api-1"} 404`, &httpkind.Config{}},
		{"http with another scheme", ", port: PORT, scheme: https", `vitals_dependency_failure{dependency="web-api-1",reason="tls"} 1`, &httpkind.Config{}},
		{"scrape at its default path", ", port: PORT", `app_up{component="web-api-1"} 1`, &scrape.Config{}},
		{"tcp", ", port: PORT", `vitals_dependency_up{dependency="web-api-1"} 1`, &tcp.Config{}},
		{"icmp, which has no port", "", `vitals_dependency_up{dependency="web-api-1"} `, &icmp.Config{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := fmt.Sprintf(pods, kubeconfig(t, u.Hostname()), strings.Replace(tt.options, "PORT", u.Port(), 1))
			c, _ := start(t, text, tt.kind)
			await(t, c, tt.series, `vitals_discovery_up{collector="web"} 1`, `vitals_discovery_targets{collector="web"} 1`)
			want := []kubernetes.Right{{Verb: "list", Resource: "pods", Namespace: "shop"}, {Verb: "watch", Resource: "pods", Namespace: "shop"}}
			got := tt.kind.(interface{ KubernetesRights() []kubernetes.Right }).KubernetesRights()
			if diff := cmp.Diff(want, got); diff != "" || !tt.kind.External() {
				t.Errorf("External() = %t, KubernetesRights() (-want +got):\n%s", tt.kind.External(), diff)
			}
		})
	}
}

func TestKubernetesProblems(t *testing.T) {
	for text, want := range map[string]string{
		"{discovery: {kubernetes: {role: pod, selector: a, port: -1}}}": "discovery.kubernetes.port: port \"-1\": expected a name of at most 15 lower-case letters, digits and '-', or 1 to 65535\n" +
			"discovery.kubernetes.role: role \"pod\": expected endpointslices, endpoints or pods",
		"{discovery: {kubernetes: {role: pods, selector: a, scheme: https}}}": "discovery.kubernetes: scheme and path: expected none, because address is not a URL",
	} {
		if diff := cmp.Diff(want, collectortest.Problems(t, text, &tcp.Config{})); diff != "" {
			t.Errorf("Problems of %s (-want +got):\n%s", text, diff)
		}
	}
	const ported = "{discovery: {kubernetes: {role: pods, selector: a, port: http}}}"
	if diff := cmp.Diff("discovery.kubernetes.port: port: expected none, because address has none", collectortest.Problems(t, ported, &icmp.Config{})); diff != "" {
		t.Errorf("Problems of icmp (-want +got):\n%s", diff)
	}
	kind := &tcp.Config{}
	collectortest.Decode(t, "{discovery: {kubernetes: {role: pods, selector: a, kubeconfig: /nowhere}}}", kind)
	if _, err := kind.New(collectors.Env{Name: "web"}); err == nil || err.Error() != "discovery in Kubernetes: load kubeconfig: open /nowhere: no such file or directory" {
		t.Errorf("New() = %v, want the error of the kubeconfig", err)
	}
}
