package client

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitals-health/vitals/internal/execprobe"
)

// scripted returns these results one after the other, and then the last one again
// and again. One that is nil does not answer before its deadline.
func scripted(queries *int, results ...*execprobe.Result) func(time.Time) execprobe.Result {
	return func(deadline time.Time) execprobe.Result {
		r := results[min(*queries, len(results)-1)]
		*queries++
		if r == nil {
			time.Sleep(time.Until(deadline))
			return execprobe.Result{Outcome: execprobe.Timeout, Text: "no answer in time"}
		}
		return *r
	}
}

func TestWait(t *testing.T) {
	verdict := func(v execprobe.Verdict) *execprobe.Result {
		v.State = "ready"
		r := execprobe.ResultOf(&v)
		return &r
	}
	down := func(value string) *execprobe.Result {
		return verdict(execprobe.Verdict{Verdict: "fail", Rule: "KeystoneDown", Status: "failing", Lines: []string{"KeystoneDown failing: down (value " + value + ")"}, ExitCode: 12})
	}
	noDaemon := &execprobe.Result{Outcome: execprobe.NoDaemon, Text: "there is no socket"}
	starting := verdict(execprobe.Verdict{Verdict: "fail", Reason: "starting", Lines: []string{"starting"}})
	passing := verdict(execprobe.Verdict{Verdict: "pass", Rules: 2})
	tests := []struct {
		name     string
		queries  []*execprobe.Result
		want     string
		count    int
		took     time.Duration
		progress string
	}{
		{"E51 not ready three times, then ready", []*execprobe.Result{down("1"), down("2"), down("3"), passing}, "ok 0 ready: 2 rules\n", 4, 3 * time.Second,
			"0s: failing 12 KeystoneDown failing: down (value 1)\n"},
		{"E52 never ready", []*execprobe.Result{down("1")}, "failing 12 KeystoneDown failing: down (value 1)\n", 10, 10 * time.Second,
			"0s: failing 12 KeystoneDown failing: down (value 1)\n10s: gave up\n"},
		{"E52 the last reason, not an answer that the end cut off", []*execprobe.Result{down("1"), down("1"), down("1"), down("1"), down("1"), down("1"), down("2"), nil}, "failing 12 KeystoneDown failing: down (value 2)\n", 8, 10 * time.Second,
			"0s: failing 12 KeystoneDown failing: down (value 1)\n10s: gave up\n"},
		{"a daemon that comes up", []*execprobe.Result{noDaemon, noDaemon, starting, starting, down("1"), passing}, "ok 0 ready: 2 rules\n", 6, 5 * time.Second,
			"0s: no daemon 4 there is no socket\n2s: unknown 2 starting\n4s: failing 12 KeystoneDown failing: down (value 1)\n"},
		{"ready at once", []*execprobe.Result{passing}, "ok 0 ready: 2 rules\n", 1, 0, ""},
		{"ready with a warning", []*execprobe.Result{verdict(execprobe.Verdict{Verdict: "warn", Lines: []string{"QuotaLow failing"}})}, "warning 0 QuotaLow failing\n", 1, 0, ""},
		{"an unknown state", []*execprobe.Result{{Outcome: execprobe.Usage, Text: "no such state"}}, "usage error 3 no such state\n", 1, 0, ""},
		{"a daemon that hangs", []*execprobe.Result{nil}, "timeout 5 no answer in time\n", 2, 10 * time.Second, "5s: timeout 5 no answer in time\n10s: gave up\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var progress bytes.Buffer
				queries, begin := 0, time.Now()
				w := &Wait{State: "ready", Style: execprobe.Plain, Timeout: 10 * time.Second, Interval: time.Second, query: scripted(&queries, tt.queries...), Progress: &progress}
				got := w.Style.Render(w.wait())
				if got != tt.want || queries != tt.count || time.Since(begin) != tt.took {
					t.Errorf("wait() = %q after %d queries and %s, want %q after %d and %s", got, queries, time.Since(begin), tt.want, tt.count, tt.took)
				}
				if progress.String() != tt.progress {
					t.Errorf("progress = %q, want %q", progress.String(), tt.progress)
				}
			})
		})
	}
}
