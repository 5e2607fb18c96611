package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/vitals-health/vitals/internal/execprobe"
)

// maxRefused bounds for how many processes it is known whether their reports are taken.
const maxRefused = 1000

var (
	errNoSupervisor    = errors.New("supervisor-listener: not started by supervisord: expected a section eventlistener with this command")
	errPatience        = errors.New("supervisor-listener: --patience: expected 1 or more")
	errListenerTimeout = errors.New("supervisor-listener: --timeout: expected more than 0s")
	errOrphan          = errors.New("supervisord is gone already")
)

// report tells Vitals that a process has said something, and logs when that cannot be
// told any more, and when it can again.
func (l *listener) report(process string) {
	problem := ""
	if err := l.put(process); err != nil {
		problem = err.Error()
	}
	before, known := l.refused[process]
	if before == problem || !known && len(l.refused) >= maxRefused {
		return
	}
	l.refused[process] = problem
	if problem != "" {
		l.logger.Warn("a process' heartbeat is not taken", "process", process, "err", problem)
		return
	}
	l.logger.Info("a process' heartbeat is taken", "process", process)
}

// put sends the report of a component: one that speaks is alive.
func (l *listener) put(component string) error {
	ctx, cancel := context.WithTimeout(context.Background(), l.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, "http://vitals/api/v1/components/"+url.PathEscape(component), strings.NewReader(`{"alive": true}`))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := l.client.Do(req)
	if failed := (*url.Error)(nil); errors.As(err, &failed) {
		return failed.Err
	}
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusNoContent {
		return nil
	}
	why, err := io.ReadAll(io.LimitReader(resp.Body, 512))
	if err != nil {
		return err
	}
	return fmt.Errorf("status %d: %s", resp.StatusCode, strings.TrimSpace(string(why)))
}

// judge counts the looks at alive that fail in a row, and acts when there are as many as
// the patience. A look without a verdict says nothing: it neither counts nor ends the row.
func (l *listener) judge(r execprobe.Result) {
	fails, known := aliveFails(r)
	if !known {
		if l.silent == "" {
			l.logger.Warn("Vitals does not say whether alive fails", "outcome", r.Outcome.String(), "text", r.Text)
		}
		l.silent = r.Text
		return
	}
	if l.silent != "" {
		l.logger.Info("Vitals says again whether alive fails")
	}
	l.silent = ""
	if !fails {
		if l.failed >= l.patience {
			l.logger.Info("alive is ok again", "text", r.Text)
		}
		l.failed = 0
		return
	}
	l.failed++
	switch {
	case l.failed%l.patience != 0:
	case l.onFailing == onFailingTerminate:
		l.logger.Error("alive fails: terminating supervisord", "looks", l.failed, "text", r.Text)
		if err := l.terminate(); err != nil {
			l.logger.Error("terminate supervisord", "err", err)
		}
	case l.failed == l.patience:
		l.logger.Error("alive fails", "looks", l.failed, "text", r.Text)
	}
}

// aliveFails says whether the daemon's verdict is that alive fails, and whether there is
// one at all: not before its first round, and not when it does not answer.
func aliveFails(r execprobe.Result) (fails, known bool) {
	switch r.Outcome {
	case execprobe.OK, execprobe.Warning:
		return false, true
	case execprobe.Failing, execprobe.Stale:
		return true, true
	case execprobe.Unknown: // of a rule: by the state's policy it fails; without one Vitals has only just started
		return true, r.Verdict != nil && r.Verdict.Rule != ""
	}
	return false, false
}
