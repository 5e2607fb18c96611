package kubernetes

import "testing"

func TestTokenIsNotSentUnencryptedToAnotherHost(t *testing.T) {
	for server, want := range map[string]string{
		"https://192.0.2.1:6443":  "token",
		"http://192.0.2.1:8080":   "",
		"http://api.example:8080": "",
		"http://localhost:8080":   "token",
		"http://127.0.0.1:8080":   "token",
		"http://[::1]:8080":       "token",
	} {
		c := &Config{Server: server, TokenFile: "token"}
		if got := c.inlineConfig().BearerTokenFile; got != want {
			t.Errorf("token file for %s = %q, want %q", server, got, want)
		}
	}
}
