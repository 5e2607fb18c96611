package client

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"time"

	"github.com/vitals-health/vitals/internal/execprobe"
	"github.com/vitals-health/vitals/internal/history"
	"github.com/vitals-health/vitals/internal/text"
)

const (
	pathEvents = "api/v1/events"
	// maxEvents bounds the daemon's answer, in bytes: several times the memory that its
	// events have.
	maxEvents = 8 << 20
	// maxLine bounds the line that the daemon answers in place of events.
	maxLine = 500
	// followPause is the time between two queries that follow.
	followPause = time.Second
)

// Events returns the events that the parameters of /api/v1/events choose.
func (d *Daemon) Events(parameters url.Values, timeout time.Duration) ([]*history.Event, *execprobe.Result) {
	status, body, failed := d.Get(pathEvents, parameters, "application/json", maxEvents, time.Now().Add(timeout))
	if failed != nil {
		return nil, failed
	}
	line, _, _ := bytes.Cut(body, []byte("\n"))
	result := func(o execprobe.Outcome, format string, args ...any) *execprobe.Result {
		return &execprobe.Result{Outcome: o, Text: fmt.Sprintf(format, args...)}
	}
	switch status {
	case 200:
	case 400:
		return nil, result(execprobe.Usage, "%s", text.Line(string(line), maxLine))
	case 403:
		return nil, result(execprobe.Forbidden, "the daemon refuses the request: %s", text.Line(string(line), maxLine))
	case 401:
		return nil, result(execprobe.Forbidden, "the daemon requires authentication: status %d", status)
	case 404:
		return nil, result(execprobe.Protocol, "the daemon keeps no events: it may be older than this program")
	case 503:
		return nil, result(execprobe.Timeout, "%s", text.Line(string(line), maxLine))
	default:
		return nil, result(execprobe.Protocol, "the answer is not the daemon's: status %d", status)
	}
	var answer struct {
		Events []*history.Event `json:"events"`
	}
	if err := json.Unmarshal(body, &answer); err != nil || len(body) > maxEvents || answer.Events == nil {
		return nil, result(execprobe.Protocol, "the answer is not the daemon's: no events")
	}
	return answer.Events, nil
}

// Follow passes the chosen events and then each new one to show, until show returns an
// error or the first query fails. A daemon that is away later is queried again; progress gets
// a line for each such change.
func (d *Daemon) Follow(parameters url.Values, timeout time.Duration, progress io.Writer, show func([]*history.Event) error) *execprobe.Result {
	var away string
	for connected := false; ; <-time.After(followPause) {
		events, failed := d.Events(parameters, timeout)
		if failed != nil {
			if !connected {
				return failed
			}
			if failed.Text != away {
				away = failed.Text
				fmt.Fprintln(progress, away)
			}
			continue
		}
		connected, away = true, ""
		if err := show(events); err != nil {
			return nil // main reports a failed write for all commands
		}
		if len(events) > 0 {
			parameters.Set("after", strconv.FormatUint(events[len(events)-1].ID, 10))
		}
		parameters.Del("limit")
	}
}
