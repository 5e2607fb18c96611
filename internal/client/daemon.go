package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/common/config"

	"github.com/vitals-health/vitals/internal/execprobe"
	"github.com/vitals-health/vitals/internal/httpconfig"
)

// LocalAddress is where a daemon listens by default, as seen from its machine.
const LocalAddress = "http://127.0.0.1:8080"

// generationHeader is a header that all answers of a daemon have.
const generationHeader = "X-Vitals-Generation"

// Daemon is where a daemon answers: at an address or, if that is empty, on a Unix socket.
type Daemon struct {
	Socket, Address string
	// Others are sockets to try where nothing listens on Socket; empty ones are left out.
	Others []string
	// Local is an address to read from where nothing listens on a socket, if a daemon answers there; empty for no
	// such address. It gets no credentials, and nothing is written there.
	Local string
	// HTTPConfigFile has credentials and TLS for the address; empty for neither. It has no
	// effect before Configure.
	HTTPConfigFile string

	configured *http.Client
}

// Configure reads HTTPConfigFile, if there is one, for later queries. It passes the secrets to
// hide. No error has a secret.
func (d *Daemon) Configure(hide func(...string)) error {
	if d.HTTPConfigFile == "" {
		return nil
	}
	if d.Address == "" {
		return errors.New("--http.config.file is for a daemon at an address: expected --url with it")
	}
	c, err := httpconfig.Load(d.HTTPConfigFile, hide)
	if err == nil {
		d.configured, err = config.NewClientFromConfig(c, "vitals", config.WithKeepAlivesDisabled())
		if err != nil {
			err = httpconfig.Mistake(d.HTTPConfigFile, err)
		}
	}
	if err != nil {
		return fmt.Errorf("--http.config.file: %w", err)
	}
	d.configured.CheckRedirect = noRedirect
	return nil
}

// noRedirect returns the redirect itself: a daemon sends none, and credentials stay here.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// client returns the client for requests to an address, or if that is empty over the sockets. Without a
// configuration it uses no proxies.
func (d *Daemon) client(address string) *http.Client {
	if d.configured != nil {
		return d.configured
	}
	transport := &http.Transport{DisableKeepAlives: true, MaxResponseHeaderBytes: execprobe.MaxAnswer}
	if address == "" {
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return d.dial(ctx)
		}
	}
	return &http.Client{Transport: transport, CheckRedirect: noRedirect}
}

// sockets returns the paths to try in turn.
func (d *Daemon) sockets() []string {
	return append([]string{d.Socket}, slices.DeleteFunc(slices.Clone(d.Others), func(path string) bool { return path == "" })...)
}

// dial connects to the first socket on which a daemon listens. The error is the one for Socket.
func (d *Daemon) dial(ctx context.Context) (net.Conn, error) {
	var first error
	for _, path := range d.sockets() {
		conn, err := new(net.Dialer).DialContext(ctx, "unix", path)
		if err == nil {
			return conn, nil
		}
		first = cmp.Or(first, err)
	}
	return nil, first
}

// ParseURL reads the address of a daemon.
func ParseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("--url: expected an address such as http://host:8080") // without the text, which may hold a password
	}
	if _, err := strconv.ParseUint(cmp.Or(u.Port(), "0"), 10, 16); err != nil {
		return nil, fmt.Errorf("--url: port %s: expected one up to 65535", u.Port())
	}
	return u, nil
}

// Get sends a GET request for an escaped path, without a slash in front, to the daemon. It
// follows no redirects. A user and a password in the address are those of --web.config.file,
// and replace those of the configuration. It returns at most limit+1 bytes of the body.
func (d *Daemon) Get(path string, parameters url.Values, accept string, limit int, deadline time.Time) (status int, body []byte, failed *execprobe.Result) {
	if d.Address == "" {
		return d.getLocally(path, parameters, accept, limit, deadline)
	}
	status, _, body, failed = d.get(d.Address, path, parameters, accept, limit, deadline)
	return status, body, failed
}

// getLocally sends a GET request over the sockets in turn, until a daemon answers, and then to Local.
func (d *Daemon) getLocally(path string, parameters url.Values, accept string, limit int, deadline time.Time) (status int, body []byte, failed *execprobe.Result) {
	for _, socket := range d.sockets() {
		status, body, this := execprobe.Get(socket, "/"+path+"?"+parameters.Encode(), accept, limit, deadline)
		if this == nil || this.Outcome != execprobe.NoDaemon && this.Outcome != execprobe.Forbidden {
			return status, body, this
		}
		failed = cmp.Or(failed, this)
	}
	if failed.Outcome != execprobe.NoDaemon || d.Local == "" {
		return 0, nil, failed
	}
	status, header, body, this := d.get(d.Local, path, parameters, accept, limit, deadline)
	if this == nil && header.Get(generationHeader) != "" {
		return status, body, nil
	}
	failed.Text += fmt.Sprintf(", and no daemon answers at %s: expected --url=http://HOST:PORT or --socket=PATH", d.Local)
	return 0, nil, failed
}

// get sends a GET request to an address.
func (d *Daemon) get(to, path string, parameters url.Values, accept string, limit int, deadline time.Time) (status int, header http.Header, body []byte, failed *execprobe.Result) {
	usage := func(err error) (int, http.Header, []byte, *execprobe.Result) {
		return 0, nil, nil, &execprobe.Result{Outcome: execprobe.Usage, Text: err.Error()}
	}
	daemon, err := ParseURL(to)
	if err != nil {
		return usage(err)
	}
	address := daemon.JoinPath(path)
	address.RawQuery = parameters.Encode()
	ctx, cancel := context.WithDeadline(context.Background(), deadline)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return usage(errors.New("--url: expected an address such as http://host:8080"))
	}
	r.Header.Set("Accept", accept)
	answer, err := d.client(to).Do(r)
	if err != nil {
		return 0, nil, nil, new(unanswered(daemon, err))
	}
	defer answer.Body.Close()
	if body, err = io.ReadAll(io.LimitReader(answer.Body, int64(limit)+1)); err != nil {
		return 0, nil, nil, new(unanswered(daemon, err))
	}
	return answer.StatusCode, answer.Header, body, nil
}

// verdict queries the daemon for a state's verdict.
func (d *Daemon) verdict(state string, deadline time.Time) execprobe.Result {
	status, body, failed := d.Get("api/v1/verdict/"+state, nil, execprobe.ContentType, execprobe.MaxAnswer, deadline)
	if failed != nil {
		return *failed
	}
	return execprobe.Read(status, body, state)
}

// unanswered returns the result of a request without a response.
func unanswered(daemon *url.URL, err error) execprobe.Result {
	if failed := (*url.Error)(nil); errors.As(err, &failed) {
		err = failed.Err
	}
	if network := net.Error(nil); errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &network) && network.Timeout() {
		return execprobe.Result{Outcome: execprobe.Timeout, Text: fmt.Sprintf("the daemon at %s does not answer in time", daemon.Host)}
	}
	if op := (*net.OpError)(nil); errors.As(err, &op) {
		err = op.Err // without the local port, which differs each time
	}
	return execprobe.Result{Outcome: execprobe.NoDaemon, Text: fmt.Sprintf("no daemon answers at %s: %v", daemon.Host, err)}
}
