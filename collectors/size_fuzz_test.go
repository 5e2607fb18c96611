package collectors_test

import (
	"testing"

	"github.com/vitals-health/vitals/collectors"
)

// FuzzParseSize checks that a size survives its own notation.
func FuzzParseSize(f *testing.F) {
	for _, text := range []string{"10MiB", "0", "1kB", "9223372036854775807", "8589934592GiB", "-1B", "+5KiB", "1Mi", "B"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		size, err := collectors.ParseSize(text)
		if err != nil {
			if size != 0 {
				t.Errorf("ParseSize(%q) = %d, %v, want an error alone", text, size, err)
			}
			return
		}
		if again, err := collectors.ParseSize(size.String()); size < 0 || err != nil || again != size {
			t.Errorf("ParseSize(%q) = %d, written as %s = %d, %v, want the same", text, size, size, again, err)
		}
	})
}
