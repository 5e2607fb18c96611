package exposition_test

import (
	"cmp"
	"errors"
	"io"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/exposition"
)

// FuzzRender renders any names, labels, help texts and types, of two batches that differ in the
// type. The parser of Prometheus must read each text.
func FuzzRender(f *testing.F) {
	f.Add("handled_total", "queue", `a\b"c`, "About\nit.", "counter", "gauge", "", 1.5, int64(0))
	f.Add("took_seconds_bucket", "le", "x", "", "histogram", "histogram", "+Inf", 2.0, int64(1700000000001))
	f.Add("took", "quantile", "0.5", "", "summary", "unknown", "NaN", -1.0, int64(-1))
	f.Add("9é:", "__name__", "\xff", "\xff\\", "info", "stateset", "1e400", 0.0, int64(1))
	f.Fuzz(func(t *testing.T, name, label, value, help, kind, other, bound string, number float64, at int64) {
		label = cmp.Or(label, "x") // no collector has a label without a name
		var batches []evaluator.Batch
		for _, k := range []string{kind, other} {
			base := name
			for _, suffix := range []string{"_bucket", "_sum", "_count"} {
				if n := len(name) - len(suffix); k != other && n > 0 && name[n:] == suffix {
					base = name[:n]
				}
			}
			samples := []collectors.Sample{
				{Labels: labels.FromMap(map[string]string{label: value, model.MetricNameLabel: name}), Value: number, T: max(at, 0)}, // no collector exports a time before 1970
				{Labels: labels.FromMap(map[string]string{label: value, model.BucketLabel: bound, model.MetricNameLabel: base + "_bucket"}), Value: number},
			}
			batches = append(batches, evaluator.Batch{Descs: []collectors.Desc{{Name: base, Help: help, Type: model.MetricType(k)}}, Samples: samples})
		}
		for format := range exposition.Formats {
			first, second := exposition.Render(batches[:1], format), exposition.Render(batches[1:], format)
			for _, text := range [][]byte{first.Text(), second.Text(), exposition.Render(batches, format).Text(), first.Merge(second)} {
				readable(t, text, format)
			}
		}
	})
}

// readable fails the test unless the parser of Prometheus reads a text.
func readable(t *testing.T, text []byte, f exposition.Format) {
	t.Helper()
	p, err := textparse.New(text, f.ContentType(), labels.NewSymbolTable(), textparse.ParserOptions{})
	for err == nil {
		_, err = p.Next()
	}
	if !errors.Is(err, io.EOF) {
		t.Errorf("%v in:\n%s", err, text)
	}
}
