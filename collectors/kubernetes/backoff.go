package kubernetes

import (
	"context"
	"math/rand/v2"
	"time"
)

// The pause after a failed attempt triples from firstPause to lastPause: at most five attempts in
// the first half minute, and then one each half minute. With two requests each, the two watches of
// the Kuryr controller send less than its checks, 9 requests every 10 s.
const (
	firstPause = 500 * time.Millisecond
	lastPause  = 30 * time.Second
	growth     = 3
)

// backoff is the pause between failed attempts. The zero value starts with firstPause.
type backoff struct{ length time.Duration }

// wait pauses for growth times the previous length, with a jitter of a fifth, or until retry
// receives a value, which resets the pause. It returns false if ctx ended.
func (b *backoff) wait(ctx context.Context, retry <-chan struct{}) bool {
	b.length = min(max(growth*b.length, firstPause), lastPause)
	timer := time.NewTimer(b.length*4/5 + rand.N(b.length*2/5))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-retry:
		*b = backoff{}
	case <-timer.C:
	}
	return true
}
