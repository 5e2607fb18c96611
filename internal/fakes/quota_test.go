package fakes_test

import (
	"testing"

	"github.com/vitals-health/vitals/internal/fakes"
)

func TestSetQuotaUntilUndone(t *testing.T) {
	l := start(t, fakes.Options{})
	token := l.newToken()
	details := func() string {
		return field(t, l.network("/v2.0/quotas/"+l.ProjectID()+"/details", token).body, "quota", "port")
	}
	const usual = `{"limit":100,"used":5,"reserved":0}`
	if got := details(); got != usual {
		t.Errorf("quota = %s, want %s", got, usual)
	}
	undo := l.SetQuota("port", 10, 12, 3)
	if got, want := details(), `{"limit":10,"used":12,"reserved":3}`; got != want {
		t.Errorf("quota = %s, want %s", got, want)
	}
	undo()
	l.SetQuota("trunk", 1, 1, 0)()
	if got := details(); got != usual {
		t.Errorf("quota after undo = %s, want %s", got, usual)
	}
	if got := field(t, l.network("/v2.0/quotas/"+l.ProjectID()+"/details", token).body, "quota", "trunk"); got != "" {
		t.Errorf("quota that did not exist = %s after undo, want none", got)
	}
}

func TestTraffic(t *testing.T) {
	l := start(t, fakes.Options{})
	for range 3 {
		l.kube("/readyz")
	}
	l.set("kubernetes", "empty")
	l.kube("/readyz")
	l.set("kubernetes", "refuse")
	l.kube("/readyz")
	connections, requests := l.Traffic("kubernetes")
	if connections != 4 || requests != 4 {
		t.Errorf("Traffic(kubernetes) = %d connections, %d requests, want 4 and 4: refused connections do not count", connections, requests)
	}
	if c, r := l.Traffic("neutron"); c != 0 || r != 0 {
		t.Errorf("Traffic(neutron) = %d, %d, want nothing", c, r)
	}
}
