package components_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/components"
)

// parseEvents reads events as datagrams write them, separated by commas.
func parseEvents(text string) []collectors.Event {
	var events []collectors.Event
	for _, line := range strings.Split(text, ",") {
		words := append(strings.Fields(line), "", "", "")
		events = append(events, collectors.Event{Event: words[0], Result: words[1], Error: words[2]})
	}
	return events
}

// streakText returns the failures in a row of an event, or "absent".
func streakText(t testing.TB, c *components.Collector, component, event string) string {
	t.Helper()
	samples, err := c.Collect(t.Context())
	if err != nil {
		t.Fatalf("Collect() = %v, want no error", err)
	}
	v, ok := collectortest.Value(samples, fmt.Sprintf(`vitals_component_consecutive_failures{component=%q,event=%q}`, component, event))
	if !ok {
		return "absent"
	}
	return fmt.Sprint(v)
}

func TestEventsAreCounted(t *testing.T) {
	const config = "{expect: [a], accept: any, events: {add: {limit: 3, errors: [netlink], excused: [timeout]}, del: {}}}"
	tests := []struct{ name, component, events, want string }{
		{"a success", "b", "add success", "0"},
		{"a failure", "b", "add failure netlink", "1"},
		{"a failure without a class", "b", "add failure", "1"},
		{"a failure of a class that is not named", "b", "add failure NEVER-SEEN", "1"},
		{"a failure of the class of all others", "b", "add failure other", "1"},
		{"an excused failure", "b", "add failure timeout", "0"},
		{"an excused failure leaves what was", "b", "add failure netlink, add failure, add failure timeout", "2"},
		{"a success ends the row", "b", "add failure, add failure, add success", "0"},
		{"a new row begins at one", "b", "add failure, add failure, add success, add failure", "1"},
		{"a reset ends the row", "b", "add failure, add failure, add reset", "0"},
		{"a reset begins the row", "b", "add reset", "0"},
		{"another event is another row", "b", "add failure, del success", "1"},
		{"another event alone", "b", "del failure", "absent"},
		{"an expected component that has only another event", "a", "del failure", "0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newCollector(t, config)
			mustReport(t, c, tt.component, collectors.Report{Events: parseEvents(tt.events)})
			if got := streakText(t, c, tt.component, "add"); got != tt.want {
				t.Errorf("failures in a row = %s, want %s", got, tt.want)
			}
		})
	}
}

// A report with an event that cannot be taken is refused as a whole.
func TestEventsAreRefused(t *testing.T) {
	const config = "{expect: [a], events: {add: {}, del: {}}}"
	tests := []struct{ name, config, events, want string }{
		{"an unknown event", config, "add failure, sub success", `invalid report: event "sub": expected one of add, del`},
		{"an unknown event where none is named", "expect: [a]", "add success", `invalid report: event "add": expected none, because the configuration names no events`},
		{"an unknown result", config, "add excused", `invalid report: event "add": result "excused": expected success, failure or reset`},
		{"no result", config, "add", `invalid report: event "add": result "": expected success, failure or reset`},
		{"a success with an error", config, "add success netlink", `invalid report: event "add": result success with the error "netlink": expected an error with a failure only`},
		{"more than there may be", config, strings.Repeat("add success,", 100) + "add success", `invalid report: 101 events: expected at most 100 in a report`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newCollector(t, tt.config)
			err := c.Report("a", collectors.Report{Ready: new(true), Events: parseEvents(tt.events)})
			if !errors.Is(err, collectors.ErrInvalidReport) || err.Error() != tt.want {
				t.Errorf("Report() = %v, want %s", err, tt.want)
			}
			if got, want := statusText(c, "a"), "alive ?, ready ?: never reported"; got != want {
				t.Errorf("Status() = %s, want %s", got, want)
			}
			if got := streakText(t, c, "a", "add"); got != "absent" {
				t.Errorf("failures in a row = %s, want them absent", got)
			}
		})
	}
	c := newCollector(t, config)
	mustReport(t, c, "a", collectors.Report{Events: parseEvents(strings.Repeat("add failure,", 99) + "add failure")})
	if got := streakText(t, c, "a", "add"); got != "100" {
		t.Errorf("failures in a row after 100 in a report = %s, want 100", got)
	}
}

