package remote

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// silentResolver returns a resolver whose servers never respond. Its queries end with their
// context, and after timeout.
func silentResolver(timeout time.Duration) *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		<-ctx.Done()
		return nil, &net.OpError{Op: "dial", Net: "udp", Err: context.DeadlineExceeded}
	}}
}

func TestLookup(t *testing.T) {
	hangs := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer hangs.Close()
	resolver := silentResolver
	for _, c := range []struct {
		name, url string
		resolver  *net.Resolver
		want      Reason
	}{
		{"the time of the request ends during the lookup", "http://api.example:6443", resolver(time.Minute), ReasonDNS},
		{"the time of the resolver ends", "http://api.example:6443", resolver(time.Millisecond), ReasonDNS},
		{"an address without a lookup", hangs.URL, resolver(time.Minute), ReasonTimeout},
		{"the server does not respond", hangs.URL, nil, ReasonTimeout},
	} {
		t.Run(c.name, func(t *testing.T) {
			transport := &http.Transport{DialContext: (&net.Dialer{Resolver: c.resolver}).DialContext}
			defer transport.CloseIdleConnections()
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			ctx, lookup := TraceLookup(ctx)
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url, nil)
			if err != nil {
				t.Fatal(err)
			}
			_, err = (&http.Client{Transport: transport}).Do(req)
			if got := ReasonOf(lookup.Cause(err)); got != c.want {
				t.Errorf("reason of %v = %q, want %q", lookup.Cause(err), got, c.want)
			}
		})
	}
}
