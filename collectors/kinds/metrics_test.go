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
	"github.com/vitals-health/vitals/collectors/openstack"
)

// shownMetrics are metrics in one line each, their labels with all values that can occur;
// "~" says that the series may vanish.
func shownMetrics(metrics []collectors.Metric) string {
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

// TestMetrics compares the metrics that each kind declares with the file catalog.txtar of its
// folder. An entry is the kind and its configuration, or the kind alone for any configuration.
// With UPDATE_GOLDEN=1 in the environment it writes the files.
func TestMetrics(t *testing.T) {
	names, err := filepath.Glob("../*/testdata/catalog.txtar")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, name := range names {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, file := range archive.Files {
			key, got := declaredMetrics(t, file.Name)
			seen[key]++
			if os.Getenv("UPDATE_GOLDEN") != "" {
				archive.Files[i].Data = []byte(got)
			}
			if diff := cmp.Diff(string(archive.Files[i].Data), got); diff != "" {
				t.Errorf("%s: the metrics of %s differ (-want +got):\n%s", name, file.Name, diff)
			}
		}
		if os.Getenv("UPDATE_GOLDEN") != "" {
			collectortest.Write(t, name, string(txtar.Format(archive)))
		}
	}
	for _, key := range kinds.Names() {
		if seen[key] < 2 {
			t.Errorf("the kind %s has %d entries in a catalog.txtar, want one with a configuration and one without", key, seen[key])
		}
	}
}

// declaredMetrics returns the kind of an entry, and its metrics in text.
func declaredMetrics(t *testing.T, entry string) (key, metrics string) {
	t.Helper()
	key, block, configured := strings.Cut(entry, " ")
	kind := kinds.New(key)
	if kind == nil {
		t.Fatalf("New(%q) = nil, want a kind", key)
	}
	if !configured {
		return key, shownMetrics(kind.Metrics(""))
	}
	collectortest.Decode(t, block, kind)
	if problems := kind.Problems(); problems != nil {
		t.Errorf("%s: Problems() = %v, want none", entry, problems)
	}
	if diff := cmp.Diff(kinds.New(key).Metrics(""), kind.Metrics("")); diff != "" {
		t.Errorf("%s: Metrics(\"\") depends on the configuration (-any +this):\n%s", entry, diff)
	}
	return key, shownMetrics(kind.Metrics("NAME"))
}

func TestAnyKindOfNoKind(t *testing.T) {
	if got := kinds.New("nothing"); got != nil {
		t.Errorf("AnyKind() = %v, want nil", got)
	}
}

// Nobody's list is shared: what a caller changes is the caller's.
func TestMetricsBelongToTheCaller(t *testing.T) {
	c := &openstack.KeystoneConfig{Endpoints: []string{"network"}}
	first := c.Metrics("keystone")
	for i := range first {
		for label, values := range first[i].Labels {
			for j := range values {
				values[j] = "changed"
			}
			delete(first[i].Labels, label)
		}
	}
	if want := []string{"network"}; !slices.Equal(c.Endpoints, want) {
		t.Errorf("the configuration has the endpoints %v, want %v", c.Endpoints, want)
	}
	if got := shownMetrics(c.Metrics("keystone")); strings.Contains(got, "changed") {
		t.Errorf("Metrics() = %s, want it without what a caller changed before", got)
	}
}
