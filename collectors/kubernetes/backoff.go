package kubernetes

import (
	"context"
	"math/rand/v2"
	"time"
)

// The pause after a failed attempt doubles from firstPause to lastPause.
const (
	firstPause = 500 * time.Millisecond
	lastPause  = 30 * time.Second
)

// backoff is the pause between failed attempts. The zero value starts with firstPause.
type backoff struct{ length time.Duration }

// wait pauses for twice the previous length, with a jitter of a fifth, or until retry receives
// a value. It returns false if ctx ended.
func (b *backoff) wait(ctx context.Context, retry <-chan struct{}) bool {
	b.length = min(max(2*b.length, firstPause), lastPause)
	timer := time.NewTimer(b.length*4/5 + rand.N(b.length*2/5))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-retry:
	case <-timer.C:
	}
	return true
}
