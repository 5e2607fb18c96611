package main

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/vitals-health/vitals/evaluator"
)

// neverReady checks that /ready fails in every answer until a rule is pending and every
// collector has then finished two collections, and that it names the rule.
func (l *kuryrLab) neverReady(t *testing.T, rule string) {
	t.Helper()
	refused := func() answer {
		got := l.get(t, "/ready")
		if got.code == http.StatusOK {
			t.Fatalf("GET /ready = 200 while %s is pending, want a failure", rule)
		}
		return got
	}
	soon(t, func() string {
		if body := refused().body; l.rule(t, rule).Status != evaluator.Pending {
			return rule + " is not pending: " + body
		}
		return ""
	})
	l.round(t)
	want := "starting: " + rule + " pending: "
	if body := refused().body; !strings.Contains("\n"+body, "\n"+want) {
		t.Errorf("GET /ready = %q, want a line that begins with %q", body, want)
	}
	if got := l.get(t, "/alive"); got.code != http.StatusOK {
		t.Errorf("GET /alive = %d %s, want 200", got.code, got.body)
	}
}

// longFor is longer than two rounds of all collectors on a busy machine.
const longFor = 5 * time.Minute

// Keystone answers 401 from the start: the controller is not ready, although KeystoneDown
// waits. Once it was ready, the same fault has that patience.
func TestKuryrIsNotReadyOnPatience(t *testing.T) {
	t.Parallel()
	lab := newKuryrLab(t, labOptions{patience: longFor})
	refuse := func(fault string) {
		if err := lab.cloud.Set("keystone", fault); err != nil {
			t.Fatal(err)
		}
	}
	refuse("401")
	lab.run(t)
	lab.neverReady(t, "KeystoneDown")
	refuse("none")
	for _, name := range componentsOf(t, &lab.loaded.Config).Expect {
		lab.report(t, name, true, true, "")
	}
	lab.await(t, "ready", verdict{})
	refuse("401")
	soon(t, func() string {
		if got := lab.get(t, "/ready"); got.code != http.StatusOK {
			t.Fatalf("GET /ready = %d %s, want 200 while KeystoneDown is pending", got.code, got.body)
		}
		if lab.rule(t, "KeystoneDown").Status != evaluator.Pending {
			return "KeystoneDown is not pending"
		}
		return ""
	})
}

// A CNI daemon without NET_ADMIN is never ready, although NetAdminMissing waits.
func TestCNIIsNotReadyOnPatience(t *testing.T) {
	t.Parallel()
	lab := newCNILab(t, labOptions{patience: longFor})
	capabilities(capabilityLines(withoutNetAdmin)...)(t, lab)
	lab.run(t)
	lab.neverReady(t, "NetAdminMissing")
}
