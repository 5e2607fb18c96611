package access

import (
	"context"
	"net"
	"net/http"
)

// peerKey is the key of a connection's peer in its context.
type peerKey struct{}

// WithPeer adds to the context of a connection a function that returns who is at its other
// end.
func WithPeer(ctx context.Context, peer func() string) context.Context {
	return context.WithValue(ctx, peerKey{}, peer)
}

// Client returns who sends a request: the user of a Unix socket, or an address.
func Client(r *http.Request) string {
	if peer, ok := r.Context().Value(peerKey{}).(func() string); ok {
		return peer()
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	return "a client at " + host
}
