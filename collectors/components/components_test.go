package components_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/components"
)

func newCollector(t testing.TB, config string) *components.Collector {
	t.Helper()
	return collectortest.New(t, "components", config, &components.Config{}).(*components.Collector)
}

// statusText formats the status of one component.
func statusText(c *components.Collector, name string) string {
	for _, s := range c.Status() {
		if s.Name == name {
			return fmt.Sprintf("alive %s, ready %s: %s", optionalText(s.Alive), optionalText(s.Ready), s.Reason)
		}
	}
	return "no such component"
}

func optionalText(b *bool) string {
	if b == nil {
		return "?"
	}
	return fmt.Sprint(*b)
}

func mustReport(t testing.TB, c *components.Collector, name string, r collectors.Report) {
	t.Helper()
	if err := c.Report(name, r); err != nil {
		t.Fatalf("Report(%q) = %v, want no error", name, err)
	}
}

func TestReport(t *testing.T) {
	yes, no := new(true), new(false)
	type reports []collectors.Report
	tests := []struct {
		name  string
		given reports
		want  string
	}{
		{"nothing yet", nil, "alive ?, ready ?: never reported"},
		{"an empty report is a sign of life", reports{{}}, "alive true, ready ?: "},
		{"alive and ready", reports{{Alive: yes, Ready: yes, Reason: "synced"}}, "alive true, ready true: synced"},
		{"not ready yet", reports{{Ready: no, Reason: "loading"}}, "alive true, ready false: loading"},
		{"a field that is missing stays", reports{{Alive: yes, Ready: yes}, {Reason: "busy"}}, "alive true, ready true: busy"},
		{"a heartbeat leaves the reason", reports{{Ready: yes, Reason: "synced"}, {Alive: yes}}, "alive true, ready true: synced"},
		{"a word about ready replaces the reason", reports{{Ready: no, Reason: "loading"}, {Ready: yes}}, "alive true, ready true: "},
		{"a component that is not alive is not ready", reports{{Alive: yes, Ready: yes}, {Alive: no, Reason: "deadlock"}}, "alive false, ready false: deadlock"},
		{"dead stays dead until a report of alive", reports{{Alive: no, Reason: "deadlock"}, {Ready: yes, Reason: "hm"}}, "alive false, ready false: hm"},
		{"it recovers", reports{{Alive: no, Ready: yes, Reason: "deadlock"}, {Alive: yes}}, "alive true, ready true: "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newCollector(t, "expect: [watcher]")
			for _, r := range tt.given {
				mustReport(t, c, "watcher", r)
			}
			if got := statusText(c, "watcher"); got != tt.want {
				t.Errorf("Status() = %s, want %s", got, tt.want)
			}
		})
	}
}

func TestReportDoesNotKeepTheCallersMemory(t *testing.T) {
	c := newCollector(t, "expect: [watcher]")
	alive := true
	mustReport(t, c, "watcher", collectors.Report{Alive: &alive})
	alive = false
	if got, want := statusText(c, "watcher"), "alive true, ready ?: "; got != want {
		t.Errorf("Status() = %s, want %s", got, want)
	}
}

func TestReportNames(t *testing.T) {
	tests := []struct {
		name, config, component string
		want                    error
	}{
		{"an expected one", "expect: [a]", "a", nil},
		{"a stranger where some are expected", "expect: [a]", "b", collectors.ErrUnknownComponent},
		{"a stranger where any is accepted", "{expect: [a], accept: any}", "b", nil},
		{"any name if none is expected", "{}", "b", nil},
		{"one with a shared boolean is expected", "shared_booleans: {a: /dev/shm/a}", "a", nil},
		{"a stranger beside a shared boolean", "shared_booleans: {a: /dev/shm/a}", "b", collectors.ErrUnknownComponent},
		{"no name", "{}", "", collectors.ErrInvalidReport},
		{"a path", "{}", "../a", collectors.ErrInvalidReport},
		{"a long name", "{}", strings.Repeat("a", 64), collectors.ErrInvalidReport},
		{"a name that is not UTF-8", "{}", "a\xff", collectors.ErrInvalidReport},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newCollector(t, tt.config)
			if err := c.Report(tt.component, collectors.Report{}); !errors.Is(err, tt.want) {
				t.Errorf("Report(%q) = %v, want %v", tt.component, err, tt.want)
			}
		})
	}
}

