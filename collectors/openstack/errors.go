package openstack

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/internal/text"
)

const (
	// errorLimit bounds the text of an error, in bytes.
	errorLimit = collectors.MaxReason
	// messageLimit bounds the part that a server wrote, in bytes.
	messageLimit = 200
)

// newError returns the error of a request to an OpenStack service, with its reason. The text is
// bounded, on one line and without the secrets. op is the failed operation, as in "authenticate at
// http://cloud:5000/v3/".
func newError(op string, err error, secrets ...string) error {
	return collectors.Errorf(reasonOf(err), "%s", text.Short(op+": "+detailOf(err, secrets), errorLimit))
}

// reasonOf returns the reason of an error of gophercloud or of this package, and "" for nil.
// gophercloud returns some of its errors by value and some by pointer, and those about
// re-authentication do not all unwrap.
func reasonOf(err error) remote.Reason { return collectors.ReasonOf(err, classify) }

func classify(err error) remote.Reason {
	if e, ok := findError[gophercloud.ErrUnableToReauthenticate](err); ok {
		return firstReason(e.ErrReauth, e.ErrOriginal)
	}
	if e, ok := findError[gophercloud.ErrErrorAfterReauthentication](err); ok {
		return firstReason(e.ErrOriginal)
	}
	if e, ok := findError[gophercloud.ErrUnexpectedResponseCode](err); ok {
		return reasonOfStatus(e.Actual)
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

// firstReason returns the reason of the first error that is not nil.
func firstReason(errs ...error) remote.Reason {
	for _, err := range errs {
		if err != nil {
			return reasonOf(err)
		}
	}
	return remote.ReasonProtocol
}

// reasonOfStatus returns the reason of an unexpected status. One below 400, such as a redirect, is
// a protocol error.
func reasonOfStatus(code int) remote.Reason {
	return cmp.Or(remote.ReasonOfStatus(code), remote.ReasonProtocol)
}

// lacksCredentials reports whether the credentials are insufficient for a request.
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

// isError reports whether findError finds an error of type E.
func isError[E error](err error) bool {
	_, ok := findError[E](err)
	return ok
}

// detailOf returns the text of an error. It omits a text of the server that contains a secret.
func detailOf(err error, secrets []string) string {
	e, ok := findError[gophercloud.ErrUnexpectedResponseCode](err)
	if !ok {
		if transport, ok := errors.AsType[*url.Error](err); ok && transport.Err != nil {
			err = transport.Err // the operation has the address
		}
		return remote.WithoutSecrets(err.Error(), secrets)
	}
	content := fmt.Sprintf("%d %s", e.Actual, http.StatusText(e.Actual))
	if message := remoteMessage(e.Body); message != "" {
		content += ": " + text.Short(remote.WithoutSecrets(message, secrets), messageLimit)
	}
	if id := e.ResponseHeader.Get("X-Openstack-Request-Id"); id != "" {
		content += " (request " + text.Short(remote.WithoutSecrets(id, secrets), 64) + ")"
	}
	return content
}

// remoteMessage returns the message in the body of an error, or "" if the body has none of the
// formats of OpenStack services: Keystone's {"error": {"message": ...}}, Neutron's
// {"NeutronError": {"message": ...}} (or a string), and {"message": ...} of the middleware with a
// status of 5xx. It does not return HTML.
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
