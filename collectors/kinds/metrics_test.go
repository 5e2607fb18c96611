package kinds_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/kinds"
)

// TestMetrics compares the result of Metrics with testdata/catalog.txtar of each kind. The name
// of an entry is a kind and its configuration, or the kind only for any configuration. With
// UPDATE_GOLDEN=1 in the environment, it writes the files first.
func TestMetrics(t *testing.T) {
	files, err := filepath.Glob("../*/testdata/catalog.txtar")
	if err != nil {
		t.Fatal(err)
	}
	update := os.Getenv("UPDATE_GOLDEN") != ""
	entries := map[string]int{}
	for _, name := range files {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, file := range archive.Files {
			key, block, _ := strings.Cut(file.Name, " ")
			entries[key]++
			got := metricsOf(t, key, block)
			if update {
				archive.Files[i].Data = []byte(got)
			}
			if diff := cmp.Diff(string(archive.Files[i].Data), got); diff != "" {
				t.Errorf("%s: Metrics() of %q differ (-want +got):\n%s", name, file.Name, diff)
			}
		}
		if update {
			collectortest.Write(t, name, string(txtar.Format(archive)))
		}
	}
	for _, key := range kinds.Names() {
		if entries[key] < 2 {
			t.Errorf("testdata/catalog.txtar has %d entries of the kind %s, want one with a configuration and one without", entries[key], key)
		}
	}
}

// metricsOf returns the metrics of a kind with this configuration, or with any if it is empty.
func metricsOf(t *testing.T, key, block string) string {
	t.Helper()
	kind := kinds.New(key)
	if kind == nil {
		t.Fatalf("New(%q) = nil, want a kind", key)
	}
	name := ""
	if block != "" {
		name = "NAME"
		collectortest.Decode(t, block, kind)
		if problems := kind.Problems(); problems != nil {
			t.Errorf("%s %s: Problems() = %v, want none", key, block, problems)
		}
		if diff := cmp.Diff(kinds.New(key).Metrics(""), kind.Metrics("")); diff != "" {
			t.Errorf("%s %s: Metrics(\"\") depends on the configuration (-any +this):\n%s", key, block, diff)
		}
	}
	metrics := kind.Metrics(name)
	got := format(metrics)
	overwrite(metrics)
	if diff := cmp.Diff(got, format(kind.Metrics(name))); diff != "" {
		t.Errorf("%s %s: the caller does not own the result of Metrics (-first +second):\n%s", key, block, diff)
	}
	return got
}

// format returns one line for each metric, with its labels and their possible values. "~" means
// that a series may be absent.
func format(metrics []collectors.Metric) string {
	var b strings.Builder
	for _, m := range metrics {
		var labels []string
		for _, label := range slices.Sorted(maps.Keys(m.Labels)) {
			values := "*"
			if m.Labels[label] != nil {
				values = strings.Join(m.Labels[label], "|")
			}
			labels = append(labels, label+"="+values)
		}
		vanishes := ""
		if m.Vanishes {
			vanishes = "~"
		}
		fmt.Fprintf(&b, "%s%s %s\n", strings.TrimPrefix(m.Name, "vitals_"), vanishes, strings.Join(labels, " "))
	}
	return b.String()
}

// overwrite changes all values of all labels and deletes the labels.
func overwrite(metrics []collectors.Metric) {
	for _, m := range metrics {
		for label, values := range m.Labels {
			for i := range values {
				values[i] = "changed"
			}
			delete(m.Labels, label)
		}
	}
}

func TestNewOfAnUnknownKind(t *testing.T) {
	if got := kinds.New("nothing"); got != nil {
		t.Errorf("New() = %v, want nil", got)
	}
}
