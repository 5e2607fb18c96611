package textfile_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/textfile"
)

// FuzzFiles reads two files of any content: each series is there once, belongs to the component,
// has no time of its own, and a file that fails has a reason and no series.
func FuzzFiles(f *testing.F) {
	seed, err := os.ReadFile("testdata/backup.prom")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed, []byte("backup_bytes{target=\"users\"} 7\n"))
	f.Add([]byte("# TYPE a gauge\na 1\n"), []byte("# TYPE a counter\na{b=\"1\"} 1\n"))
	f.Add([]byte("a 1\n"), []byte("a 1\n"))
	f.Add([]byte("a{component=\"x\"} 1 5\n"), []byte("vitals_up 1\n"))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		dir := t.TempDir()
		for name, data := range map[string][]byte{"a.prom": first, "b.prom": second} {
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		c := collectortest.New(t, "cron", "{path: '"+dir+"/*.prom', sample_limit: 20}", &textfile.Config{})
		samples, err := c.Collect(t.Context())
		again, _ := c.Collect(t.Context())
		if ofFiles(samples) != ofFiles(again) {
			t.Errorf("samples = %s, from the caches %s", ofFiles(samples), ofFiles(again))
		}
		if failed := reasonsOf(t, samples); (failed != "") != (err != nil) {
			t.Errorf("failures = %q with the error %v, want both or none", failed, err)
		}
		if err != nil && (!utf8.ValidString(err.Error()) || len(err.Error()) > 2048) {
			t.Errorf("error = %q, want at most 2,048 bytes of UTF-8", err)
		}
		checkFuzzed(t, samples)
	})
}

func checkFuzzed(t *testing.T, samples []collectors.Sample) {
	t.Helper()
	var series []labels.Labels
	for _, s := range samples {
		if s.T != 0 || s.Labels.Get("component") != "cron" {
			t.Errorf("%s at %d, want the component cron and no time", s.Labels, s.T)
		}
		if strings.HasPrefix(s.Labels.Get("__name__"), "vitals_") && !strings.HasPrefix(s.Labels.Get("__name__"), "vitals_textfile_") {
			t.Errorf("series %s, want none of Vitals", s.Labels)
		}
		if slices.ContainsFunc(series, func(l labels.Labels) bool { return labels.Equal(l, s.Labels) }) {
			t.Errorf("series %s twice, want it once", s.Labels)
		}
		series = append(series, s.Labels)
	}
}
