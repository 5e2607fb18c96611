package probes_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/vitals-health/vitals/internal/manifest"
	"github.com/vitals-health/vitals/rules/lint/probes"
)

func Example() {
	const pod = `kind: Pod
metadata: {name: app}
spec:
  containers:
    - name: vitals
      image: vitals
    - name: app
      readinessProbe: {httpGet: {path: /redy, port: 8080}}
      livenessProbe: {httpGet: {path: /ready, port: 8080}}
`
	m, errs := manifest.Read("pod.yaml", []byte(pod))
	if len(errs) > 0 {
		fmt.Println(errs)
	}
	in := probes.Input{
		Manifests: []*manifest.File{m},
		States:    []string{"ready", "alive", "started"},
		Rules:     []probes.Rule{{Name: "KeystoneDown", State: "ready", Enforced: true, For: 30 * time.Second}},
		Suggest:   func(_ string, known []string) string { return "use one of " + strings.Join(known, ", ") },
	}
	for _, f := range probes.Check(in) {
		if f.Code != "V036" {
			fmt.Printf("%s:%d:%d: %s %s: %s\n", f.File, f.Line, f.Col, f.Code, f.Where, f.Text)
		}
	}
	// Output:
	// pod.yaml:8:40: V032 Pod app, container app, readinessProbe: there is no page /redy: Vitals always answers 404
	// pod.yaml:9:39: V035 Pod app, container app, livenessProbe: liveness uses ready (ready): an outage of a dependency would restart the container, and a restart does not fix it
}
