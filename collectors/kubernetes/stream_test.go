package kubernetes

import (
	"io"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/collectors/remote"
)

func TestStream(t *testing.T) {
	long := `{"type":"ADDED","object":{"data":"` + strings.Repeat("x", eventLimit*3/4) + `"}}`
	for _, test := range []struct {
		name, stream string
		events       int
		reason       remote.Reason // of the end; empty for a regular end
	}{
		{"empty", "", 0, ""},
		{"one event a line", bookmark + "\n" + bookmark + "\n", 2, ""},
		{"events without a break", bookmark + bookmark, 2, ""},
		{"events within the bound, beyond it together", strings.Repeat(long, 2), 2, ""},
		{"one event that is too long", strings.Replace(long, "x", strings.Repeat("x", eventLimit), 1), 0, remote.ReasonProtocol},
		{"event cut short", bookmark + `{"type":`, 1, remote.ReasonProtocol},
		{"object of another shape", `{"type":"ADDED","object":[]}`, 0, remote.ReasonProtocol},
		{"gone", bookmark + `{"type":"ERROR","object":{"code":410}}`, 1, remote.ReasonClientError},
		{"error with status 200", `{"type":"ERROR","object":{"code":200}}`, 0, remote.ReasonProtocol},
	} {
		t.Run(test.name, func(t *testing.T) {
			stream := newStream(strings.NewReader(test.stream))
			events, err := 0, error(nil)
			for ; err == nil; events++ {
				_, err = stream.next()
			}
			if err == io.EOF {
				err = nil
			}
			if got := remote.ReasonOf(err); events-1 != test.events || got != test.reason {
				t.Errorf("next() returned %d events and then %q (%v), want %d and %q", events-1, got, err, test.events, test.reason)
			}
		})
	}
}
