package server

import (
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// reboundText is the answer to such a request.
const reboundText = "requests from a page under this name are not allowed here: use an address, localhost or HTTPS"

// rebound reports whether a request may be of a page whose name was made to resolve to
// this server after it was loaded (DNS rebinding). For the browser its origin is the same,
// so http.CrossOriginProtection lets it pass. It has an Origin, and as Host a name that is
// not expected. Over HTTPS the certificate proves the name, and an address is not resolved.
// Browsers send no Origin with a GET of the same origin, so that one is not recognised.
func (s *Server) rebound(r *http.Request) bool {
	if r.Header.Get("Origin") == "" || r.TLS != nil {
		return false
	}
	name := strings.ToLower(strings.TrimSuffix((&url.URL{Host: r.Host}).Hostname(), "."))
	if _, err := netip.ParseAddr(name); err == nil {
		return false
	}
	expected := func(host string) bool { return strings.EqualFold(host, name) }
	return name != "localhost" && !strings.HasSuffix(name, ".localhost") && !slices.ContainsFunc(s.opts.Hosts, expected)
}
