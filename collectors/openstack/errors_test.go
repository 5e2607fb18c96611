package openstack

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

func TestReasonOf(t *testing.T) {
	status := func(code int) gophercloud.ErrUnexpectedResponseCode {
		return gophercloud.ErrUnexpectedResponseCode{Actual: code}
	}
	pointer := func(code int) error { e := status(code); return &e }
	transport := func(err error) error { return &url.Error{Op: "Post", URL: "http://cloud:5000", Err: err} }
	refused := transport(&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED})
	for _, test := range []struct {
		name string
		err  error
		want remote.Reason
	}{
		{"no error", nil, ""},
		{"status by value", status(401), remote.ReasonAuth},
		{"status by pointer", pointer(401), remote.ReasonAuth},
		{"status, wrapped", fmt.Errorf("list: %w", status(403)), remote.ReasonForbidden},
		{"status by pointer, wrapped", fmt.Errorf("list: %w", pointer(403)), remote.ReasonForbidden},
		{"status, joined", errors.Join(io.ErrNoProgress, pointer(404)), remote.ReasonNotFound},
		{"400", status(400), remote.ReasonClientError},
		{"409", status(409), remote.ReasonClientError},
		{"500", status(500), remote.ReasonServerError},
		{"503", status(503), remote.ReasonServerError},
		{"redirect", status(302), remote.ReasonProtocol},
		{"unexpected success", status(204), remote.ReasonProtocol},
		{"status 0", status(0), remote.ReasonProtocol},
		{"no endpoint, by pointer", &gophercloud.ErrEndpointNotFound{}, remote.ReasonMissingEndpoint},
		{"no endpoint, by value", gophercloud.ErrEndpointNotFound{}, remote.ReasonMissingEndpoint},
		{"no endpoint, of package openstack", &openstack.ErrEndpointNotFound{}, remote.ReasonMissingEndpoint},
		{"no service", gophercloud.ErrServiceNotFound{}, remote.ReasonMissingEndpoint},
		{"no resource", gophercloud.ErrResourceNotFound{Name: "x"}, remote.ReasonNotFound},
		{"timeout of gophercloud", gophercloud.ErrTimeOut{}, remote.ReasonTimeout},
		{"re-authentication rejected", &gophercloud.ErrUnableToReauthenticate{ErrOriginal: status(401), ErrReauth: status(401)}, remote.ReasonAuth},
		{"re-authentication impossible", &gophercloud.ErrUnableToReauthenticate{ErrOriginal: status(401), ErrReauth: refused}, remote.ReasonRefused},
		{"re-authentication, by value", gophercloud.ErrUnableToReauthenticate{ErrOriginal: status(401), ErrReauth: pointer(503)}, remote.ReasonServerError},
		{"re-authentication without a cause", &gophercloud.ErrUnableToReauthenticate{ErrOriginal: status(401)}, remote.ReasonAuth},
		{"re-authentication without errors", &gophercloud.ErrUnableToReauthenticate{}, remote.ReasonProtocol},
		{"failed after re-authentication", &gophercloud.ErrErrorAfterReauthentication{ErrOriginal: status(500)}, remote.ReasonServerError},
		{"failed after re-authentication, by value", gophercloud.ErrErrorAfterReauthentication{ErrOriginal: pointer(401)}, remote.ReasonAuth},
		{"failed after re-authentication, in transport", &gophercloud.ErrErrorAfterReauthentication{ErrOriginal: refused}, remote.ReasonRefused},
		{"no password", gophercloud.ErrMissingPassword{}, remote.ReasonAuth},
		{"no user", gophercloud.ErrUsernameOrUserID{}, remote.ReasonAuth},
		{"no domain", gophercloud.ErrDomainIDOrDomainName{}, remote.ReasonAuth},
		{"no domain of the project", gophercloud.ErrScopeDomainIDOrDomainName{}, remote.ReasonAuth},
		{"no secret", gophercloud.ErrAppCredMissingSecret{}, remote.ReasonAuth},
		{"no input", gophercloud.ErrMissingInput{Argument: "Password"}, remote.ReasonAuth},
		{"no variable", gophercloud.ErrMissingEnvironmentVariable{EnvironmentVariable: "OS_PASSWORD"}, remote.ReasonAuth},
		{"refused", refused, remote.ReasonRefused},
		{"deadline", transport(context.DeadlineExceeded), remote.ReasonTimeout},
		{"empty reply", transport(io.EOF), remote.ReasonProtocol},
		{"reset", transport(syscall.ECONNRESET), remote.ReasonProtocol},
		{"no such host", transport(&net.OpError{Op: "dial", Err: &net.DNSError{IsNotFound: true}}), remote.ReasonDNS},
		{"certificate", transport(x509.UnknownAuthorityError{}), remote.ReasonTLS},
		{"plain HTTP", transport(http.ErrSchemeMismatch), remote.ReasonTLS},
		{"garbage", &json.SyntaxError{}, remote.ReasonProtocol},
		{"too large", errBodyTooLarge, remote.ReasonProtocol},
		{"of this package", fmt.Errorf("no token: %w", &collectors.Error[remote.Reason]{Reason: remote.ReasonDNS}), remote.ReasonDNS},
		{"unknown", errors.New("something"), remote.ReasonProtocol},
	} {
		if got := reasonOf(test.err); got != test.want {
			t.Errorf("%s: reasonOf() = %q, want %q", test.name, got, test.want)
		}
	}
}

