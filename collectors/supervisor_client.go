package collectors

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"strings"
)

const (
	// maxSupervisorAnswer bounds an answer in bytes: some 3,000 programs, of 1.3 kB each.
	maxSupervisorAnswer = 4 << 20
	// maxSupervisorHeader bounds the answer's header in bytes.
	maxSupervisorHeader = 64 << 10
)

// supervisorClient asks one supervisord.
type supervisorClient struct {
	config *SupervisorConfig
	// url is the address of XML-RPC, place how an error names the supervisord.
	url, place string
	http       *http.Client
}

func newSupervisorClient(config *SupervisorConfig) *supervisorClient {
	c := &supervisorClient{config: config, url: strings.TrimSuffix(config.URL, "/") + "/RPC2", place: config.URL}
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
func (c *supervisorClient) ask(ctx context.Context) (supervisorAnswer, error) {
	a, err := c.call(ctx)
	if err != nil {
		return a, &supervisorError{reasonOfSupervisor(err), fmt.Errorf("ask supervisord at %s: %w", c.place, withoutURL(err))}
	}
	return a, nil
}

func (c *supervisorClient) call(ctx context.Context) (supervisorAnswer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, strings.NewReader(supervisorCall))
	if err != nil {
		return supervisorAnswer{}, err
	}
	req.Header.Set("Content-Type", "text/xml")
	req.Header.Set("User-Agent", "vitals")
	if err := c.authorize(req); err != nil {
		return supervisorAnswer{}, &supervisorError{supervisorAuth, err}
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return supervisorAnswer{}, err
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusUnauthorized:
		return supervisorAnswer{}, &supervisorError{supervisorAuth, errors.New("it wants a user name and a password, or others than these (status 401)")}
	case http.StatusForbidden:
		return supervisorAnswer{}, &supervisorError{supervisorForbidden, errors.New("it refuses (status 403)")}
	default:
		return supervisorAnswer{}, fmt.Errorf("it answers with status %d: expected 200", resp.StatusCode)
	}
	v, err := parseXMLRPC(http.MaxBytesReader(nil, resp.Body, maxSupervisorAnswer))
	if err != nil {
		return supervisorAnswer{}, explained(err)
	}
	a, err := readSupervisorAnswer(v)
	return a, explained(err)
}

// authorize puts the credentials into the request, as the file holds them now.
func (c *supervisorClient) authorize(req *http.Request) error {
	switch {
	case c.config.Username == "":
		return nil
	case c.config.PasswordFile == "":
		req.SetBasicAuth(c.config.Username, c.config.Password.Value())
		return nil
	}
	password, err := readClientFile(c.config.PasswordFile)
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
			return &supervisorError{supervisorShuttingDown, errors.New("it is shutting down or restarting, and tells nothing any more")}
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
func reasonOfSupervisorTransport(err error) supervisorReason {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return supervisorForbidden
	case isMissingFile(err):
		return supervisorMissing
	}
	switch reasonOfError(err) {
	case ReasonTimeout:
		return supervisorTimeout
	case ReasonRefused, ReasonDNS:
		return supervisorRefused
	}
	return supervisorProtocol
}
