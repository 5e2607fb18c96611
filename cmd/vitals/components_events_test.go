//go:build !race

package main

import (
	"context"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/components"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/server"
	"github.com/vitals-health/vitals/rules"
)

// eventsLab evaluates the example rules of the documentation of components. Use it in a
// synctest bubble.
type eventsLab struct {
	t     *testing.T
	parts *components.Collector
	eval  *evaluator.Evaluator
}

func startEventsLab(t *testing.T, config *components.Config) *eventsLab {
	t.Helper()
	file := exampleRules(t, "components")
	c, err := config.New(collectors.Env{Name: "parts", Logger: discard()})
	if err != nil {
		t.Fatal(err)
	}
	source := evaluator.Source{Name: "parts", Kind: "components", Interval: 10 * time.Second, Timeout: 5 * time.Second, Collector: c}
	eval, err := evaluator.New(evaluator.Config{Files: []*rules.File{file}, Sources: []evaluator.Source{source}}, evaluator.Options{Logger: discard()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		eval.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	parts, _ := c.(*components.Collector)
	return &eventsLab{t, parts, eval}
}

// report sends events of cni_add, one report each.
func (l *eventsLab) report(times int, result, class string) {
	l.t.Helper()
	for range times {
		report := collectors.Report{Events: []collectors.Event{{Event: "cni_add", Result: result, Error: class}}}
		if err := l.parts.Report("server", report); err != nil {
			l.t.Fatal(err)
		}
	}
}

// want compares a rule and the state alive with what they should be once the budget
// of a report has passed.
func (l *eventsLab) want(situation string, rule evaluator.Status, alive evaluator.Verdict) {
	l.t.Helper()
	time.Sleep(maxReportLatency)
	s := l.eval.Snapshot()
	for _, r := range s.Rules {
		if r.Name == "ComponentKeepsFailing" && r.Status != rule {
			l.t.Errorf("%s: ComponentKeepsFailing is %s (%s), want %s", situation, r.Status, r.Reason, rule)
		}
	}
	if st, _ := s.State(evaluator.Alive, time.Now()); st.Verdict != alive {
		l.t.Errorf("%s: alive is %s (%s), want %s", situation, st.Verdict, st.Reason, alive)
	}
}

func cniAdd(limit int) *components.Config {
	return &components.Config{Expect: []string{"server"}, Events: map[string]components.Events{
		"cni_add": {Limit: &limit, Errors: []string{"netlink"}, Excused: []string{"timeout"}},
	}}
}

// From the first report on, the example rule has a value: nothing has failed yet, and
// then follows each change within the budget.
func TestFailuresInARowDecideAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := startEventsLab(t, cniAdd(3))
		l.want("nothing was reported", evaluator.Unknown, evaluator.Pass)
		time.Sleep(time.Hour)
		l.want("nothing was reported for an hour", evaluator.Unknown, evaluator.Pass)
		if err := l.parts.Report("server", collectors.Report{Ready: new(true)}); err != nil {
			t.Fatal(err)
		}
		l.want("it is there and had no request yet", evaluator.OK, evaluator.Pass)
		l.report(3, "failure", "netlink")
		l.want("as many as are fine", evaluator.OK, evaluator.Pass)
		l.report(100, "failure", "timeout")
		l.want("many that are excused", evaluator.OK, evaluator.Pass)
		l.report(1, "failure", "")
		l.want("one more", evaluator.Failing, evaluator.Fail)
		l.report(1, "success", "")
		l.want("a success", evaluator.OK, evaluator.Pass)
		l.report(4, "failure", "netlink")
		l.want("too many again", evaluator.Failing, evaluator.Fail)
		l.report(1, "reset", "")
		l.want("another process has taken its place", evaluator.OK, evaluator.Pass)
	})
}

func TestFailuresInARowWithALimitOfNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := startEventsLab(t, cniAdd(0))
		l.report(10, "success", "")
		l.want("none failed", evaluator.OK, evaluator.Pass)
		l.report(1, "failure", "netlink")
		l.want("the first failure", evaluator.Failing, evaluator.Fail)
	})
}

// A thousand failures a second do not cause a thousand evaluations.
func TestBurstsOfEventsAreTakenTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const burst = 2 * time.Second
		l := startEventsLab(t, cniAdd(3))
		l.report(1, "success", "")
		l.want("before the burst", evaluator.OK, evaluator.Pass)
		before := l.eval.Snapshot().Generation
		for range burst / time.Millisecond {
			l.report(1, "failure", "netlink")
			time.Sleep(time.Millisecond)
		}
		passes := l.eval.Snapshot().Generation - before
		if most := uint64(burst/(10*time.Millisecond)) + 5; passes > most {
			t.Errorf("%d passes over the rules, want at most %d", passes, most)
		}
		l.want("after the burst", evaluator.Failing, evaluator.Fail)
		l.report(1, "success", "")
		l.want("after the success", evaluator.OK, evaluator.Pass)
	})
}

// A reload keeps the counts, unless it is the configuration of their collector that
// has changed.
func TestReloadKeepsFailuresInARow(t *testing.T) {
	t.Parallel()
	dir, config := markerConfig(t)
	const parts = "  - name: parts\n    components: {accept: any, events: {cni_add: {limit: 3, errors: [netlink]}}}\n"
	write(t, dir, "vitals.yml", markers+parts)
	p := runVitals(t, config, "--config.poll-interval=0")
	p.waitReady()
	report := func(body string, want int) {
		t.Helper()
		if code, text := request(t, overSocket(p.socket), http.MethodPut, "http://vitals/api/v1/components/server", body); code != want {
			t.Errorf("PUT %s = %d %q, want %d", body, code, text, want)
		}
	}
	const failures = `vitals_component_consecutive_failures{component="server",event="cni_add"}`
	report(`{"events": [{"event": "cni_add", "result": "failure", "error": "netlink"}, {"event": "cni_add", "result": "failure"}]}`, 204)
	report(`{"events": [{"event": "cni_add", "result": "failure"}, {"event": "cni_del", "result": "failure"}]}`, 400)
	eventually(t, "two failures in a row", func() bool { return p.metric(failures + " 2") })
	want := []server.EventStatus{{Event: "cni_add", Failure: 2, ConsecutiveFailures: 2, Limit: new(3)}}
	if all := p.status().Components; len(all) != 1 || !cmp.Equal(all[0].Events, want) {
		t.Errorf("components in the status = %+v, want one with the events %+v", all, want)
	}

	reload := func(text, sign string) {
		t.Helper()
		write(t, dir, "vitals.yml", text)
		p.signal(syscall.SIGHUP)
		eventually(t, sign, func() bool { return p.metric(sign) })
	}
	reload(markers+parts+"  - name: more\n    file: {path: /}\n", `vitals_collector_success{collector="more"} 1`)
	report(`{"events": [{"event": "cni_add", "result": "failure"}]}`, 204)
	eventually(t, "a third one, after another collector was added", func() bool { return p.metric(failures + " 3") })

	reload(markers+strings.Replace(parts, "limit: 3", "limit: 5", 1), `vitals_component_consecutive_failures_limit{event="cni_add"} 5`)
	report(`{"events": [{"event": "cni_add", "result": "failure"}]}`, 204)
	eventually(t, "the first one, after the limit was changed", func() bool { return p.metric(failures + " 1") })
}
