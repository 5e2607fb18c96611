package server_test

import (
	"encoding/json"
	"math"
	"net/url"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/server"
)

func TestVerboseAndJSON(t *testing.T) {
	stopping := failing()
	stopping.States[0].Reason = "shutting down"
	tests := []struct {
		file, target, accept string
		snap                 *evaluator.Snapshot
		code                 int
	}{
		{"verbose_ok.txt", "/ready?verbose", "", healthy(), 200},
		{"verbose_failing.txt", "/readyz?verbose=true", "", failing(), 503},
		{"verbose_excluded.txt", "/ready?verbose&exclude=KeystoneDown&exclude=NeutronDown&exclude=PortQuotaExhausted&exclude=Nothing", "", failing(), 200},
		{"verbose_partly_excluded.txt", "/ready?verbose&exclude=KeystoneDown", "", failing(), 503},
		{"verbose_stopping.txt", "/ready?verbose", "", stopping, 503},
		{"verbose_no_rules.txt", "/started?verbose", "", failing(), 200},
		{"health_ok.json", "/alive", "application/json", healthy(), 200},
		{"health_failing.json", "/ready", "application/health+json", failing(), 503},
		{"health_excluded.json", "/ready?exclude=KeystoneDown&exclude=NeutronDown&exclude=PortQuotaExhausted&exclude=Nothing", "application/json", failing(), 200},
		{"health_stopping.json", "/ready", "application/json", stopping, 503},
		{"health_rule.json", "/ready/PortQuotaLow", "application/json", failing(), 200},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			h := server.New(fixed(tt.snap)).Handler()
			r := request(t, h, "GET", tt.target, "", "Accept", tt.accept)
			body := text(t, r)
			if r.StatusCode != tt.code {
				t.Errorf("GET %s = %d, want %d", tt.target, r.StatusCode, tt.code)
			}
			golden(t, tt.file, body)
			want := tt.accept
			if want == "" {
				want = "text/plain; charset=utf-8"
			}
			checkHeaders(t, r, want, len(body))
		})
	}
}

func TestJSONOfNaNAndInfinity(t *testing.T) {
	for value, want := range map[float64]any{math.Inf(1): "+Inf", math.Inf(-1): "-Inf", 1e-9: 1e-9, -1e21: -1e21} {
		snap := failing()
		snap.Rules[1].Observed = &value
		var got struct {
			Checks map[string][]struct{ ObservedValue any }
		}
		body := text(t, request(t, server.New(fixed(snap)).Handler(), "GET", "/ready", "", "Accept", "application/json"))
		if err := json.Unmarshal([]byte(body), &got); err != nil {
			t.Fatal(err)
		}
		if v := got.Checks["KeystoneDown"][0].ObservedValue; v != want {
			t.Errorf("observedValue of %v = %v, want %v", value, v, want)
		}
	}
}

func TestAccept(t *testing.T) {
	const plain, js, draft = "text/plain; charset=utf-8", "application/json", "application/health+json"
	tests := []struct{ name, accept, want string }{
		{"nothing", "", plain},
		{"anything", "*/*", plain},
		{"a kubelet of old", "text/plain,*/*;q=0.5", plain},
		{"JSON", "application/json", js},
		{"the draft", "application/health+json", draft},
		{"any case and spaces", " Application/JSON ; q=1.000", js},
		{"both: the first", "application/health+json, application/json", draft},
		{"both, weighted", "application/health+json;q=0.5, application/json;q=0.9", js},
		{"an exact range before a wildcard", "*/*, application/json", js},
		{"a client library that takes everything", "application/json, text/plain, */*", js},
		{"text liked better", "application/json;q=0.5, text/plain", plain},
		{"any application", "application/*", js},
		{"JSON refused", "application/json;q=0, */*", plain},
		{"everything refused", "application/json;q=0, */*;q=0", plain},
		{"nothing that there is", "image/png, text/html", plain},
		{"a broken quality", "application/json;q=high", plain},
		{"a quality above 1", "application/json;q=1.1", plain},
		{"no media ranges at all", "json, application/, /json, */json, ;;,,=", plain},
		{"parameters", `application/json; charset="utf-8"; q=0.8`, js},
		{"more ranges than are read", strings.Repeat("image/png,", 32) + "application/json", plain},
	}
	h := server.New(fixed(healthy())).Handler()
	for _, tt := range tests {
		if got := request(t, h, "GET", "/ready", "", "Accept", tt.accept).Header.Get("Content-Type"); got != tt.want {
			t.Errorf("%s: Accept %q got %s, want %s", tt.name, tt.accept, got, tt.want)
		}
	}
	r := request(t, h, "GET", "/ready", "", "Accept", "text/html", "Accept", "application/json")
	if got := r.Header.Get("Content-Type"); got != js {
		t.Errorf("two Accept lines got %s, want %s", got, js)
	}
}

// FuzzProbe sends arbitrary Accept headers and queries: the verdict must not depend
// on the form of the request, and no response may be unbounded or unescaped.
func FuzzProbe(f *testing.F) {
	f.Add("application/json;q=0.5,*/*", "verbose&exclude=KeystoneDown")
	f.Add("application/*;q=1;q=0", "exclude=%zz&exclude=a%00b;verbose")
	f.Add(`text/plain;q="0.1", application/health+json`, "exclude=x%0ay&verbose=0")
	h := server.New(fixed(failing())).Handler()
	f.Fuzz(func(t *testing.T, accept, query string) {
		r := request(t, h, "GET", "/ready?"+query, "", "Accept", accept)
		body := text(t, r)
		values, _ := url.ParseQuery(query)
		excluded := map[string]bool{}
		for _, name := range values["exclude"] {
			excluded[name] = true
		}
		want := 503
		if excluded["KeystoneDown"] && excluded["NeutronDown"] && excluded["PortQuotaExhausted"] {
			want = 200
		}
		if r.StatusCode != want {
			t.Errorf("GET /ready?%s = %d, want %d", query, r.StatusCode, want)
		}
		switch kind := r.Header.Get("Content-Type"); kind {
		case "application/json", "application/health+json":
			if !json.Valid([]byte(body)) {
				t.Errorf("invalid JSON: %s", body)
			}
		case "text/plain; charset=utf-8":
			if len(body) > 8<<10 || strings.ContainsAny(body, "\x00\r\t") {
				t.Errorf("body = %q", body)
			}
		default:
			t.Errorf("Content-Type = %q", kind)
		}
	})
}
