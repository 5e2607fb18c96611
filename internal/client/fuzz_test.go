package client

import (
	"strings"
	"testing"
)

// FuzzParseURL reads the address of a daemon. An error never contains a part of it that
// may be a password.
func FuzzParseURL(f *testing.F) {
	for _, text := range []string{"http://host:8080", "https://u:p@[::1]", "ftp://a", "http://a:99999", "http://a/?x", "http://a/#x", "%", "http://:8080", "http://a:0"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := ParseURL(text)
		if (u == nil) != (err != nil) {
			t.Fatalf("ParseURL(%q) = %v, %v, want one of them", text, u, err)
		}
		if err != nil {
			if !strings.HasPrefix(err.Error(), "--url: ") || len(err.Error()) > len(text)+64 {
				t.Errorf("ParseURL(%q) = %q, want a short error", text, err)
			}
			return
		}
		if again, err := ParseURL(u.String()); err != nil || again.Host != u.Host || again.Path != u.Path {
			t.Errorf("ParseURL(%q) = %s, written again %v, %v", text, u, again, err)
		}
	})
}
