package supervisorlistener

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/internal/execprobe"
	"github.com/vitals-health/vitals/internal/supervisorevents"
)

// listened is a listener with the fake daemon that it queries and reports to.
type listened struct {
	*Listener
	// reports are the reports that the daemon got, verdict is its verdict of alive.
	reports []string
	verdict execprobe.Verdict
	// answer, where set, handles requests instead.
	answer http.HandlerFunc
	// ended counts how often supervisord was terminated.
	ended int
	log   bytes.Buffer
}

func newListened(t *testing.T) *listened {
	t.Helper()
	l := &listened{verdict: execprobe.Verdict{State: "alive", Verdict: "pass", Rules: 1}}
	socket := filepath.Join(collectortest.Dir(t), "v.sock")
	ln, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := &httptest.Server{Listener: ln, Config: &http.Server{Handler: l}}
	server.Start()
	t.Cleanup(server.Close)
	l.Listener = &Listener{
		Socket: socket, Timeout: 5 * time.Second, OnFailing: Terminate, Patience: 3,
		terminate: func() error { l.ended++; return nil },
		Logger: slog.New(slog.NewTextHandler(&l.log, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || a.Key == slog.LevelKey {
				return slog.Attr{}
			}
			return a
		}})),
	}
	return l
}

// ServeHTTP implements the daemon.
func (l *listened) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch body, _ := io.ReadAll(r.Body); {
	case l.answer != nil:
		l.answer(w, r)
	case r.Method == http.MethodPut:
		l.reports = append(l.reports, r.URL.Path+" "+string(body))
		w.WriteHeader(http.StatusNoContent)
	case r.URL.Path == "/api/v1/verdict/alive":
		_, _ = w.Write(l.verdict.Text())
	default:
		http.NotFound(w, r)
	}
}

// send passes events to the listener, 5 seconds apart.
func (l *listened) send(t *testing.T, events ...string) {
	t.Helper()
	if l.refused == nil {
		if err := l.Listen(strings.NewReader(""), io.Discard); err != nil {
			t.Fatal(err)
		}
		l.log.Reset()
	}
	for _, text := range events {
		name, payload, _ := strings.Cut(text, " ")
		at := l.queried.Add(5 * time.Second)
		if l.queried.IsZero() {
			at = time.Now()
		}
		l.take(at, supervisorevents.Event{Name: name, Payload: []byte(payload)})
	}
}

func TestListenerReportsHeartbeats(t *testing.T) {
	l := newListened(t)
	l.send(t, "PROCESS_COMMUNICATION_STDOUT processname:orchagent groupname:swss pid:7\nheartbeat",
		"PROCESS_COMMUNICATION_STDERR processname:syncd groupname:syncd pid:8\n", "PROCESS_LOG_STDOUT processname:noise groupname:noise pid:9 channel:stdout\n...")
	if want := []string{`/api/v1/components/orchagent {"alive": true}`, `/api/v1/components/syncd {"alive": true}`}; !slices.Equal(l.reports, want) {
		t.Errorf("reports = %q, want %q", l.reports, want)
	}
	if l.log.Len() > 0 {
		t.Errorf("log = %s, want none", &l.log)
	}
}

func TestListenerLogsRefusedReportsOnce(t *testing.T) {
	const beat, other = "PROCESS_COMMUNICATION_STDOUT processname:a groupname:a pid:7\n", "PROCESS_COMMUNICATION_STDOUT processname:b groupname:b pid:8\n"
	l := newListened(t)
	refuse := func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/a") {
			http.Error(w, "unexpected component", http.StatusNotFound)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}
	l.answer = refuse
	l.send(t, beat, other, beat, other)
	l.answer = nil
	l.send(t, beat, beat)
	want := `msg="cannot report the heartbeat of a process" process=a err="status 404: unexpected component"
msg="heartbeats of the process are reported again" process=a
`
	if got := l.log.String(); got != want {
		t.Errorf("log = %s, want\n%s", got, want)
	}
	l.log.Reset()
	l.Socket = filepath.Join(t.TempDir(), "none")
	l.send(t, beat, beat)
	if got := l.log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "no such file") {
		t.Errorf("log = %s, want one line about the missing socket", got)
	}
	for i := range 2 * maxRefused {
		l.send(t, fmt.Sprintf("PROCESS_COMMUNICATION_STDOUT processname:p%d", i))
	}
	if len(l.refused) != maxRefused {
		t.Errorf("%d processes are known, want at most %d", len(l.refused), maxRefused)
	}
}

