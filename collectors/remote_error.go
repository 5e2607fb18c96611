package collectors

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// scrapeError is an error that knows its reason.
type scrapeError struct {
	reason Reason
	err    error
}

func (e *scrapeError) Error() string { return e.err.Error() }

func (e *scrapeError) Unwrap() error { return e.err }

// scrapeReason returns the reason that the error knows, or else that of a
// transport error.
func scrapeReason(err error) Reason {
	if known, ok := errors.AsType[*scrapeError](err); ok {
		return known.reason
	}
	return reasonOfError(err)
}

// withoutURL takes the URL out of an error of net/http: its query may hold a token.
func withoutURL(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

// failed makes an error with a reason.
func failed(reason Reason, format string, args ...any) error {
	return &scrapeError{reason, fmt.Errorf(format, args...)}
}

// withoutSecrets returns text, or a note in its place if it holds a secret as it is
// or as JSON writes it. It comes before any cut, which could leave half a secret.
func withoutSecrets(text string, secrets []string) string {
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
