package main

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

	"github.com/alecthomas/kingpin/v2"

	"github.com/vitals-health/vitals/internal/execprobe"
)

// lookTimeout is how long one answer may take. The daemon answers from memory.
const lookTimeout = 5 * time.Second

// waiting waits for a state to pass. It ends at once on SIGINT and SIGTERM because
// nothing catches them: it has nothing to clear up.
type waiting struct {
	state             string
	style             execprobe.Style
	timeout, interval time.Duration
	// look asks once, until the deadline at the latest.
	look func(deadline time.Time) execprobe.Result
	// progress is told what changes.
	progress io.Writer
}

// waitCommand declares the command wait.
func (p *program) waitCommand(app *kingpin.Application, do func(func() int) kingpin.Action) {
	cmd := app.Command("wait", "Ask the daemon for STATE until it passes, or until it is time to give up: then the last reason is printed, and its code returned. Where no daemon answers, the state does not pass yet. What changes meanwhile goes to stderr.")
	w := &waiting{progress: p.stderr}
	var style, socket, address string
	cmd.Arg("state", "The state to wait for; ready when none is given.").Default("ready").StringVar(&w.state)
	cmd.Flag("timeout", "When to give up.").Default("5m").DurationVar(&w.timeout)
	cmd.Flag("interval", "How long to wait after each look.").Default("1s").DurationVar(&w.interval)
	cmd.Flag("socket", "The daemon's Unix socket.").Default(defaultSocket).StringVar(&socket)
	cmd.Flag("url", "Ask at this address instead, such as http://host:8080.").PlaceHolder("URL").StringVar(&address)
	cmd.Flag("style", "Exit codes and output as the exec probe has them: plain, docker, sonic or nagios.").Default(string(execprobe.Plain)).EnumVar(&style, styles()...)
	cmd.Action(do(func() int {
		w.style = execprobe.Style(style)
		result, err := w.run(socket, address)
		if err != nil {
			result = execprobe.Result{Outcome: execprobe.Usage, Text: err.Error()}
		}
		return p.tell(w.style, result)
	}))
}

// run waits for what the daemon on a socket, or at an address, says. An error is one
// of the command line.
func (w *waiting) run(socket, address string) (execprobe.Result, error) {
	if w.timeout <= 0 || w.interval <= 0 {
		return execprobe.Result{}, fmt.Errorf("--timeout=%s --interval=%s: expected durations above 0", w.timeout, w.interval)
	}
	if url.PathEscape(w.state) != w.state || w.state == "" {
		return execprobe.Result{}, fmt.Errorf("state %.32q: expected a name such as ready or alive", w.state)
	}
	w.look = func(deadline time.Time) execprobe.Result { return execprobe.Query(socket, w.state, deadline) }
	if address != "" {
		daemon, err := parseDaemonURL(address)
		if err != nil {
			return execprobe.Result{}, err
		}
		w.look = func(deadline time.Time) execprobe.Result { return askURL(daemon, w.state, deadline) }
	}
	return w.wait(), nil
}

// wait looks until the state passes or the time is up, and returns what was said last.
func (w *waiting) wait() execprobe.Result {
	begin := time.Now()
	end := begin.Add(w.timeout)
	var last execprobe.Result
	said := ""
	for {
		deadline := time.Now().Add(lookTimeout)
		cut := deadline.After(end)
		if cut {
			deadline = end
		}
		// That an answer was cut off by the end says less than the one before.
		if r := w.look(deadline); !cut || r.Outcome != execprobe.Timeout || last.Outcome == 0 {
			last = r
		}
		switch last.Outcome {
		case execprobe.OK, execprobe.Warning, execprobe.Usage:
			return last
		}
		if now := gist(last); now != said {
			said = now
			w.tell(begin, w.firstLine(last))
		}
		left := time.Until(end)
		<-time.After(min(w.interval, left))
		if left <= w.interval {
			w.tell(begin, "gave up")
			return last
		}
	}
}

// gist is what a result says without what changes from look to look: values, times
// and notes.
func gist(r execprobe.Result) string {
	if v := r.Verdict; v != nil {
		return fmt.Sprint(r.Outcome, v.Reason, v.Rule)
	}
	return fmt.Sprint(r.Outcome, r.Text)
}

func (w *waiting) firstLine(r execprobe.Result) string {
	line, _, _ := strings.Cut(w.style.Render(r), "\n")
	return line
}

func (w *waiting) tell(begin time.Time, what string) {
	fmt.Fprintf(w.progress, "%s: %s\n", time.Since(begin).Round(100*time.Millisecond), what)
}

// parseDaemonURL reads the address of a daemon.
func parseDaemonURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("--url: expected an address such as http://host:8080") // which may hold a password
	}
	if _, err := strconv.ParseUint(cmp.Or(u.Port(), "0"), 10, 16); err != nil {
		return nil, fmt.Errorf("--url: port %s: expected one up to 65535", u.Port())
	}
	return u, nil
}

// askURL asks a daemon over HTTP for a state's verdict.
func askURL(daemon *url.URL, state string, deadline time.Time) execprobe.Result {
	status, body, failed := getURL(daemon, daemon.JoinPath("api/v1/verdict", state), execprobe.ContentType, execprobe.MaxAnswer, deadline)
	if failed != nil {
		return *failed
	}
	return execprobe.Read(status, body, state)
}

// getURL asks a daemon over HTTP for an address of it, without proxies and redirects:
// who answers is who was asked. A user and a password in the address are those of
// --web.config.file. Of the body, it returns at most a byte more than limit.
func getURL(daemon, address *url.URL, accept string, limit int, deadline time.Time) (status int, body []byte, failed *execprobe.Result) {
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

// unanswered is the result of a request that got no answer.
func unanswered(daemon *url.URL, err error) execprobe.Result {
	if failed := (*url.Error)(nil); errors.As(err, &failed) {
		err = failed.Err
	}
	if network := net.Error(nil); errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &network) && network.Timeout() {
		return execprobe.Result{Outcome: execprobe.Timeout, Text: fmt.Sprintf("the daemon at %s does not answer in time", daemon.Host)}
	}
	if op := (*net.OpError)(nil); errors.As(err, &op) {
		err = op.Err // without its own port, which is another one each time
	}
	return execprobe.Result{Outcome: execprobe.NoDaemon, Text: fmt.Sprintf("no daemon answers at %s: %v", daemon.Host, err)}
}
