package openstack

import (
	"context"
	"net/http"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// expiryKey is the key of the *time.Time that withExpiry adds to a context.
type expiryKey struct{}

// withExpiry returns a context for requests, which set at to the expiry of the server's certificates.
// Without TLS, or without a certificate, they do not change it.
func withExpiry(ctx context.Context, at *time.Time) context.Context {
	return context.WithValue(ctx, expiryKey{}, at)
}

// noteExpiry sets the time of withExpiry after a request, also if the certificates were rejected.
func noteExpiry(ctx context.Context, response *http.Response, err error) {
	at, ok := ctx.Value(expiryKey{}).(*time.Time)
	until := remote.ExpiryOfUnverified(err)
	if err == nil && response.TLS != nil {
		until = remote.CertificateExpiry(response.TLS)
	}
	if ok && !until.IsZero() {
		*at = until
	}
}

// addExpiry appends the expiry, unless it is zero.
func addExpiry(b *collectors.Batch, name string, at time.Time) {
	if !at.IsZero() {
		b.Set(remote.CertificateExpiryMetric, float64(at.Unix()), name)
	}
}
