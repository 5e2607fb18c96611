package probes_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/internal/manifest"
	"github.com/vitals-health/vitals/rules/lint/probes"
)

// Every probe is judged or has the reason why not.
func TestCovered(t *testing.T) {
	const sidecar = `kind: Pod
metadata: {name: app}
spec:
  containers:
    - name: app
      ports: [{name: web, containerPort: 3000}]
      startupProbe: {httpGet: {path: /startd, port: 8080}}
      readinessProbe: {httpGet: {path: /page, port: web}}
      livenessProbe: {exec: {command: [pgrep, app]}}
    - name: db
      startupProbe: {tcpSocket: {port: 5432}}
      readinessProbe: {grpc: {port: 8080, service: ready}}
      livenessProbe: {}
    - name: named
      readinessProbe: {tcpSocket: {port: postgres}}
    - name: vitals
      image: vitals
      args: [run, "--web.listen-address=:8080"]
      livenessProbe: {tcpSocket: {port: 8080}}
`
	const other = `kind: Deployment
metadata: {name: other}
spec: {template: {spec: {containers: [{name: web, livenessProbe: {httpGet: {path: /alife, port: 8080}}}]}}}
`
	const alone = `kind: DaemonSet
metadata: {name: node}
spec: {template: {spec: {containers: [{name: web, readinessProbe: {httpGet: {path: /page, port: 8080}}}]}}}
`
	const embedded = `kind: StatefulSet
metadata: {name: embedded}
spec: {template: {spec: {containers: [{name: web, readinessProbe: {httpGet: {path: /redy, port: 8080}}, livenessProbe: {tcpSocket: {port: 8080}}}]}}}
`
	for _, c := range []struct {
		name  string
		files []string
		want  []probes.Coverage
	}{
		{"a sidecar, and another pod", []string{sidecar, other}, []probes.Coverage{
			{File: "0.yaml", Judged: 2, All: 8, Skipped: []probes.Skipped{
				{9, 7, "Pod app, container app, livenessProbe", "its command is not known to query Vitals"},
				{8, 7, "Pod app, container app, readinessProbe", "port 3000 belongs to the container app"},
				{11, 7, "Pod app, container db, startupProbe", "port 5432 is none of Vitals: :8080"},
				{13, 7, "Pod app, container db, livenessProbe", "it has no handler"},
				{15, 7, "Pod app, container named, readinessProbe", `its port "postgres" is none of Vitals`},
				{19, 7, "Pod app, container vitals, livenessProbe", "it belongs to Vitals itself, and only opens a connection"},
			}},
			{File: "1.yaml", All: 1, Skipped: []probes.Skipped{
				{3, 51, "Deployment other, container web, livenessProbe", "its pod does not run Vitals, and another one does"},
			}},
		}},
		{"no container of Vitals", []string{alone}, []probes.Coverage{
			{File: "0.yaml", All: 1, Skipped: []probes.Skipped{
				{3, 51, "DaemonSet node, container web, readinessProbe", "no container is known to run Vitals, and no probe at port 8080 requests a state"},
			}},
		}},
		{"no container of Vitals, and a path that is misspelt", []string{embedded}, []probes.Coverage{{File: "0.yaml", Judged: 2, All: 2}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := probes.Input{States: []string{"ready", "alive", "started"}}
			for i, text := range c.files {
				m, errs := manifest.Read(string(rune('0'+i))+".yaml", []byte(text))
				if len(errs) > 0 {
					t.Fatal(errs)
				}
				in.Manifests = append(in.Manifests, m)
			}
			if diff := cmp.Diff(c.want, probes.Covered(in)); diff != "" {
				t.Errorf("Covered() differs (-want +got):\n%s", diff)
			}
		})
	}
}
