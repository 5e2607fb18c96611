package lines_test

import (
	"strings"
	"testing"

	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/collectors/remote/lines"
)

// An answer is the text before the first CR LF, or a failure of the protocol.
func FuzzExchange(f *testing.F) {
	for _, seed := range []string{"+PONG\r\n", "a\nb\r\n", "\r\n", "a", strings.Repeat("a", 4095) + "\r\n", "\xff\x00\r\r\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		got, err := lines.New(collectortest.Played(answer)).Exchange("PING", "PING\r\n")
		switch {
		case err != nil && remote.ReasonOf(err) != remote.ReasonProtocol:
			t.Errorf("Exchange() of %q = %v, want the reason protocol", answer, err)
		case err == nil && (strings.Contains(got, "\n") || !strings.HasPrefix(answer, got+"\r\n")):
			t.Errorf("Exchange() of %q = %q, want the first line", answer, got)
		}
	})
}
