package alertmanager

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/evaluator"
)

// An alert that fires is sent at once and each minute, and its end at once and each minute for 15.
func TestAlertIsSentAndResent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, Options{ExternalURL: "https://vitals.example/p/"})
		l.keep(snapshot(firing("A", time.Time{})), time.Minute)
		l.want("while all is ok", "")
		began := time.Now().UTC()
		fires, ok := snapshot(firing("A", began, "1")), snapshot(firing("A", began))
		l.publish(fires)
		got := l.want("at once", "A1")
		if diff := cmp.Diff(map[string]string{"alertname": "A", "x": "1"}, got[0].Labels); diff != "" {
			t.Errorf("labels (-want +got):\n%s", diff)
		}
		if s := got[0]; !s.StartsAt.Equal(began) || s.EndsAt.Sub(s.at) != 4*time.Minute || s.GeneratorURL != "https://vitals.example/p/#q=A" || s.Annotations["summary"] != "A of 1" {
			t.Errorf("alert = %+v, want its begin, an end in 4 minutes, its annotations and a link", s)
		}
		l.keep(fires, 59*time.Second)
		l.want("within a minute", "")
		l.keep(fires, 30*time.Second)
		l.want("after a minute", "A1")
		ended := time.Now()
		l.publish(ok)
		if got := l.want("at the end", "-A1"); !got[0].EndsAt.Equal(ended) || !got[0].StartsAt.Equal(began) {
			t.Errorf("the end = %+v, want that of the snapshot, and the begin", got[0])
		}
		l.keep(ok, 20*time.Minute)
		if got := l.want("in the minutes after", strings.TrimSpace(strings.Repeat("-A1 ", 15))); !got[14].EndsAt.Equal(ended) {
			t.Errorf("the end is sent as %s at last, want %s", got[14].EndsAt, ended)
		}
	})
}

// An alert that fires again after its end is sent at once, with its new begin.
func TestAlertThatFiresAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, Options{})
		l.keep(snapshot(firing("A", time.Now(), "1")), 10*time.Second)
		l.keep(snapshot(firing("A", time.Now())), 10*time.Second)
		again := time.Now()
		l.keep(snapshot(firing("A", again, "1")), 10*time.Second)
		if got := l.want("of two times", "A1 -A1 A1"); !got[2].StartsAt.Equal(again) {
			t.Errorf("begin = %s, want %s", got[2].StartsAt, again)
		}
	})
}

// A group with a longer interval keeps its alerts firing for longer.
func TestAlertsEndAfterFourIntervals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, Options{})
		s := snapshot(firing("A", time.Now(), "1"))
		s.Groups[0].Interval = 5 * time.Minute
		l.publish(s)
		if got := l.want("at once", "A1"); got[0].EndsAt.Sub(got[0].at) != 20*time.Minute {
			t.Errorf("the alert ends after %s, want 20m", got[0].EndsAt.Sub(got[0].at))
		}
	})
}

// What Prometheus would send is sent: also what no state obeys. Pending alerts are not.
func TestWhichRulesAreSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, Options{})
		pending := firing("Pending", time.Now(), "1")
		pending.Alerts[0].Firing = false
		silenced, observed, ordinary := firing("Silenced", time.Now(), "1"), firing("Observed", time.Now(), "1"), firing("Ordinary", time.Now(), "1")
		silenced.State, silenced.Observe, silenced.Silence = "ready", true, &evaluator.Override{}
		observed.State, observed.Observe = "ready", true
		s := snapshot(pending, silenced, observed, ordinary)
		s.Groups[0].Rules = append(s.Groups[0].Rules, evaluator.GroupRule{Alert: -1, Definition: &evaluator.Definition{Name: "r:recorded"}})
		l.publish(s)
		l.want("at once", "Observed1 Ordinary1 Silenced1")
	})
}

// A snapshot that is too old is no evidence: nothing is sent until there is a new one.
func TestNothingIsSentWhileStalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, Options{})
		s := snapshot(firing("A", time.Now(), "1"))
		l.publish(s)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		l.want("before and during a stall", "A1")
		l.publish(s)
		l.want("after it", "A1")
	})
}

// Between two snapshots of a long interval, alerts are sent again.
func TestAlertsAreResentBetweenSnapshots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, Options{})
		s := snapshot(firing("A", time.Now(), "1"))
		s.MaxAge = time.Hour
		l.publish(s)
		time.Sleep(3*time.Minute + time.Second)
		synctest.Wait()
		l.want("within three minutes", "A1 A1 A1 A1")
	})
}

func TestBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, Options{})
		var all []evaluator.Rule
		for i := range 6 {
			var values []string
			for j := range 100 {
				values = append(values, fmt.Sprint(j))
			}
			all = append(all, firing(fmt.Sprintf("R%d", i), time.Now(), values...))
		}
		l.publish(snapshot(all...))
		got, batches := l.flush()
		if len(got) != 600 || batches != 3 || got[0].alertsInBatch != maxBatch {
			t.Errorf("%d alerts in %d requests, the first of %d, want 600 in 3 with at most %d", len(got), batches, got[0].alertsInBatch, maxBatch)
		}
		all[0].Alerts[0].Annotations = map[string]string{"description": strings.Repeat("x", maxBody)}
		all[1].Alerts[0].Annotations = map[string]string{"description": strings.Repeat("y", maxBody)}
		l.keep(snapshot(all...), time.Minute+time.Second)
		got, _ = l.flush()
		for _, s := range got {
			if s.bytes > maxBody && s.alertsInBatch > 1 {
				t.Errorf("a request has %d alerts in %d bytes, want at most %d", s.alertsInBatch, s.bytes, maxBody)
			}
		}
		if len(got) != 600 {
			t.Errorf("%d alerts sent again, want 600", len(got))
		}
		if s := l.status(); s.Sent != 1200 || s.Waiting != 0 {
			t.Errorf("status = %+v, want 1200 sent and none waiting", s)
		}
	})
}