func TestRemoteMessage(t *testing.T) {
	for _, test := range []struct{ name, body, want string }{
		{"keystone", `{"error":{"code":401,"message":"Denied.","title":"Unauthorized"}}`, "Denied."},
		{"neutron", `{"NeutronError": {"type": "X", "message": "Broken.", "detail": ""}}`, "Broken."},
		{"old neutron", `{"NeutronError": "Broken."}`, "Broken."},
		{"middleware", `{"message": "Gone.", "code": "503 Service Unavailable", "title": "x"}`, "Gone."},
		{"HTML", "<html><h1>503</h1></html>", ""},
		{"other JSON", `{"faults": [1, 2]}`, ""},
		{"a list", `["error"]`, ""},
		{"nothing", "", ""},
	} {
		if got := remoteMessage([]byte(test.body)); got != test.want {
			t.Errorf("%s: remoteMessage() = %q, want %q", test.name, got, test.want)
		}
	}
}

func TestErrorsAreBoundedOnOneLineAndWithoutSecrets(t *testing.T) {
	const secret = `s3cr"et`
	response := func(message string) error {
		body, err := json.Marshal(map[string]any{"error": map[string]any{"message": message}})
		if err != nil {
			t.Fatal(err)
		}
		return gophercloud.ErrUnexpectedResponseCode{Actual: 400, Body: body, ResponseHeader: http.Header{"X-Openstack-Request-Id": {"req-\x1b[31m" + strings.Repeat("x", 900)}}}
	}
	for name, err := range map[string]error{
		"long":                  response(strings.Repeat("ü", 4000)),
		"control characters":    response("a\nb\r\x00\x1b[31m\u0085c"),
		"the secret":            response("password " + secret + " is wrong"),
		"the secret, quoted":    response(`{"password": "s3cr\"et"}`),
		"the secret at the cut": response(strings.Repeat("x", messageLimit-5) + secret),
		"a transport's error":   fmt.Errorf("proxy http://u:%s@proxy: refused", secret),
		"invalid UTF-8":         errors.New("\xff\xfe" + strings.Repeat("y", 2000)),
	} {
		got := newError("authenticate", err, "", secret).Error()
		if len(got) > errorLimit || !utf8.ValidString(got) || strings.ContainsAny(got, "\n\r\x00\x1b") {
			t.Errorf("%s: %d bytes, %q, want at most %d on one line", name, len(got), got, errorLimit)
		}
		if strings.Contains(got, "s3cr") {
			t.Errorf("%s: error = %q, want no secret in it", name, got)
		}
	}
}