func TestBoundTheNames(t *testing.T) {
	c := newCollector(t, "accept: any")
	for i := range 1000 {
		mustReport(t, c, fmt.Sprint("c", i), collectors.Report{})
	}
	if err := c.Report("one-more", collectors.Report{}); !errors.Is(err, collectors.ErrUnknownComponent) {
		t.Errorf("Report() of the 1001st name = %v, want %v", err, collectors.ErrUnknownComponent)
	}
	mustReport(t, c, "c0", collectors.Report{})
	if got := len(c.Status()); got != 1000 {
		t.Errorf("len(Status()) = %d, want 1000", got)
	}
}

func TestReasonIsCleaned(t *testing.T) {
	tests := []struct{ name, reason, want string }{
		{"line breaks and control characters", "a\nb\tc\x00d", "a b c d"},
		{"invalid UTF-8", "caf\xe9 au lait", "caf\uFFFD au lait"},
		{"too long", strings.Repeat("x", 600), strings.Repeat("x", 509) + "..."},
		{"too long, cut inside a rune", "x" + strings.Repeat("é", 300), "x" + strings.Repeat("é", 254) + "..."},
		{"too long after the replacement", strings.Repeat("a\xff", 300), strings.Repeat("a\uFFFD", 127) + "a..."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newCollector(t, "expect: [a]")
			mustReport(t, c, "a", collectors.Report{Reason: tt.reason})
			got := c.Status()[0].Reason
			if got != tt.want || len(got) > 512 || !utf8.ValidString(got) {
				t.Errorf("Reason = %q (%d bytes), want %q", got, len(got), tt.want)
			}
		})
	}
}

func TestStatusOrder(t *testing.T) {
	c := newCollector(t, "{expect: [z, a], accept: any, shared_booleans: {m: /dev/shm/m}}")
	for _, name := range []string{"y", "b"} {
		mustReport(t, c, name, collectors.Report{})
	}
	var got []string
	for _, s := range c.Status() {
		got = append(got, fmt.Sprint(s.Name, " ", s.Expected, " ", s.Via))
	}
	want := []string{"z true ", "a true ", "m true ", "b false call", "y false call"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Status() differs (-want +got):\n%s", diff)
	}
}

func TestExposition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCollector(t, "{expect: [watcher, server, handler, silent], accept: any, deadlines: {handler: 30s}, events: {cni_add: {limit: 3, errors: [netlink], excused: [timeout]}, cni_del: {}}}")
		mustReport(t, c, "watcher", collectors.Report{Alive: new(true), Ready: new(true)})
		mustReport(t, c, "server", collectors.Report{Alive: new(false), Ready: new(true), Reason: "not a label"})
		mustReport(t, c, "handler", collectors.Report{})
		mustReport(t, c, "extra", collectors.Report{Ready: new(false), Events: parseEvents("cni_add success, cni_add failure timeout, cni_add failure netlink, cni_add failure")})
		time.Sleep(31500 * time.Millisecond)
		mustReport(t, c, "watcher", collectors.Report{})

		samples, err := collectortest.Collect(t, c)
		if err != nil {
			t.Fatalf("Collect() = %v, want no error", err)
		}
		collectortest.Golden(t, "metrics.prom", collectortest.Exposition(samples, c.Describe()))
		if got, want := statusText(c, "handler"), "alive false, ready ?: no report for 31s"; got != want {
			t.Errorf("Status() = %s, want %s", got, want)
		}
	})
}

func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCollector(t, "{expect: [watcher, server, patient], deadline: 30s, deadlines: {server: 60s, patient: 0s}}")
		stop, collections := collectortest.Run(t, c)
		defer stop()
		expect := func(started int, watcher, server string) {
			t.Helper()
			synctest.Wait()
			if got := len(collections); got != started {
				t.Errorf("%d collections were started, want %d", got, started)
			}
			for len(collections) > 0 {
				<-collections
			}
			for name, want := range map[string]string{"watcher": watcher, "server": server} {
				if got := statusText(c, name); got != want {
					t.Errorf("%s: %s, want %s", name, got, want)
				}
			}
		}
		yes := collectors.Report{Ready: new(true)}
		expect(0, "alive ?, ready ?: never reported", "alive ?, ready ?: never reported")

		time.Sleep(time.Hour) // no deadline before the first report
		expect(0, "alive ?, ready ?: never reported", "alive ?, ready ?: never reported")

		for _, name := range []string{"watcher", "server", "patient"} {
			mustReport(t, c, name, yes)
		}
		expect(3, "alive true, ready true: ", "alive true, ready true: ")

		time.Sleep(29 * time.Second)
		mustReport(t, c, "watcher", collectors.Report{})
		expect(0, "alive true, ready true: ", "alive true, ready true: ")

		time.Sleep(29*time.Second + 999*time.Millisecond)
		expect(0, "alive true, ready true: ", "alive true, ready true: ")
		time.Sleep(time.Millisecond)
		expect(1, "alive false, ready false: no report for 30s", "alive true, ready true: ")
		time.Sleep(time.Second)
		expect(1, "alive false, ready false: no report for 31s", "alive false, ready false: no report for 1m0s")

		mustReport(t, c, "watcher", collectors.Report{})
		expect(1, "alive true, ready true: ", "alive false, ready false: no report for 1m0s")
		time.Sleep(30 * time.Second) // the deadline is armed again
		expect(1, "alive false, ready false: no report for 30s", "alive false, ready false: no report for 1m30s")
		if got, want := statusText(c, "patient"), "alive true, ready true: "; got != want {
			t.Errorf("patient: %s, want %s", got, want)
		}
	})
}

