package alertmanager

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/evaluator/evaluatortest"
)

// sent is an alert that Alertmanager got.
type sent struct {
	at                  time.Time
	Labels, Annotations map[string]string
	StartsAt, EndsAt    time.Time
	GeneratorURL        string
	// alertsInBatch and bytes are those of the request.
	alertsInBatch, bytes int
}

// resolved reports whether the alert had ended when it was sent.
func (s sent) resolved() bool { return !s.EndsAt.After(s.at) }

// recorder is an Alertmanager that keeps the alerts.
type recorder struct {
	mu      sync.Mutex // guards what follows
	all     []sent
	batches int
	answer  func(*http.Request) (*http.Response, error)
}

var errRefused = errors.New("connection refused")

// RoundTrip implements http.RoundTripper.
func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.batches++
	if r.answer != nil {
		if res, err := r.answer(req); res != nil || err != nil {
			return res, err
		}
	}
	var got []sent
	if err := json.NewDecoder(req.Body).Decode(&got); err != nil {
		return nil, err
	}
	for _, s := range got {
		s.at, s.alertsInBatch, s.bytes = time.Now(), len(got), int(req.ContentLength)
		r.all = append(r.all, s)
	}
	return response(http.StatusOK, ""), nil
}

func response(code int, body string) *http.Response {
	return &http.Response{StatusCode: code, Status: http.StatusText(code), Body: io.NopCloser(strings.NewReader(body))}
}

// answers sets how requests from now on end; nil is with success.
func (r *recorder) answers(f func(*http.Request) (*http.Response, error)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = f
}

// flush returns the alerts since the last call, and the number of requests.
func (r *recorder) flush() ([]sent, int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all, batches := r.all, r.batches
	r.all, r.batches = nil, 0
	return all, batches
}

// lab is a notifier with its Alertmanager, its log, and a source of snapshots.
type lab struct {
	*recorder
	*evaluatortest.Stage
	t        *testing.T
	notifier *Notifier
	log      *bytes.Buffer
	stop     func()
}

// newLab starts a notifier inside of a bubble of synctest.
func newLab(t *testing.T, o Options) *lab {
	t.Helper()
	o.URLs = []string{"http://am:9093"}
	l := &lab{recorder: &recorder{}, t: t, log: &bytes.Buffer{}}
	n, err := New(o, Env{Hide: func(...string) {}, Clean: strings.NewReplacer("hunter2", "<secret>").Replace, Logger: slog.New(slog.NewTextHandler(l.log, nil)), Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	l.notifier = n
	n.senders[0].client = &http.Client{Transport: l}
	first := snapshot()
	first.At = time.Now()
	l.Stage = evaluatortest.NewStage(first)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		n.Run(ctx, l)
	}()
	l.stop = func() {
		cancel()
		<-done
	}
	t.Cleanup(l.stop)
	synctest.Wait()
	return l
}

// publish publishes a snapshot, and waits until the notifier rests.
func (l *lab) publish(s *evaluator.Snapshot) {
	fresh := *s
	fresh.At = time.Now()
	l.Publish(&fresh)
	synctest.Wait()
}

// keep publishes a snapshot each second, and waits until the notifier rests at the end.
func (l *lab) keep(s *evaluator.Snapshot, d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(time.Second) {
		l.publish(s)
	}
	synctest.Wait()
}

func (l *lab) status() Status { return l.notifier.Status()[0] }

// snapshot returns one with a group of rules, each with its alerts.
func snapshot(all ...evaluator.Rule) *evaluator.Snapshot {
	s := &evaluator.Snapshot{MaxAge: 5 * time.Second, Rules: all, Groups: []evaluator.Group{{Name: "g", File: "f.yml", Interval: time.Second}}}
	for i, r := range all {
		s.Groups[0].Rules = append(s.Groups[0].Rules, evaluator.GroupRule{Alert: i, Definition: &evaluator.Definition{Name: r.Name, Query: r.Expr, Labels: r.Labels}})
	}
	return s
}

// firing returns a rule with alerts that fire for values of the label x.
func firing(name string, began time.Time, values ...string) evaluator.Rule {
	r := evaluator.Rule{Name: name, Expr: "m == 0", AlertCount: len(values)}
	for _, v := range values {
		r.Alerts = append(r.Alerts, evaluator.Alert{
			Labels: labels.FromStrings("alertname", name, "x", v), Annotations: map[string]string{"summary": name + " of " + v},
			Firing: true, ActiveAt: began.Add(-10 * time.Second), FiredAt: began,
		})
	}
	return r
}

// names returns the alerts in order, those that had ended with a "-" before them.
func names(all []sent) string {
	var out []string
	for _, s := range all {
		mark := ""
		if s.resolved() {
			mark = "-"
		}
		out = append(out, mark+s.Labels["alertname"]+s.Labels["x"])
	}
	return strings.Join(out, " ")
}

// want checks the alerts that were sent since the last call.
func (l *lab) want(when, alerts string) []sent {
	l.t.Helper()
	all, _ := l.flush()
	slices.SortStableFunc(all, func(a, b sent) int { return a.at.Compare(b.at) })
	if got := names(all); got != alerts {
		l.t.Errorf("%s: sent %q, want %q", when, got, alerts)
	}
	return all
}
