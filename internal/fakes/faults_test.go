package fakes_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/internal/fakes"
)

const slow = 60 * time.Millisecond

func TestCommonFaults(t *testing.T) {
	l := start(t, fakes.Options{Slow: slow})
	token := l.newToken()
	calls := []struct {
		dependency, healthy string
		errorKey            []string
		call                func(timeout time.Duration) answer
	}{
		{"kubernetes", "200", []string{"code"}, func(timeout time.Duration) answer {
			return l.do(timeout, http.MethodGet, l.KubernetesURL()+"/api/v1/pods?limit=1", "", "Authorization", "Bearer "+l.Token())
		}},
		{"keystone", "201", []string{"error", "code"}, func(timeout time.Duration) answer {
			return l.do(timeout, http.MethodPost, l.KeystoneURL()+"/auth/tokens", l.login(l.Password()))
		}},
		{"neutron", "200", nil, func(timeout time.Duration) answer {
			return l.do(timeout, http.MethodGet, l.NeutronURL()+"/v2.0/networks?limit=1", "", "X-Auth-Token", token)
		}},
	}
	for _, c := range calls {
		for _, f := range []struct{ fault, want string }{
			{"refuse", "refused"}, {"hang", "timeout"}, {"slow", c.healthy}, {"empty", "dropped"},
			{"401", "401"}, {"403", "403"}, {"500", "500"}, {"503", "503"},
		} {
			t.Run(c.dependency+" "+f.fault, func(t *testing.T) {
				timeout := patience
				if f.fault == "hang" {
					timeout = 100 * time.Millisecond
				}
				l.set(c.dependency, f.fault)
				began := time.Now()
				got := c.call(timeout)
				if got.outcome != f.want {
					t.Errorf("outcome = %s, want %s: %s", got.outcome, f.want, got.body)
				}
				if took := time.Since(began); f.fault == "slow" && took < slow {
					t.Errorf("answered after %s, want at least %s", took, slow)
				}
				if c.errorKey != nil && strings.HasPrefix(f.want, "4") || c.errorKey != nil && strings.HasPrefix(f.want, "5") {
					if code := field(t, got.body, c.errorKey...); code != f.want {
						t.Errorf("code in the body = %s, want %s: %s", code, f.want, got.body)
					}
				}
				l.set(c.dependency, fakes.None)
				if got := c.call(patience); got.outcome != c.healthy {
					t.Errorf("outcome after healing = %s, want %s: %s", got.outcome, c.healthy, got.body)
				}
			})
		}
	}
}

func TestFaultAffectsOneDependency(t *testing.T) {
	l := start(t, fakes.Options{})
	token := l.newToken()
	l.set("keystone", "refuse")
	if got := l.network("/v2.0/networks", token).outcome; got != "200" {
		t.Errorf("networks while Keystone refuses = %s, want 200: Neutron validates it without Keystone", got)
	}
	if got := l.kube("/readyz").outcome; got != "200" {
		t.Errorf("readyz while Keystone refuses = %s, want 200", got)
	}
}

func TestRefuseDropsOpenConnectionsAndKeepsThePort(t *testing.T) {
	l := start(t, fakes.Options{})
	w := l.watch("/api/v1/pods?watch=1&resourceVersion=1000")
	before := l.KubernetesURL()
	for range 20 {
		l.set("kubernetes", "refuse")
		if got := l.kube("/readyz").outcome; got != "refused" {
			t.Fatalf("readyz = %s, want refused", got)
		}
		l.set("kubernetes", fakes.None)
		if got := l.kube("/readyz").outcome; got != "200" {
			t.Fatalf("readyz after healing = %s, want 200", got)
		}
	}
	if l.KubernetesURL() != before {
		t.Errorf("KubernetesURL() = %s, want %s as before", l.KubernetesURL(), before)
	}
	w.wantEnd()
}

func TestHangingRequestIsAnsweredAfterTheFault(t *testing.T) {
	l := start(t, fakes.Options{})
	l.set("kubernetes", "hang")
	answers := make(chan answer)
	go func() { answers <- l.kube("/readyz") }()
	select {
	case got := <-answers:
		t.Fatalf("readyz while it hangs = %s, want no answer", got.outcome)
	case <-time.After(100 * time.Millisecond):
	}
	l.set("kubernetes", fakes.None)
	if got := <-answers; got.outcome != "200" {
		t.Errorf("readyz after healing = %s, want 200", got.outcome)
	}
}

