package history

import (
	"math"
	"strconv"
	"time"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/explain"
)

// A curve holds the values of the last hour by a minute, and of the last 24 hours by half
// an hour.
const (
	fineValueStep, coarseValueStep = time.Minute, 30 * time.Minute
	fineValues                     = int(time.Hour / fineValueStep)
	coarseValues                   = int(24 * time.Hour / coarseValueStep)
	// maxCurves bounds the subjects that have a curve: 0.5 kB each.
	maxCurves = 1000
)

// Values are those of a Curve. NaN, which is null in JSON, is where nothing is recorded.
type Values []float32

// MarshalJSON writes the values as numbers and null.
func (v Values) MarshalJSON() ([]byte, error) {
	out := make([]byte, 0, 2+len("null,")*len(v))
	out = append(out, '[')
	for i, value := range v {
		if i > 0 {
			out = append(out, ',')
		}
		if missing(value) {
			out = append(out, "null"...)
		} else {
			out = strconv.AppendFloat(out, float64(value), 'g', -1, 32)
		}
	}
	return append(out, ']'), nil
}

// Curve is a value over a time: of a collector how long its collections took, in seconds, and
// of a rule the value that it compares with a number. Of several series and several moments
// it is the value that is nearest to a failure.
type Curve struct {
	// Op and Threshold are what a rule compares with, such as "<" and 5; absent of a collector.
	Op        string          `json:"op,omitempty"`
	Threshold *explain.Number `json:"threshold,omitempty"`
	// StepSeconds is the time of one value.
	StepSeconds float64 `json:"step_seconds"`
	// Values are the oldest first, from the first one that is recorded up to the end of the
	// recorded time.
	Values Values `json:"values"`
}

// curve records a value. Slots count from the start of the history.
type curve struct {
	limit                evaluator.Limit
	lastFine, lastCoarse int
	fine                 [fineValues]float32
	coarse               [coarseValues]float32
}

// add records a value at a time since the start of the history.
func (c *curve) add(value float64, now time.Duration) {
	c.lastFine = c.put(c.fine[:], c.lastFine, int(now/fineValueStep), value)
	c.lastCoarse = c.put(c.coarse[:], c.lastCoarse, int(now/coarseValueStep), value)
}

// put puts a value into a slot of a ring, unless a worse one is there. It returns the newest
// slot, of which last was the one before.
func (c *curve) put(ring []float32, last, slot int, value float64) int {
	slot = max(slot, last)
	for i := max(last+1, slot-len(ring)+1); i <= slot; i++ {
		ring[i%len(ring)] = float32(math.NaN())
	}
	at := &ring[slot%len(ring)]
	if missing(*at) || c.limit.Nearer(value, float64(*at)) {
		*at = float32(value)
	}
	return slot
}

// missing reports whether nothing is recorded.
func missing(value float32) bool { return math.IsNaN(float64(value)) }

// values returns the values of a ring up to the slot now, from the first one that is recorded.
func values(ring []float32, last, now int) Values {
	var out Values
	for slot := max(0, now-len(ring)+1); slot <= now; slot++ {
		value := float32(math.NaN())
		if slot <= last && slot > last-len(ring) {
			value = ring[slot%len(ring)]
		}
		if len(out) > 0 || !missing(value) {
			out = append(out, value)
		}
	}
	return out
}

// shown returns the curve up to a time since the start of the history; nil without a value.
func (c *curve) shown(fine bool, now time.Duration) *Curve {
	if c == nil {
		return nil
	}
	out := &Curve{StepSeconds: coarseValueStep.Seconds()}
	if fine {
		out.StepSeconds, out.Values = fineValueStep.Seconds(), values(c.fine[:], c.lastFine, int(now/fineValueStep))
	} else {
		out.Values = values(c.coarse[:], c.lastCoarse, int(now/coarseValueStep))
	}
	if len(out.Values) == 0 {
		return nil
	}
	if c.limit != longest() {
		threshold := explain.Number(c.limit.Value)
		out.Op, out.Threshold = c.limit.Op, &threshold
	}
	return out
}

// longest is the limit of the durations of collections: of several the longest is shown.
func longest() evaluator.Limit { return evaluator.Limit{Op: ">", Value: math.Inf(1)} }

// measure records a value of a subject. Values that are no number in 32 bits are left out.
func (h *History) measure(t *track, limit evaluator.Limit, value float64, at time.Time) {
	if t == nil || math.IsNaN(value) || math.Abs(value) > math.MaxFloat32 {
		return
	}
	if t.curve == nil && h.curves < maxCurves {
		t.curve = &curve{limit: limit, lastFine: -1, lastCoarse: -1}
		h.curves++
	}
	if t.curve == nil {
		return
	}
	if t.curve.limit != limit { // a reload changed the expression
		*t.curve = curve{limit: limit, lastFine: -1, lastCoarse: -1}
	}
	t.curve.add(value, at.Sub(h.began))
}

// Compare records the values that rules compare with a number, by the position of the rule in
// a snapshot. Rules that the last snapshot does not have there are left out.
func (h *History) Compare(s *evaluator.Snapshot, values map[int]explain.Compared) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, v := range values {
		r, at := &s.Rules[i], len(s.Collectors)+i
		if at >= len(h.tracks) || h.tracks[at] == nil || h.tracks[at].key.Subject != (Subject{Rule, r.Name, r.State, r.Group}) {
			continue
		}
		h.measure(h.tracks[at], v.Limit, v.Value, s.At)
	}
}
