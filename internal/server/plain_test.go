package server_test

import (
	"strings"
	"testing"
	"time"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/server"
)

func TestPlainPage(t *testing.T) {
	s := failing()
	s.Collectors[1].Error = `<script>alert("x")</script>`
	s.Rules[2].RunbookURL = "javascript:alert(1)"
	s.Rules[3].Silence, s.Rules[3].Observe = &evaluator.Override{Rule: s.Rules[3].Name, Until: s.At.Add(time.Hour), By: "root", Reason: "<upgrade>"}, true
	s.Reload = evaluator.Reload{Error: "vitals.yml:3:1: unknown key"}
	h := server.New(fixed(s)).Handler()
	r := request(t, h, "GET", "/plain", "")
	body := text(t, r)
	if r.StatusCode != 200 || r.Header.Get("Content-Type") != "text/html; charset=utf-8" || !strings.HasPrefix(r.Header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("= %d %v, want 200, HTML and a policy", r.StatusCode, r.Header)
	}
	golden(t, "plain.html", body)
	for path, want := range map[string]string{"/plain": "10", "/plain?refresh=off": ""} {
		if got := request(t, h, "GET", path, "").Header.Get("Refresh"); got != want {
			t.Errorf("GET %s: Refresh = %q, want %q", path, got, want)
		}
	}
	for _, want := range []string{
		"<title>✕ ready failing – controller-0</title>", "kube-system · profile kuryr-controller", `<a href="plain?refresh=off">`,
		`<a href="started?verbose">started</a>`, "✕ failing", "✓ ok", "KeystoneDown, NeutronDown, PortQuotaExhausted", `href="https://runbooks.example.org/KeystoneDown"`,
		"Silenced until 13:00 UTC by root: &lt;upgrade&gt;.", "Failing at 2026-01-02 11:58:40 UTC.", "&lt;script&gt;", "vitals.yml:3:1: unknown key",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, bad := range []string{"<script", `href="javascript`} {
		if strings.Contains(body, bad) {
			t.Errorf("the page contains %q", bad)
		}
	}
	if strings.Index(body, "KeystoneDown</a>") > strings.Index(body, ">KubernetesDown<") {
		t.Error("a rule that is ok comes before the one that decides")
	}
}
