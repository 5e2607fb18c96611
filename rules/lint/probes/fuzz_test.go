package probes_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/vitals-health/vitals/internal/manifest"
	"github.com/vitals-health/vitals/rules/lint/probes"
)

// FuzzCheck reads manifests and the requests in their probes: paths, ports, and commands
// such as curl and healthcheck.
func FuzzCheck(f *testing.F) {
	files, err := filepath.Glob("../../../deploy/kubernetes/*.yaml")
	if err != nil || len(files) == 0 {
		f.Fatalf("Glob() = %v, %v, want manifests", files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, probe := range []string{
		`exec: {command: [curl, -sf, --max-time, "2", "http://localhost:8080/ready?exclude=a%zz&verbose"]}`, `exec: {command: [sh, -c, "wget -q -O - 'http://[::1]:8080/alive' || exit 1"]}`,
		`exec: {command: [healthcheck, --timeout=1x, ready]}`, `httpGet: {path: "//x?%", port: -1, scheme: FTP, httpHeaders: [{name: Accept, value: "\0"}]}`, `grpc: {port: 99999, service: "\xff"}`, `grpc: {port: 8080, service: ready/a/b}`, `tcpSocket: {port: web}`,
	} {
		f.Add([]byte("kind: Pod\nmetadata: {name: app}\nspec:\n  containers:\n    - name: vitals\n      image: vitals\n      readinessProbe: {" + probe + ", periodSeconds: 1, timeoutSeconds: 0}\n"))
	}
	f.Add([]byte("kind: ConfigMap\nmetadata: {name: app}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, _ := manifest.Read("f.yaml", data) // what it could read, without pods at worst
		in := probes.Input{
			Manifests: []*manifest.File{m}, States: []string{"ready", "alive", "started"},
			Rules:   []probes.Rule{{Name: "KeystoneDown", State: "ready", Enforced: true, For: 30 * time.Second}},
			Suggest: func(string, []string) string { return "" },
		}
		for _, c := range probes.Covered(in) {
			if c.Judged+len(c.Skipped) != c.All {
				t.Errorf("%+v, want each probe judged or skipped", c)
			}
		}
		for _, found := range probes.Check(in) {
			if found.Code == "" || found.Text == "" || found.Line < 1 || found.Line > len(data)+1 || found.File != "f.yaml" {
				t.Errorf("%+v, want a code, a text and a place in the file", found)
			}
		}
	})
}
