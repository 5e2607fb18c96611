package evaluator

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/internal/redact"
)

// override does "silence RULE DURATION [STATE]", "maintenance STATE DURATION", "end RULE" or
// "end STATE".
func (p *player) override(verb string, f []string) error {
	if verb == "end" {
		rule, state := f[0], ""
		if _, ok := p.rule(f[0]); !ok {
			rule, state = "", f[0]
		}
		return p.core.endOverride(rule, state, "root", p.time())
	}
	o := Override{Rule: f[0], By: "root", Reason: "a reason"}
	if len(f) > 2 {
		o.State = f[2]
	}
	if verb == "maintenance" {
		o.Rule, o.State = "", f[0]
	}
	d, err := time.ParseDuration(f[1])
	if err != nil {
		return err
	}
	_, err = p.core.beginOverride(o, d, p.time())
	return err
}

const overrideRules = `groups: [{name: g, rules: [
	{alert: Down, expr: up == 0, labels: {state: ready}},
	{alert: Down, expr: up == 0, labels: {state: alive}},
	{alert: Ordinary, expr: up == 0},
	{alert: Tried, expr: up == 0, labels: {state: ready}, annotations: {mode: observe}}]}]`

func newOverrideCore(t *testing.T, o Options) *core {
	t.Helper()
	c, err := newCore(Config{Files: parseRules(t, overrideRules)}, o, epoch)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestInvalidOverrides(t *testing.T) {
	long := strings.Repeat("x", maxOverrideReason)
	tests := []struct {
		name    string
		o       Override
		d       time.Duration
		missing bool
		want    string
	}{
		{"a silence", Override{Rule: "Down", Reason: long}, maxOverride, false, ""},
		{"of one state", Override{Rule: "Down", State: "alive"}, 1, false, ""},
		{"maintenance", Override{State: "ready"}, maxOverride, false, ""},
		{"maintenance without an end", Override{State: "ready"}, 0, false, ""},
		{"a silence without an end", Override{Rule: "Down"}, 0, false, "a duration of 0s: expected more than 0 and at most 30d"},
		{"a negative duration", Override{State: "ready"}, -time.Hour, false, "a duration of 0s: expected more than 0 and at most 30d"},
		{"too long", Override{State: "ready"}, maxOverride + 24*time.Hour, false, "a duration of 31d: expected more than 0 and at most 30d"},
		{"a long reason", Override{Rule: "Down", Reason: long + "x"}, 1, false, "invalid reason: expected one line of at most 200 bytes"},
		{"two lines", Override{Rule: "Down", Reason: "a\nb"}, 1, false, "invalid reason: expected one line of at most 200 bytes"},
		{"an invisible character", Override{Rule: "Down", Reason: "a\u202eb"}, 1, false, "invalid reason: expected one line of at most 200 bytes"},
		{"alive", Override{State: "alive"}, 0, false, "maintenance of alive is refused: a probe of it would restart the container; the maintenance of ready drains it"},
		{"started", Override{State: "started"}, 0, false, "maintenance of started is refused: a probe of it would restart the container; the maintenance of ready drains it"},
		{"no such state", Override{State: "gold"}, 0, true, `there is no state "gold": expected one of ready`},
		{"no such rule", Override{Rule: "Dwn"}, 1, true, `there is no rule "Dwn": did you mean Down? expected one of Down, Ordinary, Tried`},
		{"nothing like it", Override{Rule: "KeystoneDown"}, 1, true, `there is no rule "KeystoneDown": expected one of Down, Ordinary, Tried`},
		{"a rule without the state", Override{Rule: "Down", State: "gold"}, 1, true, `rule Down has no state "gold": expected ready or alive`},
		{"an ordinary alert", Override{Rule: "Ordinary"}, 1, false, "rule Ordinary has no state that obeys it: silence its alert in Alertmanager"},
		{"an observed rule", Override{Rule: "Tried"}, 1, false, "rule Tried has no state that obeys it: silence its alert in Alertmanager"},
	}
	for _, tt := range tests {
		c := newOverrideCore(t, Options{})
		_, err := c.beginOverride(tt.o, tt.d, epoch)
		got, missing := "", false
		if refused := (*OverrideError)(nil); errors.As(err, &refused) {
			got, missing = refused.Error(), refused.Missing
		}
		if got != tt.want || missing != tt.missing || (len(c.overrides.all) == 1) != (tt.want == "") {
			t.Errorf("%s: beginOverride() = %q, missing %t, %d overrides, want %q, missing %t", tt.name, got, missing, len(c.overrides.all), tt.want, tt.missing)
		}
	}
}

func TestEndsOfNothing(t *testing.T) {
	c := newOverrideCore(t, Options{})
	if _, err := c.beginOverride(Override{Rule: "Down", State: "alive"}, time.Hour, epoch); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ rule, state, want string }{
		{"Tried", "", `rule "Tried" is not silenced: silenced are Down (in alive only)`},
		{"Down", "ready", `rule "Down" is not silenced in the state "ready": silenced are Down (in alive only)`},
		{"", "ready", `state "ready" is not under maintenance`},
		{"Down", "", ""},
		{"Down", "", `rule "Down" is not silenced: no rule is`},
	} {
		got := ""
		if err := c.endOverride(tt.rule, tt.state, "root", epoch); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("endOverride(%q, %q) = %q, want %q", tt.rule, tt.state, got, tt.want)
		}
	}
}

