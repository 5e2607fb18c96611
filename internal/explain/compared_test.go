package explain

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/rules"
)

// The values that rules compare are read while the rules are ok as well, and those of rules
// without a number to compare with are not.
func TestComparedValues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var load atomic.Int64
		load.Store(3)
		c := &stub{collect: func(context.Context) ([]collectors.Sample, error) {
			return []collectors.Sample{sample(float64(load.Load()), "load", "cpu", "0"), sample(2, "load", "cpu", "1")}, nil
		}}
		file, errs := rules.Parse("test.yml", []byte(`groups: [{name: g, rules: [
			{alert: High, expr: load > 5, labels: {state: ready}},
			{alert: Low, expr: 1 > sum by (cpu) (load), labels: {state: ready}},
			{alert: Pair, expr: 'load{cpu="1"} == on () group_left () load{cpu="0"}'},
			{alert: Both, expr: '(load > 1) and on (cpu) (load < 3) unless on (cpu) lost'},
			{alert: Either, expr: load > 1 or load < 0},
			{alert: Gone, expr: absent(load)},
			{alert: Missing, expr: lost > 1}]}]`), []string{"ready"})
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		e, err := evaluator.New(evaluator.Config{
			Files:   []*rules.File{file},
			Sources: []evaluator.Source{{Name: "c", Kind: "stub", Interval: time.Second, Timeout: time.Second, Collector: c}},
		}, evaluator.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		for _, run := range []func(){
			func() { e.Run(ctx) },
			func() {
				NewComparer(e).Run(ctx, func(s *evaluator.Snapshot, values map[int]Compared) {
					line := ""
					for i := range s.Rules {
						if v, ok := values[i]; ok {
							line += fmt.Sprintf("%s %g %s %g; ", s.Rules[i].Name, v.Value, v.Limit.Op, v.Limit.Value)
						}
					}
					got = append(got, line)
				})
			},
		} {
			go func() {
				run()
				done <- struct{}{}
			}()
		}
		time.Sleep(compareEvery + time.Second)
		load.Store(7)
		time.Sleep(compareEvery)
		cancel()
		<-done
		<-done
		if diff := cmp.Diff([]string{"High 3 > 5; Low 2 < 1; Both 2 > 1; ", "High 7 > 5; Low 2 < 1; Both 2 > 1; "}, got); diff != "" {
			t.Errorf("values (-want +got):\n%s", diff)
		}
	})
}

// stopped is an evaluator that has stopped.
type stopped struct{}

func (stopped) Snapshot() *evaluator.Snapshot { return nil }

func (stopped) View(context.Context, func(context.Context, *evaluator.View)) error {
	return evaluator.ErrStopped
}

// Where the evaluator has stopped, so has what reads from it.
func TestComparedValuesEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		NewComparer(stopped{}).Run(t.Context(), func(*evaluator.Snapshot, map[int]Compared) { t.Error("values are recorded, want none") })
		if took := time.Since(begin); took != compareEvery {
			t.Errorf("Run ended after %s, want %s", took, compareEvery)
		}
	})
}
