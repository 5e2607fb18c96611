package textformat

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// A sample of the future has the time of its collection, so that rules find it.
func TestFutureTimestamps(t *testing.T) {
	at := time.UnixMilli(1_700_000_000_000)
	now := at.UnixMilli()
	ms := func(d time.Duration) int64 { return now + d.Milliseconds() }
	tests := []struct {
		name    string
		given   []int64
		want    []int64
		dropped int
	}{
		{"nine minutes ahead", []int64{ms(9 * time.Minute)}, []int64{now}, 0},
		{"a year ahead", []int64{ms(365 * 24 * time.Hour)}, []int64{now}, 0},
		{"one millisecond ahead", []int64{ms(time.Millisecond)}, []int64{now}, 0},
		{"now", []int64{now}, []int64{now}, 0},
		{"an hour old", []int64{ms(-time.Hour)}, []int64{ms(-time.Hour)}, 0},
		{"of 1970", []int64{1}, []int64{1}, 0},
		{"zero, which is no time in a sample", []int64{0}, []int64{1}, 0},
		{"twice in the future: the first counts", []int64{ms(time.Minute), ms(time.Hour)}, []int64{now}, 1},
		{"now and in the future", []int64{now, ms(time.Hour)}, []int64{now}, 1},
		{"past and in the future", []int64{ms(-time.Minute), ms(time.Hour)}, []int64{ms(-time.Minute), now}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			body := ""
			for i, timestamp := range tt.given {
				body += fmt.Sprintf("a %d %d\n", i, timestamp)
			}
			got, err := newParser(t).Parse(context.Background(), []byte(body), ContentType, at)
			if err != nil {
				t.Fatal(err)
			}
			var times []int64
			for _, s := range got.Samples {
				times = append(times, s.T)
			}
			if fmt.Sprint(times) != fmt.Sprint(tt.want) || got.Dropped != tt.dropped {
				t.Errorf("timestamps = %v with %d dropped, want %v with %d", times, got.Dropped, tt.want, tt.dropped)
			}
		})
	}
}

// OpenMetrics has floating-point seconds, of which the parser makes a number that may overflow.
func TestTimestampsThatOverflow(t *testing.T) {
	at := time.UnixMilli(1_700_000_000_000)
	const body = "a 1 1e300\n# EOF\n"
	got, err := newParser(t).Parse(context.Background(), []byte(body), openMetrics+"; version=1.0.0", at)
	if err != nil || len(got.Samples) != 1 || got.Samples[0].T != at.UnixMilli() {
		t.Errorf("samples = %+v, %v, want one at %d", got.Samples, err, at.UnixMilli())
	}
}
