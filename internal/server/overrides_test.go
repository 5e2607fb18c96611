package server_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/server"
	"github.com/vitals-health/vitals/internal/server/verdicts"
)

// operated keeps what an operator begins and ends.
type operated struct{ calls []string }

func (o *operated) BeginOverride(v evaluator.Override, d time.Duration) (evaluator.Override, error) {
	switch v.Rule {
	case "Dwn":
		return v, &evaluator.OverrideError{Missing: true, Text: `there is no rule "Dwn"`}
	case "Ordinary":
		return v, &evaluator.OverrideError{Text: "not obeyed"}
	case "Late":
		return v, evaluator.ErrStopped
	}
	o.calls = append(o.calls, fmt.Sprintf("begin rule=%q state=%q for %s by %s: %s", v.Rule, v.State, d, v.By, v.Reason))
	v.Begin, v.Until = noon(), noon().Add(d)
	return v, nil
}

func (o *operated) EndOverride(rule, state, by string) error {
	if rule == "Dwn" {
		return &evaluator.OverrideError{Missing: true, Text: "not silenced"}
	}
	o.calls = append(o.calls, fmt.Sprintf("end rule=%q state=%q by %s", rule, state, by))
	return nil
}

func operating(token string) (*server.Server, *operated) {
	o, taken := fixed(healthy()), &operated{}
	o.Overrides, o.OperatorToken = taken, func() string { return token }
	o.ReportToken = func() string { return "component" }
	return server.New(o), taken
}

func TestOverrides(t *testing.T) {
	const silence = "/api/v1/silences/KeystoneDown"
	tests := []struct {
		name, method, path, body string
		code                     int
		answer, call             string
	}{
		{"a silence", "PUT", silence, `{"for": "2h", "reason": "upgrade"}`, 200, "{\n  \"rule\": \"KeystoneDown\",\n  \"begin\": \"2026-01-02T12:00:00Z\",\n  \"until\": \"2026-01-02T14:00:00Z\",\n  \"by\": \"a client at 192.0.2.1\",\n  \"reason\": \"upgrade\"\n}\n",
			`begin rule="KeystoneDown" state="" for 2h0m0s by a client at 192.0.2.1: upgrade`},
		{"of one state", "PUT", silence, `{"for": "1d", "state": "ready"}`, 200, "", `begin rule="KeystoneDown" state="ready" for 24h0m0s by a client at 192.0.2.1: `},
		{"maintenance", "PUT", "/api/v1/maintenance/ready", `{"reason": "drain"}`, 200, "", `begin rule="" state="ready" for 0s by a client at 192.0.2.1: drain`},
		{"a name with a slash", "PUT", "/api/v1/silences/a/b c", `{"for": "1m"}`, 200, "", `begin rule="a/b c" state="" for 1m0s by a client at 192.0.2.1: `},
		{"the end of a silence", "DELETE", silence + "?state=ready", "", 204, "", `end rule="KeystoneDown" state="ready" by a client at 192.0.2.1`},
		{"the end of maintenance", "DELETE", "/api/v1/maintenance/ready", "", 204, "", `end rule="" state="ready" by a client at 192.0.2.1`},
		{"no such rule", "PUT", "/api/v1/silences/Dwn", `{"for": "2h"}`, 404, "there is no rule \"Dwn\"\n", ""},
		{"no such silence", "DELETE", "/api/v1/silences/Dwn", "", 404, "not silenced\n", ""},
		{"an invalid one", "PUT", "/api/v1/silences/Ordinary", `{"for": "2h"}`, 400, "not obeyed\n", ""},
		{"the process ends", "PUT", "/api/v1/silences/Late", `{"for": "2h"}`, 503, evaluator.ErrStopped.Error() + "\n", ""},
		{"no duration", "PUT", silence, `{"for": "soon"}`, 400, "for \"soon\": expected a duration such as 30m, 2h or 1d, at most 30d\n", ""},
		{"no time", "PUT", silence, `{"for": "0s"}`, 400, "for \"0s\": expected a duration such as 30m, 2h or 1d, at most 30d\n", ""},
		{"a negative one", "PUT", silence, `{"for": "-2h"}`, 400, "for \"-2h\": expected a duration such as 30m, 2h or 1d, at most 30d\n", ""},
		{"a state twice", "PUT", "/api/v1/maintenance/ready", `{"state": "gold"}`, 400, "the state of maintenance is in the path\n", ""},
		{"an unknown field", "PUT", silence, `{"until": "2h"}`, 400, "read request: json: unknown field \"until\": expected JSON such as {\"for\": \"2h\", \"reason\": \"...\"}\n", ""},
		{"too long", "PUT", silence, `{"reason": "` + strings.Repeat("x", 4096) + `"}`, 413, "the request is longer than 4096 bytes\n", ""},
		{"no name", "PUT", "/api/v1/silences/", `{"for": "2h"}`, 404, "nothing is at this path: expected /api/v1/silences/RULE\n", ""},
		{"another method", "POST", silence, `{"for": "2h"}`, 405, "method POST is not allowed here: use PUT or DELETE\n", ""},
		{"a change of the list", "PUT", "/api/v1/silences", `{"for": "2h"}`, 405, "method PUT is not allowed here: use GET or HEAD\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, taken := operating("")
			r := request(t, s.Local(allowAll), tt.method, tt.path, tt.body)
			if body := text(t, r); r.StatusCode != tt.code || tt.answer != "" && body != tt.answer {
				t.Errorf("%s = %d %q, want %d %q", tt.method, r.StatusCode, body, tt.code, tt.answer)
			}
			if got := strings.Join(taken.calls, "\n"); got != tt.call {
				t.Errorf("taken %q, want %q", got, tt.call)
			}
		})
	}
}

