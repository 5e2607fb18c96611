package evaluator

import (
	"fmt"
	"testing"

	"github.com/vitals-health/vitals/evaluator/internal/workers"
)

// manyParts is a core with one collector of so many targets, all of which fail.
func manyParts(n int) *core {
	s := &source{parts: workers.Parts{Label: "dependency", Notes: map[string]string{}}}
	s.Name, s.status.Error = "sites", "all targets fail"
	for i := range n {
		s.parts.Notes[fmt.Sprintf("sites-host-%05d.example", i)] = fmt.Sprintf("000 https://host-%05d.example/ 0.001 seconds: refused", i)
	}
	return &core{sources: []*source{s}}
}

// BenchmarkNoteOfManyTargets is the cost of the note of a rule that names none of them, such as
// one with an aggregation: it grows about linearly.
func BenchmarkNoteOfManyTargets(b *testing.B) {
	for _, n := range []int{10, 100, 1000, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c := manyParts(n)
			for b.Loop() {
				var notes []string
				for _, f := range c.failuresOf([]string{"up"}) {
					notes = append(notes, f.text())
				}
				_ = joined(notes)
			}
		})
	}
}