// An Alertmanager that does not answer is logged once, and once when it is back. Then it gets
// what is true at that time.
func TestOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, Options{})
		l.answers(func(*http.Request) (*http.Response, error) { return nil, fmt.Errorf("%w: hunter2", errRefused) })
		fires := snapshot(firing("A", time.Now(), "1", "2"), firing("B", time.Now()))
		l.keep(fires, 10*time.Minute)
		if _, requests := l.flush(); requests < 15 || requests > 30 {
			t.Errorf("%d requests in 10 minutes, want a pause of at most %s", requests, lastPause)
		}
		if s := l.status(); !s.Requested || s.Success || s.Sent != 0 || s.Errors == 0 || s.Waiting != 2 {
			t.Errorf("status = %+v, want failures and 2 alerts that wait", s)
		}
		l.keep(snapshot(firing("A", time.Now(), "1"), firing("B", time.Now(), "3")), time.Minute)
		l.answers(nil)
		l.keep(snapshot(firing("A", time.Now(), "1"), firing("B", time.Now(), "3")), 40*time.Second)
		l.want("after the outage", "-A2 A1 B3")
		if s := l.status(); !s.Success || s.Sent != 3 || s.Dropped != 0 || s.Waiting != 0 || s.Requests != 1 {
			t.Errorf("status = %+v, want success", s)
		}
		log := l.log.String()
		if strings.Count(log, "\n") != 2 || strings.Count(log, "level=WARN") != 1 || !strings.Contains(log, "alerts reach Alertmanager again") || strings.Contains(log, "hunter2") {
			t.Errorf("log = %s, want one warning and one line about its end, without the secret", log)
		}
	})
}

// An answer that would be the same again is no reason to hurry.
func TestRejectedAlerts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, Options{})
		l.answers(func(*http.Request) (*http.Response, error) {
			return response(http.StatusBadRequest, "bad hunter2\n"), nil
		})
		l.keep(snapshot(firing("A", time.Now(), "1")), 150*time.Second)
		if _, requests := l.flush(); requests != 3 {
			t.Errorf("%d requests in 150 seconds, want one a minute", requests)
		}
		if s := l.status(); s.Success || s.Errors != 3 {
			t.Errorf("status = %+v, want 3 errors", s)
		}
		if log := l.log.String(); strings.Count(log, "\n") != 1 || !strings.Contains(log, "bad <secret>") {
			t.Errorf("log = %s, want one line with the answer and without the secret", log)
		}
	})
}

// The end of an alert that cannot be sent for 15 minutes is dropped and counted.
func TestEndThatIsNotDelivered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, Options{})
		l.publish(snapshot(firing("A", time.Now(), "1")))
		l.answers(func(*http.Request) (*http.Response, error) { return nil, errRefused })
		l.keep(snapshot(firing("A", time.Now())), 16*time.Minute)
		l.answers(nil)
		l.keep(snapshot(firing("A", time.Now())), 5*time.Minute)
		l.want("of an outage", "A1")
		if s := l.status(); s.Dropped != 1 || s.Waiting != 0 {
			t.Errorf("status = %+v, want 1 dropped", s)
		}
	})
}

// At the end of the process what is due is sent once more, and no alert is ended.
func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, Options{})
		l.answers(func(*http.Request) (*http.Response, error) { return nil, errRefused })
		l.keep(snapshot(firing("A", time.Now(), "1"), firing("B", time.Now(), "1")), 5*time.Minute)
		l.answers(nil)
		l.flush()
		last := snapshot(firing("A", time.Now()), firing("B", time.Now(), "1"))
		last.ShuttingDown = true
		l.publish(last)
		l.stop()
		l.want("at the end", "-A1 B1")
	})
}

// An Alertmanager that hangs delays the end of the process by at most drainTimeout.
func TestStopWhileAlertmanagerHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, Options{})
		l.answers(func(req *http.Request) (*http.Response, error) {
			<-req.Context().Done()
			return nil, req.Context().Err()
		})
		l.publish(snapshot(firing("A", time.Now(), "1")))
		stopped := time.Now()
		l.stop()
		if took := time.Since(stopped); took > drainTimeout {
			t.Errorf("the end took %s, want at most %s", took, drainTimeout)
		}
		if log := l.log.String(); log != "" {
			t.Errorf("log = %s, want none about the end of the process", log)
		}
	})
}

// A wall clock that stepped does not move the end of an alert: it is as long ago as before.
func TestEndAfterAStepOfTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSender(target{}, nil, newBook(nil, nil, ""), Env{Clean: strings.Clone})
		now := time.Now()
		k := &kept{rule: &rule{validity: time.Minute}, sent: labels.FromStrings("a", "b"), startsAt: now.Add(time.Hour).Round(0), endedAt: now.Add(-time.Second)}
		if got, want := s.wire(k, now), timestamp(now.Add(-time.Second)); got.EndsAt != want || got.StartsAt != want {
			t.Errorf("alert from %s to %s, want both at %s", got.StartsAt, got.EndsAt, want)
		}
	})
}

// A panic ends neither the process nor the alerts.
func TestPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, Options{})
		l.answers(func(*http.Request) (*http.Response, error) { panic("broken") })
		s := snapshot(firing("A", time.Now(), "1"))
		l.publish(s)
		l.answers(nil)
		l.keep(s, restartPause+time.Second)
		l.want("after the panic", "A1")
		if log := l.log.String(); strings.Count(log, "level=ERROR") != 1 || !strings.Contains(log, "broken") {
			t.Errorf("log = %s, want the panic", log)
		}
	})
}
