package access

import (
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// NotRebound returns an error for a request that may be of a page whose name was made to resolve
// to this server after it was loaded (DNS rebinding). For the browser its origin is the same,
// so http.CrossOriginProtection lets it pass. It has an Origin, and as Host a name that is
// not expected. Over HTTPS the certificate proves the name, and an address is not resolved.
// Browsers send no Origin with a GET of the same origin, so that one is not recognised.
func (g *Guard) NotRebound(r *http.Request) error {
	if r.Header.Get("Origin") == "" || r.TLS != nil {
		return nil
	}
	name := strings.ToLower(strings.TrimSuffix((&url.URL{Host: r.Host}).Hostname(), "."))
	if _, err := netip.ParseAddr(name); err == nil {
		return nil
	}
	expected := func(host string) bool { return strings.EqualFold(host, name) }
	if name == "localhost" || strings.HasSuffix(name, ".localhost") || slices.ContainsFunc(g.hosts, expected) {
		return nil
	}
	return errors.New("requests from a page under this name are not allowed here: use an address, localhost or HTTPS")
}
