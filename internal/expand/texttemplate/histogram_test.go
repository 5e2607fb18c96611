package texttemplate_test

import (
	"testing"

	"github.com/prometheus/prometheus/model/histogram"

	"github.com/vitals-health/vitals/internal/expand"
)

func someHistogram() *histogram.FloatHistogram {
	return &histogram.FloatHistogram{Count: 3, Sum: 2, PositiveSpans: []histogram.Span{{Length: 2}}, PositiveBuckets: []float64{1, 2}}
}

// A native histogram is printed as such and is no number.
func TestHistogramsExpandAsInPrometheus(t *testing.T) {
	tests := []struct {
		text   string
		failed bool
	}{
		{"{{ $value }}", false},
		{`{{ printf "%v" $value }}`, false},
		{`{{ printf "%.2f" $value }}`, false},
		{`{{ query "histogram" | first | value }}`, false},
		{"{{ $value | humanize }}", true},
		{"{{ $value | humanizePercentage }}", true},
		{"{{ $value | humanizeDuration }}", true},
		{`{{ query "histogram" | first | value | humanize1024 }}`, true},
		{"{{ if gt $value 1.0 }}x{{ end }}", true},
	}
	for _, tt := range tests {
		got, err := same(t, tt.text, expand.Data{Histogram: someHistogram()})
		if (err != nil) != tt.failed || !tt.failed && got == "0" {
			t.Errorf("Expand(%s) = %q, %v, want an error %t", tt.text, got, err, tt.failed)
		}
	}
}
