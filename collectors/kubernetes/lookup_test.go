package kubernetes

import (
	"context"
	"net/http"
	"net/http/httptrace"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitals-health/vitals/collectors/remote"
)

// deaf is a transport whose resolver does not respond.
type deaf struct{}

// RoundTrip implements http.RoundTripper. Its error is that of net/http.
func (deaf) RoundTrip(req *http.Request) (*http.Response, error) {
	httptrace.ContextClientTrace(req.Context()).DNSStart(httptrace.DNSStartInfo{Host: req.URL.Hostname()})
	<-req.Context().Done()
	return nil, req.Context().Err()
}

func TestResolverThatDoesNotRespond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_, err := fakeClient(deaf{}).ready(ctx)
		if got := remote.ReasonOf(err); got != remote.ReasonDNS {
			t.Errorf("reason of %v = %q, want %q", err, got, remote.ReasonDNS)
		}
	})
}