func TestOverridesAreBounded(t *testing.T) {
	var text strings.Builder
	for i := range maxOverrides + 1 {
		fmt.Fprintf(&text, "{alert: A%d, expr: up == 0, labels: {state: ready}},", i)
	}
	c, err := newCore(Config{Files: parseRules(t, "groups: [{name: g, rules: ["+text.String()+"]}]")}, Options{}, epoch)
	if err != nil {
		t.Fatal(err)
	}
	silence := func(i int) error {
		_, err := c.beginOverride(Override{Rule: fmt.Sprintf("A%d", i)}, time.Hour, epoch)
		return err
	}
	for i := range maxOverrides {
		if err := silence(i); err != nil {
			t.Fatalf("silence %d: %v, want no error", i, err)
		}
	}
	if err := silence(0); err != nil {
		t.Errorf("a silence in the place of another = %v, want no error", err)
	}
	if err := silence(maxOverrides); err == nil || err.Error() != "there are 1000 silences already: remove some first" {
		t.Errorf("one silence more = %v, want an error", err)
	}
	restored := slices.Repeat([]Override{{Rule: "Down"}}, maxOverrides+1)
	if got := newOverrideCore(t, Options{Overrides: restored}).overrides.all; len(got) != maxOverrides {
		t.Errorf("%d overrides are restored, want %d", len(got), maxOverrides)
	}
}

