package remote

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/vitals-health/vitals/collectors"
)

// MaxRedirects is how many redirects of a request are followed, as in net/http.
const MaxRedirects = 10

// Origin returns scheme, host and port of a URL, with the default port of the scheme.
func Origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[strings.ToLower(u.Scheme)]
	}
	return strings.ToLower(u.Scheme + "://" + net.JoinHostPort(u.Hostname(), port))
}

// SameHost reports whether credentials for one URL may be sent to another: to the same scheme, host
// and port, or from http to https of one host, at their default ports.
func SameHost(from, to *url.URL) bool {
	a, b := Origin(from), Origin(to)
	host := strings.ToLower(from.Hostname())
	return a == b || a == "http://"+net.JoinHostPort(host, "80") && b == "https://"+net.JoinHostPort(host, "443")
}

// Leaves reports whether one of the redirects to next led to another host, as SameHost decides. A way
// back does not count.
func Leaves(next *http.Request, via []*http.Request) bool {
	for i, from := range via {
		to := next
		if i+1 < len(via) {
			to = via[i+1]
		}
		if !SameHost(from.URL, to.URL) {
			return true
		}
	}
	return false
}

// FollowSameHost is the CheckRedirect of a client with credentials. It follows a redirect within the
// same host and refuses any other with an error of ReasonProtocol, which has the other host. It
// also refuses a circle, which would multiply the requests. After 301 and 302 it keeps the method and
// the body, as clients of OpenStack do.
func FollowSameHost(next *http.Request, via []*http.Request) error {
	first, before, status := via[0], via[len(via)-1], next.Response.StatusCode
	switch {
	case len(via) > MaxRedirects:
		return collectors.Errorf(ReasonProtocol, "more than %d redirects", MaxRedirects)
	case Leaves(next, via):
		return RefusedRedirect(status, next.URL)
	case slices.ContainsFunc(via, func(r *http.Request) bool { return r.URL.String() == next.URL.String() }):
		return collectors.Errorf(ReasonProtocol, "redirect with status %d in a circle", status)
	case status == http.StatusSeeOther || next.Method == before.Method || first.GetBody == nil:
		return nil
	}
	body, err := first.GetBody()
	if err != nil {
		return err
	}
	next.Method, next.Body, next.GetBody, next.ContentLength = first.Method, body, first.GetBody, first.ContentLength
	next.Header.Set("Content-Type", first.Header.Get("Content-Type"))
	return nil
}

// RefusedRedirect returns the error for a redirect to another host.
func RefusedRedirect(status int, to *url.URL) error {
	return collectors.Errorf(ReasonProtocol, "redirect with status %d to another host is not followed: %.100s", status, Origin(to))
}

// MayUseTLS reports whether requests to a URL may use TLS, also after a redirect that SameHost accepts.
func MayUseTLS(link string) bool {
	from, err := url.Parse(link)
	if err != nil || from.Scheme != "http" {
		return true
	}
	return SameHost(from, &url.URL{Scheme: "https", Host: net.JoinHostPort(from.Hostname(), "443")})
}