func TestListenerCountsFailures(t *testing.T) {
	pass := execprobe.Verdict{State: "alive", Verdict: "pass"}
	fail := execprobe.Verdict{State: "alive", Verdict: "fail", Rule: "Dead", Status: "failing", Lines: []string{"Dead failing"}}
	unknown := execprobe.Verdict{State: "alive", Verdict: "fail", Rule: "Dead", Status: "unknown"}
	stalled := execprobe.Verdict{State: "alive", Verdict: "fail", Stalled: true}
	starting := execprobe.Verdict{State: "alive", Verdict: "fail", Reason: "starting"}
	type verdicts []execprobe.Verdict
	tests := []struct {
		name     string
		verdicts verdicts
		ended    int
	}{
		{"alive", verdicts{pass, pass, pass, pass}, 0},
		{"with a warning", verdicts{{State: "alive", Verdict: "warn"}, {State: "alive", Verdict: "warn"}, {State: "alive", Verdict: "warn"}}, 0},
		{"as often as the patience", verdicts{fail, fail, fail}, 1},
		{"once less", verdicts{fail, fail, pass, fail, fail}, 0},
		{"twice as often", verdicts{fail, fail, fail, fail, fail, fail}, 2},
		{"by a rule without evidence, which the state does not pass", verdicts{unknown, unknown, unknown}, 1},
		{"by an evaluator that has stalled", verdicts{stalled, stalled, stalled}, 1},
		{"while Vitals starts", verdicts{starting, starting, starting, starting}, 0},
		{"while Vitals starts again in between", verdicts{fail, fail, starting, fail}, 1},
		{"with a verdict that is none", verdicts{{State: "alive", Verdict: "?"}, {State: "alive", Verdict: "?"}, {State: "alive", Verdict: "?"}}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := newListened(t)
			for _, v := range tt.verdicts {
				l.verdict = v
				l.send(t, "TICK_5 when:1")
			}
			if strings.Contains(l.log.String(), "cannot get the verdict") != (strings.Contains(tt.name, "starts") || strings.Contains(tt.name, "is none")) {
				t.Errorf("log = %s, want a line if and only if there was no verdict", &l.log)
			}
			if l.ended != tt.ended || tt.ended > 0 && !strings.Contains(l.log.String(), "terminating supervisord") {
				t.Errorf("supervisord was ended %d times, want %d; log:\n%s", l.ended, tt.ended, &l.log)
			}
		})
	}
}

// Other events cause no query, and ticks that waited in a queue cause one.
func TestListenerLimitsQueries(t *testing.T) {
	l := newListened(t)
	queries := 0
	l.answer = func(w http.ResponseWriter, _ *http.Request) {
		queries++
		_, _ = w.Write(l.verdict.Text())
	}
	l.send(t, "TICK_60 when:1", "PROCESS_STATE_EXITED processname:a groupname:a from_state:RUNNING expected:0 pid:7",
		"SUPERVISOR_STATE_CHANGE_RUNNING ", "REMOTE_COMMUNICATION type:x\n", "PROCESS_GROUP_ADDED groupname:a\n")
	if queries != 0 {
		t.Errorf("%d queries at events of other kinds, want none", queries)
	}
	begin := time.Now()
	for _, late := range []time.Duration{0, 900, 0, 900, 900, 0} { // as supervisord's ticks are, in milliseconds
		l.take(begin.Add(late*time.Millisecond), supervisorevents.Event{Name: "TICK_5"})
		begin = begin.Add(5 * time.Second)
	}
	if queries != 6 {
		t.Errorf("%d queries at six ticks, want 6", queries)
	}
	for range 100 {
		l.take(begin, supervisorevents.Event{Name: "TICK_5"})
	}
	if queries != 7 {
		t.Errorf("%d more queries at ticks that arrive together, want 1", queries-6)
	}
}

// While a container boots, programs change their states often, and Vitals may get no CPU:
// neither shortens the patience.
func TestListenerPatienceIsTime(t *testing.T) {
	for name, v := range map[string]execprobe.Verdict{
		"alive failing":         {State: "alive", Verdict: "fail", Rule: "Dead", Status: "failing"},
		"evaluator has stalled": {State: "alive", Verdict: "fail", Stalled: true},
	} {
		t.Run(name, func(t *testing.T) {
			l := newListened(t)
			l.verdict = v
			begin := time.Now()
			ended := map[time.Duration]int{}
			for at := time.Duration(0); at <= 10*time.Second; at += 500 * time.Millisecond {
				l.take(begin.Add(at), supervisorevents.Event{Name: "PROCESS_STATE_STARTING"})
				if at%(5*time.Second) == 0 {
					l.take(begin.Add(at), supervisorevents.Event{Name: "TICK_5"})
				}
				ended[at] = l.ended
			}
			if before, after := ended[9500*time.Millisecond], ended[10*time.Second]; before != 0 || after != 1 {
				t.Errorf("supervisord was ended %d times before 10 s, and %d times after, want 0 and 1", before, after)
			}
		})
	}
}

