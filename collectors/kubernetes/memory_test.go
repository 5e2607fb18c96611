package kubernetes

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/internal/budget"
)

// sized answers with a definition of so many bytes.
type sized int

// RoundTrip implements http.RoundTripper.
func (s sized) RoundTrip(req *http.Request) (*http.Response, error) {
	const definition = `{"kind":"CustomResourceDefinition"}`
	body := definition + strings.Repeat(" ", max(int(s)-len(definition), 0))
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Request: req, Body: io.NopCloser(strings.NewReader(body))}, nil
}

// Another collector holds the memory for bodies: a large object waits for it until the deadline,
// and a small one does not.
func TestResponsesShareMemory(t *testing.T) {
	for name, tt := range map[string]struct {
		size    sized
		limit   int64
		release bool
		want    remote.Reason
	}{
		"a small object":                {16 << 10, 4 << 20, false, ""},
		"a large object":                {2 << 20, 8 << 20, false, remote.ReasonTimeout},
		"a large object after a while":  {2 << 20, 8 << 20, true, ""},
		"an object that can never fit":  {2 << 20, 2 << 20, true, remote.ReasonProtocol},
		"an object beyond objectLimit":  {5 << 20, 64 << 20, true, remote.ReasonProtocol},
		"an object as large as allowed": {4 << 20, 64 << 20, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := fakeClient(tt.size)
				c.bodies = budget.NewBodies(tt.limit)
				other := c.bodies.Reader(t.Context(), bytes.NewReader(make([]byte, min(tt.limit/2, 2<<20))), 8)
				_, _ = io.Copy(io.Discard, other)
				if tt.release {
					time.AfterFunc(time.Second, other.Release)
				}
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
				defer cancel()
				_, err := (&crd{name: "x"}).get(ctx, c, request{limit: objectLimit})
				if got := remote.ReasonOf(err); got != tt.want {
					t.Errorf("get() = %v with the reason %q, want %q", err, got, tt.want)
				}
				synctest.Wait()
				other.Release()
				free := c.bodies.Reader(t.Context(), bytes.NewReader(make([]byte, tt.limit/2-1)), 1)
				if _, err := io.Copy(io.Discard, free); err != nil {
					t.Errorf("the memory is not returned: %v", err)
				}
			})
		})
	}
}
