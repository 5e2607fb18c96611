package supervisorlistener

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

// maxRefused is the maximum number of processes in Listener.refused.
const maxRefused = 1000

var (
	errNoSupervisor    = errors.New("supervisor-listener: not started by supervisord: expected a section eventlistener with this command")
	errPatience        = errors.New("supervisor-listener: --patience: expected 1 or more")
	errListenerTimeout = errors.New("supervisor-listener: --timeout: expected more than 0s")
	errOrphan          = errors.New("supervisord has already ended")
)

// report reports that a process is alive. It logs the first failure and the first success
// after a failure.
func (l *Listener) report(process string) {
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
		l.Logger.Warn("cannot report the heartbeat of a process", "process", process, "err", problem)
		return
	}
	l.Logger.Info("heartbeats of the process are reported again", "process", process)
}

// put sends the report that a component is alive.
func (l *Listener) put(component string) error {
	ctx, cancel := context.WithTimeout(context.Background(), l.Timeout)
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

// count counts consecutive queries in which alive fails, and acts when there are as many as
// Patience. A query without a verdict neither counts nor resets the counter.
func (l *Listener) count(r execprobe.Result) {
	fails, known := aliveFails(r)
	if !known {
		if l.noVerdict == "" {
			l.Logger.Warn("cannot get the verdict of alive", "outcome", r.Outcome.String(), "text", r.Text)
		}
		l.noVerdict = r.Text
		return
	}
	if l.noVerdict != "" {
		l.Logger.Info("the verdict of alive is available again")
	}
	l.noVerdict = ""
	if !fails {
		if l.failed >= l.Patience {
			l.Logger.Info("alive is ok again", "text", r.Text)
		}
		l.failed = 0
		return
	}
	l.failed++
	switch {
	case l.failed%l.Patience != 0:
	case l.OnFailing == Terminate:
		l.Logger.Error("alive "+r.Outcome.String()+": terminating supervisord", "queries", l.failed, "text", r.Text)
		if err := l.terminate(); err != nil {
			l.Logger.Error("terminate supervisord", "err", err)
		}
	case l.failed == l.Patience:
		l.Logger.Error("alive "+r.Outcome.String(), "queries", l.failed, "text", r.Text)
	}
}

// aliveFails reports whether alive fails according to the daemon. known is false if there is
// no verdict: before the first evaluation, and without a response.
func aliveFails(r execprobe.Result) (fails, known bool) {
	switch r.Outcome {
	case execprobe.OK, execprobe.Warning:
		return false, true
	case execprobe.Failing, execprobe.Stale:
		return true, true
	case execprobe.Unknown: // with a rule, the state's policy lets it fail; without one, Vitals has just started
		return true, r.Verdict != nil && r.Verdict.Rule != ""
	}
	return false, false
}
