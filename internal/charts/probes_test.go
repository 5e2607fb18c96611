package charts_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// otherTimes is a configuration to which the default times of the chart do not fit: an evaluation each
// minute, a collector that may take two, and a rule without "for".
const otherTimes = `vitals.yml: |
  evaluation_interval: 1m
  rule_files: [rules.yml]
  collectors:
    - name: app
      tcp: {address: "127.0.0.1:5000"}
      interval: 2s
      timeout: 1s
    - name: slow
      tcp: {address: "127.0.0.1:5001"}
      interval: 5m
      timeout: 2m
rules.yml: |
  groups:
    - name: app
      rules:
        - alert: AppDown
          expr: vitals_dependency_up{dependency="app"} == 0
          labels: {state: ready}
          annotations: {summary: The application does not answer.}
`

// typeFlags are the flags of "vitals generate probes" for the listener of the chart.
func typeFlags(kind string) []string {
	if kind == "exec" {
		return []string{"--type=exec", "--vitals-port=8080"}
	}
	return []string{"--type=" + kind, "--port=8080"}
}

// probesOf are the probes of the two containers of a pod.
type probesOf struct{ Workload, Vitals corev1.Container }

// renderedProbes returns those of the example chart.
func renderedProbes(t *testing.T, text string) probesOf {
	t.Helper()
	p := pod(t, text)
	vitals, _ := container(t, p)
	i := slices.IndexFunc(p.Containers, func(c corev1.Container) bool { return c.Name == "my-app" })
	if i < 0 {
		t.Fatalf("no container my-app in %+v", p)
	}
	return probesOf{onlyProbes(p.Containers[i]), onlyProbes(vitals)}
}

// onlyProbes returns a container with nothing but its probes, on the number of the port health.
func onlyProbes(c corev1.Container) corev1.Container {
	for _, p := range []*corev1.Probe{c.StartupProbe, c.ReadinessProbe, c.LivenessProbe} {
		for _, port := range c.Ports {
			if p != nil && p.HTTPGet != nil && p.HTTPGet.Port.StrVal == port.Name {
				p.HTTPGet.Port.StrVal, p.HTTPGet.Port.Type, p.HTTPGet.Port.IntVal = "", 0, port.ContainerPort
			}
		}
	}
	return corev1.Container{StartupProbe: c.StartupProbe, ReadinessProbe: c.ReadinessProbe, LivenessProbe: c.LivenessProbe}
}

// generatedProbes returns the output of "vitals generate probes" for the rendered configuration.
func generatedProbes(t *testing.T, rendered string, flags ...string) (probesOf, string) {
	t.Helper()
	text := vitals(t, append([]string{"generate", "probes", "--config.file=" + configuration(t, rendered)}, flags...)...)
	workload, own, ok := strings.Cut(text, "\n---\n")
	var p probesOf
	if err := yaml.UnmarshalStrict([]byte(workload), &p.Workload); err != nil || !ok {
		t.Fatalf("%v in\n%s", err, text)
	}
	if err := yaml.UnmarshalStrict([]byte(own), &p.Vitals); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return p, text
}

// vitalsValues are the values of the chart of Vitals in the example chart.
func vitalsValues(t *testing.T, files, probes string) map[string]any {
	t.Helper()
	set := map[string]any{"probes": parse(t, probes)}
	if files != "" {
		set["files"] = parse(t, files)
	}
	return map[string]any{"vitals": set}
}

// The default times are those that the program calculates for the files of the chart, and for those of
// the example, for each type of probe.
func TestDefaultProbes(t *testing.T) {
	ofChart, err := yaml.Marshal(parse(t, read(t, chartDir+"/values.yaml"))["files"])
	if err != nil {
		t.Fatal(err)
	}
	for name, files := range map[string]string{"chart": string(ofChart), "example": ""} {
		for _, kind := range []string{"http", "grpc", "exec"} {
			t.Run(name+" "+kind, func(t *testing.T) {
				text := helm(t, example(t), vitalsValues(t, files, "type: "+kind)).Manifest
				want, _ := generatedProbes(t, text, typeFlags(kind)...)
				if diff := cmp.Diff(want, renderedProbes(t, text)); diff != "" {
					t.Errorf("the probes differ (-generated +rendered):\n%s", diff)
				}
			})
		}
	}
}

