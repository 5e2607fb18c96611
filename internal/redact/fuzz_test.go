package redact_test

import (
	"strings"
	"testing"

	"github.com/vitals-health/vitals/internal/redact"
)

// FuzzText hides secrets by the form of a text, which may be an answer of any server.
func FuzzText(f *testing.F) {
	for _, text := range []string{
		"http://user:hunter2@host/?token=abc&x=1", "password = 'hunter2 x'", "X-Auth-Token: hunter2", `{"password":"hunter2"}`, "-u user:hunter2", "--password hunter2", "a=b", "://@", "token=", "\xff=\x00",
	} {
		f.Add(text, "hunter2")
	}
	f.Add(`"h\u0075nter" "a\"b"`, `a"b`)
	f.Fuzz(func(t *testing.T, text, secret string) {
		once := redact.Text(text)
		if len(once) > len(text)*(1+len(redact.Hidden)) {
			t.Errorf("Text(%q) = %d bytes", text, len(once))
		}
		redact.Sent(text)
		redact.Secrets(text, secret)
		if got := redact.Config([]string{text, secret}); len(got) != 2 {
			t.Errorf("Config() = %q, want two elements", got)
		}
		// The mark of a hidden secret may be one, or complete one.
		if strings.ContainsAny(secret, "<>") || strings.Contains(redact.Hidden, secret) {
			return
		}
		if got := redact.Values(text, []string{secret}); strings.Contains(got, secret) {
			t.Errorf("Values(%q) = %q, want it without %q", text, got, secret)
		}
		link := "http://user:" + "0123456789" + "@host/" + strings.Map(inPath, text)
		if got := redact.Text(link); strings.Contains(got, "user:0123456789@") {
			t.Errorf("Text(%q) = %q, want no password", link, got)
		}
	})
}

// inPath keeps the characters of a path.
func inPath(r rune) rune {
	if r >= 'a' && r <= 'z' || r == '/' || r == '.' {
		return r
	}
	return -1
}
