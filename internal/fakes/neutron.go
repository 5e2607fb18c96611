package fakes

import (
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// neutron imitates the part of Neutron's API that a health check reads: versions,
// networks, quotas, extensions and agents. Tokens are validated in the fake Keystone's
// memory, so that they stay valid while Keystone does not answer, as with Neutron's
// cache of tokens.
//
// Facts: https://docs.openstack.org/api-ref/network/v2/.
type neutron struct {
	service  *service
	keystone *keystone
	quotas   *quotas
	// revoked is the number of the last token that the fault revoke-token rejects.
	revoked atomic.Int64
}

func newNeutron(s *service, k *keystone) *neutron {
	n := &neutron{service: s, keystone: k, quotas: newQuotas()}
	s.answer, s.deny = n.routes(), n.deny
	s.onFault = func(fault string) {
		last := 0
		if fault == faultRevoke {
			last = k.tokens.last()
		}
		n.revoked.Store(int64(last))
	}
	return n
}

func (n *neutron) routes() http.Handler {
	api := http.NewServeMux()
	api.HandleFunc("GET /v2.0", n.resources)
	api.HandleFunc("GET /v2.0/{$}", n.resources)
	api.HandleFunc("GET /v2.0/networks", n.networks)
	api.HandleFunc("GET /v2.0/quotas/{project}", n.quota)
	api.HandleFunc("GET /v2.0/quotas/{project}/{details}", n.quotaDetails)
	api.HandleFunc("GET /v2.0/extensions", n.extensions)
	api.HandleFunc("GET /v2.0/extensions/{alias}", n.extension)
	api.HandleFunc("GET /v2.0/agents", n.agents)
	api.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { n.deny(w, r, http.StatusNotFound) })
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", n.versions)
	mux.Handle("/", tagged(n.authenticated(api)))
	return mux
}

func (n *neutron) authenticated(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tok, ok := n.keystone.tokens.lookup(r.Header.Get("X-Auth-Token"), time.Now())
		if !ok || !tok.scoped || int64(tok.number) <= n.revoked.Load() {
			n.deny(w, r, http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// deny answers with an error. The layer that checks tokens answers 401 in
// Keystone's shape and 503 in one of its own; the rest is Neutron's.
func (n *neutron) deny(w http.ResponseWriter, _ *http.Request, code int) {
	switch code {
	case http.StatusUnauthorized:
		w.Header().Set("Www-Authenticate", `Keystone uri="`+n.keystone.service.url()+`"`)
		writeKeystoneError(w, code, "The request you have made requires authentication.")
	case http.StatusServiceUnavailable:
		title := http.StatusText(code)
		writeJSON(w, code, map[string]string{
			"message": "The Keystone service is temporarily unavailable.\n\n", "code": strconv.Itoa(code) + " " + title, "title": title,
		})
	case http.StatusForbidden:
		writeNeutronError(w, code, "PolicyNotAuthorized", "rule:get_network is disallowed by policy")
	case http.StatusInternalServerError:
		writeNeutronError(w, code, "HTTPInternalServerError", "Request Failed: internal server error while processing your request.")
	default:
		writeNeutronError(w, code, "HTTP"+strings.ReplaceAll(http.StatusText(code), " ", ""), http.StatusText(code))
	}
}

func writeNeutronError(w http.ResponseWriter, code int, kind, message string) {
	writeJSON(w, code, map[string]any{"NeutronError": map[string]string{"type": kind, "message": message, "detail": ""}})
}

// versions answers GET /, which needs no token.
func (n *neutron) versions(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{"versions": []any{map[string]any{
		"id": "v2.0", "status": "CURRENT",
		"links": []any{map[string]string{"rel": "self", "href": n.service.url() + "/v2.0/"}},
	}}})
}

// resources answers GET /v2.0.
func (n *neutron) resources(w http.ResponseWriter, _ *http.Request) {
	var list []any
	for _, name := range []string{"network", "subnet", "port"} {
		list = append(list, map[string]any{
			"name": name, "collection": name + "s",
			"links": []any{map[string]string{"rel": "self", "href": n.service.url() + "/v2.0/" + name + "s"}},
		})
	}
	writeJSON(w, http.StatusOK, map[string]any{"resources": list})
}
