package textformat

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/collectors"
)

// FuzzParse parses expositions of a target: what is kept has a name, a component, a place
// of its own and no time in the future, and the cache of series changes nothing.
func FuzzParse(f *testing.F) {
	const open = openMetrics + "; version=1.0.0"
	for file, contentType := range map[string]string{"target.txt": ContentType, "target.om.txt": open} {
		body, err := os.ReadFile("testdata/" + file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body, contentType)
	}
	f.Add([]byte("a{component=\"x\",exported_component=\"y\"} 1 2\na 1 3\n{\"a b\",\"c d\"=\"e\"} NaN\nvitals_up 1\n"), ContentType)
	f.Add([]byte("# TYPE a_total counter\na_total 1 99999999999.5 # {trace=\"x\"} 1\n# UNIT a s\n# EOF\n"), open)
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		at := time.Unix(1_700_000_000, 0)
		p := newParser(t)
		p.SampleLimit = 50
		first, err := p.Parse(context.Background(), body, contentType, at)
		again, errAgain := p.Parse(context.Background(), body, contentType, at)
		if diff := cmp.Diff(sampleTexts(first), sampleTexts(again)); diff != "" || (err == nil) != (errAgain == nil) {
			t.Fatalf("Parse() = %v, from the cache %v:\n%s", err, errAgain, diff)
		}
		if err != nil && (len(first.Samples)+len(first.Families) > 0 || collectors.ReasonOf(err, noReason) == "") {
			t.Fatalf("Parse() = %d samples, %d families and %v, want a reason alone", len(first.Samples), len(first.Families), err)
		}
		if len(first.Samples) > p.SampleLimit || len(first.Families) > p.SampleLimit {
			t.Fatalf("%d samples and %d families, want at most %d", len(first.Samples), len(first.Families), p.SampleLimit)
		}
		last := map[string]int64{}
		for _, s := range first.Samples {
			checkSample(t, s, at)
			before, twice := last[s.Labels.String()]
			if twice && (before == 0 || s.T <= before) {
				t.Errorf("%s at %d after one at %d, want each series once, or in the order of time", s.Labels, s.T, before)
			}
			last[s.Labels.String()] = s.T
		}
		for _, d := range first.Families {
			if !utf8.ValidString(d.Help) || len(d.Help) > maxHelp || strings.ContainsAny(d.Help, "\n\x00") {
				t.Errorf("help of %q = %q, want one line of at most %d bytes", d.Name, d.Help, maxHelp)
			}
		}
	})
}

// noReason is the class of an error that has no reason of its own.
func noReason(error) Reason { return "" }

func checkSample(t *testing.T, s collectors.Sample, at time.Time) {
	t.Helper()
	name := s.Labels.Get(model.MetricNameLabel)
	if !s.Labels.IsValid(model.UTF8Validation) || name == "" || strings.HasPrefix(name, "vitals_") {
		t.Errorf("series %s, want a valid name that is not one of Vitals", s.Labels)
	}
	if s.Labels.Get(componentLabel) != "target" {
		t.Errorf("series %s, want the component target", s.Labels)
	}
	s.Labels.Range(func(l labels.Label) {
		if !utf8.ValidString(l.Value) || l.Value == "" {
			t.Errorf("series %s, want values of valid UTF-8, and none empty", s.Labels)
		}
	})
	if s.T > at.UnixMilli() {
		t.Errorf("%s at %d, want no time after %d", s.Labels, s.T, at.UnixMilli())
	}
}

// sampleTexts makes samples comparable: NaN differs from itself.
func sampleTexts(e Exposition) []string {
	var texts []string
	for _, s := range e.Samples {
		texts = append(texts, fmt.Sprint(s.Labels, s.Value, s.T))
	}
	return texts
}
