package http

import (
	"context"
	"net"
	"net/http/httptrace"
	"testing"

	"github.com/vitals-health/vitals/collectors/remote"
)

// The error of net/http after a timeout does not contain that the name was not resolved.
func TestTimeoutOfALookup(t *testing.T) {
	for _, test := range []struct {
		name string
		done *httptrace.DNSDoneInfo // nil without an end of the lookup
		want remote.Reason
	}{
		{"the lookup has not ended", nil, remote.ReasonDNS},
		{"the lookup has failed", &httptrace.DNSDoneInfo{Err: &net.DNSError{IsTimeout: true}}, remote.ReasonDNS},
		{"the name is resolved", &httptrace.DNSDoneInfo{}, remote.ReasonTimeout},
	} {
		var trace trace
		trace.begin("api.example:443")
		hooks := trace.client()
		hooks.DNSStart(httptrace.DNSStartInfo{Host: "api.example"})
		if test.done != nil {
			hooks.DNSDone(*test.done)
		}
		if got := remote.ReasonOf(trace.cause(context.DeadlineExceeded)); got != test.want {
			t.Errorf("%s: reason = %q, want %q", test.name, got, test.want)
		}
	}
}
