package fakes

import (
	"net/http"
	"time"
)

// keystone imitates Keystone's version 3 API: version discovery, and tokens issued,
// validated and revoked, for one user with one project.
//
// Facts: https://docs.openstack.org/api-ref/identity/v3/.
type keystone struct {
	service  *service
	network  func() string // the URL of Neutron
	password string
	tokens   *tokens
}

func newKeystone(s *service, network func() string, password string, lifetime time.Duration) *keystone {
	k := &keystone{service: s, network: network, password: password, tokens: newTokens(lifetime)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", k.versions)
	mux.HandleFunc("GET /v3", k.version)
	mux.HandleFunc("GET /v3/{$}", k.version)
	mux.HandleFunc("POST /v3/auth/tokens", k.authenticate)
	mux.HandleFunc("GET /v3/auth/tokens", k.validate)
	mux.HandleFunc("DELETE /v3/auth/tokens", k.revoke)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { k.deny(w, r, http.StatusNotFound) })
	s.answer, s.deny = tagged(mux), k.deny
	s.onFault = func(fault string) {
		if fault == faultPassword {
			k.tokens.revokeAll()
		}
	}
	return k
}

// tagged sets the request's ID in every response.
func tagged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tagRequest(w)
		next.ServeHTTP(w, r)
	})
}

// deny answers with an error in Keystone's shape.
func (k *keystone) deny(w http.ResponseWriter, _ *http.Request, code int) {
	message := http.StatusText(code)
	switch code {
	case http.StatusUnauthorized:
		message = "The request you have made requires authentication."
		w.Header().Set("Www-Authenticate", `Keystone uri="`+k.service.url()+`/v3"`)
	case http.StatusForbidden:
		message = "You are not authorized to perform the requested action."
	case http.StatusNotFound:
		message = "The resource could not be found."
	case http.StatusInternalServerError:
		message = "An unexpected error prevented the server from fulfilling your request."
	case http.StatusBadRequest:
		message = "Expecting to find auth in request body. The server could not comply with the request since it is either malformed or otherwise incorrect. The client is assumed to be in error."
	}
	writeKeystoneError(w, code, message)
}

func writeKeystoneError(w http.ResponseWriter, code int, message string) {
	writeJSON(w, code, map[string]any{"error": map[string]any{
		"code": code, "title": http.StatusText(code), "message": message,
	}})
}

func (k *keystone) versions(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusMultipleChoices, map[string]any{"versions": map[string]any{"values": []any{k.versionObject()}}})
}

func (k *keystone) version(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{"version": k.versionObject()})
}

func (k *keystone) versionObject() map[string]any {
	return map[string]any{
		"id": "v3.14", "status": "stable", "updated": "2020-04-07T00:00:00Z",
		"links":       []any{map[string]string{"rel": "self", "href": k.service.url() + "/v3/"}},
		"media-types": []any{map[string]string{"base": "application/json", "type": "application/vnd.openstack.identity-v3+json"}},
	}
}

// authenticate issues a token.
func (k *keystone) authenticate(w http.ResponseWriter, r *http.Request) {
	request, err := parseAuth(r.Body)
	if err != nil {
		k.deny(w, r, http.StatusBadRequest)
		return
	}
	now := time.Now()
	fault, _ := k.service.state()
	if fault == faultPassword || !k.accepts(request, now) {
		k.deny(w, r, http.StatusUnauthorized)
		return
	}
	tok := k.tokens.issue(now, request.scope != scopeNone)
	w.Header().Set("X-Subject-Token", tok.id)
	w.Header().Set("Vary", "X-Auth-Token")
	writeJSON(w, http.StatusCreated, k.tokenBody(tok))
}

// accepts reports whether a request has valid credentials and an existing scope.
func (k *keystone) accepts(a auth, now time.Time) bool {
	if a.scope == scopeOther {
		return false
	}
	if a.token != "" {
		_, ok := k.tokens.lookup(a.token, now)
		return ok
	}
	return a.user && a.password == k.password
}

// validate answers GET and HEAD: it validates X-Subject-Token, as X-Auth-Token.
func (k *keystone) validate(w http.ResponseWriter, r *http.Request) {
	if tok, ok := k.subject(w, r); ok {
		w.Header().Set("X-Subject-Token", tok.id)
		writeJSON(w, http.StatusOK, k.tokenBody(tok))
	}
}

func (k *keystone) revoke(w http.ResponseWriter, r *http.Request) {
	if tok, ok := k.subject(w, r); ok {
		k.tokens.revoke(tok.id)
		w.WriteHeader(http.StatusNoContent)
	}
}

// subject returns the token in X-Subject-Token. If that or X-Auth-Token is not valid, it
// answers with 404 or 401 and returns false.
func (k *keystone) subject(w http.ResponseWriter, r *http.Request) (token, bool) {
	now := time.Now()
	if _, ok := k.tokens.lookup(r.Header.Get("X-Auth-Token"), now); !ok {
		k.deny(w, r, http.StatusUnauthorized)
		return token{}, false
	}
	tok, ok := k.tokens.lookup(r.Header.Get("X-Subject-Token"), now)
	if !ok {
		writeKeystoneError(w, http.StatusNotFound, "This is not a recognized Fernet token.")
	}
	return tok, ok
}
