package client

import (
	"fmt"
	"io"
	"net/url"
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

// Run queries a daemon. An error is one of the command line.
func (w *Wait) Run(d *Daemon) (execprobe.Result, error) {
	if w.Timeout <= 0 || w.Interval <= 0 {
		return execprobe.Result{}, fmt.Errorf("--timeout=%s --interval=%s: expected durations above 0", w.Timeout, w.Interval)
	}
	if url.PathEscape(w.State) != w.State || w.State == "" {
		return execprobe.Result{}, fmt.Errorf("state %.32q: expected a name such as ready or alive", w.State)
	}
	if d.Address != "" {
		if _, err := ParseURL(d.Address); err != nil {
			return execprobe.Result{}, err
		}
	}
	w.query = func(deadline time.Time) execprobe.Result { return d.verdict(w.State, deadline) }
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