func TestListenerOnlyLogs(t *testing.T) {
	l := newListened(t)
	l.OnFailing, l.Patience = Log, 2
	pass, fail := l.verdict, execprobe.Verdict{State: "alive", Verdict: "fail", Rule: "Dead", Status: "failing", Lines: []string{"Dead failing"}}
	for _, v := range []execprobe.Verdict{fail, pass, fail, fail, fail, fail, fail, pass, pass} {
		l.verdict = v
		l.send(t, "TICK_5 when:1")
	}
	want := `msg="alive failing" queries=2 text="Dead failing"
msg="alive is ok again" text="alive: 1 rule"
`
	if got := l.log.String(); got != want || l.ended != 0 {
		t.Errorf("ended %d times, log = %s, want none and\n%s", l.ended, got, want)
	}
}

// Without a daemon there is no verdict: that is logged once, and supervisord keeps running.
func TestListenerWithoutDaemon(t *testing.T) {
	l := newListened(t)
	l.verdict = execprobe.Verdict{State: "alive", Verdict: "fail", Rule: "Dead", Status: "failing"}
	socket := l.Socket
	l.send(t, "TICK_5 ", "TICK_5 ")
	l.Socket = "/nowhere/v.sock"
	l.send(t, "TICK_5 ", "TICK_5 ", "TICK_5 ", "TICK_5 ")
	if got := l.log.String(); l.ended != 0 || strings.Count(got, "\n") != 1 || !strings.Contains(got, "there is no socket /nowhere/v.sock") {
		t.Errorf("ended %d times, log = %s, want 0 and one line that names the socket", l.ended, got)
	}
	l.Socket = socket
	l.send(t, "TICK_5 ")
	if l.ended != 1 || strings.Count(l.log.String(), "available again") != 1 {
		t.Errorf("ended %d times once the daemon is back and alive fails for the third time, want 1; log:\n%s", l.ended, &l.log)
	}
	l.send(t, "TICK_5 ")
	if strings.Count(l.log.String(), "available again") != 1 {
		t.Errorf("log = %s, want it logged once", &l.log)
	}
}

func TestTerminateOrphan(t *testing.T) {
	const none = 1 << 30 // above the largest number of a process, see proc(5)
	if err := terminateParent(none); err != errOrphan {
		t.Errorf("terminateParent() = %v, want %v", err, errOrphan)
	}
}

func TestListenerEndsWithSupervisord(t *testing.T) {
	defer goleak.VerifyNone(t)
	for name, tt := range map[string]struct{ in, out, log string }{
		"E63 at once":              {"", "READY\n", "events=0 protocol_errors=0"},
		"E63 in the middle":        {"ver:3.0 server:supervisor eventname:TICK_5 len:5\nwh", "READY\n", "events=0 protocol_errors=0"},
		"E64 after garbage":        {"nonsense\nnonsense\n", "READY\n", "events=0 protocol_errors=2"},
		"E64 a header without len": {"ver:3.0 server:supervisor eventname:TICK_5\n", "READY\nRESULT 2\nOKREADY\n", "events=0 protocol_errors=1"},
		"E64 and then an event":    {"nonsense\nver:3.0 server:supervisor eventname:TICK_60 len:0\n", "READY\nRESULT 2\nOKREADY\n", "events=1 protocol_errors=1"},
		"an unexpected heartbeat":  {"ver:3.0 server:supervisor eventname:PROCESS_COMMUNICATION_STDOUT len:13\nprocessname:a", "READY\nRESULT 2\nOKREADY\n", "events=1 protocol_errors=0"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newListened(t)
			var out bytes.Buffer
			if err := l.Listen(strings.NewReader(tt.in), &out); err != nil || out.String() != tt.out {
				t.Errorf("listen() = %v, written %q, want no error, %q", err, &out, tt.out)
			}
			if log := l.log.String(); !strings.Contains(log, tt.log) || strings.Count(log, "cannot parse events") > 1 {
				t.Errorf("log = %s, want %s, and the first error once", log, tt.log)
			}
		})
	}
}
