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
// window and evaluator to the server, never back.
func layers() map[string]neighbours {
	return map[string]neighbours{
		"cmd/vitals": {
			[]string{"collectors", "collectors/capability", "collectors/cgroup", "collectors/components", "collectors/file", "collectors/http", "collectors/kinds", "collectors/kubernetes", "collectors/netlink", "collectors/openstack", "collectors/process", "collectors/remote", "collectors/scrape", "collectors/script", "collectors/supervisor", "collectors/tcp", "dashboards", "evaluator", "internal/execprobe", "internal/filekind", "internal/kuryrconf", "internal/lintreport", "internal/manifest", "internal/reaper", "internal/redact", "internal/ruletest", "internal/server", "internal/fakes", "internal/strictyaml", "internal/supervisorevents", "internal/tripleo", "internal/unixsocket", "rules", "rules/lint"},
			"only the command imports all parts of the data flow",
		},
		"cmd/healthcheck":   {[]string{"internal/execprobe"}, "every probe starts this program: it must be small and start fast"},
		"collectors":        {nil, "the contract: whoever reads it, or compiles against it, meets no kind and no client library"},
		"collectors/remote": {[]string{"collectors", "internal/files", "internal/redact"}, "what clients of other servers share; it serves kinds and has none"},
		"collectors/kinds": {
			[]string{"collectors", "collectors/capability", "collectors/cgroup", "collectors/components", "collectors/file", "collectors/http", "collectors/kubernetes", "collectors/netlink", "collectors/openstack", "collectors/process", "collectors/scrape", "collectors/script", "collectors/supervisor", "collectors/systemd", "collectors/tcp"},
			"the list of kinds: one line each, and nothing else names them all",
		},
		"collectors/capability":       {[]string{"collectors", "collectors/process"}, "a kind; a capability is a process's"},
		"collectors/cgroup":           {[]string{"collectors", "collectors/process"}, "a kind; a cgroup may be a process's"},
		"collectors/components":       {[]string{"collectors", "collectors/remote"}, "a kind"},
		"collectors/file":             {[]string{"collectors", "internal/files", "internal/oslo"}, "a kind"},
		"collectors/http":             {[]string{"collectors", "collectors/file", "collectors/remote", "internal/oslo", "internal/redact"}, "a kind; it finds its URL in a file"},
		"collectors/kubernetes":       {[]string{"collectors", "collectors/remote"}, "a kind"},
		"collectors/netlink":          {[]string{"collectors"}, "a kind"},
		"collectors/openstack":        {[]string{"collectors", "collectors/remote"}, "the kinds keystone and neutron, which share a token"},
		"collectors/process":          {[]string{"collectors", "internal/files"}, "a kind"},
		"collectors/scrape":           {[]string{"collectors", "collectors/remote", "internal/redact"}, "a kind"},
		"collectors/script":           {[]string{"collectors", "collectors/remote", "internal/files", "internal/redact"}, "a kind"},
		"collectors/supervisor":       {[]string{"collectors", "collectors/file", "collectors/remote", "internal/files", "internal/redact"}, "a kind; its critical programs are listed in a file"},
		"collectors/systemd":          {[]string{"collectors", "collectors/remote", "internal/redact"}, "a kind"},
		"collectors/tcp":              {[]string{"collectors", "collectors/remote", "internal/redact"}, "a kind"},
		"collectors/collectortest":    {[]string{"collectors"}, "helpers of the kinds' tests"},
		"collectors/process/proctest": {[]string{"collectors/collectortest"}, "fake processes for the tests of process, capability and cgroup"},
		"internal/files":              {nil, "a leaf: it opens files"},
		"rules":                       {[]string{"internal/strictyaml"}, "checking rules must not require the packages that evaluate them"},
		"rules/lint":                  {[]string{"internal/manifest", "internal/strictyaml", "rules"}, "lint reads rules and gets the names of metrics from its caller; it evaluates nothing"},
		"dashboards":                  {[]string{"internal/strictyaml", "rules", "rules/lint"}, "dashboards are generated from names and rules without measurements"},
		"evaluator":                   {[]string{"collectors", "rules", "internal/window", "internal/expand", "internal/redact"}, "verdicts are independent of their consumers"},
		"internal/ruletest":           {[]string{"evaluator", "internal/filekind", "internal/strictyaml", "rules"}, "it runs the evaluator over synthetic series, so that results are those of the daemon"},
		"internal/server":             {[]string{"collectors", "evaluator", "internal/execprobe"}, "the server renders a snapshot and cannot evaluate anything"},
		"internal/window":             {nil, "a leaf: it stores samples of any source"},
		"internal/redact":             {nil, "a leaf: it hides secrets in any text"},
		"internal/expand":             {nil, "a leaf: it is tested against Prometheus' expander, not with our rules"},
		"internal/execprobe":          {nil, "a leaf: it is the smallest program"},
		"internal/reaper":             {nil, "a leaf: it reaps children of any kind"},
		"internal/unixsocket":         {nil, "a leaf: it is independent of the protocol on a socket"},
		"internal/strictyaml":         {nil, "a leaf: it decodes any configuration"},
		"internal/filekind":           {[]string{"internal/strictyaml"}, "a leaf: it reads only the keys of a file"},
		"internal/lintreport":         {[]string{"rules/lint"}, "it formats findings and runs no checks"},
		"internal/manifest":           {[]string{"internal/strictyaml"}, "a leaf: it reads another project's files"},
		"internal/fakes":              {nil, "a leaf: it imitates services for the demo and for tests, and shares no code with their clients"},
		"internal/kuryrconf":          {[]string{"collectors", "internal/oslo"}, "it reads another project's file and runs nothing"},
		"internal/oslo":               {nil, "a leaf: it reads the syntax of a file and does not interpret its options"},
		"internal/tripleo":            {[]string{"collectors", "internal/oslo", "internal/strictyaml"}, "it reads another project's files and runs nothing"},
		"internal/architecture":       {nil, "it holds tests only"},
		"e2e/kubelet/pause":           {nil, "it is the only program in an image"},
		"e2e/kubelet/service":         {nil, "it is the workload of a pod and independent of its health check"},
		"e2e/vm/init":                 {nil, "it runs the program under test in a machine and shares no code with it"},

		"internal/supervisorevents": {nil, "a leaf: it implements another program's protocol"},
	}
}

