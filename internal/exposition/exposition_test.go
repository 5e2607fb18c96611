package exposition_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/exposition"
)

func sample(value float64, pairs ...string) collectors.Sample {
	return collectors.Sample{Labels: labels.FromStrings(pairs...), Value: value}
}

func batch(name string, kind model.MetricType, samples ...collectors.Sample) evaluator.Batch {
	return evaluator.Batch{Descs: []collectors.Desc{{Name: name, Type: kind, Help: "About " + name + "."}}, Samples: samples}
}

func ExampleRender() {
	b := batch("handled_total", model.MetricTypeCounter, sample(3, "__name__", "handled_total", "queue", "a"))
	fmt.Print(string(exposition.Render([]evaluator.Batch{b}, exposition.OpenMetrics).Text()))
	// Output:
	// # HELP handled About handled_total.
	// # TYPE handled counter
	// handled_total{queue="a"} 3
	// # EOF
}

// The families of both are in the order of their names. One that both have is written once, with
// the later value of a series.
func TestMerge(t *testing.T) {
	own := prometheus.NewRegistry()
	for name, value := range map[string]float64{"a": 1, "c": 2, "d": 3} {
		g := prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: "About " + name + "."})
		g.Set(value)
		own.MustRegister(g)
	}
	gathered, err := own.Gather()
	if err != nil {
		t.Fatal(err)
	}
	first := exposition.Render([]evaluator.Batch{
		batch("b", model.MetricTypeGauge, sample(4, "__name__", "b")),
		batch("c", model.MetricTypeGauge, sample(5, "__name__", "c"), sample(6, "__name__", "c", "x", "1")),
	}, exposition.Text)
	before := string(first.Text())
	want := `# HELP a About a.
# TYPE a gauge
a 1
# HELP b About b.
# TYPE b gauge
b 4
# HELP c About c.
# TYPE c gauge
c 2
c{x="1"} 6
# HELP d About d.
# TYPE d gauge
d 3
`
	for range 2 { // a merge changes neither
		got := string(first.Merge(exposition.Render([]evaluator.Batch{exposition.Gathered(gathered)}, exposition.Text)))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("difference (-want +got):\n%s", diff)
		}
	}
	if after := string(first.Text()); after != before {
		t.Errorf("Text() = %q after a merge, want %q", after, before)
	}
}

// A label whose name becomes __name__ without its characters of newer versions does not rename
// the metric.
func TestLabelIsNoName(t *testing.T) {
	b := batch("x", model.MetricTypeGauge, sample(1, "__name__", "x", "  name  ", "vitals_state"))
	got := string(exposition.Render([]evaluator.Batch{b}, exposition.Text).Text())
	if want := "# HELP x About x.\n# TYPE x gauge\nx{___name__=\"vitals_state\"} 1\n"; got != want {
		t.Errorf("Text() = %q, want %q", got, want)
	}
}
