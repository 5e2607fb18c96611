package kubernetes

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// tokenLimit bounds a token file in bytes; the token of a service account has about 1 KiB.
const tokenLimit = 64 << 10

// restConfig loads the address and the credentials of the API server from the kubeconfig, the
// inline settings, or the pod's service account.
func (c *Config) restConfig(hide func(...string)) (*rest.Config, error) {
	config, err := c.loadConfig(hide)
	if err != nil {
		return nil, err
	}
	config.UserAgent = "vitals"
	if config.BearerTokenFile == "" {
		return config, nil
	}
	// client-go would read the file about once a minute, and not earlier after a 401.
	token := &token{path: config.BearerTokenFile, hide: hide}
	if err := token.refresh(); err != nil {
		return nil, fmt.Errorf("read token_file: %w", err)
	}
	config.BearerToken, config.BearerTokenFile = "", ""
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &tokenTransport{token, next} })
	return config, nil
}

func (c *Config) loadConfig(hide func(...string)) (*rest.Config, error) {
	switch {
	case c.Kubeconfig != "":
		file, err := clientcmd.LoadFromFile(c.Kubeconfig)
		if err != nil {
			return nil, fmt.Errorf("load kubeconfig: %w", err)
		}
		for _, user := range file.AuthInfos {
			hide(user.Token, user.Password)
		}
		if err := clientcmd.ResolveLocalPaths(file); err != nil {
			return nil, fmt.Errorf("resolve the paths in kubeconfig: %w", err)
		}
		config, err := clientcmd.NewNonInteractiveClientConfig(*file, c.Context, &clientcmd.ConfigOverrides{}, nil).ClientConfig()
		if err != nil {
			return nil, fmt.Errorf("read kubeconfig: %w", err)
		}
		return config, nil
	case c.Server != "":
		return c.inlineConfig(), nil
	}
	config, err := rest.InClusterConfig()
	if errors.Is(err, rest.ErrNotInCluster) {
		return nil, errors.New("neither kubeconfig nor server is set, and this is not a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are missing")
	}
	if err != nil {
		return nil, fmt.Errorf("read the service account: %w", err)
	}
	return config, nil
}

// inlineConfig returns the inline settings. As clientcmd does for a kubeconfig, it does not send
// credentials unencrypted, except to this host.
func (c *Config) inlineConfig() *rest.Config {
	config := &rest.Config{Host: c.Server, TLSClientConfig: rest.TLSClientConfig{
		CertFile: c.CertFile, KeyFile: c.KeyFile, Insecure: c.InsecureSkipVerify,
	}}
	if !c.InsecureSkipVerify {
		config.CAFile = c.CAFile
	}
	if c.sendsToken() {
		config.BearerTokenFile = c.TokenFile
	}
	return config
}

// sendsToken reports whether the inline token may be sent to the inline server.
func (c *Config) sendsToken() bool {
	u, err := url.Parse(c.Server)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Scheme == "https" || u.Hostname() == "localhost" || (ip != nil && ip.IsLoopback())
}

// token is a bearer token in a file that another program rotates. It is safe for concurrent use.
type token struct {
	path string
	// hide is that of Env.
	hide func(...string)

	mu   sync.Mutex // guards last
	last string
}

// refresh reads the file. On an error, it keeps the last token.
func (t *token) refresh() error {
	f, err := os.Open(t.path)
	if err != nil {
		return err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, tokenLimit))
	if err != nil {
		return err
	}
	token := strings.TrimSpace(string(data))
	if token == "" {
		return fmt.Errorf("%q contains no token", t.path)
	}
	t.hide(token)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = token
	return nil
}

// current returns the token in the file. If the file cannot be read, as during a rotation, it
// returns the last token.
func (t *token) current() string {
	_ = t.refresh() // after a lasting error, the API server will respond with 401
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last
}

// tokenTransport adds the current token to every request.
type tokenTransport struct {
	token *token
	next  http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t *tokenTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("Authorization", "Bearer "+t.token.current())
	return t.next.RoundTrip(req)
}

// WrappedRoundTripper returns the next transport, for client-go to close its idle connections.
func (t *tokenTransport) WrappedRoundTripper() http.RoundTripper { return t.next }

// certificateExpiry returns when the client certificate of config expires, and zero if it is
// missing or unreadable. It reads the file at each call, because client-go reloads it, too.
func certificateExpiry(config *rest.Config) time.Time {
	data := config.CertData
	if len(data) == 0 && config.CertFile != "" {
		data, _ = os.ReadFile(config.CertFile) // reported by client-go with the next handshake
	}
	for len(bytes.TrimSpace(data)) > 0 {
		var block *pem.Block
		block, data = pem.Decode(data)
		if block == nil {
			return time.Time{}
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return time.Time{}
		}
		return cert.NotAfter
	}
	return time.Time{}
}
