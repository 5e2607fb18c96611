package redis

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/collectors/remote/lines"
)

// Whatever a server answers: the labels are those that are declared, the numbers are finite and
// not negative, the reason is one of the set, and the password is not shown.
func FuzzAnswers(f *testing.F) {
	f.Add("+OK\r\n+PONG\r\n$55\r\nrole:master\r\ncluster_enabled:1\r\naof_last_write_status:ok\r\n\r\n$37\r\ncluster_state:ok\r\ncluster_slots_ok:1\r\n\r\n")
	f.Add("+OK\r\n-LOADING no\r\n$28\r\nrole:slave\r\nmaxmemory:0x10\r\n\r\n")
	f.Add("+OK\r\n+PONG\r\n$72\r\nrole:master\r\nslave0:state=online,offset=1e308,lag=inf\r\nmaster_repl_offset:2\r\n")
	f.Add("-WRONGPASS hunter2\r\n")
	f.Add("+OK\r\n$5\r\nhello\r\n")
	declared := map[string][]string{}
	for _, m := range (&Config{}).Metrics("") {
		for label, values := range m.Labels {
			declared[label] = append(declared[label], values...)
		}
	}
	f.Fuzz(func(t *testing.T, answers string) {
		s := &lines.Session{Conn: lines.New(collectortest.Played(answers)), Password: "hunter2"}
		down, incomplete := talk(s)
		if down != nil && !slices.Contains(declared["reason"], string(remote.ReasonOf(down))) {
			t.Errorf("the answers %q have the reason of %v, want a known one", answers, down)
		}
		for _, sample := range s.Batch.Samples {
			if math.IsNaN(sample.Value) || math.IsInf(sample.Value, 0) || sample.Value < 0 {
				t.Errorf("%s of the answers %q", collectortest.Sample(sample), answers)
			}
			for label, values := range declared {
				if got := sample.Labels.Get(label); got != "" && !slices.Contains(values, got) {
					t.Errorf("%s of the answers %q, want a label of %q", collectortest.Sample(sample), answers, values)
				}
			}
		}
		for _, err := range []error{down, incomplete} {
			if err != nil && strings.Contains(s.Redacted(err.Error()), "hunter2") {
				t.Errorf("the answers %q show the password: %v", answers, err)
			}
		}
	})
}
