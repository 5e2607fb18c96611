package window_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/internal/window"
)

// TestOwners writes batches of owners and of a source that shares, such as that of a rule.
// Rejected samples are in the order of the batches.
func TestOwners(t *testing.T) {
	type batch struct {
		from   string
		series []string
	}
	tests := []struct {
		name           string
		batches        []batch
		rejected, want string
	}{
		{"the first owner keeps a series", []batch{{"a", []string{"x"}}, {"b", []string{"x", "y"}}, {"a", []string{"x"}}},
			"20:b:x", "x 10:1 30:3\ny 20:2"},
		{"the next one gets it when the first has left", []batch{{"a", []string{"x"}}, {"b", []string{"x"}}, {"a", nil}, {"b", []string{"x"}}, {"a", []string{"x"}}},
			"20:b:x 50:a:x", "x 10:1 30:stale 40:4"},
		{"a series twice in a batch", []batch{{"a", []string{"x", "x"}}, {"a", []string{"x"}}}, "", "x 10:1 20:2"},
		{"a rule takes a series over", []batch{{"a", []string{"x"}}, {"rule", []string{"x"}}, {"a", []string{"x"}}, {"rule", []string{"x"}}},
			"30:a:x", "x 10:1 20:2 40:4"},
		{"rules share", []batch{{"rule", []string{"x"}}, {"rule2", []string{"x"}}}, "", "x 10:1 20:2"},
		{"a successor takes over", []batch{{"a", []string{"x", "y"}}, {"successor of a", []string{"x"}}, {"close a", nil}, {"b", []string{"x"}}, {"successor of a", []string{"x"}}},
			"40:b:x", "x 10:1 20:2 50:5\ny 10:1 30:stale"},
		{"a successor takes over from no other", []batch{{"a", nil}, {"b", []string{"x"}}, {"rule", []string{"y"}}, {"successor of a", []string{"x", "y"}}},
			"40:successor of a:x 40:successor of a:y", "x 20:2\ny 30:3"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := window.New()
			w.SetRetention(nil, time.Hour)
			sources := map[string]*window.Source{"a": w.Owner(), "b": w.Owner(), "rule": w.Source(), "rule2": w.Source()}
			sources["successor of a"] = sources["a"].Successor()
			rejected := ""
			for i, b := range tt.batches {
				at := int64(10 * (i + 1))
				if b.from == "close a" {
					sources["a"].Close(at)
					continue
				}
				s := sources[b.from]
				s.Begin(at)
				for _, job := range b.series {
					err := s.Add(up(job), float64(i+1), 0)
					switch {
					case errors.Is(err, window.ErrOwned):
						rejected += fmt.Sprintf(" %d:%s:%s", at, b.from, job)
					case err != nil:
						t.Fatal(err)
					}
				}
				s.End()
			}
			if want := tt.rejected; want != "" && rejected != " "+want || want == "" && rejected != "" {
				t.Errorf("rejected =%s, want %s", rejected, want)
			}
			if diff := cmp.Diff(tt.want, dump(t, w)); diff != "" {
				t.Errorf("samples differ (-want +got):\n%s", diff)
			}
		})
	}
}

// A failed batch is no reason to lose a series for ever: its owner leaves, and comes back.
func TestAnOwnerThatLeavesAndReturns(t *testing.T) {
	w := window.New()
	w.SetRetention(nil, time.Hour)
	a := w.Owner()
	write(t, a, 10, 1, "x")
	a.Stale(20)
	write(t, a, 30, 3, "x")
	a.Close(40)
	write(t, w.Owner(), 50, 5, "x")
	if got, want := dump(t, w), "x 10:1 20:stale 30:3 40:stale 50:5"; got != want {
		t.Errorf("samples = %s, want %s", got, want)
	}
}
