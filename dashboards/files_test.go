package dashboards_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// TestCommittedFilesAreGenerated compares the files in this folder with the output of Files.
func TestCommittedFilesAreGenerated(t *testing.T) {
	for _, f := range generate() {
		is, err := os.ReadFile(f.Name)
		if err != nil || !bytes.Equal(is, f.Data) {
			t.Errorf("%s is not as generated (%v): run go run ./cmd/vitals generate dashboards", f.Name, err)
		}
	}
}

func TestFilesAreTheSameEveryTime(t *testing.T) {
	first, second := generate(), generate()
	for i := range first {
		if first[i].Name != second[i].Name || !bytes.Equal(first[i].Data, second[i].Data) {
			t.Errorf("%s differs between two runs, want the same bytes", first[i].Name)
		}
	}
}

// The ConfigMaps contain the dashboards. Each is small enough for kubectl apply, which keeps
// a copy of it in an annotation.
func TestConfigMapsHoldTheDashboards(t *testing.T) {
	files := map[string][]byte{}
	for _, f := range generate() {
		files[f.Name] = f.Data
	}
	const limit = 256 << 10
	held := 0
	d := yaml.NewDecoder(bytes.NewReader(files["kubernetes.yaml"]))
	for {
		var m struct {
			APIVersion string `yaml:"apiVersion"`
			Kind       string
			Metadata   struct {
				Name   string
				Labels map[string]string
			}
			Data map[string]string
		}
		if err := d.Decode(&m); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if m.APIVersion != "v1" || m.Kind != "ConfigMap" || m.Metadata.Labels["grafana_dashboard"] != "1" {
			t.Errorf("%s is %s %s with the labels %v, want a ConfigMap that Grafana's sidecar finds", m.Metadata.Name, m.APIVersion, m.Kind, m.Metadata.Labels)
		}
		for name, text := range m.Data {
			held++
			if want := "vitals-dashboard-" + strings.TrimSuffix(strings.TrimPrefix(name, "vitals-"), ".json"); m.Metadata.Name != want {
				t.Errorf("%s is in the ConfigMap %s, want %s", name, m.Metadata.Name, want)
			}
			want := files[strings.TrimPrefix(name, "vitals-")]
			var compact bytes.Buffer
			if err := json.Compact(&compact, want); err != nil || compact.String() != strings.TrimSuffix(text, "\n") {
				t.Errorf("%s in %s is not the dashboard (%v)", name, m.Metadata.Name, err)
			}
			if len(text) > limit {
				t.Errorf("%s has %d bytes, want at most %d", name, len(text), limit)
			}
		}
	}
	if want := len(loadDashboards(t)); held != want {
		t.Errorf("kubernetes.yaml holds %d dashboards, want %d", held, want)
	}
}

func TestProvisioningNamesADirectory(t *testing.T) {
	data, err := os.ReadFile("provisioning.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var p struct {
		APIVersion int `yaml:"apiVersion"`
		Providers  []struct {
			Name, Type string
			Options    struct{ Path string }
		}
	}
	if err := yaml.Unmarshal(data, &p); err != nil {
		t.Fatal(err)
	}
	if p.APIVersion != 1 || len(p.Providers) != 1 || p.Providers[0].Type != "file" || !strings.HasPrefix(p.Providers[0].Options.Path, "/") {
		t.Errorf("provisioning.yaml = %+v, want one provider of files in a directory", p)
	}
}

// The page has a row for each dashboard, and one for the dashboard of the user's rules.
func TestPageListsTheDashboards(t *testing.T) {
	page, err := os.ReadFile("../docs/guides/dashboards.md")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, m := range regexp.MustCompile("(?m)^\\| `(\\w+\\.json)` \\|").FindAllStringSubmatch(string(page), -1) {
		listed = append(listed, m[1])
	}
	want := []string{"rules.json"}
	for _, d := range loadDashboards(t) {
		want = append(want, d.file)
	}
	slices.Sort(listed)
	slices.Sort(want)
	if !slices.Equal(listed, want) {
		t.Errorf("docs/guides/dashboards.md lists %v, want %v", listed, want)
	}
}
