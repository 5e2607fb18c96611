package alertmanager

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/prometheus/common/config"

	"github.com/vitals-health/vitals/internal/files"
	"github.com/vitals-health/vitals/internal/panics"
	"github.com/vitals-health/vitals/internal/text"
)

const (
	// maxFile bounds the file of --alertmanager.http.config.file, and those with its secrets.
	maxFile = 1 << 20
	// maxAnswer bounds what is read of an answer, and maxReason what is logged of it.
	maxAnswer, maxReason = 4 << 10, 300
)

// readHTTPConfig reads credentials and TLS. It hides the secrets, also those that further files
// have now.
func readHTTPConfig(path string, hide func(...string)) (config.HTTPClientConfig, error) {
	if path == "" {
		return config.DefaultHTTPClientConfig, nil
	}
	content, err := readFile(path)
	if err != nil {
		return config.HTTPClientConfig{}, httpConfigError(path, err)
	}
	if strings.TrimSpace(content) == "" {
		return config.DefaultHTTPClientConfig, nil
	}
	c, err := config.LoadHTTPConfig(content)
	if err != nil {
		return config.HTTPClientConfig{}, httpConfigError(path, err)
	}
	c.SetDirectory(filepath.Dir(path))
	hide(string(c.BearerToken), string(c.TLSConfig.Key))
	secretFiles := []string{c.BearerTokenFile}
	if a := c.Authorization; a != nil {
		hide(string(a.Credentials))
		secretFiles = append(secretFiles, a.CredentialsFile)
	}
	if b := c.BasicAuth; b != nil {
		hide(string(b.Password))
		secretFiles = append(secretFiles, b.PasswordFile)
	}
	if o := c.OAuth2; o != nil {
		hide(string(o.ClientSecret), string(o.ClientCertificateKey))
		secretFiles = append(secretFiles, o.ClientSecretFile)
	}
	if c.HTTPHeaders != nil {
		for _, h := range c.HTTPHeaders.Headers {
			for _, s := range h.Secrets {
				hide(string(s))
			}
			secretFiles = append(secretFiles, h.Files...)
		}
	}
	for _, name := range secretFiles {
		if name == "" {
			continue
		}
		secret, err := readFile(name)
		if err != nil {
			return config.HTTPClientConfig{}, httpConfigError(path, err)
		}
		hide(strings.TrimSpace(secret))
	}
	return *c, nil
}

// readFile reads a file that is not too long. It does not wait.
func readFile(path string) (string, error) {
	f, err := files.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(content) > maxFile {
		err = fmt.Errorf("%s has more than 1 MiB", path)
	}
	return string(content), err
}

// httpConfigError returns an error of the file without the values in it, which the YAML parser
// quotes.
func httpConfigError(path string, err error) error {
	quoted := regexp.MustCompile("`[^`]*`")
	return fmt.Errorf("--alertmanager.http.config.file=%s: %s", path, quoted.ReplaceAllString(err.Error(), "`...`"))
}

// newClient returns a client whose connections outlast the pause between two requests.
func newClient(c config.HTTPClientConfig, userAgent string) (*http.Client, error) {
	dialer := net.Dialer{}
	client, err := config.NewClientFromConfig(c, "alertmanager", config.WithUserAgent(userAgent), config.WithDialContextFunc(panics.Dial(dialer.DialContext)))
	if err != nil {
		return nil, err
	}
	refuse := client.CheckRedirect
	client.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		switch {
		case refuse != nil:
			return refuse(req, via)
		case req.Method != http.MethodPost: // the alerts would not arrive
			return fmt.Errorf("it redirects to %s, which loses the alerts: expected that address in --alertmanager.url", shownURL(req.URL))
		case len(via) >= 5:
			return errors.New("it redirects more than 5 times")
		}
		return nil
	}
	return client, nil
}

// refusal is an answer other than success.
type refusal struct {
	code int
	text string
}

func (r *refusal) Error() string { return r.text }

// again reports whether the same request may succeed soon.
func again(err error) bool {
	var r *refusal
	if !errors.As(err, &r) {
		return true
	}
	return r.code >= http.StatusInternalServerError || r.code == http.StatusTooManyRequests || r.code == http.StatusRequestTimeout
}

// post sends alerts. Any status of success is one, as in Prometheus, whatever its body.
func post(ctx context.Context, client *http.Client, to string, body []byte, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return causeOf(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := client.Do(req)
	if err != nil {
		return causeOf(err)
	}
	defer res.Body.Close()
	answer, _ := io.ReadAll(io.LimitReader(res.Body, maxAnswer)) // the status decides
	if res.StatusCode/100 == 2 {
		return nil
	}
	reason := "it answers " + res.Status
	if detail := text.Short(string(answer), maxReason); detail != "" {
		reason += ": " + detail
	}
	return &refusal{res.StatusCode, reason}
}

// causeOf returns an error of a client without the URL, whose query may be secret.
func causeOf(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		if wrapped.Timeout() {
			return errors.New("no answer in time")
		}
		return wrapped.Err
	}
	return err
}
