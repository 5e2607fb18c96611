// Package access decides which requests may change something: by the page that they are from, and
// by a token. It also names the client of a request.
package access

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
	"strings"
)

// Guard rejects requests. It is safe for concurrent use.
type Guard struct {
	hosts   []string
	origins *http.CrossOriginProtection
}

// New returns a guard. The hosts are names that requests may have as Host without HTTPS, in
// addition to addresses and local names. ".NAME" are the names below one, and "*" are all.
func New(hosts []string) *Guard {
	return &Guard{hosts, http.NewCrossOriginProtection()}
}

// Token is the bearer token of a kind of requests over the network.
type Token struct {
	// Noun names the requests, and Key is the key of the configuration.
	Noun, Key string
	// Value returns the token; empty if none is configured.
	Value func() string
}

// SameOrigin returns an error for a request of a page of another origin that could change something.
func (g *Guard) SameOrigin(r *http.Request) error {
	if g.origins.Check(r) != nil {
		return errors.New("cross-origin requests are not allowed here")
	}
	return nil
}

// Refusal is the response to a request that is rejected.
type Refusal struct {
	// Code is http.StatusForbidden, or http.StatusUnauthorized without a valid token.
	Code int
	Text string
}

// Refusal returns nil for a client that may send the requests of the token. mayWrite returns an error
// for a client of the Unix socket without the permission to write. If it is nil, the request came
// over the network and needs the token.
func (g *Guard) Refusal(r *http.Request, mayWrite func(*http.Request) error, needs Token) *Refusal {
	if err := g.SameOrigin(r); err != nil {
		return &Refusal{http.StatusForbidden, err.Error()}
	}
	if mayWrite != nil {
		if err := mayWrite(r); err != nil {
			return &Refusal{http.StatusForbidden, err.Error()}
		}
		return nil
	}
	configured := needs.Value()
	if configured == "" {
		return &Refusal{http.StatusForbidden, needs.Noun + " are accepted on the Unix socket only: " + needs.Key + " is not set in the configuration"}
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	// Digests of equal length: the time of the comparison does not depend on the token's length.
	got, want := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(configured))
	if !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
		return &Refusal{http.StatusUnauthorized, needs.Noun + " over the network need the header Authorization: Bearer TOKEN with the token of " + needs.Key}
	}
	return nil
}
