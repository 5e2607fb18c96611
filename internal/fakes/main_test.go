package fakes_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/vitals-health/vitals/internal/fakes"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds everything that should happen soon.
const patience = 2 * time.Minute

// lab is a cloud with a client that keeps no connection.
type lab struct {
	*fakes.Cloud
	t      *testing.T
	client *http.Client
}

func start(t *testing.T, opts fakes.Options) *lab {
	t.Helper()
	c, err := fakes.Start(opts)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(c.Authority()) {
		t.Fatal("Authority() has no certificate, want one")
	}
	l := &lab{Cloud: c, t: t, client: &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
	}}}
	t.Cleanup(func() {
		l.client.CloseIdleConnections()
		if err := c.Close(); err != nil {
			t.Errorf("Close() = %v, want nil", err)
		}
	})
	return l
}

func (l *lab) set(dependency, fault string) {
	l.t.Helper()
	if err := l.Set(dependency, fault); err != nil {
		l.t.Fatalf("Set(%q, %q) = %v, want nil", dependency, fault, err)
	}
}

// answer is a response: a status, or the reason for none.
type answer struct {
	outcome string
	header  http.Header
	body    []byte
}

// do sends a request and waits at most timeout for the whole answer.
func (l *lab) do(timeout time.Duration, method, url, body string, header ...string) answer {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		l.t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := l.client.Do(req)
	if err != nil {
		return answer{outcome: outcomeOf(err)}
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return answer{outcome: outcomeOf(err)}
	}
	return answer{outcome: strconv.Itoa(resp.StatusCode), header: resp.Header, body: data}
}

func outcomeOf(err error) string {
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "refused"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return "dropped"
	}
	return err.Error()
}

// kube sends a request with the token to the Kubernetes API.
func (l *lab) kube(path string, header ...string) answer {
	l.t.Helper()
	return l.do(patience, http.MethodGet, l.KubernetesURL()+path, "", append(header, "Authorization", "Bearer "+l.Token())...)
}

// login is a request for a token that is scoped to the project.
func (l *lab) login(password string) string {
	l.t.Helper()
	domain := map[string]any{"name": l.Domain()}
	body, err := json.Marshal(map[string]any{"auth": map[string]any{
		"identity": map[string]any{
			"methods": []string{"password"},
			"password": map[string]any{"user": map[string]any{
				"name": l.Username(), "password": password, "domain": domain,
			}},
		},
		"scope": map[string]any{"project": map[string]any{"name": l.Project(), "domain": domain}},
	}})
	if err != nil {
		l.t.Fatal(err)
	}
	return string(body)
}

// newToken gets a token from Keystone.
func (l *lab) newToken() string {
	l.t.Helper()
	a := l.do(patience, http.MethodPost, l.KeystoneURL()+"/auth/tokens", l.login(l.Password()))
	token := a.header.Get("X-Subject-Token")
	if a.outcome != "201" || token == "" {
		l.t.Fatalf("POST /auth/tokens = %s with token %q, want 201 with one: %s", a.outcome, token, a.body)
	}
	return token
}

func (l *lab) network(path, token string) answer {
	l.t.Helper()
	return l.do(patience, http.MethodGet, l.NeutronURL()+path, "", "X-Auth-Token", token)
}

// field returns the value at a path of keys in a JSON object, as JSON.
func field(t *testing.T, data []byte, path ...string) string {
	t.Helper()
	raw := json.RawMessage(bytes.TrimSpace(data))
	for _, key := range path {
		var object map[string]json.RawMessage
		if err := json.Unmarshal(raw, &object); err != nil {
			t.Fatalf("%v in %s", err, data)
		}
		raw = object[key]
	}
	return string(raw)
}