// The overrides of a snapshot in JSON restore those of the next process.
func TestOverridesAreRestored(t *testing.T) {
	c := newOverrideCore(t, Options{})
	for _, o := range []struct {
		Override
		d time.Duration
	}{{Override{Rule: "Down", By: "root", Reason: "r"}, time.Hour}, {Override{Rule: "Down", State: "alive"}, time.Minute}, {Override{State: "ready"}, 0}} {
		if _, err := c.beginOverride(o.Override, o.d, epoch); err != nil {
			t.Fatal(err)
		}
	}
	before := c.snapshot(context.Background(), epoch, 0)
	data, err := json.Marshal(before.Overrides)
	if err != nil {
		t.Fatal(err)
	}
	var kept []Override
	if err := json.Unmarshal(data, &kept); err != nil {
		t.Fatal(err)
	}
	after := newOverrideCore(t, Options{Overrides: kept}).snapshot(context.Background(), epoch.Add(time.Minute), 0)
	if diff := cmp.Diff([]Override{before.Overrides[0], before.Overrides[2]}, after.Overrides); diff != "" {
		t.Errorf("restored (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]OverrideChange{{Override: before.Overrides[1], Ended: true}}, after.Changes); diff != "" {
		t.Errorf("changes of the first snapshot (-want +got):\n%s", diff)
	}
}

// Overrides of what the configuration lacks end at the start with one line each, unless it is
// invalid: then it has nothing yet.
func TestOverridesOfWhatIsGone(t *testing.T) {
	until := epoch.Add(time.Hour)
	kept := []Override{{Rule: "Down", State: "alive", Until: until}, {Rule: "Tried", Until: until}, {State: "ready"}}
	gone := []Override{{Rule: "Gone", Until: until, By: "root"}, {Rule: "Down", State: "gold", Until: until}, {State: "gold"}}
	var log bytes.Buffer
	o := Options{Overrides: slices.Concat(kept, gone), Logger: slog.New(slog.NewTextHandler(&log, nil))}
	s := newOverrideCore(t, o).snapshot(t.Context(), epoch, 0)
	if diff := cmp.Diff(kept, s.Overrides); diff != "" {
		t.Errorf("restored (-want +got):\n%s", diff)
	}
	if len(s.Changes) != len(gone) || !s.Changes[0].Ended || s.Changes[0].EndedBy != "a start without this rule" || s.Changes[2].EndedBy != "a start without this state" {
		t.Errorf("changes = %+v, want the ends of %+v", s.Changes, gone)
	}
	if n := strings.Count(log.String(), " ends\""); n != len(gone) || !strings.Contains(log.String(), `msg="silence ends" rule=Gone`) {
		t.Errorf("the log has %d ends, want %d:\n%s", n, len(gone), &log)
	}
	invalid, err := newCore(Config{Invalid: errors.New("line 1")}, o, epoch)
	if err != nil || len(invalid.overrides.all) != len(kept)+len(gone) {
		t.Errorf("with an invalid configuration %d overrides and %v, want all", len(invalid.overrides.all), err)
	}
}

// Each begin and end is in one snapshot and in the log, with who and why, and without secrets.
func TestOverrideChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		var changes []string
		secrets := new(redact.List)
		secrets.Add("hunter2hunter2")
		e, err := New(Config{Files: parseRules(t, overrideRules)}, Options{
			Secrets: secrets, Logger: slog.New(slog.NewTextHandler(&log, nil)),
			Observe: func(s *Snapshot) {
				for _, c := range s.Changes {
					changes = append(changes, fmt.Sprintf("%s%s ended=%t by %q: %s", c.Rule, c.State, c.Ended, c.EndedBy, c.Why()))
				}
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); e.Run(ctx) }()
		begun, err := e.BeginOverride(Override{Rule: "Down", By: "alice", Reason: "password hunter2hunter2"}, time.Minute)
		if err != nil || !begun.Until.Equal(begun.Begin.Add(time.Minute)) {
			t.Errorf("BeginOverride() = %+v, %v, want an end after a minute", begun, err)
		}
		if s := e.Snapshot(); s.Rules[0].Silence == nil || len(s.Overrides) != 1 {
			t.Errorf("overrides = %v, want the silence in the snapshot when BeginOverride returns", s.Overrides)
		}
		time.Sleep(61 * time.Second)
		if _, err := e.BeginOverride(Override{State: Ready, By: "bob"}, 0); err != nil {
			t.Error(err)
		}
		if err := e.EndOverride("", Ready, "carol"); err != nil || len(e.Snapshot().Overrides) != 0 {
			t.Errorf("EndOverride() = %v, %v are left, want none", err, e.Snapshot().Overrides)
		}
		if err := e.EndOverride("", Ready, "carol"); err == nil {
			t.Error("EndOverride() of nothing = nil, want an error")
		}
		cancel()
		<-done
		if _, err := e.BeginOverride(Override{State: Ready}, 0); !errors.Is(err, ErrStopped) {
			t.Errorf("BeginOverride() after the end = %v, want %v", err, ErrStopped)
		}
		want := []string{
			`Down ended=false by "": by alice: password <secret>`, `Down ended=true by "": by alice: password <secret>`,
			`ready ended=false by "": by bob`, `ready ended=true by "carol": by bob`,
		}
		if diff := cmp.Diff(want, changes); diff != "" {
			t.Errorf("changes (-want +got):\n%s", diff)
		}
		for _, line := range []string{
			`msg="rule silenced" rule=Down until=2000-01-01T00:01:00.000Z by=alice reason="password <secret>"`,
			`msg="silence ends" rule=Down until=2000-01-01T00:01:00.000Z by="its end" reason="password <secret>"`,
			`msg="maintenance begins" state=ready by=bob`, `msg="maintenance ends" state=ready by=carol`,
		} {
			if strings.Count(log.String(), line) != 1 {
				t.Errorf("the log has %q %d times, want once:\n%s", line, strings.Count(log.String(), line), log.String())
			}
		}
	})
}
