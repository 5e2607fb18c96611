package script_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/script"
	"github.com/vitals-health/vitals/internal/budget"
)

// Another collector holds the memory for bodies: a script with much output waits for it until its
// timeout, and is read as soon as the memory is free.
func TestOutputsShareMemory(t *testing.T) {
	config := &script.Config{}
	collectortest.Decode(t, "{command: [/bin/sh, -c, 'echo first; head -c 500000 /dev/zero'], output_limit: 1MiB}", config)
	bodies := budget.NewBodies(8 << 20)
	c, err := config.New(collectors.Env{Name: "s", Bodies: bodies})
	if err != nil {
		t.Fatal(err)
	}
	other := bodies.Reader(t.Context(), bytes.NewReader(make([]byte, 2<<20)), 8)
	if _, err := io.Copy(io.Discard, other); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	samples, err := c.Collect(ctx)
	// At the timeout the rest of the output is dropped, so the script may end before it is killed.
	waited, _ := collectortest.Value(samples, `vitals_script_duration_seconds{script="s"}`)
	if killed := err != nil && strings.Contains(err.Error(), "killed after"); !killed && (err != nil || waited < 0.8) {
		t.Errorf("Collect() = %v after %g s, want a script that is killed while its output waits", err, waited)
	}
	other.Release()
	// The killed process may still be there for a while.
	if _, err := collectortest.Outlast(t, c, func(_ []collectors.Sample, err error) bool { return err == nil }); err != nil {
		t.Fatalf("Collect() after the release = %v", err)
	}
	for range 20 { // more than there is memory for, unless each returns it
		if _, err := collectortest.CollectWithin(t, c, 20*time.Second); err != nil {
			t.Fatalf("Collect() after the release = %v", err)
		}
	}
	if got := c.(collectors.Noter).Note(); got != "first" {
		t.Errorf("Note() = %q, want the first line", got)
	}
}
