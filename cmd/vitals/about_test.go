package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/internal/server"
)

func TestAbout(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name     string
		variable map[string]string
		given    program
		want     server.About
	}{
		{"a file on a host", nil, program{configFile: "/etc/vitals/kuryr.yml"}, server.About{Host: host, Configuration: "kuryr.yml"}},
		{
			"a profile in a pod", map[string]string{"POD_NAME": "kuryr-controller-0", "POD_NAMESPACE": "kube-system"},
			program{profile: "kuryr-controller", pageTitle: "Kuryr\nin Paris"},
			server.About{Title: "Kuryr in Paris", Host: "kuryr-controller-0", Namespace: "kube-system", Configuration: "profile kuryr-controller"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, name := range []string{"POD_NAME", "POD_NAMESPACE"} {
				t.Setenv(name, tt.variable[name])
			}
			if diff := cmp.Diff(tt.want, tt.given.about()); diff != "" {
				t.Errorf("about() differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNamespaceIn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "namespace")
	if got := namespaceIn(path); got != "" {
		t.Errorf("namespaceIn() without a file = %q, want none", got)
	}
	if err := os.WriteFile(path, []byte("kube-system\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := namespaceIn(path); got != "kube-system" {
		t.Errorf("namespaceIn() = %q, want kube-system", got)
	}
}

func TestFrameAncestors(t *testing.T) {
	var all frameAncestors
	for value, ok := range map[string]bool{
		"https://grafana.example.org": true, "http://10.0.0.1:3000": true, "*": true, "self": true,
		"": false, "grafana": false, "https://a.example/path": false, "https://a.example; script-src *": false, "'none'": false, "https://a,b": false, "ftp://a": false,
	} {
		if err := all.Set(value); (err == nil) != ok {
			t.Errorf("Set(%q) = %v, want success %t", value, err, ok)
		}
	}
	if len(all) != 4 {
		t.Errorf("taken: %q, want 4", all)
	}
}
