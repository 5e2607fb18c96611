package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/execprobe"
	"github.com/vitals-health/vitals/internal/text"
)

const (
	// maxOverrides bounds the daemon's answer, in bytes: a thousand silences.
	maxOverrides = 2 << 20
	// maxToken bounds the file of a token, in bytes.
	maxToken = 4 << 10
	// maxRefusal bounds the line of a daemon that refuses, in bytes: it lists the rules.
	maxRefusal = 3 << 10
)

// Overriding lists, begins or ends silences of rules, or maintenance of states.
type Overriding struct {
	Daemon
	// Maintenance is set for states instead of rules.
	Maintenance bool
	// Name is the rule or the state; empty for a list.
	Name string
	// State limits a silence to the rules of a state.
	State string
	// End ends what lasts.
	End bool
	// For is how long, and Reason why.
	For, Reason string
	// TokenFile holds the token for a daemon at an address; empty for none.
	TokenFile string
	Timeout   time.Duration
	// JSON is set for the daemon's answer as it is.
	JSON bool
}

// Run sends the request and returns what to print.
func (o *Overriding) Run() (string, *execprobe.Result) {
	if o.Timeout <= 0 {
		return "", &execprobe.Result{Outcome: execprobe.Usage, Text: fmt.Sprintf("--timeout=%s: expected a duration above 0", o.Timeout)}
	}
	ctx, cancel := context.WithTimeout(context.Background(), o.Timeout)
	defer cancel()
	status, body, failed := o.send(ctx)
	if failed == nil {
		failed = refused(status, body)
	}
	if failed != nil {
		return "", failed
	}
	shown, err := o.text(body)
	if err != nil {
		return "", &execprobe.Result{Outcome: execprobe.Protocol, Text: "the answer is not the daemon's: " + err.Error()}
	}
	return shown, nil
}

// path returns the escaped path of the request.
func (o *Overriding) path() string {
	path := text.Either(o.Maintenance, "api/v1/maintenance", "api/v1/silences")
	if o.Name != "" {
		path += "/" + url.PathEscape(o.Name)
	}
	return path
}

// send sends the request to the daemon and returns its answer.
func (o *Overriding) send(ctx context.Context) (status int, body []byte, failed *execprobe.Result) {
	usage := func(err error) (int, []byte, *execprobe.Result) {
		return 0, nil, &execprobe.Result{Outcome: execprobe.Usage, Text: err.Error()}
	}
	if o.Address == "" && o.Name == "" && o.TokenFile == "" {
		return o.Get(o.path(), nil, "application/json", maxOverrides, time.Now().Add(o.Timeout))
	}
	daemon := &url.URL{Scheme: "http", Host: "vitals"}
	if o.Address != "" {
		var err error
		if daemon, err = ParseURL(o.Address); err != nil {
			return usage(err)
		}
	}
	r, err := o.request(ctx, daemon)
	if err != nil {
		return usage(err)
	}
	answer, err := o.client(o.Address).Do(r)
	if err != nil {
		return 0, nil, new(o.unanswered(daemon, err))
	}
	defer answer.Body.Close()
	if body, err = io.ReadAll(io.LimitReader(answer.Body, maxOverrides)); err != nil {
		return 0, nil, new(o.unanswered(daemon, err))
	}
	return answer.StatusCode, body, nil
}

