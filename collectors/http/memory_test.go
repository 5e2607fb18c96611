package http

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/internal/budget"
)

// TestBodiesShareMemory has another collector hold the memory for bodies: a large one waits
// for it, and fails at its deadline as a timeout. A small one needs none of it.
func TestBodiesShareMemory(t *testing.T) {
	bodies := budget.NewBodies(4 << 20)
	other := bodies.Reader(t.Context(), bytes.NewReader(make([]byte, 1<<20)), 8)
	if _, err := io.Copy(io.Discard, other); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		size int
		want remote.Reason
	}{
		"small": {16 << 10, ""},
		"large": {512 << 10, remote.ReasonTimeout},
	} {
		config := &Config{URL: "http://127.0.0.1/", NoteFormat: "%{body}"}
		config.SetDefaults()
		made, err := config.New(collectors.Env{Name: "web", Bodies: bodies})
		if err != nil {
			t.Fatal(err)
		}
		c := made.(*collector)
		c.config.BodyOutput = "kept"
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		a := &answer{status: http.StatusOK}
		resp := &http.Response{Body: io.NopCloser(bytes.NewReader(make([]byte, tt.size))), Header: http.Header{}}
		err = c.read(ctx, resp, a)
		if got := reason(err); got != tt.want || (err != nil) != errors.Is(err, budget.ErrExceeded) {
			t.Errorf("%s: read() = %v with the reason %q, want %q", name, err, got, tt.want)
		}
		c.reuse()
		if c.body.Cap() > maxReused {
			t.Errorf("%s: %d bytes are kept for the next body, want at most %d", name, c.body.Cap(), maxReused)
		}
	}
}
