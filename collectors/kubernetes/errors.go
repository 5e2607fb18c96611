package kubernetes

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// statusError is the error for a status that the API server sent.
type statusError struct {
	status int
	text   string
}

// Error implements error.
func (e *statusError) Error() string { return e.text }

// hasStatus reports whether err is a statusError with this status.
func hasStatus(err error, status int) bool {
	e, ok := errors.AsType[*statusError](err)
	return ok && e.status == status
}

// withOperation adds the operation to an error; nil remains nil.
func withOperation(operation string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", operation, err)
}

// lackingRight adds the missing right to the error of a request that is forbidden. The message of
// the API server names the right too, but after other names, so a limit may cut it off.
func lackingRight(verb, resource, where string, err error) error {
	if !hasStatus(err, http.StatusForbidden) {
		return err
	}
	return fmt.Errorf("the account lacks the right to %s %s %s: %w", verb, resource, where, err)
}

// cause returns the cause of the end of ctx, if it has ended, because the error of a transport
// does not contain it. Otherwise it returns err.
func cause(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// malformed returns the error for a response that is not one of an API server.
func malformed(err error) error {
	return collectors.Errorf(remote.ReasonProtocol, "unexpected response: %w", err)
}

// isMalformed reports whether err is one of malformed, and not a lost connection.
func isMalformed(err error) bool {
	e, ok := errors.AsType[*collectors.Error[remote.Reason]](err)
	return ok && e.Reason == remote.ReasonProtocol
}

// statusReason returns the reason of a status. An API server responds with 200 or 201 to the
// requests of this package; any other status below 400 is a protocol error.
func statusReason(status int) remote.Reason {
	if status == http.StatusOK || status == http.StatusCreated {
		return ""
	}
	return cmp.Or(remote.ReasonOfStatus(status), remote.ReasonProtocol)
}

// failingCheck matches the failing checks in the response of /readyz, such as
// "[-]etcd failed: reason withheld".
var failingCheck = regexp.MustCompile(`(?m)^\[-\]\S+`)

// errorOfResponse describes a response with an error status: the message of its Status object,
// its failing health checks, or else the start of its body.
func errorOfResponse(status int, body []byte) error {
	var object struct{ Message string }
	detail := string(bytes.TrimSpace(body))
	if json.Unmarshal(body, &object) == nil && object.Message != "" {
		detail = object.Message
	} else if failing := failingCheck.FindAllString(detail, -1); failing != nil {
		detail = strings.Join(failing, " ")
	}
	text := fmt.Sprintf("status %d", status)
	if detail != "" {
		text = fmt.Sprintf("status %d: %.160q", status, detail)
	}
	return &collectors.Error[remote.Reason]{Reason: statusReason(status), Err: &statusError{status, text}}
}

// errorOfEvent returns the error that an ERROR event of a watch describes.
func errorOfEvent(event event) error {
	status := event.Object.Code
	return &collectors.Error[remote.Reason]{
		Reason: cmp.Or(remote.ReasonOfStatus(status), remote.ReasonProtocol),
		Err:    &statusError{status, fmt.Sprintf("error event, status %d: %.160q", status, event.Object.Message)},
	}
}
