package components

import (
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/vitals-health/vitals/collectors"
)

// newForgetful returns a collector that accepts any name and expects one.
func newForgetful(t *testing.T, deadline string) *Collector {
	t.Helper()
	cfg := Config{Expect: []string{"expected"}, Accept: acceptAny, Events: map[string]Events{"add": {}}}
	if err := cfg.Deadline.Set(deadline); err != nil {
		t.Fatal(err)
	}
	cfg.SetDefaults()
	made, err := cfg.New(collectors.Env{Name: "components", Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return made.(*Collector)
}

// known returns the names with a status, after the time of the last report.
func known(c *Collector, at time.Time) string {
	var names []string
	for _, s := range c.status(at) {
		names = append(names, s.Name)
	}
	return fmt.Sprint(names)
}

// A name that is not expected is forgotten a day after its last report, unless it fails.
func TestNamesAreForgotten(t *testing.T) {
	yes, no := new(true), new(false)
	failed := []collectors.Event{{Event: "add", Result: EventFailure}}
	for _, tt := range []struct {
		name, component, deadline string
		report                    collectors.Report
		kept                      bool
	}{
		{"well", "any", "0s", collectors.Report{Alive: yes, Ready: yes}, false},
		{"alive, and never ready", "any", "0s", collectors.Report{Alive: yes}, false},
		{"not alive", "any", "0s", collectors.Report{Alive: no}, true},
		{"not ready", "any", "0s", collectors.Report{Ready: no}, true},
		{"the deadline has passed", "any", "30s", collectors.Report{Alive: yes}, true},
		{"the deadline has not", "any", "25h", collectors.Report{Alive: yes}, false},
		{"failures in a row", "any", "0s", collectors.Report{Events: failed}, true},
		{"a success behind a failure", "any", "0s", collectors.Report{Events: append(failed, collectors.Event{Event: "add", Result: EventSuccess})}, false},
		{"expected", "expected", "0s", collectors.Report{Alive: yes, Ready: yes}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, begin := newForgetful(t, tt.deadline), time.Now()
			if err := c.report(begin, tt.component, tt.report); err != nil {
				t.Fatal(err)
			}
			all := map[string]string{"any": "[expected any]", "expected": "[expected]"}[tt.component]
			if got := known(c, begin.Add(forgetAfter-1)); got != all {
				t.Errorf("known within a day = %s, want %s", got, all)
			}
			samples, err := c.collect(begin.Add(forgetAfter))
			if err != nil {
				t.Fatal(err)
			}
			exported := false
			for _, s := range samples {
				exported = exported || s.Labels.Get("component") == tt.component
			}
			if exported != tt.kept {
				t.Errorf("exported after a day = %t, want %t", exported, tt.kept)
			}
		})
	}
}

// Forgotten names make room for others, and failing ones do not.
func TestForgottenNamesMakeRoom(t *testing.T) {
	c, begin := newForgetful(t, "0s"), time.Now()
	for i := range maxComponents - 1 {
		if err := c.report(begin, fmt.Sprintf("c%d", i), collectors.Report{Ready: new(i%2 == 0)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.report(begin.Add(forgetAfter-1), "new", collectors.Report{}); !errors.Is(err, collectors.ErrUnknownComponent) {
		t.Errorf("report() of one name more = %v, want %v", err, collectors.ErrUnknownComponent)
	}
	if err := c.report(begin.Add(forgetAfter), "new", collectors.Report{}); err != nil {
		t.Errorf("report() a day later = %v, want no error", err)
	}
	if got, want := len(c.status(begin.Add(forgetAfter))), 1+(maxComponents-1)/2+1; got != want {
		t.Errorf("%d names are known, want %d: the expected one, those that fail and the new one", got, want)
	}
}
