package supervisor

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/budget"
)

// TestMemoryFactor measures what answers of many small values take.
func TestMemoryFactor(t *testing.T) {
	for _, value := range []string{"<value/>", "<value>a</value>", "<value><struct/></value>", "<value><int>0</int></value>"} {
		answer := "<methodResponse><params><param><value><array><data>" + strings.Repeat(value, (1<<20)/len(value)) + "</data></array></value></param></params></methodResponse>"
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		parsed, err := parseXMLRPC(strings.NewReader(answer))
		runtime.GC()
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatalf("%s: %v", value, err)
		}
		if most := int64(before.HeapAlloc) + bodyFactor*int64(len(answer)); int64(after.HeapAlloc) > most {
			t.Errorf("%s: %d bytes take %d, want at most %d for each", value, len(answer), after.HeapAlloc-before.HeapAlloc, bodyFactor)
		}
		runtime.KeepAlive(parsed)
		runtime.KeepAlive(answer)
	}
}

// Another collector holds the memory for bodies: a large answer waits for it until the deadline,
// and is read as soon as the memory is free.
func TestAnswersShareMemory(t *testing.T) {
	answer := strings.Repeat(" ", 1<<20) + "<methodResponse><fault><value>x</value></fault></methodResponse>"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, answer) }))
	defer server.Close()
	bodies := budget.NewBodies(4 << 20)
	other := bodies.Reader(t.Context(), bytes.NewReader(make([]byte, 1<<20)), 8)
	if _, err := io.Copy(io.Discard, other); err != nil {
		t.Fatal(err)
	}
	c := newClient(&Config{URL: server.URL}, collectors.Env{Bodies: bodies})
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := c.query(ctx); reasonOf(err) != timeout || !strings.Contains(err.Error(), "not enough memory") {
		t.Errorf("query() = %v, want a timeout for lack of memory", err)
	}
	other.Release()
	if _, err := c.query(t.Context()); reasonOf(err) != protocol || !strings.Contains(err.Error(), "fault") {
		t.Errorf("query() = %v, want the fault of the answer", err)
	}
}
