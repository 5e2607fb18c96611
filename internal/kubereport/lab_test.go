package kubereport

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/evaluator/evaluatortest"
	"github.com/vitals-health/vitals/internal/history"
)

// sent is a request that the API server got.
type sent struct {
	at           time.Time
	method, path string
	body         map[string]any
}

// recorder is an API server that keeps the requests.
type recorder struct {
	mu   sync.Mutex // guards what follows
	all  []sent
	fail func(method, path string) error
	hang bool
}

func (r *recorder) take(ctx context.Context, method, path string, body []byte) error {
	r.mu.Lock()
	fail, hang := r.fail, r.hang
	object := map[string]any{}
	err := json.Unmarshal(body, &object)
	r.all = append(r.all, sent{time.Now(), method, path, object})
	r.mu.Unlock()
	switch {
	case err != nil:
		return err
	case hang:
		<-ctx.Done()
		return ctx.Err()
	case fail != nil:
		return fail(method, path)
	}
	return nil
}

func (r *recorder) Create(ctx context.Context, path string, object []byte) error {
	return r.take(ctx, "POST", path, object)
}

func (r *recorder) Patch(ctx context.Context, path string, patch []byte) error {
	return r.take(ctx, "PATCH", path, patch)
}

func (r *recorder) Close() {}

// set changes how the requests from now on end.
func (r *recorder) set(hang bool, fail func(method, path string) error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hang, r.fail = hang, fail
}

// flush returns the requests since the last call.
func (r *recorder) flush() []sent {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.all
	r.all = nil
	return all
}

// fails returns a function that fails all requests for the reason.
func fails(reason remote.Reason) func(string, string) error {
	return func(method, path string) error { return collectors.Errorf(reason, "%s %s: %s", method, path, reason) }
}

// lab is a reporter with its history, its API server and its log.
type lab struct {
	*recorder
	*evaluatortest.Stage
	t        *testing.T
	reporter *Reporter
	history  *history.History
	log      *bytes.Buffer
	stop     func()
}

// environment is that of a pod.
func environment(name string) string {
	return map[string]string{"POD_NAME": "app-7", "POD_NAMESPACE": "shop", "POD_UID": "u-1", "NODE_NAME": "node-1"}[name]
}

// newLab starts a reporter inside of a bubble of synctest.
func newLab(t *testing.T, o Options) *lab { return resumeLab(t, o, history.Past{}) }

// resumeLab is newLab after an earlier process.
func resumeLab(t *testing.T, o Options, past history.Past) *lab {
	l := &lab{recorder: &recorder{}, t: t, Stage: evaluatortest.NewStage(nil), history: history.Resume(time.Now(), past), log: &bytes.Buffer{}}
	hide := strings.NewReplacer("hunter2", "<secret>")
	env := Env{Getenv: environment, Clean: hide.Replace, Logger: slog.New(slog.NewTextHandler(l.log, nil))}
	id, err := o.identify(environment)
	if err != nil {
		t.Fatal(err)
	}
	l.reporter = newReporter(o, env, id, l)
	l.publish(snapshot(evaluator.Pass))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.reporter.Run(ctx, l, l.history)
	}()
	l.stop = func() {
		cancel()
		<-done
	}
	t.Cleanup(l.stop)
	synctest.Wait()
	return l
}

// publish publishes a snapshot, and waits until the reporter rests.
func (l *lab) publish(s *evaluator.Snapshot) {
	s.At = time.Now()
	l.history.Observe(s)
	l.Publish(s)
	synctest.Wait()
}

// keep publishes a snapshot each second for a time.
func (l *lab) keep(s *evaluator.Snapshot, d time.Duration) {
	for range int(d / time.Second) {
		time.Sleep(time.Second)
		again := *s
		l.publish(&again)
	}
}

// snapshot returns one in which KeystoneDown decides ready, unless ready passes.
func snapshot(ready evaluator.Verdict) *evaluator.Snapshot {
	s := &evaluator.Snapshot{MaxAge: time.Minute, AliveMaxAge: time.Hour, Rules: []evaluator.Rule{
		{Name: "KeystoneDown", State: evaluator.Ready, Status: evaluator.OK}, {Name: "db-down", State: evaluator.Ready, Status: evaluator.OK},
	}, States: []evaluator.State{{Name: evaluator.Ready, Verdict: ready}, {Name: evaluator.Alive, Verdict: evaluator.Pass}, {Name: evaluator.Started, Verdict: evaluator.Pass}}}
	if ready != evaluator.Pass {
		s.Rules[0].Status, s.Rules[0].Summary = evaluator.Failing, "Keystone does not answer (timeout)"
		s.States[0].Deciding = []int{0}
	}
	return s
}

// down returns a snapshot in which the rule of that index decides ready.
func down(rule int, summary string) *evaluator.Snapshot {
	s := snapshot(evaluator.Pass)
	s.Rules[rule].Status, s.Rules[rule].Summary = evaluator.Failing, summary
	s.States[0].Verdict, s.States[0].Deciding = evaluator.Fail, []int{rule}
	return s
}

// stopping returns a snapshot after SIGTERM.
func stopping() *evaluator.Snapshot {
	s := snapshot(evaluator.Pass)
	s.States[0].Verdict, s.States[0].Reason, s.ShuttingDown = evaluator.Fail, evaluator.ReasonShuttingDown, true
	return s
}

// pick returns the fields of an object as texts.
func pick(object map[string]any, fields ...string) string {
	var all []string
	for _, f := range fields {
		text, _ := json.Marshal(object[f])
		all = append(all, strings.Trim(string(text), `"`))
	}
	return strings.Join(all, " | ")
}

// conditionOf returns the only condition of a patch.
func conditionOf(t *testing.T, s sent) map[string]any {
	t.Helper()
	status, _ := s.body["status"].(map[string]any)
	all, _ := status["conditions"].([]any)
	if len(all) != 1 {
		t.Fatalf("patch %v has %d conditions, want 1", s.body, len(all))
	}
	return maps.Clone(all[0].(map[string]any))
}
