package client

import (
	"bytes"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/vitals-health/vitals/internal/execprobe"
	"github.com/vitals-health/vitals/internal/text"
)

const (
	pathExplain = "api/v1/explain/"
	// maxExplanation bounds the daemon's answer, in bytes: some ten times the size of 400
	// parts of expressions with ten elements each.
	maxExplanation = 16 << 20
)

// Explain returns the explanation of a state as JSON: of one rule if there is a name, or of all
// rules.
func (d *Daemon) Explain(state, rule string, all bool, timeout time.Duration) ([]byte, *execprobe.Result) {
	args := url.Values{}
	if rule != "" {
		args.Set("rule", rule)
	}
	if all {
		args.Set("all", "1")
	}
	status, body, failed := d.Get(pathExplain+state, args, "application/json", maxExplanation, time.Now().Add(timeout))
	if failed != nil {
		return nil, failed
	}
	line, _, _ := bytes.Cut(body, []byte("\n"))
	message := text.Line(string(line), maxLine)
	result := func(o execprobe.Outcome, text string) ([]byte, *execprobe.Result) {
		return nil, &execprobe.Result{Outcome: o, Text: text}
	}
	switch {
	case len(body) > maxExplanation:
		return result(execprobe.Protocol, fmt.Sprintf("the answer is not the daemon's: more than %d bytes", maxExplanation))
	case status == 200:
		return body, nil
	case status == 404 && strings.HasPrefix(message, "there is no "):
		return result(execprobe.Usage, message)
	case status == 404 && strings.HasPrefix(message, execprobe.NoSuchPath):
		return result(execprobe.Protocol, "the daemon has no explanations: it may be older than this program")
	case status == 403:
		return result(execprobe.Forbidden, "the daemon refuses the request: "+message)
	case status == 401:
		return result(execprobe.Forbidden, fmt.Sprintf("the daemon requires authentication: status %d", status))
	case status == 503:
		return result(execprobe.Timeout, message)
	}
	return result(execprobe.Protocol, fmt.Sprintf("the answer is not the daemon's: status %d", status))
}
