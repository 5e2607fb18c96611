package vitals_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vitals-health/vitals"
	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/components"
	"github.com/vitals-health/vitals/evaluator"
)

// databaseRules make ready fail while the database does not work.
const databaseRules = `
groups:
  - name: example
    rules:
      - alert: DatabaseDown
        expr: vitals_dependency_up{dependency="database"} == 0
        labels: {state: ready}
        annotations: {summary: The database does not answer.}
`

// run runs an evaluator until the function that it returns is called. It waits until every
// collector has finished once.
func run(v *vitals.Evaluator) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); v.Run(ctx) }()
	until(v, func(s *evaluator.Snapshot) bool {
		started, _ := s.State(evaluator.Started, time.Now())
		return started.Verdict == evaluator.Pass
	})
	return func() { cancel(); <-done }
}

// until waits for a snapshot, at most half a minute.
func until(v *vitals.Evaluator, holds func(*evaluator.Snapshot) bool) {
	late := time.After(30 * time.Second)
	for {
		changed := v.Changed()
		if holds(v.Snapshot()) {
			return
		}
		select {
		case <-changed:
		case <-late:
			panic("the snapshot does not come")
		}
	}
}

// get returns the answer of an evaluator to a request.
func get(v *vitals.Evaluator, path string) string {
	w := httptest.NewRecorder()
	v.Handler().ServeHTTP(w, httptest.NewRequest("GET", "http://localhost"+path, nil))
	return fmt.Sprint(w.Code, " ", w.Body)
}

// A function of the program is a collector, and a rule decides by its outcome.
func Example() {
	ping := func(context.Context) error { return nil } // such as the method PingContext of a sql.DB
	v, err := vitals.New(vitals.Options{
		Rules:      []byte(databaseRules),
		Collectors: []vitals.Collector{vitals.Check("database", ping)},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer run(v)()

	fmt.Println(get(v, "/ready"))
	fmt.Println(get(v, "/ready?verbose"))
	// Output:
	// 200 ok
	// 200 [+]DatabaseDown ok
	// ready check passed
}

// A function may export any samples.
func ExampleMeasure() {
	length := collectors.NewGauge("example_queue_length", "Number of messages in the queue.", "queue")
	queue := vitals.Measure("queue", func(context.Context) ([]collectors.Sample, error) {
		var b collectors.Batch
		b.Set(length, 7, "mail")
		return b.Samples, nil
	}, length)
	queue.Interval = time.Minute
	v, err := vitals.New(vitals.Options{
		Rules:      []byte("groups: [{name: example, rules: [{alert: QueueFull, expr: example_queue_length > 5, labels: {state: ready}}]}]"),
		Collectors: []vitals.Collector{queue},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer run(v)()

	ready, _ := v.Snapshot().State(evaluator.Ready, time.Now())
	for _, i := range ready.Deciding {
		rule := v.Snapshot().Rules[i]
		fmt.Println(ready.Verdict, rule.Name, *rule.Observed)
	}
	// Output: fail QueueFull 7
}

// With templates, annotations have the labels and the value of their alert.
func ExampleTemplates() {
	v, err := vitals.New(vitals.Options{
		Templates: vitals.Templates(),
		Rules: []byte("groups: [{name: example, rules: [{alert: DependencyDown, expr: vitals_dependency_up == 0, labels: {state: ready}, " +
			"annotations: {summary: 'The {{ $labels.dependency }} does not answer.'}}]}]"),
		Collectors: []vitals.Collector{vitals.Check("database", func(context.Context) error { return errors.New("refused") })},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer run(v)()

	fmt.Println(v.Snapshot().Rules[0].Summary)
	// Output: The database does not answer.
}

// The metrics of an evaluator are part of the program's own registry.
func ExampleEvaluator_Collect() {
	v, err := vitals.New(vitals.Options{Rules: []byte(databaseRules), Collectors: []vitals.Collector{
		vitals.Check("database", func(context.Context) error { return nil }),
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer run(v)()

	registry := prometheus.NewRegistry()
	registry.MustRegister(v)
	families, err := registry.Gather()
	for _, f := range families {
		if f.GetName() == "vitals_dependency_up" {
			fmt.Println(f.GetHelp(), f.GetMetric()[0].GetGauge().GetValue(), err)
		}
	}
	// Output: Whether the dependency did what the workload needs of it (1) or not (0). 1 <nil>
}

// Parts of the program report their health themselves.
func ExampleEvaluator_Report() {
	v, err := vitals.New(vitals.Options{
		Config: []byte("collectors: [{name: parts, components: {expect: [watcher]}}]"),
		Kinds:  map[string]collectors.Kind{"components": new(components.Config)},
		Rules:  []byte("groups: [{name: example, rules: [{alert: ComponentNotReady, expr: vitals_component_ready == 0, labels: {state: ready}}]}]"),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer run(v)()

	for _, well := range []bool{true, false} {
		if err := v.Report("watcher", collectors.Report{Ready: &well}); err != nil {
			fmt.Println(err)
			return
		}
		want := map[bool]evaluator.Verdict{true: evaluator.Pass, false: evaluator.Fail}[well]
		until(v, func(s *evaluator.Snapshot) bool {
			ready, _ := s.State(evaluator.Ready, time.Now())
			return ready.Verdict == want
		})
		fmt.Println(want)
	}
	fmt.Println(v.Report("stranger", collectors.Report{}))
	// Output:
	// pass
	// fail
	// unknown component "stranger": expected one of watcher
}