// Of a datagram, each line that can be taken is.
func TestEventsByDatagram(t *testing.T) {
	defer goleak.VerifyNone(t)
	c, socket, stop := listenNotify(t, ", events: {cni_add: {errors: [netlink], excused: [timeout]}}")
	defer stop()
	conn := dialNotify(t, socket)
	lines := func(n int) string { return strings.Repeat("X_VITALS_EVENT=cni_add failure\n", n) }
	for _, step := range []struct {
		name, send, streak string
		reports, invalid   float64
	}{
		{"an unknown event, which is no sign of life", "X_VITALS_EVENT=cni_del success", "absent", 0, 1},
		{"a failure", "X_VITALS_EVENT=cni_add failure netlink", "1", 1, 1},
		{"two more", lines(2), "3", 2, 1},
		{"an excused one", "X_VITALS_EVENT=cni_add failure timeout", "3", 3, 1},
		{"an unknown result beside a report", "READY=1\nX_VITALS_EVENT=cni_add excused", "3", 4, 2},
		{"an unknown event beside a known one", "X_VITALS_EVENT=cni_del success\nX_VITALS_EVENT=cni_add failure", "4", 5, 3},
		{"a success", "X_VITALS_EVENT=cni_add success\n", "0", 6, 3},
		{"as many as there may be", lines(100), "100", 7, 3},
		{"one more than there may be", "X_VITALS_EVENT=cni_add success\n" + lines(100), "99", 8, 4},
		{"a reset", "X_VITALS_EVENT=cni_add reset", "0", 9, 4},
	} {
		sendNotify(t, conn, step.send)
		collectortest.Wait(t, step.name, func() bool {
			return counterValue(t, c, "vitals_component_reports_total") == step.reports &&
				counterValue(t, c, "vitals_component_invalid_reports_total") == step.invalid
		})
		if got := streakText(t, c, "watcher", "cni_add"); got != step.streak {
			t.Errorf("%s: failures in a row = %s, want %s", step.name, got, step.streak)
		}
	}
}

func TestEventsAreASignOfLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCollector(t, "{expect: [server], deadline: 30s, events: {cni_add: {}}}")
		mustReport(t, c, "server", collectors.Report{})
		for range 10 {
			mustReport(t, c, "server", collectors.Report{Events: parseEvents("cni_add failure")})
			time.Sleep(29 * time.Second)
			if got, want := statusText(c, "server"), "alive true, ready ?: "; got != want {
				t.Errorf("Status() = %s, want %s", got, want)
			}
		}
		time.Sleep(time.Second)
		if got, want := statusText(c, "server"), "alive false, ready ?: no report for 30s"; got != want {
			t.Errorf("Status() = %s, want %s", got, want)
		}
	})
}

// BenchmarkEvent is the cost of one event in a report of its own.
func BenchmarkEvent(b *testing.B) {
	c := newCollector(b, "{expect: [server], events: {cni_add: {errors: [netlink]}}}")
	report := collectors.Report{Events: parseEvents("cni_add success")}
	b.ReportAllocs()
	for b.Loop() {
		if err := c.Report("server", report); err != nil {
			b.Fatal(err)
		}
	}
}

// A server reports its requests, and at night there are none. That is no silence that a
// restart would end.
func TestWithEventsAloneHasNoDeadline(t *testing.T) {
	yes := true
	synctest.Test(t, func(t *testing.T) {
		c := newCollector(t, "{accept: any, deadline: 30s, events: {cni_add: {}}}")
		events := collectors.Report{Events: parseEvents("cni_add success")}
		step := func(r collectors.Report, wait time.Duration, want string) {
			t.Helper()
			mustReport(t, c, "server", r)
			time.Sleep(wait)
			if got := statusText(c, "server"); got != want {
				t.Errorf("%s after %+v: Status() = %s, want %s", wait, r, got, want)
			}
		}
		step(events, time.Hour, "alive true, ready ?: ")
		step(collectors.Report{Alive: &yes}, 29*time.Second, "alive true, ready ?: ")
		step(events, 29*time.Second, "alive true, ready ?: ")
		step(events, 30*time.Second, "alive false, ready ?: no report for 30s")
		step(events, time.Second, "alive true, ready ?: ")
		for _, r := range []collectors.Report{{}, {Ready: &yes}, {Reason: "busy"}, {Events: events.Events, Alive: &yes}} {
			c = newCollector(t, "{accept: any, deadline: 30s, events: {cni_add: {}}}")
			mustReport(t, c, "server", r)
			time.Sleep(30 * time.Second)
			if got := statusText(c, "server"); !strings.HasPrefix(got, "alive false") {
				t.Errorf("30 s after %+v: Status() = %s, want not alive", r, got)
			}
		}
	})
}
