package components_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
)

// eventModel is a simple implementation of the documentation: it keeps all events of each
// kind and counts them on demand.
type eventModel map[string][]collectors.Event

func (m eventModel) series() map[string]float64 {
	series := map[string]float64{}
	for key, events := range m {
		for _, result := range []string{"success", "failure", "excused"} {
			series[fmt.Sprintf("vitals_component_events_total{%s,result=%q}", key, result)] = 0
		}
		for _, class := range []string{"netlink", "timeout", "other"} {
			series[fmt.Sprintf("vitals_component_event_errors_total{%s,error=%q}", key, class)] = 0
		}
		streak := 0.0
		for _, e := range events {
			switch {
			case e.Result == "reset":
				streak = 0
				continue
			case e.Result == "success":
				streak = 0
			case e.Error == "timeout":
				e.Result = "excused"
				series[fmt.Sprintf("vitals_component_event_errors_total{%s,error=%q}", key, "timeout")]++
			case e.Error == "netlink":
				streak++
				series[fmt.Sprintf("vitals_component_event_errors_total{%s,error=%q}", key, "netlink")]++
			default:
				streak++
				series[fmt.Sprintf("vitals_component_event_errors_total{%s,error=%q}", key, "other")]++
			}
			series[fmt.Sprintf("vitals_component_events_total{%s,result=%q}", key, e.Result)]++
		}
		series[fmt.Sprintf("vitals_component_consecutive_failures{%s}", key)] = streak
	}
	return series
}

// eventSeries are the series of events as they are exported, keyed as the model does.
func eventSeries(samples []collectors.Sample) map[string]float64 {
	series := map[string]float64{}
	for _, s := range samples {
		name, l := s.Labels.Get("__name__"), s.Labels
		key := fmt.Sprintf("component=%q,event=%q", l.Get("component"), l.Get("event"))
		switch name {
		case "vitals_component_events_total":
			key += fmt.Sprintf(",result=%q", l.Get("result"))
		case "vitals_component_event_errors_total":
			key += fmt.Sprintf(",error=%q", l.Get("error"))
		case "vitals_component_consecutive_failures":
		default:
			continue
		}
		series[name+"{"+key+"}"] = s.Value
	}
	return series
}

// Whatever is reported in whatever portions, the series are those of the model; what
// is refused leaves them as they were.
func TestEventsFollowTheModel(t *testing.T) {
	const config = "{expect: [a], accept: any, events: {add: {limit: 3, errors: [netlink], excused: [timeout]}, del: {errors: [netlink], excused: [timeout]}}}"
	event := rapid.Custom(func(t *rapid.T) collectors.Event {
		e := collectors.Event{
			Event:  rapid.SampledFrom([]string{"add", "add", "del", "del", "sub"}).Draw(t, "event"),
			Result: rapid.SampledFrom([]string{"success", "failure", "failure", "reset", "excused"}).Draw(t, "result"),
		}
		if e.Result == "failure" {
			e.Error = rapid.SampledFrom([]string{"", "netlink", "timeout", "other", "EEXIST"}).Draw(t, "error")
		}
		return e
	})
	rapid.Check(t, func(rt *rapid.T) {
		c, model := newCollector(t, config), eventModel{}
		for range rapid.IntRange(1, 20).Draw(rt, "reports") {
			component := rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "component")
			events := rapid.SliceOfN(event, 0, 8).Draw(rt, "events")
			valid := true
			for _, e := range events {
				valid = valid && e.Event != "sub" && e.Result != "excused"
			}
			if err := c.Report(component, collectors.Report{Events: events}); (err == nil) != valid {
				rt.Fatalf("Report(%v) = %v, want it taken: %v", events, err, valid)
			}
			if !valid {
				continue
			}
			if component == "a" { // it is expected, so all its events begin
				for _, name := range []string{"add", "del"} {
					key := fmt.Sprintf("component=%q,event=%q", "a", name)
					if _, begun := model[key]; !begun {
						model[key] = nil
					}
				}
			}
			for _, e := range events {
				key := fmt.Sprintf("component=%q,event=%q", component, e.Event)
				model[key] = append(model[key], e)
			}
		}
		samples, err := c.Collect(t.Context())
		if err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(model.series(), eventSeries(samples)); diff != "" {
			rt.Fatalf("series differ (-model +got):\n%s", diff)
		}
	})
}

func TestEventsStartACollectionWhenTheStreakChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCollector(t, "{expect: [a], accept: any, events: {add: {excused: [timeout]}}}")
		stop, collections := collectortest.Run(t, c)
		defer stop()
		synctest.Wait()
		for _, step := range []struct {
			name, component, events string
			want                    int
		}{
			{"the first report, a success", "a", "add success", 1},
			{"another success", "a", "add success", 0},
			{"a failure", "a", "add failure", 1},
			{"an excused failure", "a", "add failure timeout", 0},
			{"three failures at once", "a", "add failure, add failure, add failure", 1},
			{"the success that ends the row", "a", "add success", 1},
			{"a reset of nothing", "a", "add reset", 0},
			{"the first report of another", "b", "add success", 1},
		} {
			mustReport(t, c, step.component, collectors.Report{Events: parseEvents(step.events)})
			if got := len(collections); got != step.want {
				t.Errorf("%s: %d collections were started, want %d", step.name, got, step.want)
			}
			for len(collections) > 0 {
				<-collections
			}
		}
		mustReport(t, c, "c", collectors.Report{})
		<-collections
		mustReport(t, c, "c", collectors.Report{Events: parseEvents("add reset")})
		if len(collections) != 1 {
			t.Errorf("%d collections were started where a streak began at 0, want 1", len(collections))
		}
	})
}

func TestEventsUnderManyReporters(t *testing.T) {
	defer goleak.VerifyNone(t)
	c := newCollector(t, "{expect: [a], events: {add: {limit: 3}, del: {}}}")
	stop, _ := collectortest.Run(t, c)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := range 500 {
				events := parseEvents("add success, add failure, del failure")
				if err := c.Report("a", collectors.Report{Events: events}); err != nil {
					t.Errorf("Report() = %v, want no error", err)
				}
				if n%10 == i {
					_, _ = c.Collect(t.Context())
				}
			}
		})
	}
	wg.Wait()
	stop()
	samples, err := c.Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for series, want := range map[string]float64{
		`vitals_component_events_total{component="a",event="add",result="success"}`:    4000,
		`vitals_component_events_total{component="a",event="add",result="failure"}`:    4000,
		`vitals_component_event_errors_total{component="a",error="other",event="del"}`: 4000,
		`vitals_component_consecutive_failures{component="a",event="add"}`:             1,
		`vitals_component_consecutive_failures{component="a",event="del"}`:             4000,
	} {
		if got, _ := collectortest.Value(samples, series); got != want {
			t.Errorf("%s = %v, want %v", series, got, want)
		}
	}
}
