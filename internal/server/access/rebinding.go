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
// so http.CrossOriginProtection lets it pass. Its Host is a name that is not allowed. Over HTTPS
// the certificate proves the name, and an address is not resolved. Browsers send no Origin with a
// GET of the same origin. Each request of a browser has a Host; HTTP/1.0 does not need one. Without
// hosts, only requests that have an Origin are rejected.
func (g *Guard) NotRebound(r *http.Request) error {
	if r.TLS != nil || (len(g.hosts) == 0 || r.Host == "") && r.Header.Get("Origin") == "" {
		return nil
	}
	name := strings.ToLower(strings.TrimSuffix((&url.URL{Host: r.Host}).Hostname(), "."))
	if _, err := netip.ParseAddr(name); err == nil || local(name) || slices.ContainsFunc(g.hosts, func(host string) bool { return allows(host, name) }) {
		return nil
	}
	return errors.New("requests under this name are not allowed here: use an address, localhost or HTTPS, or start vitals with --web.allowed-host=NAME")
}

// local reports whether the public DNS cannot have a name: a single label, or a name below
// localhost or of a Kubernetes service.
func local(name string) bool {
	below := func(suffix string) bool { return strings.HasSuffix(name, suffix) }
	return name != "" && !strings.Contains(name, ".") || slices.ContainsFunc([]string{".localhost", ".svc", ".cluster.local"}, below)
}

// allows reports whether an allowed host is a name, "*", or with a dot in front a suffix of it.
func allows(host, name string) bool {
	return host == "*" || strings.EqualFold(host, name) || strings.HasPrefix(host, ".") && strings.HasSuffix(name, strings.ToLower(host))
}