// The output of the program takes the place of the values, in every detail. Its times differ from
// the default, and with it the rendered pod passes the checks.
func TestGeneratedProbes(t *testing.T) {
	for _, kind := range []string{"http", "grpc", "exec"} {
		t.Run(kind, func(t *testing.T) {
			byDefault := helm(t, example(t), vitalsValues(t, otherTimes, "type: "+kind)).Manifest
			want, output := generatedProbes(t, byDefault, append(typeFlags(kind), "--command=/opt/healthcheck")...)
			if cmp.Equal(want, renderedProbes(t, byDefault)) {
				t.Fatal("the default probes fit the configuration, want one that they do not fit")
			}
			values := vitalsValues(t, otherTimes, "type: "+kind)
			values["vitals"].(map[string]any)["probes"] = map[string]any{"manifest": output}
			text := helm(t, example(t), values).Manifest
			if diff := cmp.Diff(want, renderedProbes(t, text)); diff != "" {
				t.Errorf("the probes differ (-generated +rendered):\n%s", diff)
			}
			file := write(t, t.TempDir(), "rendered.yaml", text)
			printed, err := exec.CommandContext(t.Context(), os.Getenv(binary), "check", "rules", "--config.file="+configuration(t, text), "--manifest="+file).CombinedOutput()
			if err != nil || strings.Count(string(printed), file+":") != 1 || !strings.Contains(string(printed), file+": judged 4 of 4 probes\n") {
				t.Errorf("vitals check rules --manifest = %v\n%s\nwant nothing about the probes", err, printed)
			}
		})
	}
}

// A pod of Vitals alone has the same readiness, and the exec probe of its image.
func TestProbesAlone(t *testing.T) {
	const http, grpc, exec = "httpGet: {path: /ready, port: 8080}", "grpc: {port: 8080, service: ready}", "exec: {command: [/healthcheck, --state=ready, --timeout=900ms]}"
	for kind, handler := range map[string]string{"http": http, "grpc": grpc, "exec": exec} {
		var want corev1.Probe
		if err := yaml.UnmarshalStrict([]byte(handler+"\nperiodSeconds: 5\ntimeoutSeconds: 1\nfailureThreshold: 1\n"), &want); err != nil {
			t.Fatal(err)
		}
		text := helm(t, chartDir, map[string]any{"probes": map[string]any{"type": kind}}).Manifest
		c, _ := container(t, pod(t, text))
		if diff := cmp.Diff(&want, onlyProbes(c).ReadinessProbe); diff != "" {
			t.Errorf("%s: readiness differs (-want +got):\n%s", kind, diff)
		}
	}
	values := map[string]any{"files": parse(t, otherTimes)}
	want, output := generatedProbes(t, helm(t, chartDir, values).Manifest, typeFlags("http")...)
	values["probes"] = map[string]any{"manifest": output}
	c, _ := container(t, pod(t, helm(t, chartDir, values).Manifest))
	got := onlyProbes(c)
	if diff := cmp.Diff(want.Workload.ReadinessProbe, got.ReadinessProbe) + cmp.Diff(want.Vitals.LivenessProbe, got.LivenessProbe); diff != "" {
		t.Errorf("the probes differ (-generated +rendered):\n%s", diff)
	}
}

// What is no output of "vitals generate probes" for the listener of the chart is a mistake.
func TestGeneratedProbesMistakes(t *testing.T) {
	rendered := helm(t, chartDir, nil).Manifest
	_, other := generatedProbes(t, rendered, "--port=9000")
	patch := vitals(t, "generate", "probes", "--config.file="+configuration(t, rendered), "--port=8080", "--container=my-app")
	for name, c := range map[string]struct{ manifest, want string }{
		"another port":   {other, "probes.manifest is for the port 9000, and ports.health is 8080: generate it with --port=8080"},
		"a patch":        {patch, "probes.manifest is not the output of vitals generate probes without --container"},
		"no YAML":        {"a: b: c", "probes.manifest is not the output of vitals generate probes"},
		"half of it":     {strings.Split(other, "---\n")[0], "probes.manifest is not the output of vitals generate probes"},
		"an unknown key": {"startupProbe: {}\n---\nlivenessProbe: {exec: {}}\n", "probes.manifest is not the output of vitals generate probes"},
	} {
		_, err := template(t, chartDir, map[string]any{"probes": map[string]any{"manifest": c.manifest}})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
