package remote

import (
	"context"
	"net/http/httptrace"
	"sync/atomic"

	"github.com/vitals-health/vitals/collectors"
)

// Lookup observes the lookups of names for one HTTP request. It is safe for concurrent use.
type Lookup struct{ pending atomic.Bool }

// TraceLookup returns a context for a request, whose lookups the Lookup observes.
func TraceLookup(ctx context.Context) (context.Context, *Lookup) {
	l := &Lookup{}
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		DNSStart: func(httptrace.DNSStartInfo) { l.pending.Store(true) },
		DNSDone:  func(info httptrace.DNSDoneInfo) { l.pending.Store(info.Err != nil) },
	}), l
}

// Cause returns the error of a request with ReasonDNS if the time ended during a lookup, and any
// other error unchanged. The error of net/http does not contain where the time ended.
func (l *Lookup) Cause(err error) error {
	if ReasonOf(err) == ReasonTimeout && l.pending.Load() {
		return collectors.Errorf(ReasonDNS, "the name was not resolved in time: %w", err)
	}
	return err
}
