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
	"sync/atomic"
	"time"

	"github.com/prometheus/common/config"

	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/internal/panics"
	"github.com/vitals-health/vitals/internal/text"
)

const (
	// maxAnswer bounds what is read of a body, and maxReason what is logged of it.
	maxAnswer, maxReason = 4 << 10, 300
	// maxResponse bounds what is read of a response, with its headers.
	maxResponse = remote.MaxHeader + maxAnswer
)

// httpConfigError names the flag of an error of its file.
func httpConfigError(err error) error {
	return fmt.Errorf("--alertmanager.http.config.file: %w", err)
}

// newClient returns a client whose connections outlast the pause between two requests. The library has
// no option for the size of headers, so the connections bound whole responses, and there is no HTTP/2,
// which could unpack few bytes to many.
func newClient(c config.HTTPClientConfig, userAgent string) (*http.Client, error) {
	client, err := config.NewClientFromConfig(c, "alertmanager", config.WithUserAgent(userAgent), config.WithDialContextFunc(panics.Dial(dial)), config.WithHTTP2Disabled())
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
		}
		return remote.FollowSameHost(req, via)
	}
	return client, nil
}

// conn is a connection on which a response has at most maxResponse bytes.
type conn struct {
	net.Conn
	// read is the number of bytes since the last write.
	read atomic.Int64
}

func dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c}, nil
}

// Write implements net.Conn.
func (c *conn) Write(b []byte) (int, error) {
	c.read.Store(0)
	return c.Conn.Write(b)
}

// Read implements net.Conn.
func (c *conn) Read(b []byte) (int, error) {
	if c.read.Load() > maxResponse {
		return 0, fmt.Errorf("its answer has more than %d bytes", maxResponse)
	}
	n, err := c.Conn.Read(b)
	c.read.Add(int64(n))
	return n, err
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
