package history

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/vitals-health/vitals/internal/explain"
)

func TestText(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 12, 7, 0, time.UTC)
	value, age := explain.Number(0), 12.4
	rule := RuleMoment{
		Name: "KeystoneDown", Status: Failing, Since: at.Add(-10 * time.Second), Expr: "up == 0", Summary: "Keystone does not answer.",
		Value: &value, Threshold: "== 0", Labels: map[string]string{"dependency": "keystone"}, Alerts: 2,
		Note: "collector keystone fails: timeout", Cause: "DNSDown", Consequences: []string{"NeutronDown", "PortQuotaLow"},
		Collectors: []CollectorMoment{{Name: "keystone", Ran: true, Error: "timeout", AgeSeconds: &age}, {Name: "dns", Ran: true, Success: true}, {Name: "db"}},
	}
	for _, tt := range []struct {
		event Event
		want  string
	}{
		{
			Event{At: at, Generation: 48, Subject: Subject{Kind: State, Name: "ready"}, From: OK, To: Failing, LastedSeconds: 7500, Rules: []RuleMoment{rule}, RuleCount: 3},
			`2026-01-02 03:12:07  state     ready ok -> failing after 2h5m: KeystoneDown: Keystone does not answer. (generation 48)
  KeystoneDown is failing for 10s
    Keystone does not answer.
    expression  up == 0
    value       0, fails if == 0
    labels      dependency="keystone", the first of 2 alerts
    collector   keystone: fails: timeout, values 12s old
    collector   dns: succeeds, no values yet
    collector   db: no collection has finished yet
    cause       DNSDown
    causes      NeutronDown, PortQuotaLow
  and 2 rules more
`,
		},
		{
			Event{At: at, Subject: Subject{Kind: Rule, Name: "R"}, From: OK, To: Unknown, LastedSeconds: 1, Rules: []RuleMoment{{Name: "R", Status: Unknown, Since: at, Expr: "a\n> 1", Observe: true, Reason: "no data for a"}}, RuleCount: 1},
			`2026-01-02 03:12:07  rule      R ok -> unknown after 1s: no data for a (generation 0)
  R is unknown for 0s, observed only
    expression  a > 1
    reason      no data for a
`,
		},
		{
			Event{At: at, Subject: Subject{Kind: State, Name: "ready"}, To: Failing, Rules: []RuleMoment{{Name: "R", Status: Unknown, Since: at, Expr: "a > 1", Summary: "A is large.", Reason: "no data for a"}}, RuleCount: 1},
			`2026-01-02 03:12:07  state     ready is failing: R: no data for a; cannot determine whether this holds: A is large. (generation 0)
  R is unknown for 0s
    cannot determine whether this holds: A is large.
    expression  a > 1
    reason      no data for a
`,
		},
		{Event{At: at, Generation: 9, Subject: vitals(), To: OK, Reason: "started"}, "2026-01-02 03:12:07  process   vitals: started (generation 9)\n"},
		{Event{At: at, Subject: Subject{Kind: State, Name: "ready"}, To: Failing, Reason: "starting"}, "2026-01-02 03:12:07  state     ready is failing: starting (generation 0)\n"},
		{
			Event{At: at, Subject: Subject{Kind: Collector, Name: "c"}, From: OK, To: OK, Changes: 12, Begin: at.Add(-4 * time.Minute)},
			"2026-01-02 03:12:07  collector c ok -> ok, 12 changes in 4m (generation 0)\n",
		},
		{
			Event{At: at, Subject: Subject{Kind: State, Name: "ready"}, From: OK, To: OK, Changes: 2, Begin: at.Add(-23 * time.Second), Worst: Failing, WorstAt: at.Add(-19 * time.Second), FailingSeconds: 19, Rules: []RuleMoment{{Name: "RedisDown", Status: Failing, Since: at.Add(-20 * time.Second), Expr: "up == 0", Summary: "Redis does not answer."}}, RuleCount: 1},
			`2026-01-02 03:12:07  state     ready ok -> ok, 2 changes in 23s, failing 19s: RedisDown: Redis does not answer. (generation 0)
  from 2026-01-02 03:11:44, failing at 2026-01-02 03:11:48:
  RedisDown is failing for 1s
    Redis does not answer.
    expression  up == 0
`,
		},
	} {
		equal(t, tt.want, Text(&tt.event))
	}
}

func TestStatusesAreWords(t *testing.T) {
	for s := None; s <= Removed; s++ {
		body, err := json.Marshal(s)
		var back Status
		if err != nil || json.Unmarshal(body, &back) != nil || back != s {
			t.Errorf("%d: got %s %v, and back %d", s, body, err, back)
		}
	}
	var s Status
	if err := json.Unmarshal([]byte(`"fine"`), &s); err == nil {
		t.Error("an unknown word is accepted")
	}
}
