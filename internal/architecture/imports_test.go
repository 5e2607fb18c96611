package architecture_test

import (
	"maps"
	"os/exec"
	"path"
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

// allows reports whether a package may be imported. "collectors/*" allows each kind.
func (n neighbours) allows(own string) bool {
	return slices.ContainsFunc(n.allowed, func(pattern string) bool {
		ok, err := path.Match(pattern, own)
		return err == nil && ok
	})
}

// layers is the import graph. Data flows from the configuration through the collectors, the
// window and the evaluator to the server.
func layers() map[string]neighbours {
	return map[string]neighbours{
		"cmd/vitals": {
			[]string{"collectors", "collectors/components", "collectors/kinds", "dashboards", "dashboards/alerts", "evaluator", "internal/alertmanager", "internal/budget", "internal/client", "internal/collectorcheck", "internal/completion", "internal/config", "internal/demo", "internal/execprobe", "internal/explain", "internal/fakes", "internal/files", "internal/firstconfig", "internal/firstrules", "internal/history", "internal/history/journal", "internal/kubereport", "internal/lintreport", "internal/listen", "internal/logqueue", "internal/manifest", "internal/manpage", "internal/memlimit", "internal/once", "internal/podmanifest", "internal/probes", "internal/profiles", "internal/rbac", "internal/reaper", "internal/redact", "internal/rulecheck", "internal/ruletest", "internal/schema", "internal/sdnotify", "internal/server", "internal/server/access", "internal/server/ownmetrics", "internal/strictyaml", "internal/supervisorlistener", "internal/tasks", "internal/text", "rules"},
			"the commands wire everything else",
		},
		".": {
			[]string{"collectors", "collectors/remote", "evaluator", "internal/budget", "internal/configfile", "internal/expand", "internal/explain", "internal/history", "internal/panics", "internal/redact", "internal/schema", "internal/server", "internal/server/access", "rules"},
			"a program that embeds Vitals contains only the kinds that it names",
		},
		"cmd/healthcheck": {[]string{"internal/execprobe"}, "an exec probe starts at every check: it is small"},

		"collectors":              {[]string{"internal/budget"}, "the contract: the evaluator compiles against it without any kind or client library"},
		"collectors/remote":       {[]string{"collectors", "internal/files", "internal/panics", "internal/redact"}, "it serves the kinds and depends on none of them"},
		"collectors/remote/lines": {[]string{"collectors", "collectors/remote", "internal/redact", "internal/text"}, "it serves the kinds of servers whose answers are lines"},
		"collectors/remote/query": {[]string{"collectors", "collectors/remote"}, "it serves the kinds with queries and connects to nothing"},
		"collectors/remote/resp":  {[]string{"collectors", "collectors/remote", "collectors/remote/lines"}, "it has the protocol that tcp and redis share"},
		"collectors/targets":      {[]string{"collectors", "internal/panics", "internal/text"}, "it checks the targets of any kind"},
		"collectors/textformat":   {[]string{"collectors", "internal/budget", "internal/text"}, "it converts the texts of scrape and textfile and reads none itself"},
		"collectors/discovery":    {[]string{"collectors", "collectors/kubernetes", "collectors/remote", "collectors/targets", "internal/blocking", "internal/strictyaml"}, "it finds the targets of any kind"},
		"collectors/kinds":        {[]string{"collectors", "collectors/*"}, "the list of kinds: only this package imports all of them"},

		// Kinds that need more than the contract and what clients share.
		"collectors/capability":  kind("collectors/process"),
		"collectors/certificate": kind("collectors/kubernetes"),
		"collectors/cgroup":      kind("collectors/process"),
		"collectors/http":        kind("collectors/file", "internal/oslo"),
		"collectors/file":        kind("internal/oslo"),
		"collectors/memcached":   kind("collectors/remote/lines"),
		"collectors/kubernetes":  kind("collectors/targets"),
		"collectors/postgres":    kind("collectors/remote/query"),
		"collectors/scrape":      kind("collectors/textformat"),
		"collectors/redis":       kind("collectors/remote/lines", "collectors/remote/resp"),
		"collectors/prometheus":  kind("collectors/remote/query", "internal/promexpr"),
		"collectors/textfile":    kind("collectors/textformat"),
		"collectors/supervisor":  kind("collectors/file"),
		"collectors/tcp":         kind("collectors/remote/lines", "collectors/remote/query", "collectors/remote/resp"),

		"collectors/collectortest":         {[]string{"collectors"}, "it serves the tests of all kinds"},
		"collectors/postgres/postgrestest": {nil, "it serves the tests of postgres and of the recipes"},
		"collectors/process/proctest":      {[]string{"collectors/collectortest"}, "it serves the tests of process, capability and cgroup"},

		"evaluator/internal/evidence":    {[]string{"internal/promexpr"}, "it reads expressions, and gets the samples from its caller"},
		"evaluator/internal/workers":     {[]string{"collectors", "internal/panics", "internal/redact", "internal/text"}, "it runs collectors, and has neither rules nor samples of before"},
		"evaluator/evaluatortest":        {[]string{"evaluator"}, "it serves the tests of what follows an evaluator"},
		"internal/expand/texttemplate":   {[]string{"internal/expand"}, "it executes templates for any caller"},
		"internal/sdnotify/sdnotifytest": {nil, "it serves the tests of sdnotify and of the commands"},

		"rules":                 {[]string{"internal/expand", "internal/expand/texttemplate", "internal/promexpr", "internal/strictyaml", "internal/text"}, "rules are parsed and validated without an evaluator"},
		"rules/lint":            {[]string{"internal/manifest", "rules", "rules/lint/analysis", "rules/lint/check", "rules/lint/conditions", "rules/lint/form", "rules/lint/probes", "rules/lint/selectors", "rules/lint/templates"}, "lint runs the checks of the packages below it"},
		"rules/lint/conditions": {[]string{"internal/promexpr", "rules", "rules/lint/analysis", "rules/lint/check", "rules/lint/numbers", "rules/lint/syntax"}, "groups of checks do not use each other"},
		"rules/lint/selectors":  {[]string{"internal/promexpr", "internal/text", "rules", "rules/lint/analysis", "rules/lint/check", "rules/lint/shapes", "rules/lint/syntax"}, "groups of checks do not use each other"},
		"rules/lint/templates":  {[]string{"internal/expand", "internal/promexpr", "internal/strictyaml", "rules", "rules/lint/analysis", "rules/lint/check", "rules/lint/syntax"}, "groups of checks do not use each other"},
		"rules/lint/form":       {[]string{"internal/strictyaml", "internal/text", "rules", "rules/lint/analysis", "rules/lint/check"}, "groups of checks do not use each other"},
		"rules/lint/check":      {[]string{"internal/manifest", "internal/strictyaml", "rules", "rules/lint/analysis"}, "it serves all checks and contains none"},
		"rules/lint/analysis":   {[]string{"internal/promexpr", "rules", "rules/lint/numbers", "rules/lint/shapes", "rules/lint/syntax"}, "it reads rules, gets the metrics that exist from its caller, and reports no findings"},
		"rules/lint/numbers":    {[]string{"internal/promexpr"}, "it calculates with sets of numbers"},
		"rules/lint/shapes":     {[]string{"rules/lint/syntax"}, "it describes sets of labels, and has neither rules nor metrics"},
		"rules/lint/syntax":     {[]string{"internal/promexpr"}, "it reads an expression without anything around it"},
		"rules/lint/probes":     {[]string{"internal/manifest", "internal/states", "internal/strictyaml"}, "it compares the probes of a manifest with states and rules"},
		"dashboards":            {[]string{"internal/promexpr", "rules"}, "dashboards are made of names and rules, without measurements"},
		"dashboards/alerts":     {[]string{"dashboards", "internal/promexpr", "internal/strictyaml", "rules", "rules/lint"}, "alerts are files, adapted to selectors and addresses"},
		"evaluator":             {[]string{"collectors", "evaluator/internal/evidence", "evaluator/internal/workers", "internal/budget", "internal/expand", "internal/promexpr", "internal/redact", "internal/states", "internal/text", "internal/window", "rules"}, "a verdict does not depend on the kinds of collectors or on the clients of the server"},

		"internal/configfile":      {[]string{"collectors", "evaluator", "internal/blocking", "internal/budget", "internal/expand", "internal/filekind", "internal/files", "internal/redact", "internal/states", "internal/strictyaml", "rules"}, "it turns a configuration into collectors and rules, and its callers name the kinds"},
		"internal/config":          {[]string{"collectors/kinds", "internal/configfile", "rules"}, "it names all kinds for configfile"},
		"internal/profiles":        {[]string{"collectors", "collectors/cgroup", "collectors/components", "collectors/file", "collectors/http", "collectors/kinds", "collectors/kubernetes", "collectors/openstack", "collectors/process", "collectors/remote", "collectors/script", "collectors/supervisor", "collectors/tcp", "internal/config", "internal/profiles/kuryrconf", "internal/profiles/tripleo", "internal/redact", "internal/strictyaml", "rules"}, "it turns the files of an existing deployment into a configuration"},
		"internal/rbac":            {[]string{"collectors", "collectors/kubernetes"}, "it grants what kinds need and connects to nothing"},
		"internal/podmanifest":     {[]string{"collectors/kubernetes", "internal/probes", "internal/rbac"}, "it writes text, and connects to nothing"},
		"internal/rulecheck":       {[]string{"collectors", "collectors/kinds", "evaluator", "internal/config", "internal/filekind", "internal/lintreport", "internal/manifest", "internal/probes", "internal/strictyaml", "rules", "rules/lint", "rules/lint/probes"}, "it gives lint the metrics of a configuration"},
		"internal/collectorcheck":  {[]string{"collectors", "evaluator", "internal/explain", "internal/promexpr", "internal/text", "rules/lint"}, "it reads one snapshot, and compares it with what lint expects"},
		"internal/completion":      {nil, "it has scripts only"},
		"internal/firstconfig":     {[]string{"collectors", "internal/schema"}, "it reads a host and writes text, which the command loads and checks; a password has the type that is never printed"},
		"internal/firstrules":      {[]string{"collectors", "collectors/kinds", "internal/promexpr", "internal/strictyaml", "rules"}, "it fills the rules in the folders of the kinds in for collectors"},
		"internal/explain":         {[]string{"evaluator", "internal/promexpr", "internal/text"}, "an explanation reads a verdict and never changes it"},
		"internal/exposition":      {[]string{"collectors", "evaluator"}, "it renders batches of samples and has no request"},
		"internal/history":         {[]string{"evaluator", "internal/explain", "internal/states", "internal/text"}, "it reads snapshots and changes none"},
		"internal/schema":          {[]string{"collectors", "internal/strictyaml"}, "the schemas are generated before the build; those of other kinds follow from their types"},
		"internal/server":          {[]string{"collectors", "evaluator", "internal/execprobe", "internal/explain", "internal/exposition", "internal/history", "internal/server/access", "internal/server/limits", "internal/server/ownmetrics", "internal/server/page", "internal/server/promapi", "internal/server/reply", "internal/server/verdicts", "internal/states", "internal/text"}, "the server renders a snapshot and computes nothing"},
		"internal/grpchealth":      {[]string{"internal/panics", "internal/states"}, "it renders the words of the server, of which it has an interface only"},
		"internal/listen":          {[]string{"internal/config", "internal/connlimit", "internal/grpchealth", "internal/server", "internal/server/access", "internal/server/limits", "internal/server/ownmetrics", "internal/unixsocket"}, "it opens the sockets of the server"},
		"internal/demo":            {[]string{"collectors", "internal/config", "internal/fakes"}, "it connects the controller profile to fake services"},
		"internal/ruletest":        {[]string{"evaluator", "internal/filekind", "internal/promexpr", "internal/strictyaml", "internal/text", "rules"}, "it runs the evaluator over the series of a test file"},
		"internal/history/journal": {[]string{"evaluator", "internal/history"}, "it stores events and overrides, whose type is the evaluator's, and reads no snapshot"},
		"internal/alertmanager":    {[]string{"collectors/remote", "evaluator", "internal/httpconfig", "internal/panics", "internal/promexpr", "internal/redact", "internal/text"}, "it follows the verdicts and sends their alerts"},
		"internal/kubereport":      {[]string{"collectors/kubernetes", "collectors/remote", "evaluator", "internal/history", "internal/panics", "internal/text"}, "it follows the verdicts and sends them with the connection of the kind kubernetes"},

		"internal/client":             {[]string{"evaluator", "internal/execprobe", "internal/history", "internal/httpconfig", "internal/text"}, "it queries a daemon over HTTP"},
		"internal/httpconfig":         {[]string{"internal/files"}, "it reads the file of a client, for any server"},
		"internal/lintreport":         {[]string{"internal/strictyaml", "internal/text", "rules/lint", "rules/lint/probes"}, "it formats findings and finds none"},
		"internal/sdnotify":           {[]string{"evaluator", "internal/text"}, "it reports the daemon's state to systemd"},
		"internal/supervisorlistener": {[]string{"internal/execprobe", "internal/supervisorevents"}, "it restarts programs by the verdict of a daemon"},
		"internal/profiles/kuryrconf": {[]string{"collectors", "internal/oslo"}, "it reads the file of another project"},
		"internal/profiles/tripleo":   {[]string{"collectors", "internal/oslo", "internal/strictyaml"}, "it reads the files of another project"},
		"internal/manifest":           {[]string{"internal/strictyaml"}, "it reads the files of another project"},
		"internal/filekind":           {[]string{"internal/strictyaml"}, "it identifies a file by its keys"},
		"internal/execprobe":          {[]string{"internal/states", "internal/text"}, "the exec probe is built from it and must stay small"},
		"internal/strictyaml":         {[]string{"internal/text"}, "it decodes any configuration"},
		"internal/blocking":           {[]string{"internal/panics"}, "it calls functions in goroutines"},
		"internal/connlimit":          leaf(),
		"internal/budget":             leaf(),
		"internal/expand":             leaf(),
		"internal/fakes":              leaf(),
		"internal/files":              leaf(),
		"internal/logqueue":           leaf(),
		"internal/manpage":            leaf(),
		"internal/memlimit":           leaf(),
		"internal/once":               {[]string{"evaluator", "internal/execprobe", "internal/server/verdicts", "rules"}, "it runs an evaluator for a moment and serves nothing"},
		"internal/oslo":               leaf(),
		"internal/panics":             leaf(),
		"internal/probes":             leaf(),
		"internal/promexpr":           leaf(),
		"internal/reaper":             leaf(),
		"internal/redact":             leaf(),
		"internal/states":             leaf(),
		"internal/supervisorevents":   leaf(),
		"internal/tasks":              leaf(),
		"internal/text":               leaf(),
		"internal/server/access":      {[]string{"internal/text"}, "it decides by a request alone"},
		"internal/server/limits":      leaf(),
		"internal/server/ownmetrics":  leaf(),
		"internal/server/page":        leaf(),
		"internal/server/promapi":     {[]string{"evaluator", "internal/promexpr"}, "it renders a snapshot for programs that read Prometheus"},
		"internal/server/reply":       {[]string{"internal/text"}, "it writes responses, of whatever"},
		"internal/server/verdicts":    {[]string{"evaluator", "internal/execprobe", "internal/explain", "internal/states", "internal/text"}, "it renders a snapshot and has no request, so that internal/once uses it as well"},
		"internal/unixsocket":         {[]string{"internal/files"}, "it opens sockets for any server"},
		"internal/window":             {[]string{"internal/budget"}, "it keeps samples, within a budget"},

		"internal/architecture": {nil, "it has tests only"},
		"e2e/kubelet/pause":     {nil, "it is the only program of an image"},
		"e2e/kubelet/service":   {nil, "it is the workload of a pod"},
		"e2e/vm/init":           {nil, "it is the first program of a virtual machine"},
	}
}

// kind returns the neighbours of a kind of collector: the contract, what clients share, and
// the packages whose data it uses.
func kind(more ...string) neighbours {
	allowed := append([]string{"collectors", "collectors/discovery", "collectors/remote", "internal/blocking", "internal/budget", "internal/files", "internal/panics", "internal/redact", "internal/text"}, more...)
	return neighbours{allowed, "a kind imports another kind only where it uses its data, and never what judges or serves"}
}

// leaf returns the neighbours of a package that is usable in any other program.
func leaf() neighbours { return neighbours{nil, "a leaf imports no package of the module"} }

func TestImportGraph(t *testing.T) {
	layers := layers()
	seen := map[string]bool{}
	for _, s := range program(t) {
		seen[s.dir] = true
		layer, ok := layers[s.dir]
		if parent, _ := path.Split(s.dir); !ok && parent == "collectors/" {
			layer, ok = kind(), true
		}
		if !ok {
			t.Errorf("package %s is not in the import graph, want an entry in layers()", s.dir)
			continue
		}
		for _, path := range s.imports() {
			own, ok := strings.CutPrefix(path, module+"/")
			if ok && !layer.allows(own) {
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
		{"github.com/prometheus/prometheus/promql$", "evaluator internal/explain internal/promexpr internal/window", "one engine evaluates everything, over points of its own type"},
		{"github.com/prometheus/client_golang/", ". internal/server/ownmetrics collectors/collectortest", "samples are data; a registry is for the metrics of a process, also of one that embeds Vitals"},
		{"github.com/coreos/go-systemd/v22/dbus$", "collectors/systemd", "one package queries systemd"},
		{"golang.org/x/net/dns/", "collectors/dns", "one package queries DNS servers; the others use the resolver of the standard library"},
		{"golang.org/x/net/icmp$", "collectors/icmp", "one package sends echo requests"},
		{"google.golang.org/protobuf/", "collectors/grpc", "one package reads a message of gRPC; grpc-go itself would cost 1.6 MB"},
		{"github.com/beevik/ntp$", "collectors/ntp", "one package queries NTP servers"},
		{"github.com/go-sql-driver/mysql$", "collectors/tcp", "one package logs in at MySQL"},
		{"github.com/KimMachineGun/automemlimit/", "internal/memlimit", "one package reads the memory limit"},
		{"github.com/godbus/", "collectors/systemd internal/fakes", "one package connects to the bus, and a fake serves its tests"},
		{"gopkg.in/yaml.v3", "internal/strictyaml internal/listen internal/manifest collectors/file collectors/collectortest dashboards/alerts", "our files are decoded strictly, with the position of each mistake; collectors, listen and manifest read files of other programs"},
		{"github.com/alecthomas/kingpin/", "cmd/vitals internal/manpage", "flags are the command's, and manpage reads their model"},
		{"github.com/prometheus/exporter-toolkit/", "cmd/vitals internal/listen", "the command declares the flags, internal/listen opens the sockets"},
		{"github.com/prometheus/common/promslog", "cmd/vitals", "all else logs to the slog.Logger that it is given"},
		{"google.golang.org/grpc", "internal/grpchealth", "the kind grpc has a client of its own, which is smaller"},
		{"text/template$", "internal/expand/texttemplate", "only texttemplate bounds the execution of a template"},
		{"html/template$", "internal/expand/texttemplate", "it looks up methods by name, so that the linker keeps all of them; texttemplate uses the type of safeHtml's result"},
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
		"github.com/prometheus/prometheus/template":               "it registers metrics in the default registry",
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
	deps := dependencies(t, "./cmd/vitals")
	if !slices.Contains(deps, module+"/evaluator") {
		t.Fatalf("go list -deps names %d packages without the evaluator, want all", len(deps))
	}
	for _, path := range slices.Sorted(maps.Keys(forbidden)) {
		if slices.Contains(deps, path) {
			t.Errorf("the program contains %s: %s", path, forbidden[path])
		}
	}
}

// The evaluator and the server compile no client of the systems that are measured: a kind
// brings it, and only to programs with that kind. promql itself imports parts of
// apimachinery, which do not count.
func TestEvaluatorNeedsNoClient(t *testing.T) {
	engine := dependencies(t, "github.com/prometheus/prometheus/promql")
	for _, path := range dependencies(t, "./evaluator", "./internal/server") {
		client := slices.ContainsFunc([]string{"k8s.io/", "github.com/gophercloud/", "github.com/godbus/", "github.com/coreos/", module + "/collectors/"}, func(prefix string) bool {
			return strings.HasPrefix(path, prefix)
		})
		if client && !slices.Contains(engine, path) {
			t.Errorf("the evaluator or the server imports %s, want it in its kind only", path)
		}
	}
}

// dependencies returns the packages that the packages import, directly or indirectly.
func dependencies(t *testing.T, packages ...string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list", "-deps", "-tags", "grpcnotrace"}, packages...)...)
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	return strings.Fields(string(out))
}
