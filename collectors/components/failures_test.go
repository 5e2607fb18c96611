package components_test

import (
	"fmt"
	"testing"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/components"
)

// cniEvents judges the requests of the CNI daemon; %d is the limit. What no restart
// of the daemon can cure is excused: a malformed request of any client on the host, a
// pod that is gone, and a controller or an API that is not done in time.
const cniEvents = `
expect: [server]
events:
  cni_add: {limit: %d, errors: [netlink, internal], excused: [malformed, pod_gone, timeout]}
  cni_del: {limit: %[1]d, errors: [netlink, internal], excused: [malformed, pod_gone]}
`

// cniOutcome is how a request to the CNI daemon ends, and what the daemon reports.
type cniOutcome struct {
	id, name string
	event    collectors.Event
	// want are the failures in a row after it, where one came before.
	want int
}

func cniOutcomes() []cniOutcome {
	e := func(text string) collectors.Event { return parseEvents(text)[0] }
	return []cniOutcome{
		{"F01", "ADD succeeds", e("cni_add success"), 0},
		{"F02", "DEL succeeds", e("cni_del success"), 0},
		{"F03", "ADD is malformed", e("cni_add failure malformed"), 1},
		{"F04", "DEL is malformed", e("cni_del failure malformed"), 1},
		{"F05", "ADD of a pod that is gone", e("cni_add failure pod_gone"), 1},
		{"F06", "ADD of a pod with another UID", e("cni_add failure pod_gone"), 1},
		{"F07", "ADD waits in vain for the KuryrPort or the port", e("cni_add failure timeout"), 1},
		{"F08", "ADD meets a device that exists", e("cni_add failure netlink"), 2},
		{"F09", "ADD fails at netlink otherwise", e("cni_add failure netlink"), 2},
		{"F10", "ADD raises any other exception", e("cni_add failure internal"), 2},
		{"F11", "DEL waits in vain for the KuryrPort", e("cni_del success"), 0},
		{"F12", "DEL of a pod with another UID", e("cni_del success"), 0},
		{"F13", "DEL of a pod that is gone", e("cni_del failure pod_gone"), 1},
		{"F14", "DEL meets a device that exists", e("cni_del failure netlink"), 2},
		{"F15", "DEL raises any other exception", e("cni_del failure internal"), 2},
	}
}

func TestCNIOutcomes(t *testing.T) {
	for _, o := range cniOutcomes() {
		t.Run(o.id+" "+o.name, func(t *testing.T) {
			c := newCollector(t, fmt.Sprintf(cniEvents, 3))
			name := o.event.Event
			mustReport(t, c, "server", collectors.Report{Events: parseEvents(name + " failure internal")})
			mustReport(t, c, "server", collectors.Report{Events: []collectors.Event{o.event}})
			if got := streakText(t, c, "server", name); got != fmt.Sprint(o.want) {
				t.Errorf("failures in a row = %s, want %d", got, o.want)
			}
			other := map[string]string{"cni_add": "cni_del", "cni_del": "cni_add"}[name]
			if got := streakText(t, c, "server", other); got != "0" {
				t.Errorf("failures in a row of %s = %s, want 0", other, got)
			}
			result := map[int]string{0: "success", 1: "excused", 2: "failure"}[o.want]
			samples, err := collectortest.Collect(t, c)
			if err != nil {
				t.Fatal(err)
			}
			series := fmt.Sprintf(`vitals_component_events_total{component="server",event=%q,result=%q}`, name, result)
			want := map[string]float64{"success": 1, "excused": 1, "failure": 2}[result]
			if got, _ := collectortest.Value(samples, series); got != want {
				t.Errorf("%s = %v, want %v", series, got, want)
			}
		})
	}
}

// cniOver evaluates the example rule: whether the consecutive failures exceed the limit.
func cniOver(t *testing.T, c *components.Collector, event string) bool {
	t.Helper()
	samples, err := collectortest.Collect(t, c)
	if err != nil {
		t.Fatal(err)
	}
	streak, known := collectortest.Value(samples, fmt.Sprintf(`vitals_component_consecutive_failures{component="server",event=%q}`, event))
	limit, limited := collectortest.Value(samples, fmt.Sprintf(`vitals_component_consecutive_failures_limit{event=%q}`, event))
	if !known || !limited {
		t.Fatalf("failures in a row known %v, limit known %v, want both", known, limited)
	}
	return streak > limit
}

// With the limit N, the failure N+1 is one too many.
func TestCNILimit(t *testing.T) {
	for _, tt := range []struct {
		id           string
		limit, trips int
	}{{"F16", 0, 1}, {"F17", 1, 2}, {"F18", 3, 4}} {
		t.Run(fmt.Sprintf("%s limit %d", tt.id, tt.limit), func(t *testing.T) {
			c := newCollector(t, fmt.Sprintf(cniEvents, tt.limit))
			mustReport(t, c, "server", collectors.Report{})
			for n := 0; n <= tt.trips; n++ {
				if got, want := cniOver(t, c, "cni_add"), n >= tt.trips; got != want {
					t.Errorf("over the limit after %d failures = %v, want %v", n, got, want)
				}
				mustReport(t, c, "server", collectors.Report{Events: parseEvents("cni_add failure internal")})
			}
			mustReport(t, c, "server", collectors.Report{Events: parseEvents("cni_add success")})
			if cniOver(t, c, "cni_add") {
				t.Error("over the limit after a success, want it to recover")
			}
		})
	}
}

// F19: four failures among 3,004 requests were the end of the original. Here they
// are four failures, each alone; nor do a thousand that are excused add up.
func TestCNIFailuresDoNotAddUp(t *testing.T) {
	c := newCollector(t, fmt.Sprintf(cniEvents, 3))
	send := func(times int, event string) {
		t.Helper()
		for range times {
			mustReport(t, c, "server", collectors.Report{Events: parseEvents(event)})
			if cniOver(t, c, "cni_add") {
				t.Fatalf("over the limit after %q, want it never", event)
			}
		}
	}
	for range 4 {
		send(750, "cni_add success")
		send(1, "cni_add failure internal")
	}
	samples, err := collectortest.Collect(t, c)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := collectortest.Value(samples, `vitals_component_events_total{component="server",event="cni_add",result="failure"}`); got != 4 {
		t.Errorf("failures = %v, want 4", got)
	}
	send(1000, "cni_add failure malformed")
	if got := streakText(t, c, "server", "cni_add"); got != "1" {
		t.Errorf("failures in a row after 1,000 malformed requests = %s, want 1 as before", got)
	}
}
