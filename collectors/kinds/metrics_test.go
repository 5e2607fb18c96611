package kinds_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
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

var metricUpdate = flag.Bool("update.metrics", false, "rewrite testdata/metrics.txtar")

// TestMetrics holds what each kind says of its metrics beforehand against a file: an
// entry is the kind and its configuration, or the kind alone for any configuration.
func TestMetrics(t *testing.T) {
	const name = "testdata/metrics.txtar"
	archive, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for i, file := range archive.Files {
		key, block, configured := strings.Cut(file.Name, " ")
		kind := kinds.New(key)
		if kind == nil {
			t.Fatalf("%s: AnyKind(%q) = nil, want a kind", name, key)
		}
		seen[key]++
		of := ""
		if configured {
			of = "NAME"
			collectortest.Decode(t, block, kind)
			if problems := kind.Problems(); problems != nil {
				t.Errorf("%s: Problems() = %v, want none", file.Name, problems)
			}
			if diff := cmp.Diff(kinds.New(key).Metrics(""), kind.Metrics("")); diff != "" {
				t.Errorf("%s: Metrics(\"\") depend on the configuration (-any +this):\n%s", file.Name, diff)
			}
		}
		got := shownMetrics(kind.Metrics(of))
		if diff := cmp.Diff(string(file.Data), got); diff != "" && !*metricUpdate {
			t.Errorf("Metrics(%q) of %s differ (-want +got):\n%s", of, file.Name, diff)
		}
		archive.Files[i].Data = []byte(got)
	}
	for _, key := range kinds.Names() {
		if seen[key] < 2 {
			t.Errorf("%s has %d entries of the kind %s, want one with a configuration and one without", name, seen[key], key)
		}
	}
	if *metricUpdate {
		if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
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