// On the Unix socket the permissions are those of reports. Over the network the token is another one.
func TestOverridesNeedPermission(t *testing.T) {
	refuse := func(*http.Request) error { return fmt.Errorf("the user 1000 may read and not write") }
	token := func(given string) []string { return []string{"Authorization", "Bearer " + given} }
	for _, tt := range []struct {
		name, token string
		local       func(*http.Request) error
		header      []string
		code        int
		body        string
	}{
		{"a reader of the Unix socket", "s3cret", refuse, token("s3cret"), 403, "the user 1000 may read and not write\n"},
		{"a writer", "", allowAll, nil, 200, ""},
		{"a page of another site", "", allowAll, []string{"Sec-Fetch-Site", "cross-site"}, 403, "cross-origin requests are not allowed here\n"},
		{"no token configured", "", nil, token(""), 403, "silences are accepted on the Unix socket only: server.operator_token is not set in the configuration\n"},
		{"the token of components alone", "", nil, token("component"), 403, "silences are accepted on the Unix socket only: server.operator_token is not set in the configuration\n"},
		{"the token of components", "s3cret", nil, token("component"), 401, "silences over the network need the header Authorization: Bearer TOKEN with the token of server.operator_token\n"},
		{"no token", "s3cret", nil, nil, 401, "silences over the network need the header Authorization: Bearer TOKEN with the token of server.operator_token\n"},
		{"the token", "s3cret", nil, token("s3cret"), 200, ""},
	} {
		for _, method := range []string{"PUT", "DELETE"} {
			s, taken := operating(tt.token)
			r := request(t, s.Local(tt.local), method, "/api/v1/silences/KeystoneDown", `{"for": "1h"}`, tt.header...)
			want := tt.code
			if method == "DELETE" && want == 200 {
				want = 204
			}
			if body := text(t, r); r.StatusCode != want || tt.body != "" && body != tt.body || (len(taken.calls) == 1) != (tt.code == 200) {
				t.Errorf("%s: %s = %d %q, %q taken, want %d %q", tt.name, method, r.StatusCode, body, taken.calls, want, tt.body)
			}
		}
	}
	s := server.New(fixed(healthy()))
	if r := request(t, s.Local(allowAll), "PUT", "/api/v1/silences/KeystoneDown", `{"for": "1h"}`); r.StatusCode != 404 {
		t.Errorf("PUT without an evaluator = %d, want 404", r.StatusCode)
	}
	if r := request(t, s.Probes(), "PUT", "/api/v1/silences/KeystoneDown", `{"for": "1h"}`); r.StatusCode != 404 {
		t.Errorf("PUT on the listener of probes = %d, want 404", r.StatusCode)
	}
}

