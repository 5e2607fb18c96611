package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"go.yaml.in/yaml/v3"
)

// packageOf is a package of the format with contents that take no build.
func packageOf(t *testing.T, format string, e extras) (name string, data []byte) {
	t.Helper()
	s, all := example()
	s.root = "../.."
	files, err := packageFiles(format, all[0].programs, e)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if name, err = s.packaged(format, all[0].platform, files, dir); err != nil {
		t.Fatal(err)
	}
	if data, err = os.ReadFile(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
	return name, data
}

func exampleExtras() extras {
	return extras{
		licences: []file{{"LICENSE", readable, []byte("a licence")}}, man: []byte(".TH VITALS 1\n"),
		service: []byte("ExecStart=/usr/local/bin/vitals run\n"), configuration: []byte("collectors: []\n"),
	}
}

func TestPackagesHaveTheSameBytesTwice(t *testing.T) {
	for _, format := range formats() {
		name, one := packageOf(t, format, exampleExtras())
		if _, two := packageOf(t, format, exampleExtras()); !bytes.Equal(one, two) {
			t.Errorf("%s has other bytes the second time", name)
		}
	}
}

func TestPackageFiles(t *testing.T) {
	_, all := example()
	files, err := packageFiles("deb", all[0].programs, exampleExtras())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]file{}
	for _, f := range files {
		got[f.path] = f
	}
	for path, want := range map[string]string{
		"usr/bin/vitals": "vitals of amd64", "usr/bin/vitals-healthcheck": "healthcheck of amd64",
		"usr/share/doc/vitals/copyright": "a licence", "etc/vitals/vitals.yml": "collectors: []\n",
		"usr/lib/systemd/system/vitals.service": "ExecStart=/usr/bin/vitals run\n",
	} {
		if f, ok := got[path]; !ok || string(f.data) != want {
			t.Errorf("%s = %q, present %t, want %q", path, f.data, ok, want)
		}
	}
	if got["usr/bin/vitals"].mode != executable || got["etc/vitals/vitals.yml"].mode != readable {
		t.Errorf("modes are %o and %o", got["usr/bin/vitals"].mode, got["etc/vitals/vitals.yml"].mode)
	}
}

func TestPackageVersion(t *testing.T) {
	for given, want := range map[string]string{
		"1.2.3": "1.2.3", "1.2.3-rc1": "1.2.3-rc1", "27c5f84": "0.0.0-dev+27c5f84", "27c5f84-dirty": "0.0.0-dev+27c5f84.dirty",
	} {
		if got := packageVersion(given); got != want {
			t.Errorf("packageVersion(%q) = %q, want %q", given, got, want)
		}
	}
}

// The list of contents has the modules that the linker has recorded in the program, here the test.
func TestSBOM(t *testing.T) {
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(own)
	if err != nil {
		t.Fatal(err)
	}
	s, all := example()
	programs := []file{{"vitals", executable, data}}
	one, err := s.sbom(all[0].platform, programs)
	if err != nil {
		t.Fatal(err)
	}
	two, err := s.sbom(all[0].platform, programs)
	if err != nil || !bytes.Equal(one, two) {
		t.Errorf("the list has other bytes the second time (%v)", err)
	}
	var bom cdx.BOM
	if err := cdx.NewBOMDecoder(bytes.NewReader(one), cdx.BOMFileFormatJSON).Decode(&bom); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range *bom.Components {
		names = append(names, c.Name)
	}
	for _, want := range []string{"std", "vitals", "github.com/google/go-containerregistry"} {
		if !slices.Contains(names, want) {
			t.Errorf("components = %q, want %s among them", names, want)
		}
	}
	if _, err := s.sbom(all[0].platform, all[0].programs); err == nil {
		t.Error("sbom() of a file that is no program succeeds, want an error")
	}
}

func TestSums(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b", "a"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := sums(dir); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, sumsName))
	if err != nil {
		t.Fatal(err)
	}
	const want = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb  a\n" +
		"3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d  b\n"
	if string(got) != want {
		t.Errorf("%s = %q, want %q", sumsName, got, want)
	}
}

func TestReleaseNeedsAnEmptyDirectory(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "old"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s, _ := example()
	if err := s.makeRelease(nil, dir); err == nil || !strings.Contains(err.Error(), "old is there") {
		t.Errorf("makeRelease() = %v, want an error that names the file", err)
	}
}

// The workflows call what a developer calls.
func TestWorkflows(t *testing.T) {
	for name, want := range map[string][]string{"ci.yml": {"make lint", "make test"}, "release.yml": {"make release"}} {
		data, err := os.ReadFile(filepath.Join("..", "..", ".github", "workflows", name))
		if err != nil {
			t.Fatal(err)
		}
		var workflow struct {
			On   map[string]any `yaml:"on"`
			Jobs map[string]struct {
				Steps []struct{ Run, Uses string }
			}
		}
		if err := yaml.Unmarshal(data, &workflow); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var runs []string
		for _, job := range workflow.Jobs {
			for _, step := range job.Steps {
				runs = append(runs, step.Run)
				if step.Uses != "" && !strings.Contains(step.Uses, "@v") {
					t.Errorf("%s uses %s, want a pinned major version", name, step.Uses)
				}
			}
		}
		for _, command := range want {
			if !slices.Contains(runs, command) {
				t.Errorf("%s runs %q, want %q among them", name, runs, command)
			}
		}
		if len(workflow.On) == 0 {
			t.Errorf("%s has no event that starts it", name)
		}
	}
}
