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
	"strconv"
	"strings"
	"time"

	"github.com/vitals-health/vitals/internal/execprobe"
)

// queryTimeout bounds one query. The daemon answers from memory.
const queryTimeout = 5 * time.Second

// Wait queries a daemon until a state passes. It handles no signals: SIGINT and SIGTERM end
// the process, and there is nothing to clean up.
type Wait struct {
	State             string
	Style             execprobe.Style
	Timeout, Interval time.Duration
	// query queries the state once, until the deadline at the latest.
	query func(deadline time.Time) execprobe.Result
	// Progress gets a line for every change of the result.
	Progress io.Writer
}

// Run queries the daemon on a socket or, if address is not empty, at an address. An error
// is one of the command line.
func (w *Wait) Run(socket, address string) (execprobe.Result, error) {
	if w.Timeout <= 0 || w.Interval <= 0 {
		return execprobe.Result{}, fmt.Errorf("--timeout=%s --interval=%s: expected durations above 0", w.Timeout, w.Interval)
	}
	if url.PathEscape(w.State) != w.State || w.State == "" {
		return execprobe.Result{}, fmt.Errorf("state %.32q: expected a name such as ready or alive", w.State)
	}
	w.query = func(deadline time.Time) execprobe.Result { return execprobe.Query(socket, w.State, deadline) }
	if address != "" {
		daemon, err := ParseURL(address)
		if err != nil {
			return execprobe.Result{}, err
		}
		w.query = func(deadline time.Time) execprobe.Result { return queryURL(daemon, w.State, deadline) }
	}
	return w.wait(), nil
}

// wait queries until the state passes or the timeout expires, and returns the last result.
func (w *Wait) wait() execprobe.Result {
	begin := time.Now()
	end := begin.Add(w.Timeout)
	var last execprobe.Result
	shown := ""
	for {
		deadline := time.Now().Add(queryTimeout)
		cut := deadline.After(end)
		if cut {
			deadline = end
		}
		// A query that the end of the wait cuts off does not replace the result before it.
		if r := w.query(deadline); !cut || r.Outcome != execprobe.Timeout || last.Outcome == 0 {
			last = r
		}
		switch last.Outcome {
		case execprobe.OK, execprobe.Warning, execprobe.Usage:
			return last
		}
		if now := gist(last); now != shown {
			shown = now
			w.log(begin, w.firstLine(last))
		}
		left := time.Until(end)
		<-time.After(min(w.Interval, left))
		if left <= w.Interval {
			w.log(begin, "gave up")
			return last
		}
	}
}

// gist returns a result without what changes in every query: values, times and notes.
func gist(r execprobe.Result) string {
	if v := r.Verdict; v != nil {
		return fmt.Sprint(r.Outcome, v.Reason, v.Rule)
	}
	return fmt.Sprint(r.Outcome, r.Text)
}

func (w *Wait) firstLine(r execprobe.Result) string {
	line, _, _ := strings.Cut(w.Style.Render(r), "\n")
	return line
}

func (w *Wait) log(begin time.Time, what string) {
	fmt.Fprintf(w.Progress, "%s: %s\n", time.Since(begin).Round(100*time.Millisecond), what)
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

// queryURL queries a daemon over HTTP for a state's verdict.
func queryURL(daemon *url.URL, state string, deadline time.Time) execprobe.Result {
	status, body, failed := Get(daemon, daemon.JoinPath("api/v1/verdict", state), execprobe.ContentType, execprobe.MaxAnswer, deadline)
	if failed != nil {
		return *failed
	}
	return execprobe.Read(status, body, state)
}

// Get sends a GET request to an address of a daemon. It uses no proxies and follows no
// redirects. A user and a password in the address are those of --web.config.file. It
// returns at most limit+1 bytes of the body.
func Get(daemon, address *url.URL, accept string, limit int, deadline time.Time) (status int, body []byte, failed *execprobe.Result) {
	ctx, cancel := context.WithDeadline(context.Background(), deadline)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return 0, nil, &execprobe.Result{Outcome: execprobe.Usage, Text: "--url: expected an address such as http://host:8080"}
	}
	r.Header.Set("Accept", accept)
	client := http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	answer, err := client.Do(r)
	if err != nil {
		return 0, nil, new(unanswered(daemon, err))
	}
	defer answer.Body.Close()
	if body, err = io.ReadAll(io.LimitReader(answer.Body, int64(limit)+1)); err != nil {
		return 0, nil, new(unanswered(daemon, err))
	}
	return answer.StatusCode, body, nil
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