// silenced is a snapshot with a silenced rule that fails, one that is ok, and maintenance.
func silenced() *evaluator.Snapshot {
	s := failing()
	s.Overrides = []evaluator.Override{
		{Rule: "KeystoneDown", Begin: noon(), Until: noon().Add(2 * time.Hour), By: "root (uid 0)", Reason: "upgrade"},
		{Rule: "KubernetesDown", State: "ready", Begin: noon(), Until: noon().Add(24 * time.Hour)},
		{State: "ready", Begin: noon(), By: "root (uid 0)"},
	}
	for i, o := range map[int]int{1: 0, 0: 1} {
		s.Rules[i].Silence, s.Rules[i].Observe, s.Rules[i].Decides = &s.Overrides[o], true, false
	}
	s.States[0].Maintenance, s.States[0].Reason = &s.Overrides[2], "maintenance: by root (uid 0), until it is switched off"
	return s
}

func TestSilencesAreShown(t *testing.T) {
	h := server.New(fixed(silenced())).Handler()
	plain := text(t, request(t, h, "GET", "/plain", ""))
	for _, want := range []string{">Silenced until 14:00 UTC by root (uid 0): upgrade. Keystone does not answer", ">Silenced until 2026-01-03 12:00 UTC. <", ">maintenance: by root (uid 0), until it is switched off"} {
		if !strings.Contains(plain, want) {
			t.Errorf("/plain lacks %q:\n%s", want, plain)
		}
	}
	verbose := text(t, request(t, h, "GET", "/ready?verbose", ""))
	for _, want := range []string{
		"[+]KubernetesDown silenced until 2026-01-03 12:00 UTC (ok)\n",
		"[+]KeystoneDown silenced until 14:00 UTC (failing: Keystone does not answer or rejects the credentials. (value 0, since 2026-01-02T11:58:30Z))\n",
		"[-]ready failing: maintenance: by root (uid 0), until it is switched off\n",
	} {
		if !strings.Contains(verbose, want) {
			t.Errorf("/ready?verbose = %s, want %q in it", verbose, want)
		}
	}
	if body := text(t, request(t, h, "GET", "/ready", "")); !strings.HasPrefix(body, "maintenance: by root (uid 0), until it is switched off\n") {
		t.Errorf("/ready = %q, want the maintenance first", body)
	}
	if body := text(t, request(t, h, "GET", "/ready/KeystoneDown", "", "Accept", "application/json")); !strings.Contains(body, `"silencedUntil": "2026-01-02T14:00:00Z"`) {
		t.Errorf("/ready/KeystoneDown = %s, want the end of the silence", body)
	}
	var status server.Status
	if err := json.Unmarshal([]byte(text(t, request(t, h, "GET", "/api/v1/status", ""))), &status); err != nil {
		t.Fatal(err)
	}
	all := silenced().Overrides
	if diff := cmp.Diff([]*evaluator.Override{&all[1], &all[0], &all[2]}, []*evaluator.Override{status.Rules[0].Silence, status.Rules[1].Silence, status.States[0].Maintenance}); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	for path, want := range map[string]map[string][]evaluator.Override{
		"/api/v1/silences": {"silences": all[:2]}, "/api/v1/maintenance": {"maintenance": all[2:]},
	} {
		var got map[string][]evaluator.Override
		if err := json.Unmarshal([]byte(text(t, request(t, h, "GET", path, ""))), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

// An exec probe shows that a state passes only because of silences.
func TestSilencesAreNotesOfTheVerdict(t *testing.T) {
	s := silenced()
	s.States[0] = evaluator.State{Name: "ready", Verdict: evaluator.Pass, Rules: []int{0, 1, 2, 3, 4, 7}}
	for _, i := range []int{2, 3, 4, 7} {
		s.Rules[i].Silence = &s.Overrides[0]
	}
	v, _ := verdicts.Of(s, "ready", noon())
	want := []string{"KeystoneDown silenced until 14:00 UTC (failing)", "NeutronDown silenced until 14:00 UTC (failing)", "PortQuotaExhausted silenced until 14:00 UTC (unknown)", "2 more rules silenced"}
	if diff := cmp.Diff(want, v.Notes[:4]); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}

// The page gets with its status whether this client may begin silences, and how.
func TestPageHasWhoMayWrite(t *testing.T) {
	with, without := fixed(healthy()), fixed(healthy())
	with.Overrides = &operated{}
	token := func(o server.Options) *server.Server {
		o.OperatorToken = func() string { return "token" }
		return server.New(o)
	}
	for _, tt := range []struct {
		name, want string
		h          http.Handler
	}{
		{"the socket", "allowed", server.New(with).Local(allowAll)},
		{"the socket, for reading alone", "denied", token(with).Local(func(*http.Request) error { return errors.New("no") })},
		{"the network", "denied", server.New(with).Handler()},
		{"the network with a token", "token", token(with).Handler()},
		{"without silences", "denied", token(without).Local(allowAll)},
	} {
		var got server.Changes
		if err := json.Unmarshal([]byte(text(t, request(t, tt.h, "GET", "/api/v1/status?changes=", ""))), &got); err != nil || got.Overrides != tt.want {
			t.Errorf("%s: overrides = %q, %v, want %q", tt.name, got.Overrides, err, tt.want)
		}
	}
}

// recorded sets written at the first byte of an answer.
type recorded struct {
	http.ResponseWriter
	written *atomic.Bool
}

func (r recorded) WriteHeader(code int) {
	r.written.Store(true)
	r.ResponseWriter.WriteHeader(code)
}

func (r recorded) Write(data []byte) (int, error) {
	r.written.Store(true)
	return r.ResponseWriter.Write(data)
}

// The answer to a change waits for the storage, and names a change that it does not have. A probe
// does not wait.
func TestOverridesAreStored(t *testing.T) {
	const silence, maintenance, warning = "/api/v1/silences/KeystoneDown", "/api/v1/maintenance/ready", "\"warning\": \"not stored yet: the end of the process loses this change\"\n}\n"
	for _, tt := range []struct {
		method, path string
		stored       bool
		code         int
		body         string
	}{
		{"PUT", silence, true, 200, "\"until\": "},
		{"PUT", silence, false, 200, warning},
		{"PUT", maintenance, false, 200, warning},
		{"DELETE", silence, true, 204, ""},
		{"DELETE", silence, false, 200, "{\n  " + warning},
		{"DELETE", maintenance, false, 200, "{\n  " + warning},
	} {
		o := fixed(healthy())
		o.Overrides = &operated{}
		waits, disk := make(chan struct{}), make(chan bool)
		var written atomic.Bool
		o.Stored = func() bool {
			if written.Load() {
				t.Errorf("%s %s is answered before it is stored", tt.method, tt.path)
			}
			close(waits)
			return <-disk
		}
		handler := server.New(o).Local(allowAll)
		records := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			handler.ServeHTTP(recorded{w, &written}, r)
		})
		answer := make(chan *http.Response, 1)
		go func() { answer <- request(t, records, tt.method, tt.path, `{"for": "2h"}`) }()
		<-waits
		if r := request(t, handler, "GET", "/ready", ""); r.StatusCode != 200 {
			t.Errorf("/ready during the wait = %d, want 200", r.StatusCode)
		}
		disk <- tt.stored
		r := <-answer
		if body := text(t, r); r.StatusCode != tt.code || !strings.Contains(body, tt.body) || tt.stored == strings.Contains(body, "warning") {
			t.Errorf("%s %s = %d %q, want %d with %q", tt.method, tt.path, r.StatusCode, body, tt.code, tt.body)
		}
	}
}
