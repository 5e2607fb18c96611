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

// A runbook of a rule file becomes a link only with http or https.
func TestPlainPageLinks(t *testing.T) {
	for url, want := range map[string]string{
		"https://runbooks.example.org/a?b=1&c=2": `<a href="https://runbooks.example.org/a?b=1&amp;c=2" rel="noreferrer">KeystoneDown</a>`,
		"HTTP://runbooks.example.org":            `<a href="HTTP://runbooks.example.org" rel="noreferrer">KeystoneDown</a>`,
		`https://a"onclick="alert(1)`:            `<a href="https://a&#34;onclick=&#34;alert(1)" rel="noreferrer">KeystoneDown</a>`,
		"mailto:team@example.org":                `<th scope="row">KeystoneDown</th>`,
		"runbooks/keystone:down":                 `<th scope="row">KeystoneDown</th>`,
		"/runbooks/keystone":                     `<th scope="row">KeystoneDown</th>`,
		"//runbooks.example.org":                 `<th scope="row">KeystoneDown</th>`,
		"https:alert(1)":                         `<th scope="row">KeystoneDown</th>`,
		"ftp://runbooks.example.org":             `<th scope="row">KeystoneDown</th>`,
		"":                                       `<th scope="row">KeystoneDown</th>`,
		"javascript:alert(1)":                    `<th scope="row">KeystoneDown</th>`,
		" JavaScript:alert(1)":                   `<th scope="row">KeystoneDown</th>`,
		"java\nscript:alert(1)":                  `<th scope="row">KeystoneDown</th>`,
		"\x01javascript:alert(1)":                `<th scope="row">KeystoneDown</th>`,
		"data:text/html,<script>alert(1)":        `<th scope="row">KeystoneDown</th>`,
		"vbscript:a":                             `<th scope="row">KeystoneDown</th>`,
	} {
		s := failing()
		s.Rules[0].Name, s.Rules[0].RunbookURL = "KeystoneDown", url
		body := text(t, request(t, server.New(fixed(s)).Handler(), "GET", "/plain", ""))
		if !strings.Contains(body, want) {
			t.Errorf("a rule with the runbook %q: the page lacks %s", url, want)
		}
	}
}

// No text of a snapshot or of the options is markup.
func TestPlainPageEscapes(t *testing.T) {
	const hostile = `"'><script>alert(1)</script>`
	s := failing()
	for i := range s.States {
		s.States[i].Name, s.States[i].Reason = hostile, hostile
	}
	for i := range s.Rules {
		r := &s.Rules[i]
		r.Name, r.State, r.Summary, r.Reason, r.RunbookURL = hostile, hostile, hostile, hostile, hostile
		r.Silence = &evaluator.Override{Rule: r.Name, Until: s.At.Add(time.Hour), By: hostile, Reason: hostile}
	}
	for i := range s.Collectors {
		c := &s.Collectors[i]
		c.Name, c.Kind, c.Error, c.Note = hostile, hostile, hostile, hostile
	}
	s.Reload = evaluator.Reload{Error: hostile}
	opts := fixed(s)
	opts.About = server.About{Title: hostile, Host: hostile, Namespace: hostile, Configuration: hostile}
	body := text(t, request(t, server.New(opts).Handler(), "GET", "/plain", ""))
	const escaped = "&#34;&#39;&gt;&lt;script&gt;"
	if strings.Contains(body, "<script") || strings.Contains(body, `"'`) || strings.Count(body, escaped) < 40 {
		t.Errorf("the page has %d escaped texts, want all of them:\n%s", strings.Count(body, escaped), body)
	}
}
