package supervisor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"strings"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/internal/budget"
	"github.com/vitals-health/vitals/internal/files"
	"github.com/vitals-health/vitals/internal/panics"
)

const (
	// maxAnswer limits an answer in bytes: about 3,000 programs of 1.3 kB each.
	maxAnswer = 4 << 20
	// bodyFactor is what an answer takes for each of its bytes, as TestMemoryFactor measures.
	bodyFactor = 4
)

// client queries one supervisord.
type client struct {
	config *Config
	// url is the address of XML-RPC, place that of supervisord in errors.
	url, place string
	http       *http.Client
	// hide and bodies are those of Env.
	hide   func(...string)
	bodies *budget.Bodies
}

func newClient(config *Config, env collectors.Env) *client {
	c := &client{config: config, hide: env.Hide, bodies: env.Bodies, url: strings.TrimSuffix(config.URL, "/") + "/RPC2", place: config.URL}
	// Each collection opens a connection, so that a removed socket is detected at once.
	transport := &http.Transport{DisableKeepAlives: true, MaxResponseHeaderBytes: remote.MaxHeader}
	if socket := config.socket(); socket != "" {
		c.url, c.place = "http://supervisord/RPC2", socket
		transport.DialContext = panics.Dial(func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", socket)
		})
	}
	c.http = &http.Client{Transport: transport, CheckRedirect: remote.FollowSameHost}
	return c
}

// query returns the state of supervisord and of its programs.
func (c *client) query(ctx context.Context) (answer, error) {
	a, err := c.call(ctx)
	if err != nil {
		return a, &collectors.Error[reason]{Reason: reasonOf(err), Err: fmt.Errorf("query supervisord at %s: %w", c.place, remote.WithoutURL(err))}
	}
	return a, nil
}

func (c *client) call(ctx context.Context) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, strings.NewReader(call))
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("Content-Type", "text/xml")
	req.Header.Set("User-Agent", "vitals")
	if err := c.authorize(req); err != nil {
		return answer{}, &collectors.Error[reason]{Reason: auth, Err: err}
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusUnauthorized:
		return answer{}, collectors.Errorf(auth, "missing or wrong user name or password (status 401)")
	case http.StatusForbidden:
		return answer{}, collectors.Errorf(forbidden, "forbidden (status 403)")
	default:
		return answer{}, fmt.Errorf("status %d: expected 200", resp.StatusCode)
	}
	body := c.bodies.Reader(ctx, http.MaxBytesReader(nil, resp.Body, maxAnswer), bodyFactor)
	defer body.Release()
	v, err := parseXMLRPC(body)
	if err != nil {
		return answer{}, explained(err)
	}
	a, err := parseAnswer(v)
	return a, explained(err)
}

// authorize adds the credentials to the request. It reads the file each time.
func (c *client) authorize(req *http.Request) error {
	switch {
	case c.config.Username == "":
		return nil
	case c.config.PasswordFile == "":
		req.SetBasicAuth(c.config.Username, c.config.Password.Value())
		return nil
	}
	password, err := remote.ReadClientFile(c.config.PasswordFile)
	if err != nil {
		return fmt.Errorf("read password: %w", err)
	}
	c.hide(string(bytes.TrimSpace(password)))
	req.SetBasicAuth(c.config.Username, string(bytes.TrimSpace(password)))
	return nil
}

// explained describes an error in an answer; nil stays nil.
func explained(err error) error {
	if err == nil {
		return nil
	}
	if fault, ok := errors.AsType[*xmlrpcFault](err); ok {
		switch fault.code {
		case faultShutdownState:
			return collectors.Errorf(shuttingDown, "it is shutting down or restarting and rejects requests")
		case faultUnknownMethod:
			return errors.New("it has no methods: expected a section rpcinterface:supervisor in its configuration")
		}
	}
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return fmt.Errorf("its answer has more than %d bytes", tooLarge.Limit)
	}
	if errors.Is(err, budget.ErrExceeded) {
		return fmt.Errorf("its answer cannot be read: %w", err)
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return err // a broken connection or a timeout
	}
	return fmt.Errorf("its answer cannot be read: %w", err)
}

// classify returns the reason of an error without one.
func classify(err error) reason {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return forbidden
	case files.Missing(err):
		return missing
	}
	switch remote.ReasonOfTransport(err) {
	case remote.ReasonTimeout:
		return timeout
	case remote.ReasonRefused, remote.ReasonDNS:
		return refused
	}
	return protocol
}
