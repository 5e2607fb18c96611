package access

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// CheckHost returns an error for a value that New does not take as a host.
func CheckHost(host string) error {
	if name := regexp.MustCompile(`^\.?[a-zA-Z0-9_-]+(\.[a-zA-Z0-9_-]+)*$`); host != "*" && !name.MatchString(host) {
		return fmt.Errorf("%.100q: expected a name without scheme and port such as vitals.example.org, .example.org for all names below, or *", host)
	}
	return nil
}

// NotRebound returns an error for a request that may be from a page whose name was made to resolve
// to this server after the page was loaded (DNS rebinding). For the browser, page and server have
// the same origin, and a GET of the same origin has no Origin header. Therefore the Host is checked.
// HTTPS needs no check, because the certificate proves the name. A request of HTTP/1.0 may have no
// Host. A browser always sends one.
func (g *Guard) NotRebound(r *http.Request) error {
	if r.TLS != nil || r.Host == "" && r.Header.Get("Origin") == "" {
		return nil
	}
	name := strings.ToLower(strings.TrimSuffix((&url.URL{Host: r.Host}).Hostname(), "."))
	if _, err := netip.ParseAddr(name); err == nil || local(name) || slices.ContainsFunc(g.hosts, func(host string) bool { return allows(host, name) }) {
		return nil
	}
	return errors.New("requests under this name are not allowed here: use an address, localhost or HTTPS, or allow the name with --web.allowed-host=NAME or Options.AllowedHosts")
}

// local reports whether the public DNS cannot have a name: a single label, or a name below
// localhost or of a Kubernetes service.
func local(name string) bool {
	return name != "" && !strings.Contains(name, ".") ||
		strings.HasSuffix(name, ".localhost") || strings.HasSuffix(name, ".svc") || strings.HasSuffix(name, ".cluster.local")
}

// allows reports whether an allowed host is a name, "*", or with a dot in front a suffix of it.
func allows(host, name string) bool {
	return host == "*" || host != "" && strings.EqualFold(host, name) || strings.HasPrefix(host, ".") && strings.HasSuffix(name, strings.ToLower(host))
}
