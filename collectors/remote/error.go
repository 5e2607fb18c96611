package remote

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"strings"

	"github.com/vitals-health/vitals/collectors"
)

// ReasonOf returns the reason of a collectors.Error that err wraps, or ReasonOfTransport(err).
func ReasonOf(err error) Reason { return collectors.ReasonOf(err, ReasonOfTransport) }

// ReasonUntil returns the reason of the error of a check that ends with ctx, as ReasonOf. Whatever a
// library returns once the time has ended is a timeout.
func ReasonUntil(ctx context.Context, err error) Reason {
	return collectors.ReasonOf(err, func(err error) Reason {
		switch {
		case ctx.Err() != nil:
			return ReasonTimeout
		case errors.Is(err, os.ErrPermission): // of a Unix socket, or of a packet filter of this host
			return ReasonForbidden
		}
		return ReasonOfTransport(err)
	})
}

// WithoutURL returns the cause of a *url.Error, because the query of a URL may contain a token,
// and any other error unchanged.
func WithoutURL(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

// WithoutSecrets returns text, or a placeholder if text contains a secret, verbatim or in JSON's
// notation. Call it before shortening the text: a cut could leave a part of a secret.
func WithoutSecrets(text string, secrets []string) string {
	for _, secret := range secrets {
		if secret == "" {
			continue
		}
		quoted, err := json.Marshal(secret)
		if strings.Contains(text, secret) || err == nil && strings.Contains(text, strings.Trim(string(quoted), `"`)) {
			return "(text that repeats a secret is not shown)"
		}
	}
	return text
}
