package targets

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/panics"
)

// member is a target that is checked.
type member struct {
	Target
	collector collectors.Collector
	// result is the newest one. The mutex of the group guards it.
	result result

	// What follows belongs to the schedule. index is the place in its queue.
	index int
	// due is when the next check begins.
	due time.Time
	// phased is set when due is at the phase of the target.
	phased bool
	// cancel ends the check that runs since began; nil while none runs.
	cancel context.CancelFunc
	began  time.Time
	// late is set when that check has not ended in time. Its result will be dropped.
	late bool
}

// result is the result of one check.
type result struct {
	ran     bool
	samples []collectors.Sample
	descs   []collectors.Desc
	err     error
	note    string
}

// check checks the target once. A panic is an error of the target only.
func (m *member) check(ctx context.Context) (r result) {
	var samples []collectors.Sample
	var err error
	panicked := panics.Try(func() {
		samples, err = m.collector.Collect(ctx)
		r = result{samples: samples, descs: m.collector.Describe(), err: err}
		if n, ok := m.collector.(collectors.Noter); ok {
			r.note = n.Note()
		}
	})
	if panicked != nil {
		r = result{err: panicked}
	}
	r.ran = true
	if r.note == "" && r.err != nil {
		r.note = r.err.Error()
	}
	return r
}

// overdue is the result of a check that does not end with its context.
func overdue(timeout time.Duration) result {
	err := fmt.Errorf("no result within the timeout of %s", timeout)
	return result{ran: true, err: err, note: err.Error()}
}

// differs reports whether a result is news for rules: it has other series than the one before, or
// a value has changed from 0 to 1 or back. Measured values always change and can wait.
func (r *result) differs(from *result) bool {
	if r.ran != from.ran || (r.err == nil) != (from.err == nil) || len(r.samples) != len(from.samples) {
		return true
	}
	for i := range r.samples {
		a, b := &r.samples[i], &from.samples[i]
		if !labels.Equal(a.Labels, b.Labels) || a.Value+b.Value == 1 && a.Value*b.Value == 0 {
			return true
		}
	}
	return false
}

// panic returns the panic of a check, nil without one.
func (r *result) panic() *panics.Error {
	p, _ := errors.AsType[*panics.Error](r.err)
	return p
}

// phase returns a part of the interval that depends on the name only, so that the checks of all
// targets are spread over it.
func phase(name string, interval time.Duration) time.Duration {
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(name)) // a hash returns no error
	return time.Duration(sum.Sum64() % uint64(interval))
}

// nextTick returns the first time after now that is at the phase of the interval.
func nextTick(now time.Time, phase, interval time.Duration) time.Time {
	wait := phase - time.Duration(now.UnixNano())%interval
	if wait <= 0 {
		wait += interval
	}
	return now.Add(wait)
}

// queue holds the members by the time of their next check, for package heap.
type queue []*member

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].due.Before(q[j].due) }

// Swap implements heap.Interface.
func (q queue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}

// Push implements heap.Interface.
func (q *queue) Push(x any) {
	m, _ := x.(*member)
	m.index = len(*q)
	*q = append(*q, m)
}

// Pop implements heap.Interface.
func (q *queue) Pop() any {
	old := *q
	last := old[len(old)-1]
	*q = old[:len(old)-1]
	return last
}
