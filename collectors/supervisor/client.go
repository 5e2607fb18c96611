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
	"github.com/vitals-health/vitals/internal/files"
)

const (
	// maxSupervisorAnswer bounds an answer in bytes: some 3,000 programs, of 1.3 kB each.
	maxSupervisorAnswer = 4 << 20
	// maxSupervisorHeader bounds the answer's header in bytes.
	maxSupervisorHeader = 64 << 10
)

// client asks one supervisord.
type client struct {
	config *Config
	// url is the address of XML-RPC, place how an error names the supervisord.
	url, place string
	http       *http.Client
}

func newSupervisorClient(config *Config) *client {
	c := &client{config: config, url: strings.TrimSuffix(config.URL, "/") + "/RPC2", place: config.URL}
	// Each round connects anew, so that a socket that is gone shows at once.
	transport := &http.Transport{DisableKeepAlives: true, MaxResponseHeaderBytes: maxSupervisorHeader}
	if socket := config.socket(); socket != "" {
		c.url, c.place = "http://supervisord/RPC2", socket
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", socket)
		}
	}
	c.http = &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c
}

// ask returns what supervisord says of itself and of its programs.
func (c *client) ask(ctx context.Context) (answer, error) {
	a, err := c.call(ctx)
	if err != nil {
		return a, &collectors.Error[reason]{Reason: reasonOfSupervisor(err), Err: fmt.Errorf("ask supervisord at %s: %w", c.place, remote.WithoutURL(err))}
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
		return answer{}, &collectors.Error[reason]{Reason: auth, Err: errors.New("it wants a user name and a password, or others than these (status 401)")}
	case http.StatusForbidden:
		return answer{}, &collectors.Error[reason]{Reason: forbidden, Err: errors.New("it refuses (status 403)")}
	default:
		return answer{}, fmt.Errorf("it answers with status %d: expected 200", resp.StatusCode)
	}
	v, err := parseXMLRPC(http.MaxBytesReader(nil, resp.Body, maxSupervisorAnswer))
	if err != nil {
		return answer{}, explained(err)
	}
	a, err := readSupervisorAnswer(v)
	return a, explained(err)
}

// authorize puts the credentials into the request, as the file holds them now.
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
	req.SetBasicAuth(c.config.Username, string(bytes.TrimSpace(password)))
	return nil
}

// explained says what is wrong with an answer; nil is nothing.
func explained(err error) error {
	if err == nil {
		return nil
	}
	if fault, ok := errors.AsType[*xmlrpcFault](err); ok {
		switch fault.code {
		case faultShutdownState:
			return &collectors.Error[reason]{Reason: shuttingDown, Err: errors.New("it is shutting down or restarting, and tells nothing any more")}
		case faultUnknownMethod:
			return errors.New("it does not know its own methods: expected a section rpcinterface:supervisor in its configuration")
		}
	}
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return fmt.Errorf("its answer has more than %d bytes", tooLarge.Limit)
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return err // the connection broke, or time is up
	}
	return fmt.Errorf("its answer cannot be read: %w", err)
}

// reasonOfSupervisorTransport classifies an error of connecting, asking and reading.
func reasonOfSupervisorTransport(err error) reason {
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
