package scrape_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/collectors/collectortest"
)

// The metrics of another Vitals, in every notation of a name, also those that become its names
// on /metrics, and metrics that are not its own.
const otherVitals = `# TYPE vitals_component_alive gauge
vitals_component_alive{component="watcher"} 0
{"vitals_component_alive",component="server"} 0
vitals_state {state="alive"} 0
{"vitals.state",state="alive"} 0
{"vitals-dependency_up",dependency="keystone"} 0
vitalsigns 3
vitals:recorded 2
app_up 1
`

func TestTheMetricsOfAnotherVitals(t *testing.T) {
	tests := []struct {
		name, more string
		want       []string
		reserved   float64
	}{
		{"by default", "", []string{`vitalsigns{component="target"} 3`, `vitals:recorded{component="target"} 2`, `app_up{component="target"} 1`}, 5},
		{"counts what is kept", ", keep: [vitals_state, app_up]", []string{`app_up{component="target"} 1`}, 1},
		{"below the limit", ", sample_limit: 3", []string{`vitalsigns{component="target"} 3`, `vitals:recorded{component="target"} 2`, `app_up{component="target"} 1`}, 5},
		{"honoured", ", honor_vitals_metrics: true, keep: [vitals_.*]", []string{
			`vitals_component_alive{component="target",exported_component="watcher"} 0`,
			`vitals_component_alive{component="target",exported_component="server"} 0`,
			`vitals_state{component="target",state="alive"} 0`,
		}, 0},
		{"honoured with its labels", ", honor_vitals_metrics: true, honor_labels: true, keep: [vitals_component_alive, vitals_state]", []string{
			`vitals_component_alive{component="watcher"} 0`,
			`vitals_component_alive{component="server"} 0`,
			`vitals_state{component="target",state="alive"} 0`,
		}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newScraper(t, newTarget(t, textFormat, otherVitals).URL, tt.more)
			for range 2 { // the second time with a warm cache
				samples, err := collectortest.Collect(t, c)
				if err != nil {
					t.Fatalf("Collect() = %v, want no error", err)
				}
				n, _ := collectortest.Value(samples, `vitals_scrape_samples{component="target"}`)
				var got []string
				for _, s := range samples[:int(n)] {
					got = append(got, strings.TrimSpace(collectortest.Sample(s)))
				}
				if fmt.Sprint(got) != fmt.Sprint(tt.want) {
					t.Errorf("samples = %v, want %v", got, tt.want)
				}
				if v, ok := collectortest.Value(samples, `vitals_scrape_reserved_samples{component="target"}`); !ok || v != tt.reserved {
					t.Errorf("vitals_scrape_reserved_samples = %v, %t, want %v", v, ok, tt.reserved)
				}
			}
		})
	}
}

// A second name inside the braces does not hide the first.
func TestANameTwice(t *testing.T) {
	for _, line := range []string{`app_up{__name__="vitals_component_alive"} 0`, `{"app_up",__name__="vitals_component_alive"} 0`} {
		c := newScraper(t, newTarget(t, textFormat, line+"\n").URL, "")
		samples, err := collectortest.Collect(t, c)
		if target, _ := split(samples); len(target) > 0 {
			t.Errorf("Collect() of %s = %v, %v, want none of the target's samples", line, target, err)
		}
	}
}
