package main

import (
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/vitals-health/vitals/collectors/collectortest"
)

// The daemon reports ready to the API server: that it passes, and before it ends, that it fails.
func TestReportsToKubernetes(t *testing.T) {
	var mu sync.Mutex
	var got []string
	api := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		got = append(got, r.Method+" "+r.URL.Path+" "+string(body))
		mu.Unlock()
		fmt.Fprint(w, "{}")
	}))
	api.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	api.StartTLS()
	defer api.Close()
	last := func() string {
		mu.Lock()
		defer mu.Unlock()
		return strings.Join(got[max(0, len(got)-1):], "")
	}
	authority := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: api.Certificate().Raw}))
	kubeconfig := filepath.Join(collectortest.Dir(t), "kubeconfig")
	text := fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{name: c, cluster: {server: %q, certificate-authority-data: %s}}]\ncontexts: [{name: c, context: {cluster: c}}]\n", api.URL, authority)
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("NODE_NAME", "node-1")
	_, config := markerConfig(t)
	p := runVitals(t, config, "--web.shutdown-delay=0s", "--kubernetes.node-condition=VitalsReady", "--kubernetes.kubeconfig="+kubeconfig)
	p.waitReady()
	eventually(t, "the condition to be True", func() bool {
		return strings.HasPrefix(last(), "PATCH /api/v1/nodes/node-1/status ") && strings.Contains(last(), `"status":"True"`)
	})
	eventually(t, "the answer to be counted", func() bool {
		return p.metric(`vitals_kubernetes_report_success{resource="nodes/status",verb="patch"} 1`)
	})
	p.signal(syscall.SIGTERM)
	if code := p.exit(); code != 0 {
		t.Errorf("exit code = %d, want 0", code)
	}
	if !strings.Contains(last(), `"status":"False"`) {
		t.Errorf("last request = %s, want the condition to be False", last())
	}
}
