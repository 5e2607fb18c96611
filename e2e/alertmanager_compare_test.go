//go:build e2e

package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"
)

// probeResult is one result of the readiness probe.
type probeResult struct {
	at time.Time
	ok bool
}

// enoughSamples is how many failing samples a comparison needs.
const enoughSamples = 10

// probeWatch queries the readiness probe each second.
type probeWatch struct {
	stop func()
	mu   sync.Mutex
	seen []probeResult
}

// watchProbe starts the queries, which end with the test at the latest.
func watchProbe(t *testing.T, d daemon) *probeWatch {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	w := &probeWatch{stop: sync.OnceFunc(func() {
		cancel()
		wg.Wait()
	})}
	wg.Go(func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for ctx.Err() == nil {
			if status, _, err := d.get("/ready"); err == nil {
				w.mu.Lock()
				w.seen = append(w.seen, probeResult{time.Now(), status == http.StatusOK})
				w.mu.Unlock()
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
			}
		}
	})
	t.Cleanup(w.stop)
	return w
}

// failing returns an error while the probe has failed less often than that.
func (w *probeWatch) failing(enough int) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	failed := 0
	for _, result := range w.seen {
		if !result.ok {
			failed++
		}
	}
	if failed < enough {
		return fmt.Errorf("it has failed %d times", failed)
	}
	return nil
}

// all ends the requests and returns their results.
func (w *probeWatch) all() []probeResult {
	w.stop()
	return w.seen
}

// timeline is what a query returned in each second; the labels of a series in JSON are its name.
type timeline map[string]map[int64]bool

// over queries the seconds at which each series existed in Prometheus.
func over(t *testing.T, p *program, query string, begin, end time.Time) timeline {
	t.Helper()
	status, body, err := p.get("/api/v1/query_range?" + url.Values{
		"query": {query}, "step": {"1"}, "start": {fmt.Sprint(begin.Unix())}, "end": {fmt.Sprint(end.Unix())},
	}.Encode())
	if err != nil || status != http.StatusOK {
		t.Fatalf("query %s = %d %s (%v), want 200", query, status, body, err)
	}
	var answer struct {
		Data struct {
			Result []struct {
				Metric map[string]string
				Values [][2]any
			}
		}
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		t.Fatal(err)
	}
	all := timeline{}
	for _, r := range answer.Data.Result {
		name := r.Metric["rule"] + "/" + r.Metric["state"] + "/" + r.Metric["is"]
		all[name] = map[int64]bool{}
		for _, v := range r.Values {
			seconds, _ := v[0].(float64)
			all[name][int64(seconds)] = true
		}
	}
	return all
}

// about reports whether a series existed at some second within lag of at.
func (l timeline) about(name string, at int64) bool {
	for d := -int64(lag / time.Second); d <= int64(lag/time.Second); d++ {
		if l[name][at+d] {
			return true
		}
	}
	return false
}

// compareOverTime holds, second by second, the status of every rule as Prometheus scraped
// it against the state that Prometheus gives the alert of the same file, and the answer of
// the probe against whether a critical alert of ready fires there.
func compareOverTime(t *testing.T, p *program, rules ruleFile, probes []probeResult, begin, end time.Time) {
	t.Helper()
	from, to := begin.Add(-lag), end.Add(lag)
	status := over(t, p, `label_replace(vitals_rule_status{job="vitals",state!=""} == 1, "is", "$1", "status", "(.+)")`, from, to)
	alerts := over(t, p, `max by (rule, state, is) (label_replace(label_replace(ALERTS{state!=""}, "is", "$1", "alertstate", "(.+)"), "rule", "$1", "alertname", "(.+)"))`, from, to)
	firing := over(t, p, `count (ALERTS{state="ready",severity="critical",alertstate="firing"})`, from, to)
	quiet := over(t, p, `absent(ALERTS{state="ready",severity="critical",alertstate="firing"})`, from, to)
	theirs := map[string]string{"pending": "pending", "failing": "firing"}
	seconds, troubled := 0, 0
	for at := begin.Unix(); at <= end.Unix(); at++ {
		for _, a := range rules.alerts {
			seconds++
			name := a.Name + "/" + a.Labels["state"] + "/"
			for ours, their := range theirs {
				if alerts[name+their][at] {
					troubled++
				}
				if status[name+ours][at] && !alerts.about(name+their, at) {
					t.Errorf("at %d Vitals has the status %s for %s, and Prometheus does not have %s within %s", at, ours, a.Name, their, lag)
				}
				if alerts[name+their][at] && !status.about(name+ours, at) {
					t.Errorf("at %d Prometheus has the state %s for %s, and Vitals does not have %s within %s", at, their, a.Name, ours, lag)
				}
			}
		}
	}
	failed := 0
	for _, result := range probes {
		if result.at.Before(begin) || result.at.After(end) {
			continue
		}
		if !result.ok {
			failed++
		}
		if result.ok && !quiet.about("/ready/", result.at.Unix()) || !result.ok && !firing.about("//", result.at.Unix()) {
			t.Errorf("at %d the probe passes: %t, and no alert of Prometheus agrees within %s", result.at.Unix(), result.ok, lag)
		}
	}
	if troubled < 2*enoughSamples || failed < enoughSamples || failed == len(probes) {
		t.Errorf("of %d samples of rules %d were not ok, and of %d requests to the probe %d failed; want enough of both", seconds, troubled, len(probes), failed)
	}
	t.Logf("agreed over %s: %d samples of rules, %d requests to the probe", end.Sub(begin).Round(time.Second), seconds, len(probes))
}
