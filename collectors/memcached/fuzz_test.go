package memcached

import (
	"slices"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/collectors/remote/lines"
)

// Whatever a server answers: the numbers are not negative, the reason is one of the set, and the
// password is not shown.
func FuzzAnswers(f *testing.F) {
	f.Add("VERSION 1.6.18\r\nSTAT pid 1\r\nSTAT bytes 10\r\nSTAT version 1.6.18\r\nEND\r\n")
	f.Add("CLIENT_ERROR unauthenticated\r\nSTORED\r\nVERSION 1\r\nSTAT bytes -1\r\nSTAT evictions 99999999999999999999\r\nEND\r\n")
	f.Add("CLIENT_ERROR unauthenticated\r\nhunter2\r\n")
	f.Add("VERSION 1\r\nSTAT bytes\r\nEND\r\n")
	known := append(remote.Reasons(), ownReasons()...)
	f.Fuzz(func(t *testing.T, answers string) {
		s := &lines.Session{Conn: lines.New(collectortest.Played(answers)), Username: "vitals", Password: "hunter2"}
		down, incomplete := talk(s)
		if down != nil && !slices.Contains(known, remote.ReasonOf(down)) {
			t.Errorf("the answers %q have the reason of %v, want a known one", answers, down)
		}
		for _, sample := range s.Batch.Samples {
			if !(sample.Value >= 0) {
				t.Errorf("%s of the answers %q", collectortest.Sample(sample), answers)
			}
		}
		for _, err := range []error{down, incomplete} {
			if err != nil && strings.Contains(s.Redacted(err.Error()), "hunter2") {
				t.Errorf("the answers %q show the password: %v", answers, err)
			}
		}
	})
}
