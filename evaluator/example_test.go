package evaluator_test

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/rules"
)

// database is a collector that finds its dependency down.
type database struct{}

func (*database) Describe() []collectors.Desc { return nil }

func (*database) Collect(context.Context) ([]collectors.Sample, error) {
	up := labels.FromStrings("__name__", "vitals_dependency_up", "dependency", "database")
	return []collectors.Sample{{Labels: up, Value: 0}}, nil
}

// An evaluator with one collector and one rule: after the first
// collection, the snapshot has the verdict of ready and its reason.
func Example() {
	file, errs := rules.Parse("rules.yml", []byte(`
groups:
  - name: example
    rules:
      - alert: DatabaseDown
        expr: vitals_dependency_up{dependency="database"} == 0
        labels: {state: ready}
        annotations: {summary: "The {{ $labels.dependency }} does not answer."}
`), []string{evaluator.Ready, evaluator.Alive, evaluator.Started})
	if len(errs) > 0 {
		fmt.Println(errs)
		return
	}
	e, err := evaluator.New(evaluator.Config{
		Files:   []*rules.File{file},
		Sources: []evaluator.Source{{Name: "database", Interval: 10 * time.Second, Timeout: time.Second, Collector: &database{}}},
	}, evaluator.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		e.Run(ctx)
	}()

	changed := e.Changed()
	for !e.Snapshot().Collectors[0].Ran {
		<-changed
		changed = e.Changed()
	}
	s := e.Snapshot()
	for _, name := range []string{evaluator.Ready, evaluator.Alive} {
		state, _ := s.State(name, time.Now())
		fmt.Println(name, state.Verdict)
		for _, i := range state.Deciding {
			fmt.Println(" ", s.Rules[i].Name, s.Rules[i].Status, s.Rules[i].Summary)
		}
	}
	cancel()
	<-done

	// Output:
	// ready fail
	//   DatabaseDown failing The database does not answer.
	// alive pass
}
