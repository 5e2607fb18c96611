package openstack

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

const (
	// errorLimit bounds an error's text, in bytes.
	errorLimit = 512
	// messageLimit bounds the part of it that a server wrote, in bytes.
	messageLimit = 200
)

// newError returns why a call to an OpenStack service failed, with its reason: on one
// line, bounded, and without the secrets. op is the operation that failed, as in
// "authenticate at http://cloud:5000/v3/".
func newError(op string, err error, secrets ...string) error {
	text := openStackText(op+": "+detailOfOpenStack(err, secrets), errorLimit)
	return &collectors.Error[remote.Reason]{Reason: reasonOf(err), Err: errors.New(text)}
}

// reasonOf classifies what gophercloud and the functions here return; nil
// is no failure. gophercloud returns some of its errors by value and some by
// pointer, and those about re-authentication do not all unwrap.
func reasonOf(err error) remote.Reason { return collectors.ReasonOf(err, classify) }

func classify(err error) remote.Reason {
	if e, ok := findError[gophercloud.ErrUnableToReauthenticate](err); ok {
		return firstReason(e.ErrReauth, e.ErrOriginal)
	}
	if e, ok := findError[gophercloud.ErrErrorAfterReauthentication](err); ok {
		return firstReason(e.ErrOriginal)
	}
	if e, ok := findError[gophercloud.ErrUnexpectedResponseCode](err); ok {
		return reasonOfRefusal(e.Actual)
	}
	switch {
	case isError[gophercloud.ErrEndpointNotFound](err), isError[gophercloud.ErrServiceNotFound](err), isError[openstack.ErrEndpointNotFound](err):
		return remote.ReasonMissingEndpoint
	case isError[gophercloud.ErrTimeOut](err):
		return remote.ReasonTimeout
	case isError[gophercloud.ErrResourceNotFound](err):
		return remote.ReasonNotFound
	case lacksCredentials(err):
		return remote.ReasonAuth
	}
	return remote.ReasonOfTransport(err)
}

// firstReason classifies the first error that there is.
func firstReason(errs ...error) remote.Reason {
	for _, err := range errs {
		if err != nil {
			return reasonOf(err)
		}
	}
	return remote.ReasonProtocol
}

// reasonOfRefusal classifies a status that was not expected. One that is no error
// elsewhere, such as a redirect, is not what the API answers.
func reasonOfRefusal(code int) remote.Reason {
	if reason := remote.ReasonOfStatus(code); reason != "" {
		return reason
	}
	return remote.ReasonProtocol
}

// lacksCredentials says whether no request could be built from the credentials.
func lacksCredentials(err error) bool {
	return isError[gophercloud.ErrMissingInput](err) || isError[gophercloud.ErrInvalidInput](err) ||
		isError[gophercloud.ErrMissingEnvironmentVariable](err) || isError[gophercloud.ErrMissingAnyoneOfEnvironmentVariables](err) ||
		isError[gophercloud.ErrMissingPassword](err) || isError[gophercloud.ErrUsernameOrUserID](err) ||
		isError[gophercloud.ErrDomainIDOrDomainName](err) || isError[gophercloud.ErrAppCredMissingSecret](err) ||
		isError[gophercloud.ErrDomainIDWithUserID](err) || isError[gophercloud.ErrDomainNameWithUserID](err) ||
		isError[gophercloud.ErrUsernameWithToken](err) || isError[gophercloud.ErrUserIDWithToken](err) ||
		isError[gophercloud.ErrDomainIDWithToken](err) || isError[gophercloud.ErrDomainNameWithToken](err) ||
		isError[gophercloud.ErrScopeDomainIDOrDomainName](err) || isError[gophercloud.ErrScopeProjectIDOrProjectName](err) ||
		isError[gophercloud.ErrScopeProjectIDAlone](err) || isError[gophercloud.ErrScopeEmpty](err)
}

// findError finds an error of type E in err's tree, as a value or as a pointer.
func findError[E error](err error) (E, bool) {
	var value E
	if errors.As(err, &value) {
		return value, true
	}
	var pointer *E
	var target any = &pointer
	if errors.As(err, target) && pointer != nil {
		return *pointer, true
	}
	return value, false
}

func isError[E error](err error) bool {
	_, ok := findError[E](err)
	return ok
}

// detailOfOpenStack says in words what went wrong. Text of the server that repeats
// a secret is left out as a whole.
func detailOfOpenStack(err error, secrets []string) string {
	e, ok := findError[gophercloud.ErrUnexpectedResponseCode](err)
	if !ok {
		if transport, ok := errors.AsType[*url.Error](err); ok && transport.Err != nil {
			err = transport.Err // The address is in the operation already.
		}
		return remote.WithoutSecrets(err.Error(), secrets)
	}
	text := fmt.Sprintf("%d %s", e.Actual, http.StatusText(e.Actual))
	if e.Actual >= 300 && e.Actual < 400 {
		text += " (redirects are not followed)"
	}
	if message := remoteMessage(e.Body); message != "" {
		text += ": " + openStackText(remote.WithoutSecrets(message, secrets), messageLimit)
	}
	if id := e.ResponseHeader.Get("X-Openstack-Request-Id"); id != "" {
		text += " (request " + openStackText(remote.WithoutSecrets(id, secrets), 64) + ")"
	}
	return text
}

// remoteMessage returns the message in an error's body, or "" if the body has none
// of the shapes that OpenStack services give it: Keystone's and its middleware's
// {"error": {"message": ...}}, Neutron's {"NeutronError": {"message": ...}} (or a
// string), and the middleware's {"message": ...} with a status of 5xx. HTML is
// never shown.
func remoteMessage(body []byte) string {
	type inner struct {
		Message string `json:"message"`
	}
	var outer struct {
		Error        json.RawMessage `json:"error"`
		NeutronError json.RawMessage `json:"NeutronError"`
		Message      string          `json:"message"`
	}
	if json.Unmarshal(body, &outer) != nil {
		return ""
	}
	for _, raw := range []json.RawMessage{outer.Error, outer.NeutronError} {
		var structured inner
		if json.Unmarshal(raw, &structured) == nil && structured.Message != "" {
			return structured.Message
		}
		var text string
		if json.Unmarshal(raw, &text) == nil && text != "" {
			return text
		}
	}
	return outer.Message
}

// openStackText returns text on one line, without control characters and invalid
// UTF-8, and cut to at most limit bytes.
func openStackText(text string, limit int) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	if len(clean) <= limit {
		return clean
	}
	const dots = "..."
	cut := limit - len(dots)
	for cut > 0 && !utf8.RuneStart(clean[cut]) {
		cut--
	}
	return clean[:cut] + dots
}
