package textformat

import (
	"testing"

	"github.com/vitals-health/vitals/collectors"
)

// What a lenient parser drops or honours fails a strict one, also with a warm cache.
func TestStrict(t *testing.T) {
	tests := []struct {
		name, body string
		want       Reason
	}{
		{"no timestamps, each series once", "a 1\na{b=\"1\"} 1\n", ""},
		{"a timestamp", "a 1 1000\n", ReasonTimestamp},
		{"a timestamp of a metric that is not kept", "vitals_up 1 1000\na 1\n", ""},
		{"a series twice", "a 1\na 2\n", ReasonDuplicate},
		{"a series twice, with its labels in another order", "a{b=\"1\",c=\"2\"} 1\na{c=\"2\",b=\"1\"} 2\n", ReasonDuplicate},
		{"a series twice, with a timestamp", "a 1\na 2 1000\n", ReasonTimestamp},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			lenient, strict := newParser(t), newParser(t)
			strict.Strict = true
			for range 2 {
				if _, err := parseText(lenient, tt.body); err != nil {
					t.Errorf("Parse() = %v without Strict, want no error", err)
				}
				got, err := parseText(strict, tt.body)
				if reason := collectors.ReasonOf(err, noReason); reason != tt.want || err != nil && len(got.Samples) > 0 {
					t.Errorf("Parse() = %d samples, %v with the reason %q, want the reason %q", len(got.Samples), err, reason, tt.want)
				}
			}
		})
	}
}
