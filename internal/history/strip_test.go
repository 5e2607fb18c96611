package history

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/explain"
)

func TestStrips(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		s.pass(20 * time.Second)
		s.set(evaluator.Failing)
		s.set(evaluator.OK)
		s.pass(18 * time.Second)
		fine := s.history.Strips(time.Hour, time.Now())
		equal(t, 10.0, fine.StepSeconds)
		equal(t, []Kind{State, Rule, Collector}, []Kind{fine.Strips[0].Kind, fine.Strips[1].Kind, fine.Strips[2].Kind})
		equal(t, strings.Repeat(".", 355)+"oofoo", fine.Strips[1].Slots)
		coarse := s.history.Strips(24*time.Hour, time.Now())
		equal(t, 60.0, coarse.StepSeconds)
		equal(t, strings.Repeat(".", 1439)+"f", coarse.Strips[0].Slots)
		equal(t, OK, coarse.Strips[0].Status)
	})
}

// A subject is not shown as ok while there was no evaluation.
func TestStripsHaveGaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		s.pass(10 * time.Second)
		time.Sleep(30 * time.Second)
		s.pass(10 * time.Second)
		got := s.history.Strips(time.Hour, time.Now()).Strips[1].Slots
		equal(t, ".oo..oo", got[len(got)-7:])
	})
}

// The slots are those of a model that keeps every status and its time.
func TestStripAgainstAModel(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		s := newStrip(10*time.Second, 12)
		var now time.Duration
		model := map[int]Status{}
		for range 40 {
			next := now + time.Duration(random.Int64N(int64(50*time.Second)))
			status := Status(1 + random.IntN(5))
			s.add(status, now, next)
			for i := int(now / s.step); i <= int(next/s.step); i++ {
				model[i] = max(model[i], status)
			}
			now = next
			want := ""
			for i := range 12 {
				want += string(model[int(now/s.step)-11+i].letter())
			}
			equal(t, want, s.letters(now))
		}
		equal(t, strings.Repeat(".", 12), s.letters(now+time.Hour))
	}
}

// crowd returns a snapshot of so many rules, of which so many fail.
func crowd(at time.Time, rules, failing int) *evaluator.Snapshot {
	s := snapshot(1, evaluator.Failing)
	rule := s.Rules[0]
	rule.Summary, rule.Note = "Keystone does not answer or rejects the credentials.", "collector keystone fails: timeout"
	s.At, s.Rules = at, nil
	for i := range rules {
		rule.Name, rule.Status = fmt.Sprint("R", i), evaluator.OK
		if i < failing {
			rule.Status = evaluator.Failing
		}
		s.Rules = append(s.Rules, rule)
	}
	return s
}

// The last 1,000 events, and the strips and values of 500 rules, fit in 2 MiB.
func TestMemoryOfAHistory(t *testing.T) {
	var before, after runtime.MemStats
	begin := time.Now()
	last, values := crowd(begin.Add(24*time.Hour), 500, 0), map[int]explain.Compared{} // the evaluator's
	runtime.GC()
	runtime.ReadMemStats(&before)
	h := New(begin)
	for i := range 12 {
		h.Observe(crowd(begin.Add(time.Duration(i)*time.Second), 500, 100*(i%2)))
	}
	for i := range 2 * ringEvents {
		h.Observe(crowd(begin.Add(time.Hour+time.Duration(i)*statePause), 500, i%2))
	}
	h.Observe(last)
	for i := range last.Rules {
		values[i] = explain.Compared{Value: 1}
	}
	h.Compare(last, values)
	equal(t, len(last.Rules)+len(last.Collectors), h.curves)
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(last)
	events, _ := h.Events(Query{})
	equal(t, true, len(events) > MaxEvents/16*15)
	size := int64(after.HeapAlloc) - int64(before.HeapAlloc)
	t.Logf("%d events and %d subjects hold %d kB", len(events), len(h.known), size>>10)
	if size > 2<<20 {
		t.Errorf("the history holds %d bytes, want at most 2 MiB", size)
	}
}

// BenchmarkHistory measures a snapshot of 500 rules without a change, beside one after which
// 100 rules and a state have an event. The rest is the cost of an event.
func BenchmarkHistory(b *testing.B) {
	begin := time.Now()
	h := New(begin)
	at := begin
	var rest, changed time.Duration
	observe := func(failing int) time.Duration {
		at = at.Add(10 * time.Minute) // so that no rule flaps
		s := crowd(at, 500, failing)
		now := time.Now()
		h.Observe(s)
		return time.Since(now)
	}
	for b.Loop() {
		changed += observe(100)
		rest += observe(100)
		changed += observe(0)
		rest += observe(0)
	}
	events := float64(b.N) * 202
	b.ReportMetric(float64(rest.Microseconds())/float64(2*b.N), "us/snapshot")
	b.ReportMetric(float64((changed-rest).Nanoseconds())/1000/events, "us/event")
	if each := (changed - rest).Seconds() / events; each > 50e-6 {
		b.Errorf("an event costs %.0f us, want at most 50", each*1e6)
	}
}

// A snapshot without a change leaves no garbage.
func TestSnapshotAtRestAllocatesNothing(t *testing.T) {
	begin := time.Now()
	h, s := New(begin), crowd(begin, 500, 100)
	h.Observe(s)
	if n := testing.AllocsPerRun(10, func() {
		s.At = s.At.Add(time.Second)
		h.Observe(s)
	}); n > 0 {
		t.Errorf("a snapshot allocates %.0f times, want 0", n)
	}
}