func TestImportGraph(t *testing.T) {
	layers := layers()
	seen := map[string]bool{}
	for _, s := range program(t) {
		seen[s.dir] = true
		layer, ok := layers[s.dir]
		if !ok {
			t.Errorf("package %s is not in the import graph, want an entry in layers()", s.dir)
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

// Libraries that only some packages may import, so that they can be replaced there.
func TestLibrariesHaveOnePlace(t *testing.T) {
	homes := []struct{ library, home, reason string }{
		{"github.com/gophercloud/", "collectors/openstack", "one package queries OpenStack"},
		{"k8s.io/", "collectors/kubernetes", "one package queries Kubernetes"},
		{"github.com/prometheus/prometheus/promql$", "evaluator internal/window", "one engine evaluates everything, over points of its own type"},
		{"github.com/prometheus/client_golang/", "internal/server collectors/collectortest", "samples are data; a registry is for the process' own metrics"},
		{"github.com/coreos/go-systemd/v22/dbus$", "collectors/systemd", "one package queries systemd"},
		{"github.com/go-sql-driver/mysql$", "collectors/tcp", "one package logs in at MySQL"},
		{"github.com/godbus/", "collectors/systemd internal/fakes", "one package connects to the bus, and a fake serves its tests"},
		{"gopkg.in/yaml.v3", "internal/strictyaml internal/manifest collectors/file collectors/collectortest", "our files are decoded strictly, with the position of each mistake; collectors and manifest read files of other programs"},
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

// The dependencies of the program, with indirect ones.
func TestProgramDoesNotContain(t *testing.T) {
	forbidden := map[string]string{
		"github.com/prometheus/prometheus/rules":                  "it would double the binary; internal/oracle compares our state machine with it",
		"github.com/prometheus/prometheus/tsdb":                   "it would double the binary; the window holds minutes, in memory",
		"github.com/prometheus/prometheus/template":               "it executes text/template, which keeps every method of every type",
		"github.com/prometheus/prometheus/discovery":              "it brings the SDKs of all clouds",
		"k8s.io/client-go/kubernetes":                             "the typed clients cost 10 MB; a few requests need the REST client only",
		"k8s.io/client-go/informers":                              "informers hold all objects in memory; a probe only needs a working watch",
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
