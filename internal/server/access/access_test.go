package access_test

import (
	"cmp"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/vitals-health/vitals/internal/server/access"
)

func TestRefusal(t *testing.T) {
	allowed := func(*http.Request) error { return nil }
	denied := func(*http.Request) error { return errors.New("user 7 may not write") }
	const needsToken = "reports over the network need the header Authorization: Bearer TOKEN with the token of server.component_token"
	for _, tt := range []struct {
		name, token, authorization, origin string
		mayWrite                           func(*http.Request) error
		code                               int
		text                               string
	}{
		{name: "over the Unix socket", mayWrite: allowed},
		{name: "over the Unix socket without the permission", mayWrite: denied, code: 403, text: "user 7 may not write"},
		{name: "no token is configured", code: 403, text: "reports are accepted on the Unix socket only: server.component_token is not set in the configuration"},
		{name: "without a token", token: "x", code: 401, text: needsToken},
		{name: "with another token", token: "x", authorization: "Bearer y", code: 401, text: needsToken},
		{name: "with another scheme", token: "x", authorization: "Basic x", code: 401, text: needsToken},
		{name: "with the token", token: "x", authorization: "bearer x"},
		{name: "from a page of another origin", token: "x", authorization: "Bearer x", origin: "http://evil.example", code: 403, text: "cross-origin requests are not allowed here"},
	} {
		r := httptest.NewRequest(http.MethodPut, "http://127.0.0.1/", http.NoBody)
		r.Header.Set("Authorization", tt.authorization)
		r.Header.Set("Origin", cmp.Or(tt.origin, "http://127.0.0.1"))
		got := access.New(nil).Refusal(r, tt.mayWrite, access.Token{Noun: "reports", Key: "server.component_token", Value: func() string { return tt.token }})
		if got == nil {
			got = &access.Refusal{}
		}
		if want := (access.Refusal{Code: tt.code, Text: tt.text}); *got != want {
			t.Errorf("%s: Refusal() = %+v, want %+v", tt.name, *got, want)
		}
	}
}

func TestClient(t *testing.T) {
	r := httptest.NewRequest(http.MethodPut, "/", http.NoBody)
	for address, want := range map[string]string{"192.0.2.1:1234": "a client at 192.0.2.1", "[2001:db8::1]:80": "a client at 2001:db8::1", "@": "a client at @"} {
		r.RemoteAddr = address
		if got := access.Client(r); got != want {
			t.Errorf("Client() from %s = %q, want %q", address, got, want)
		}
	}
	r = r.WithContext(access.WithPeer(r.Context(), func() string { return "root" }))
	if got := access.Client(r); got != "root" {
		t.Errorf("Client() with a peer = %q, want root", got)
	}
}
