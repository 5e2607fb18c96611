package collectors

import (
	"io"
	"strings"
	"testing"
)

func TestKubernetesStream(t *testing.T) {
	long := `{"type":"ADDED","object":{"data":"` + strings.Repeat("x", kubeEventLimit*3/4) + `"}}`
	for _, test := range []struct {
		name, stream string
		events       int
		reason       Reason // of the end; empty for an end in order
	}{
		{"empty", "", 0, ""},
		{"one event a line", kubeBookmark + "\n" + kubeBookmark + "\n", 2, ""},
		{"events without a break", kubeBookmark + kubeBookmark, 2, ""},
		{"many events that are long together", strings.Repeat(long, 2), 2, ""},
		{"one event that is too long", strings.Replace(long, "x", strings.Repeat("x", kubeEventLimit), 1), 0, ReasonProtocol},
		{"event cut short", kubeBookmark + `{"type":`, 1, ReasonProtocol},
		{"object of another shape", `{"type":"ADDED","object":[]}`, 0, ReasonProtocol},
		{"gone", kubeBookmark + `{"type":"ERROR","object":{"code":410}}`, 1, ReasonClientError},
		{"error that says it is fine", `{"type":"ERROR","object":{"code":200}}`, 0, ReasonProtocol},
	} {
		t.Run(test.name, func(t *testing.T) {
			stream := newKubeStream(strings.NewReader(test.stream))
			events, err := 0, error(nil)
			for ; err == nil; events++ {
				_, err = stream.next()
			}
			if err == io.EOF {
				err = nil
			}
			if got := kubeReason(err); events-1 != test.events || got != test.reason {
				t.Errorf("next() gave %d events and then %q (%v), want %d and %q", events-1, got, err, test.events, test.reason)
			}
		})
	}
}
