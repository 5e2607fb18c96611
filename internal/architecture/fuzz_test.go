package architecture_test

import (
	"go/ast"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/vitals-health/vitals/collectors/kinds"
)

// fuzzPage is the page with the table of all fuzz targets.
const fuzzPage = "docs/design/fuzzing.md"

// decoders are functions that parse bytes. A package whose program code calls one has a
// fuzz target.
func decoders() []string {
	return []string{
		"binary.BigEndian", "binary.LittleEndian", "binary.NativeEndian", "bufio.NewReader", "bufio.NewReaderSize", "bufio.NewScanner", "fmt.Sscanf", "http.ReadResponse",
		"json.NewDecoder", "json.Unmarshal", "mime.ParseMediaType", "parser.NewParser", "pem.Decode", "strconv.Atoi", "strconv.ParseFloat", "strconv.ParseInt", "strconv.ParseUint",
		"strictyaml.Decode", "strictyaml.Documents", "strictyaml.Parts", "template.New", "textparse.New", "url.Parse", "url.ParseQuery", "x509.ParseCertificate", "xml.NewDecoder", "yaml.NewDecoder", "yaml.Unmarshal",
	}
}

// notFuzzed are packages without a fuzz target, and the reason.
func notFuzzed() map[string]string {
	return map[string]string{
		"collectors/disk":          "statfs(2) fills a struct of numbers: there are no bytes to parse",
		"collectors/scrape":        "collectors/textformat converts what it reads",
		"collectors/collectortest": "it serves tests",
		"dashboards/alerts":        "it reads the alerts that the program contains",
		"e2e/vm/init":              "it serves tests",
		"internal/fakes":           "the fakes of the demo read what Vitals sends",
		"internal/firstrules":      "it reads the rules that the program contains",
		"internal/schema":          "it reads the schema that the program contains",
		"internal/reaper":          "it reads names of processes and numbers with strconv alone",
	}
}

// targets returns the fuzz targets by the folder of their package.
func targets(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, s := range sources(t) {
		if !s.test {
			continue
		}
		for _, decl := range s.file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Fuzz") {
				all[s.dir] = append(all[s.dir], f.Name.Name)
			}
		}
	}
	return all
}

// Whatever parses foreign bytes has a fuzz target: each kind of collector, and each package
// that calls a decoder.
func TestParsersAreFuzzed(t *testing.T) {
	need := map[string]string{}
	for _, name := range kinds.Names() {
		need[folderOfKind(name)] = "the kind " + name
	}
	for _, s := range program(t) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			if called, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := called.X.(*ast.Ident); ok && slices.Contains(decoders(), x.Name+"."+called.Sel.Name) {
					need[s.dir] = s.at(called) + ": " + x.Name + "." + called.Sel.Name
				}
			}
			return true
		})
	}
	fuzzed, exceptions := targets(t), notFuzzed()
	for _, dir := range slices.Sorted(maps.Keys(need)) {
		if _, excepted := exceptions[dir]; (len(fuzzed[dir]) > 0) == excepted {
			t.Errorf("%s: %d fuzz targets, want one because of %s, or a reason in notFuzzed", dir, len(fuzzed[dir]), need[dir])
		}
	}
	for dir := range exceptions {
		if need[dir] == "" {
			t.Errorf("notFuzzed has %s, which parses nothing", dir)
		}
	}
}

// folderOfKind returns the folder of a kind: keystone and neutron share that of openstack.
func folderOfKind(name string) string {
	if name == "keystone" || name == "neutron" {
		name = "openstack"
	}
	return "collectors/" + name
}

var fuzzRow = regexp.MustCompile("(?m)^\\| .* \\| `([a-z0-9/]+)` \\| (.*) \\|$")

// The page lists every target exactly once, under the bytes that it parses.
func TestFuzzPage(t *testing.T) {
	text, err := os.ReadFile(root + "/" + fuzzPage)
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string][]string{}
	for _, row := range fuzzRow.FindAllStringSubmatch(string(text), -1) {
		for _, name := range strings.Split(row[2], ", ") {
			listed[row[1]] = append(listed[row[1]], strings.Trim(name, "`"))
		}
	}
	for dir, names := range targets(t) {
		slices.Sort(names)
		slices.Sort(listed[dir])
		if !slices.Equal(names, listed[dir]) {
			t.Errorf("%s lists %v of %s, want %v", fuzzPage, listed[dir], dir, names)
		}
		delete(listed, dir)
	}
	for dir, names := range listed {
		t.Errorf("%s lists %v of %s, which do not exist", fuzzPage, names, dir)
	}
}

// The workflow fuzzes each target on a schedule, as too long for each change.
func TestFuzzIsScheduled(t *testing.T) {
	data, err := os.ReadFile(root + "/.github/workflows/ci.yml")
	if err != nil {
		t.Fatal(err)
	}
	var workflow struct {
		On struct {
			Schedule []struct{ Cron string }
		} `yaml:"on"`
		Jobs map[string]struct {
			If      string
			Minutes int `yaml:"timeout-minutes"`
			Steps   []struct{ If, Run string }
		}
	}
	if err := yaml.Unmarshal(data, &workflow); err != nil {
		t.Fatal(err)
	}
	if len(workflow.On.Schedule) == 0 || workflow.On.Schedule[0].Cron == "" {
		t.Error("ci.yml has no schedule, want one for make fuzz")
	}
	least, scheduled := 0, false
	for _, names := range targets(t) {
		least += len(names) // each takes a minute
	}
	for name, job := range workflow.Jobs {
		for _, step := range job.Steps {
			if step.Run != "make fuzz" {
				continue
			}
			if scheduled = job.If == "github.event_name == 'schedule'" && step.If == ""; !scheduled {
				t.Errorf("ci.yml: the job %s runs make fuzz if %q and %q, want it by the schedule", name, job.If, step.If)
			}
			if job.Minutes < least {
				t.Errorf("ci.yml: the job %s ends after %d minutes, want at least %d for as many targets", name, job.Minutes, least)
			}
		}
	}
	if !scheduled {
		t.Error("ci.yml: no scheduled job runs make fuzz")
	}
}

// make fuzz finds the targets by itself: by this pattern, in every package.
func TestMakeFuzz(t *testing.T) {
	makefile, err := os.ReadFile(root + "/Makefile")
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`(?m)^fuzz: ## .*\n\t\.ci/fuzz$`).Match(makefile) {
		t.Error("Makefile: want a documented target fuzz that runs .ci/fuzz")
	}
	script, err := os.ReadFile(root + "/.ci/fuzz")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(script), "grep -roE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' .") {
		t.Error(".ci/fuzz: want targets found by their name")
	}
	name := regexp.MustCompile(`^Fuzz[A-Za-z0-9_]+$`)
	for dir, names := range targets(t) {
		for _, n := range names {
			if !name.MatchString(n) {
				t.Errorf("%s: target %s, want a name that .ci/fuzz finds", dir, n)
			}
		}
	}
}
