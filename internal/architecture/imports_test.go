package architecture_test

import (
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// neighbours are the packages of this module that a package's program code may
// import, and the reason for the limit.
type neighbours struct {
	allowed []string
	reason  string
}

// layers is the import graph: data flows from the configuration through collectors,
// window and evaluator to the server, and nothing looks back.
func layers() map[string]neighbours {
	return map[string]neighbours{
		"cmd/vitals": {
			[]string{"collectors", "dashboards", "evaluator", "internal/execprobe", "internal/explain", "internal/filekind", "internal/kuryrconf", "internal/lintreport", "internal/manifest", "internal/reaper", "internal/redact", "internal/ruletest", "internal/server", "internal/standin", "internal/strictyaml", "internal/supervisorevents", "internal/tripleo", "internal/unixsocket", "rules", "rules/lint"},
			"only the command sees the whole line",
		},
		"cmd/healthcheck":       {[]string{"internal/execprobe"}, "an exec probe is paid for at every run: it is small and starts at once"},
		"collectors":            {[]string{"internal/redact"}, "a collector measures and does not know who judges, and the next one can be written without reading the rest"},
		"rules":                 {[]string{"internal/strictyaml"}, "rules are checked without anything that runs them"},
		"rules/lint":            {[]string{"internal/manifest", "internal/strictyaml", "rules"}, "lint reads rules and knows what metrics there are from who asks it; it runs nothing"},
		"dashboards":            {[]string{"internal/strictyaml", "rules", "rules/lint"}, "dashboards are made of names and rules; nothing is measured for them"},
		"evaluator":             {[]string{"collectors", "rules", "internal/window", "internal/expand", "internal/redact", "internal/text"}, "verdicts do not depend on how they are collected or served"},
		"internal/ruletest":     {[]string{"evaluator", "internal/filekind", "internal/strictyaml", "rules"}, "it plays the evaluator over made-up series, so that a test says what the daemon would"},
		"internal/server":       {[]string{"collectors", "evaluator", "internal/execprobe", "internal/explain", "internal/text"}, "the server renders a snapshot and can compute nothing that it does not see"},
		"internal/explain":      {[]string{"evaluator", "internal/text"}, "it reads the evaluator's results; the evaluator does not import it, so an explanation cannot change a verdict"},
		"internal/profiles":     {nil, "it holds the tests of shipped rules"},
		"internal/text":         {nil, "a leaf: it bounds any text"},
		"internal/window":       {nil, "a leaf: it stores samples of any origin"},
		"internal/redact":       {nil, "a leaf: it looks at texts and names, wherever they are shown"},
		"internal/expand":       {nil, "a leaf: it is held against Prometheus' expander, not against our rules"},
		"internal/execprobe":    {nil, "a leaf: the smallest program is made of it"},
		"internal/reaper":       {nil, "a leaf: it knows children of the process, and not what they are for"},
		"internal/unixsocket":   {nil, "a leaf: it knows sockets and processes, and not what is said over them"},
		"internal/strictyaml":   {nil, "a leaf: it decodes any configuration"},
		"internal/filekind":     {[]string{"internal/strictyaml"}, "a leaf: it looks at the keys of a file and reads nothing of it"},
		"internal/lintreport":   {[]string{"rules/lint"}, "a report shows what was found, and looks for nothing"},
		"internal/manifest":     {[]string{"internal/strictyaml"}, "a leaf: it reads another project's files"},
		"internal/standin":      {nil, "a leaf: it imitates services for the demo and for tests, and shares no code with their clients"},
		"internal/kuryrconf":    {nil, "a leaf: it reads another project's file"},
		"internal/tripleo":      {[]string{"internal/strictyaml"}, "a leaf: it knows another project's services and files"},
		"internal/architecture": {nil, "it holds tests only"},
		"e2e/kubelet/pause":     {nil, "it is alone in an image"},
		"e2e/kubelet/service":   {nil, "it is the workload of a pod, and knows nothing of its health check"},
		"e2e/vm/init":           {nil, "it is alone in a machine with the program under test, which is a program to it"},

		"internal/supervisorevents": {nil, "a leaf: it speaks another program's protocol, and knows nobody who listens"},
	}
}

func TestImportGraph(t *testing.T) {
	layers := layers()
	seen := map[string]bool{}
	for _, s := range program(t) {
		seen[s.dir] = true
		layer, ok := layers[s.dir]
		if !ok {
			t.Errorf("package %s has no place in the import graph, want one in layers()", s.dir)
			continue
		}
		for _, path := range s.imports() {
			own, ok := strings.CutPrefix(path, module+"/")
			if ok && !slices.Contains(layer.allowed, own) {
				t.Errorf("%s imports %s, want at most %v: %s", s.path, own, layer.allowed, layer.reason)
			}
		}
	}
	for dir := range layers {
		if !seen[dir] {
			t.Errorf("layers() names %s, want only packages that exist", dir)
		}
	}
}

// Libraries that belong to one place, so that they can be replaced there.
func TestLibrariesHaveOnePlace(t *testing.T) {
	homes := []struct{ library, home, reason string }{
		{"github.com/gophercloud/", "collectors", "OpenStack is asked by collectors only"},
		{"k8s.io/", "collectors", "Kubernetes is asked by collectors only"},
		{"github.com/prometheus/prometheus/promql$", "evaluator internal/explain internal/window", "the evaluator owns the only engine; the others share the types of its values"},
		{"github.com/prometheus/client_golang/", "internal/server", "samples are data; a registry is for the process' own metrics"},
		{"github.com/coreos/go-systemd/v22/dbus$", "collectors", "systemd is asked by its collector"},
		{"github.com/godbus/", "collectors internal/standin", "connections to the bus are made by the collector, and imitated for its tests"},
		{"gopkg.in/yaml.v3", "internal/strictyaml internal/manifest collectors", "every file of ours is decoded as strictly, with the place of each mistake; collectors and manifests are files of others"},
		{"github.com/alecthomas/kingpin/", "cmd/vitals", "flags are the command's"},
		{"github.com/prometheus/exporter-toolkit/", "cmd/vitals", "listening is the command's"},
		{"github.com/prometheus/common/promslog", "cmd/vitals", "all else logs to the slog.Logger that it is given"},
		{"text/template$", "", "executing templates keeps every method of every type in the binary: internal/expand does it without"},
		{"html/template$", "", "executing templates keeps every method of every type in the binary"},
		{"log$", "", "slog is the logger"},
		{"flag$", "cmd/healthcheck", "kingpin parses the command line, but is larger than the whole exec probe may be"},
	}
	for _, s := range program(t) {
		for _, path := range s.imports() {
			for _, h := range homes {
				if strings.HasPrefix(path+"$", h.library) && !slices.Contains(strings.Fields(h.home), s.dir) {
					t.Errorf("%s imports %s, want it in %q only: %s", s.path, path, h.home, h.reason)
				}
			}
		}
	}
}

// What the program is built from, all libraries of libraries included.
func TestProgramDoesNotContain(t *testing.T) {
	forbidden := map[string]string{
		"github.com/prometheus/prometheus/rules":                  "it would double the binary; our state machine is held against it in internal/oracle",
		"github.com/prometheus/prometheus/tsdb":                   "it would double the binary; the window holds minutes, in memory",
		"github.com/prometheus/prometheus/template":               "it executes text/template, which keeps every method of every type",
		"github.com/prometheus/prometheus/discovery":              "it brings the SDKs of all clouds",
		"k8s.io/client-go/kubernetes":                             "the typed clients cost 10 MB; a few requests need the REST client only",
		"k8s.io/client-go/informers":                              "informers hold all objects in memory; a probe needs to know that a watch works",
		"github.com/prometheus/client_golang/prometheus/promauto": "it registers in the default registry",
		"net/http/pprof":                                          "it registers in the default mux",
		"testing":                                                 "tests are no part of the program",
		module + "/internal/architecture":                         "tests are no part of the program",
		"github.com/prometheus/client_golang/prometheus/testutil": "tests are no part of the program",
		"github.com/prometheus/prometheus/promql/promqltest":      "tests are no part of the program",
		"github.com/rogpeppe/go-internal/testscript":              "tests are no part of the program",
	}
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-tags", "grpcnotrace", "./cmd/vitals")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	deps := strings.Fields(string(out))
	if !slices.Contains(deps, module+"/evaluator") {
		t.Fatalf("go list -deps names %d packages without the evaluator, want all", len(deps))
	}
	for _, path := range slices.Sorted(maps.Keys(forbidden)) {
		if slices.Contains(deps, path) {
			t.Errorf("the program contains %s: %s", path, forbidden[path])
		}
	}
}
