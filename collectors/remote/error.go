package remote

import (
	"encoding/json"
	"errors"
	"net/url"
	"strings"

	"github.com/vitals-health/vitals/collectors"
)

// ReasonOf returns the reason of a collectors.Error, or else that of a transport error.
func ReasonOf(err error) Reason { return collectors.ReasonOf(err, ReasonOfTransport) }

// WithoutURL takes the URL out of an error of net/http: its query may hold a token.
func WithoutURL(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

// WithoutSecrets returns text, or a note in its place if it holds a secret as it is
// or as JSON writes it. It comes before any cut, which could leave half a secret.
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
