package evaluator

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/evaluator/internal/workers"
	"github.com/vitals-health/vitals/rules"
)

// TestNewLabelsInEveryCollectionTakeBoundedMemory is about a target that puts a request's
// number into a label: no series comes twice. The series of a collection are removed with
// the next one, the rule over another collector keeps its status, and a rule can detect
// the growth.
func TestNewLabelsInEveryCollectionTakeBoundedMemory(t *testing.T) {
	const (
		perCollection = 1000
		warm          = 20
		collections   = 100
		// A series takes about 0.5 KB. Kept, those of all collections would take 50 MB.
		limit = 8 << 20
	)
	file, errs := rules.Parse("churn.yml", []byte(`
groups:
  - name: g
    rules:
      - {alert: Down, expr: up == 0, labels: {state: ready}}
      - {alert: Explodes, expr: count(requests) > 500, labels: {severity: warning}}
      - {record: requests:sum, expr: sum(requests)}
`), []string{Ready, Alive, Started})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	good, bad := &fakeCollector{"good"}, &fakeCollector{"bad"}
	at := epoch
	c, err := newCore(Config{Files: []*rules.File{file}, Sources: []Source{
		{Name: "good", Interval: time.Second, Timeout: time.Second, Collector: good},
		{Name: "bad", Interval: time.Second, Timeout: time.Second, Collector: bad},
	}}, Options{}, at)
	if err != nil {
		t.Fatal(err)
	}
	up := []collectors.Sample{{Labels: labels.FromStrings("__name__", "up"), Value: 1}}
	var before uint64
	var snap *Snapshot
	for n := range warm + collections {
		if n == warm {
			before = heap()
		}
		at = at.Add(time.Second)
		explosion := make([]collectors.Sample, perCollection)
		for i := range explosion {
			explosion[i] = collectors.Sample{Labels: labels.FromStrings("__name__", "requests", "id", fmt.Sprint(n, "-", i)), Value: 1}
		}
		c.take(workers.Result{Collector: good, Samples: up}, at)
		c.take(workers.Result{Collector: bad, Samples: explosion}, at)
		c.evaluate(context.Background(), at)
		snap = c.snapshot(context.Background(), at, 0)
		if down, explodes := snap.Rules[0].Status, snap.Rules[1].Status; down != OK || explodes != Failing {
			t.Fatalf("collection %d: Down is %s and Explodes is %s, want ok and failing", n, down, explodes)
		}
		if got := *snap.Rules[1].Observed; got != perCollection {
			t.Fatalf("collection %d: %g series are live, want %d", n, got, perCollection)
		}
	}
	if grown := int64(heap()) - int64(before); grown > limit {
		t.Errorf("memory grew by %d MiB over %d collections, want at most %d", grown>>20, collections, limit>>20)
	}
	runtime.KeepAlive(c)
	runtime.KeepAlive(snap)
}

// heap is what live objects take.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