// request makes the request. The token is only for a daemon at an address.
func (o *Overriding) request(ctx context.Context, daemon *url.URL) (*http.Request, error) {
	address := daemon.JoinPath(o.path())
	method, body := http.MethodGet, []byte(nil)
	switch {
	case o.Name == "":
	case o.End:
		method = http.MethodDelete
		if o.State != "" {
			address.RawQuery = url.Values{"state": {o.State}}.Encode()
		}
	default:
		method = http.MethodPut
		body, _ = json.Marshal(map[string]string{"for": o.For, "state": o.State, "reason": o.Reason}) // strings always encode
	}
	r, err := http.NewRequestWithContext(ctx, method, address.String(), bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("--url: expected an address such as http://host:8080")
	}
	r.Header.Set("Accept", "application/json")
	if o.TokenFile == "" {
		return r, nil
	}
	if o.Address == "" {
		return nil, errors.New("--token-file is for a daemon at an address: expected --url with it")
	}
	token, err := readToken(o.TokenFile)
	if err != nil {
		return nil, fmt.Errorf("--token-file: %w", err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	return r, nil
}

func readToken(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	token, err := io.ReadAll(io.LimitReader(f, maxToken))
	return strings.TrimSpace(string(token)), err
}

// unanswered returns the result of a request without a response.
func (o *Overriding) unanswered(daemon *url.URL, err error) execprobe.Result {
	if o.Address != "" {
		return unanswered(daemon, err)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return execprobe.Result{Outcome: execprobe.Timeout, Text: fmt.Sprintf("the daemon on %s does not answer in time", o.Socket)}
	}
	r := execprobe.Unreachable(o.Socket, err)
	if r.Outcome == execprobe.NoDaemon {
		r.Text += ": expected --url=http://HOST:PORT with --token-file=FILE, which has server.operator_token of the daemon, or --socket=PATH"
	}
	return r
}

// refused returns the result of a request that the daemon refused; nil if it did not. The
// daemon's line is the reason.
func refused(status int, body []byte) *execprobe.Result {
	line, _, _ := bytes.Cut(body, []byte("\n"))
	message := text.Line(string(line), maxRefusal)
	switch {
	case status == http.StatusOK || status == http.StatusNoContent:
		return nil
	case status == http.StatusNotFound && strings.HasPrefix(message, execprobe.NoSuchPath):
		return &execprobe.Result{Outcome: execprobe.Protocol, Text: "the daemon has no silences: it may be older than this program"}
	case status == http.StatusBadRequest || status == http.StatusNotFound:
		return &execprobe.Result{Outcome: execprobe.Usage, Text: message}
	case status == http.StatusUnauthorized && message == http.StatusText(status): // that of --web.config.file
		return &execprobe.Result{Outcome: execprobe.Forbidden, Text: fmt.Sprintf("the daemon requires authentication: status %d", status)}
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return &execprobe.Result{Outcome: execprobe.Forbidden, Text: cmp.Or(message, fmt.Sprintf("the daemon requires authentication: status %d", status))}
	case status == http.StatusServiceUnavailable:
		return &execprobe.Result{Outcome: execprobe.Timeout, Text: message}
	}
	return &execprobe.Result{Outcome: execprobe.Protocol, Text: fmt.Sprintf("the answer is not the daemon's: status %d", status)}
}

// text returns the daemon's answer for people.
func (o *Overriding) text(body []byte) (string, error) {
	if o.JSON {
		return string(body), nil
	}
	if o.Name != "" {
		return o.changed(body)
	}
	var all map[string][]evaluator.Override
	if err := json.Unmarshal(body, &all); err != nil {
		return "", err
	}
	var lines strings.Builder
	for key, list := range all {
		for i := range list {
			lines.WriteString(line(&list[i], time.Now()))
		}
		if len(list) == 0 {
			lines.WriteString(text.Either(key == "maintenance", "no state is under maintenance\n", "no rule is silenced\n"))
		}
	}
	return lines.String(), nil
}

// changed returns the answer to a change for people. The body is empty for an end without a warning.
func (o *Overriding) changed(body []byte) (string, error) {
	var answer struct {
		evaluator.Override
		Warning string
	}
	if len(body) > 0 || !o.End {
		if err := json.Unmarshal(body, &answer); err != nil {
			return "", err
		}
	}
	shown := ""
	switch {
	case !o.End:
		shown = line(&answer.Override, answer.Begin)
	case o.Maintenance:
		shown = "maintenance of " + o.Name + " ended\n"
	default:
		shown = o.Name + text.Either(o.State != "", " is no longer silenced in "+o.State, " is no longer silenced") + "\n"
	}
	if answer.Warning != "" {
		shown += "warning: " + text.Line(answer.Warning, maxRefusal) + "\n"
	}
	return shown, nil
}

// line returns an override as one line, as seen at a time.
func line(o *evaluator.Override, at time.Time) string {
	what := o.Rule + " is silenced " + text.Either(o.State != "", "in "+o.State+" ", "")
	if o.Maintains() {
		what = o.State + " is under maintenance "
	}
	left := ""
	if d := o.Until.Sub(at); !o.Until.IsZero() && d > 0 {
		left = ", for " + text.Span(d+time.Second/2) + ","
	}
	return strings.TrimRight(what+o.UntilText(at)+left+" "+o.Why(), " ,") + "\n"
}
