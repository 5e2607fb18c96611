package redact_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/internal/redact"
)

func TestListText(t *testing.T) {
	var l redact.List
	l.Use([]string{"hunter2", "abc", "s3cr3t-word", "s3cr3t-word-too", "secret", `a "b" c/d`}, nil)
	for given, want := range map[string]string{
		"nothing to hide":                       "nothing to hide",
		"the word hunter2, and hunter2":         "the word <secret>, and <secret>",
		"a short one within a word: hunter2000": "a short one within a word: hunter2000",
		"PW=hunter2":                            "PW=<secret>",
		"ähunter2":                              "ähunter2",
		"a long one within xs3cr3t-wordx":       "a long one within x<secret>x",
		"s3cr3t-word-too":                       "<secret>",
		"abc is too short":                      "abc is too short",
		"hidden already: <secret>":              "hidden already: <secret>",
		"secret <secret>secret":                 "<secret> <secret><secret>",
		`a "b" c/d`:                             "<secret>",
		`"a \"b\" c/d"`:                         `"<secret>"`,
		"?x=a+%22b%22+c%2Fd&y":                  "?x=<secret>&y",
		"cut: s3cr3t-w...":                      "cut: <secret>...",
		"cut too early to matter: s3c...":       "cut too early to matter: s3c...",
		"cut s3cr3t... and more hunt...":        "cut <secret>... and more <secret>...",
		"":                                      "",
	} {
		got := l.Text(given)
		if got != want {
			t.Errorf("Text(%q) = %q, want %q", given, got, want)
		}
		if again := l.Text(got); again != got {
			t.Errorf("Text(%q) = %q, want it unchanged", got, again)
		}
	}
	var none *redact.List
	none.Add("hunter2")
	none.Use([]string{"hunter2"}, nil)
	if got := none.Text("hunter2") + none.Label("hunter2") + new(redact.List).Text("hunter2"); got != "hunter2hunter2hunter2" {
		t.Errorf("a list without secrets returns %q, want the text", got)
	}
}

// The names of a configuration stay, because rules select by them.
func TestListLabel(t *testing.T) {
	var l redact.List
	l.Use([]string{"keystone"}, []string{"keystone", "keystone-internal"})
	l.Add("a-token-of-a-file")
	for given, want := range map[string]string{
		"keystone": "keystone", "keystone-internal": "keystone-internal", "keystone-public": "<secret>-public", "a-token-of-a-file": "<secret>",
	} {
		if got := l.Label(given); got != want {
			t.Errorf("Label(%q) = %q, want %q", given, got, want)
		}
	}
	if got, want := l.Text("keystone"), "<secret>"; got != want {
		t.Errorf("Text() = %q, want %q", got, want)
	}
}

// The secrets of the configuration before stay hidden, and those of the present one are never
// dropped, whatever is read later.
func TestListIsBounded(t *testing.T) {
	var l redact.List
	l.Use([]string{"the-first-password"}, nil)
	l.Use([]string{"the-second-password"}, nil)
	if got, want := l.Text("the-first-password the-second-password"), "<secret> <secret>"; got != want {
		t.Errorf("Text() after the configuration has changed = %q, want %q", got, want)
	}
	for i := range 400 {
		l.Add(fmt.Sprintf("token-%08d", i), "a-token-in-use")
	}
	for text, hidden := range map[string]bool{
		"the-second-password": true, "the-first-password": false, "token-00000399": true, "token-00000250": true, "token-00000000": false, "a-token-in-use": true,
	} {
		if got := l.Text(text); (got == redact.Hidden) != hidden {
			t.Errorf("Text(%q) = %q, want it hidden: %t", text, got, hidden)
		}
	}
}

// BenchmarkListText is the cost of a text without a secret, by the size of the list.
func BenchmarkListText(b *testing.B) {
	text := strings.Repeat("GET http://127.0.0.1:9696/v2.0/networks: status 500, ", 20)
	for _, n := range []int{0, 10, 200} {
		b.Run(fmt.Sprintf("secrets=%d", n), func(b *testing.B) {
			var l redact.List
			for i := range n {
				l.Add(fmt.Sprintf("%c%d-secret-%d", 'A'+i%58, i, i))
			}
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				l.Text(text)
			}
		})
	}
}