func TestSetRejectsUnknownNames(t *testing.T) {
	l := start(t, fakes.Options{})
	for _, c := range []struct{ name, dependency, fault, want string }{
		{"unknown dependency", "octavia", "refuse", `unknown dependency "octavia": expected one of kubernetes, keystone, neutron`},
		{
			"unknown fault", "keystone", "fire",
			`unknown fault "fire" of keystone: expected one of none, refuse, hang, slow, empty, 401, 403, 500, 503, wrong-password, no-network-endpoint`,
		},
		{
			"fault of another dependency", "kubernetes", "low-ports",
			`unknown fault "low-ports" of kubernetes: expected one of none, refuse, hang, slow, empty, 401, 403, 500, 503, drop-watch, freeze-watch, deny-access, remove-crd`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := l.Set(c.dependency, c.fault)
			if !errors.Is(err, fakes.ErrUnknown) || err.Error() != c.want {
				t.Errorf("Set() = %v, want %s", err, c.want)
			}
		})
	}
}

func TestFaultsHasTheActiveFault(t *testing.T) {
	l := start(t, fakes.Options{})
	l.set("neutron", "low-ports")
	var got []string
	for _, d := range l.Faults() {
		got = append(got, d.Dependency+" "+d.Active)
		if slices.Contains(d.Faults, fakes.None) || len(d.Faults) < 9 {
			t.Errorf("Faults of %s = %v, want at least nine and not none", d.Dependency, d.Faults)
		}
	}
	want := []string{"kubernetes none", "keystone none", "neutron low-ports"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Faults() (-want +got):\n%s", diff)
	}
}

func TestFaultsDuringRequests(t *testing.T) {
	l := start(t, fakes.Options{Slow: time.Millisecond, EventInterval: time.Millisecond})
	var busy sync.WaitGroup
	for _, d := range l.Faults() {
		for worker := range 2 {
			busy.Go(func() {
				for i := range 40 {
					if err := l.Set(d.Dependency, d.Faults[(i*3+worker)%len(d.Faults)]); err != nil {
						t.Errorf("Set() = %v, want nil", err)
					}
					l.do(10*time.Millisecond, http.MethodGet, l.KubernetesURL()+"/api/v1/pods?watch=1", "", "Authorization", "Bearer "+l.Token())
					l.Faults()
				}
			})
		}
	}
	busy.Wait()
	for _, d := range l.Faults() {
		l.set(d.Dependency, fakes.None)
	}
	token := l.newToken()
	if got := l.network("/v2.0/networks", token).outcome; got != "200" {
		t.Errorf("networks after the storm = %s, want 200", got)
	}
	if got := l.kube("/readyz").outcome; got != "200" {
		t.Errorf("readyz after the storm = %s, want 200", got)
	}
}

func TestCloseStopsAllServers(t *testing.T) {
	l := start(t, fakes.Options{})
	w := l.watch("/api/v1/pods?watch=1")
	urls := []string{l.KubernetesURL(), l.KeystoneURL(), l.NeutronURL()}
	hanging := make(chan answer)
	l.set("keystone", "hang")
	go func() { hanging <- l.do(patience, http.MethodPost, l.KeystoneURL()+"/auth/tokens", "{}") }()
	for range 2 {
		if err := l.Close(); err != nil {
			t.Errorf("Close() = %v, want nil", err)
		}
	}
	w.wantEnd()
	if got := <-hanging; got.outcome == "timeout" || got.header != nil {
		t.Errorf("hanging request = %s, want it dropped", got.outcome)
	}
	for _, url := range urls {
		if got := l.do(patience, http.MethodGet, url, "").outcome; got != "refused" {
			t.Errorf("GET %s = %s, want refused", url, got)
		}
	}
	if err := l.Set("keystone", fakes.None); err == nil {
		t.Error("Set() after Close = nil, want an error")
	}
}
