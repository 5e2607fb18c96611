package file

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/budget"
)

// TestMemoryFactors measures what texts of many small values take.
func TestMemoryFactors(t *testing.T) {
	const size = 1 << 20
	var names strings.Builder
	names.WriteString("[s]\n")
	for i := 0; names.Len() < size; i++ {
		fmt.Fprintf(&names, "%x=\n", i)
	}
	for name, tt := range map[string]struct{ format, text string }{
		"numbers in an array":  {formatJSON, "[" + strings.Repeat("0,", size/2) + "0]"},
		"empty objects":        {formatJSON, "[" + strings.Repeat("{},", size/3) + "0]"},
		"small objects":        {formatJSON, "[" + strings.Repeat(`{"":0},`, size/7) + "0]"},
		"items of YAML":        {formatYAML, strings.Repeat("-\n", size/2)},
		"items in brackets":    {formatYAML, "[" + strings.Repeat("a,", size/2) + "a]"},
		"empty YAML documents": {formatYAML, strings.Repeat("---\n", size/4)},
		"short keys":           {formatINI, names.String()},
		"lines of a crontab":   {formatCrontab, strings.Repeat("* * * * * a\n", size/12)},
	} {
		data := []byte(tt.text)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		parsed, wrong := parseFormat(tt.format, data)
		runtime.GC()
		runtime.ReadMemStats(&after)
		if wrong != nil {
			t.Fatalf("%s: %s", name, wrong.Text)
		}
		const body = 2 // the content itself, in a buffer that grew
		if most := memoryFactor(tt.format) - body; int64(after.HeapAlloc) > int64(before.HeapAlloc)+most*int64(len(data)) {
			t.Errorf("%s: %d bytes take %d, want at most %d for each", name, len(data), after.HeapAlloc-before.HeapAlloc, most)
		}
		runtime.KeepAlive(parsed)
		runtime.KeepAlive(data)
	}
}

// Another collector holds the memory for bodies: a large file waits for it and fails at the
// deadline, a small one needs none of it, and one that never fits is too large.
func TestFilesShareMemory(t *testing.T) {
	const megabyte = 1 << 20
	for _, tt := range []struct {
		name        string
		size        int
		taken       bool
		want, error string
	}{
		{"a small file beside a large body", 4 << 10, true, "", ""},
		{"a large file beside a large body", megabyte / 4, true, "timeout", "not enough memory for an answer of more than 37KiB beside other large ones"},
		{"a large file alone", megabyte / 4, false, "", ""},
		{"a file that never fits", megabyte, false, "too_large", "not enough memory for an answer"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bodies := budget.NewBodies(12 * megabyte)
			other := bodies.Reader(t.Context(), bytes.NewReader(make([]byte, megabyte)), 8)
			if tt.taken {
				if _, err := io.Copy(io.Discard, other); err != nil {
					t.Fatal(err)
				}
			}
			path := filepath.Join(t.TempDir(), "f.json")
			if err := os.WriteFile(path, []byte("["+strings.Repeat("0,", tt.size/2-1)+"0]"), 0o600); err != nil {
				t.Fatal(err)
			}
			config := &Config{Path: path, Format: formatJSON, SizeLimit: collectors.Size(2 * megabyte)}
			made, err := config.New(collectors.Env{Name: "f", Bodies: bodies})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			if tt.want == "timeout" {
				ctx, cancel = context.WithTimeout(t.Context(), 500*time.Millisecond)
			}
			defer cancel()
			_, err = made.Collect(ctx)
			if got := string(reasonOf(err)); got != tt.want || err != nil && !strings.Contains(err.Error(), tt.error) {
				t.Errorf("Collect() = %v with the reason %q, want %q and %q", err, got, tt.want, tt.error)
			}
			other.Release()
			if _, err := made.Collect(t.Context()); (err != nil) != (tt.want == "too_large") {
				t.Errorf("Collect() after the release = %v", err)
			}
		})
	}
}
