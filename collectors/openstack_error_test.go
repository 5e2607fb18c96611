package collectors

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
)

func TestReasonOfOpenStack(t *testing.T) {
	status := func(code int) gophercloud.ErrUnexpectedResponseCode {
		return gophercloud.ErrUnexpectedResponseCode{Actual: code}
	}
	pointer := func(code int) error { e := status(code); return &e }
	transport := func(err error) error { return &url.Error{Op: "Post", URL: "http://cloud:5000", Err: err} }
	refused := transport(&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED})
	for _, test := range []struct {
		name string
		err  error
		want Reason
	}{
		{"no error", nil, ""},
		{"status by value", status(401), ReasonAuth},
		{"status by pointer", pointer(401), ReasonAuth},
		{"status, wrapped", fmt.Errorf("list: %w", status(403)), ReasonForbidden},
		{"status by pointer, wrapped", fmt.Errorf("list: %w", pointer(403)), ReasonForbidden},
		{"status, joined", errors.Join(io.ErrNoProgress, pointer(404)), ReasonNotFound},
		{"400", status(400), ReasonClientError},
		{"409", status(409), ReasonClientError},
		{"500", status(500), ReasonServerError},
		{"503", status(503), ReasonServerError},
		{"redirect", status(302), ReasonProtocol},
		{"success that was not expected", status(204), ReasonProtocol},
		{"status that is none", status(0), ReasonProtocol},
		{"no endpoint, by pointer", &gophercloud.ErrEndpointNotFound{}, ReasonMissingEndpoint},
		{"no endpoint, by value", gophercloud.ErrEndpointNotFound{}, ReasonMissingEndpoint},
		{"no endpoint, of package openstack", &openstack.ErrEndpointNotFound{}, ReasonMissingEndpoint},
		{"no service", gophercloud.ErrServiceNotFound{}, ReasonMissingEndpoint},
		{"no resource", gophercloud.ErrResourceNotFound{Name: "x"}, ReasonNotFound},
		{"timeout of gophercloud's own", gophercloud.ErrTimeOut{}, ReasonTimeout},
		{"re-authentication refused", &gophercloud.ErrUnableToReauthenticate{ErrOriginal: status(401), ErrReauth: status(401)}, ReasonAuth},
		{"re-authentication impossible", &gophercloud.ErrUnableToReauthenticate{ErrOriginal: status(401), ErrReauth: refused}, ReasonRefused},
		{"re-authentication, by value", gophercloud.ErrUnableToReauthenticate{ErrOriginal: status(401), ErrReauth: pointer(503)}, ReasonServerError},
		{"re-authentication without its reason", &gophercloud.ErrUnableToReauthenticate{ErrOriginal: status(401)}, ReasonAuth},
		{"re-authentication without anything", &gophercloud.ErrUnableToReauthenticate{}, ReasonProtocol},
		{"failed after re-authentication", &gophercloud.ErrErrorAfterReauthentication{ErrOriginal: status(500)}, ReasonServerError},
		{"failed after re-authentication, by value", gophercloud.ErrErrorAfterReauthentication{ErrOriginal: pointer(401)}, ReasonAuth},
		{"failed after re-authentication, in transport", &gophercloud.ErrErrorAfterReauthentication{ErrOriginal: refused}, ReasonRefused},
		{"no password", gophercloud.ErrMissingPassword{}, ReasonAuth},
		{"no user", gophercloud.ErrUsernameOrUserID{}, ReasonAuth},
		{"no domain", gophercloud.ErrDomainIDOrDomainName{}, ReasonAuth},
		{"no domain of the project", gophercloud.ErrScopeDomainIDOrDomainName{}, ReasonAuth},
		{"no secret", gophercloud.ErrAppCredMissingSecret{}, ReasonAuth},
		{"no input", gophercloud.ErrMissingInput{Argument: "Password"}, ReasonAuth},
		{"no variable", gophercloud.ErrMissingEnvironmentVariable{EnvironmentVariable: "OS_PASSWORD"}, ReasonAuth},
		{"refused", refused, ReasonRefused},
		{"deadline", transport(context.DeadlineExceeded), ReasonTimeout},
		{"empty reply", transport(io.EOF), ReasonProtocol},
		{"reset", transport(syscall.ECONNRESET), ReasonProtocol},
		{"no such host", transport(&net.OpError{Op: "dial", Err: &net.DNSError{IsNotFound: true}}), ReasonDNS},
		{"certificate", transport(x509.UnknownAuthorityError{}), ReasonTLS},
		{"plain HTTP", transport(http.ErrSchemeMismatch), ReasonTLS},
		{"garbage", &json.SyntaxError{}, ReasonProtocol},
		{"too large", errOpenStackBody, ReasonProtocol},
		{"of our own", fmt.Errorf("no token: %w", &openStackError{reason: ReasonDNS}), ReasonDNS},
		{"unknown", errors.New("something"), ReasonProtocol},
	} {
		if got := reasonOfOpenStack(test.err); got != test.want {
			t.Errorf("%s: reasonOfOpenStack() = %q, want %q", test.name, got, test.want)
		}
	}
}

func TestRemoteMessage(t *testing.T) {
	for _, test := range []struct{ name, body, want string }{
		{"keystone", `{"error":{"code":401,"message":"Denied.","title":"Unauthorized"}}`, "Denied."},
		{"neutron", `{"NeutronError": {"type": "X", "message": "Broken.", "detail": ""}}`, "Broken."},
		{"neutron of old", `{"NeutronError": "Broken."}`, "Broken."},
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

func TestOpenStackErrorsAreBoundedAndCleanAndWithoutSecrets(t *testing.T) {
	const secret = `s3cr"et`
	answer := func(message string) error {
		body, err := json.Marshal(map[string]any{"error": map[string]any{"message": message}})
		if err != nil {
			t.Fatal(err)
		}
		return gophercloud.ErrUnexpectedResponseCode{Actual: 400, Body: body, ResponseHeader: http.Header{"X-Openstack-Request-Id": {"req-\x1b[31m" + strings.Repeat("x", 900)}}}
	}
	for name, err := range map[string]error{
		"long":                  answer(strings.Repeat("ü", 4000)),
		"control characters":    answer("a\nb\r\x00\x1b[31m\u0085c"),
		"the secret":            answer("password " + secret + " is wrong"),
		"the secret, quoted":    answer(`{"password": "s3cr\"et"}`),
		"the secret at the cut": answer(strings.Repeat("x", openStackMessageLimit-5) + secret),
		"a transport's error":   fmt.Errorf("proxy http://u:%s@proxy: refused", secret),
		"invalid UTF-8":         errors.New("\xff\xfe" + strings.Repeat("y", 2000)),
	} {
		got := newOpenStackError("authenticate", err, "", secret).Error()
		if len(got) > openStackErrorLimit || !utf8.ValidString(got) || strings.ContainsAny(got, "\n\r\x00\x1b") {
			t.Errorf("%s: %d bytes, %q, want at most %d, clean and on one line", name, len(got), got, openStackErrorLimit)
		}
		if strings.Contains(got, "s3cr") {
			t.Errorf("%s: error = %q, want no secret in it", name, got)
		}
	}
}