func TestCollectionStartsOnlyWhenAVerdictCanChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCollector(t, "expect: [a]")
		stop, collections := collectortest.Run(t, c)
		defer stop()
		steps := []struct {
			name   string
			report collectors.Report
			want   int
		}{
			{"first report", collectors.Report{}, 1},
			{"heartbeat", collectors.Report{Alive: new(true)}, 0},
			{"other reason", collectors.Report{Reason: "busy"}, 0},
			{"ready", collectors.Report{Ready: new(true)}, 1},
			{"ready still", collectors.Report{Ready: new(true)}, 0},
			{"not ready", collectors.Report{Ready: new(false)}, 1},
			{"dead", collectors.Report{Alive: new(false)}, 1},
			{"dead and ready, which counts for nothing", collectors.Report{Ready: new(true)}, 0},
			{"alive", collectors.Report{Alive: new(true)}, 1},
		}
		synctest.Wait()
		for _, step := range steps {
			mustReport(t, c, "a", step.report)
			if got := len(collections); got != step.want {
				t.Errorf("%s: %d collections were started, want %d", step.name, got, step.want)
			}
			for len(collections) > 0 {
				<-collections
			}
		}
	})
}

func TestReportBeforeRunIsNotLost(t *testing.T) {
	defer goleak.VerifyNone(t)
	c := newCollector(t, "expect: [a]")
	mustReport(t, c, "a", collectors.Report{})
	stop, collections := collectortest.Run(t, c)
	<-collections
	stop()
}

func TestTimesAreMonotonic(t *testing.T) {
	c := newCollector(t, "{expect: [a], deadline: 1s}")
	mustReport(t, c, "a", collectors.Report{})
	if last := c.Status()[0].LastReport.String(); !strings.Contains(last, " m=") {
		t.Errorf("LastReport = %s, want a monotonic reading", last)
	}
}

func TestUnderManyReporters(t *testing.T) {
	defer goleak.VerifyNone(t)
	c := newCollector(t, "{accept: any, deadline: 1ms}")
	stop, _ := collectortest.Run(t, c)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := range 200 {
				_ = c.Report(fmt.Sprint("c", (i+n)%10), collectors.Report{Alive: new(n%2 == 0), Reason: "r"})
				_ = c.Status()
				_, _ = c.Collect(t.Context())
			}
		})
	}
	wg.Wait()
	stop()
	samples, _ := c.Collect(t.Context())
	var total float64
	for i := range 10 {
		v, _ := collectortest.Value(samples, fmt.Sprintf(`vitals_component_reports_total{component="c%d"}`, i))
		total += v
	}
	if total != 1600 {
		t.Errorf("reports = %v, want 1600", total)
	}
}

// The samples of expected components come first and are essential, those of others are not.
func TestEssentialSamples(t *testing.T) {
	for _, tt := range []struct {
		name, config string
		reports      []string
		want, others bool
	}{
		{"expected and others", "{expect: [db, api], accept: any}", []string{"a", "api", "z"}, true, true},
		{"expected only", "{expect: [db, api]}", []string{"db"}, true, false},
		{"others only", "{accept: any}", []string{"a", "b"}, false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := collectortest.New(t, "c", tt.config, &components.Config{}).(*components.Collector)
			for _, name := range tt.reports {
				if err := c.Report(name, collectors.Report{}); err != nil {
					t.Fatal(err)
				}
			}
			samples, err := c.Collect(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			n := c.Essential()
			if (n > 0) != tt.want || (n < len(samples)) != tt.others {
				t.Errorf("%d of %d samples are essential", n, len(samples))
			}
			for i, s := range samples {
				name := s.Labels.Get("component")
				if expected := name == "db" || name == "api"; expected != (i < n) {
					t.Errorf("sample %d of %d is of %s, and %d are essential", i, len(samples), name, n)
				}
			}
		})
	}
}
