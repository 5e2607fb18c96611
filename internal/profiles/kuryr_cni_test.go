package profiles_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/rules"
)

// cniAlert is the rule over the CNI daemon's histogram.
const cniAlert = "CNIAddFailingByHistogram"

// cniInterval is the time between two scrapes.
const cniInterval = 10 * time.Second

// cniDaemon is the CNI daemon as its exporter shows it: the durations of its requests.
type cniDaemon struct {
	// seconds are the durations by command and error, as in ADD True.
	seconds map[string][]float64
	random  *rand.Rand
}

func newCNIDaemon(seed uint64) *cniDaemon {
	return &cniDaemon{seconds: map[string][]float64{}, random: rand.New(rand.NewPCG(seed, 1))}
}

// request ends with or without an error, after at least so many seconds.
func (d *cniDaemon) request(command, failed string, atLeast float64) {
	d.seconds[command+" "+failed] = append(d.seconds[command+" "+failed], atLeast+d.random.Float64())
}

// samples are what a scrape brings; half is the format of the bounds.
func (d *cniDaemon) samples(half string) []collectors.Sample {
	all := []collectors.Sample{cniSample("vitals_scrape_up", 1)}
	const name = "kuryr_cni_request_duration_seconds"
	for key, seconds := range d.seconds {
		command, failed, _ := strings.Cut(key, " ")
		sum := 0.0
		for _, s := range seconds {
			sum += s
		}
		for _, bound := range []float64{10, 50, 60, 180} {
			n := 0.0
			for _, s := range seconds {
				if s <= bound {
					n++
				}
			}
			all = append(all, cniSample(name+"_bucket", n, "command", command, "error", failed, "le", fmt.Sprintf(half, bound)))
		}
		count := float64(len(seconds))
		all = append(all,
			cniSample(name+"_bucket", count, "command", command, "error", failed, "le", "+Inf"),
			cniSample(name+"_count", count, "command", command, "error", failed),
			cniSample(name+"_sum", sum, "command", command, "error", failed))
	}
	return all
}

func cniSample(name string, v float64, pairs ...string) collectors.Sample {
	return collectors.Sample{Labels: labels.FromStrings(append(pairs, "component", "cni-metrics", model.MetricNameLabel, name)...), Value: v}
}

// cniWatch is the shipped rules over a daemon, with a scrape every ten seconds.
type cniWatch struct {
	t       *testing.T
	sim     *evaluator.Simulation
	cfg     evaluator.Config
	snap    *evaluator.Snapshot
	reports []collectors.Sample // of the collector components
	daemon  *cniDaemon
	lives   uint64
	at      time.Time
	// step is the time between two evaluations.
	step time.Duration
	// bounds is how the buckets are written, and without what is not kept of a scrape.
	bounds, without string
	limit           float64
	// up is set if the last scrape succeeded, and fresh until the rules are evaluated
	// after it. counted is their last evaluation after a success; kept is whether that
	// was within five minutes of the last scrape's.
	up, fresh, kept bool
	counted         time.Time
}

// newCNIWatch begins at at with a daemon that has just started.
func newCNIWatch(t *testing.T, limit float64, at time.Time) *cniWatch {
	t.Helper()
	w := &cniWatch{t: t, daemon: newCNIDaemon(0), at: at, step: time.Second, bounds: "%.1f", limit: limit}
	w.cfg = evaluator.Config{
		Interval: cniInterval, Files: []*rules.File{shippedRules(t, "kuryr-cni-histogram.yml")},
		Sources: []evaluator.Source{source("cni-metrics", cniInterval), source("components", cniInterval)},
	}
	w.sim = simulate(t, w.cfg, at)
	w.report(-1)
	return w
}

// report sets what the collector components exports: the limit and, from 0 on, how many
// failures in a row the daemon itself reported.
func (w *cniWatch) report(failures float64) {
	sample := func(name string, v float64, pairs ...string) collectors.Sample {
		return collectors.Sample{Labels: labels.FromStrings(append(pairs, "event", "cni_add", model.MetricNameLabel, name)...), Value: v}
	}
	w.reports = []collectors.Sample{sample("vitals_component_consecutive_failures_limit", w.limit)}
	if failures >= 0 {
		w.reports = append(w.reports, sample("vitals_component_consecutive_failures", failures, "component", "server"))
	}
}

// pass evaluates every step until so much later, and not then.
func (w *cniWatch) pass(d time.Duration) {
	for end := w.at.Add(d); ; w.evaluate() {
		if w.at = w.at.Add(w.step); !w.at.Before(end) {
			w.at = end
			return
		}
	}
}

func (w *cniWatch) evaluate() {
	w.snap = w.sim.Evaluate(context.Background(), w.at)
	if !w.up || !w.snap.Rules[0].Evaluated.Equal(w.at) {
		return
	}
	if w.fresh {
		w.fresh, w.kept = false, w.at.Sub(w.counted) < 5*time.Minute
	}
	w.counted = w.at
}

// scrape hands over the outcome of a scrape amid ten seconds, in the second half of
// which the rules are evaluated at least once.
func (w *cniWatch) scrape(samples []collectors.Sample, err error) {
	w.pass(5 * time.Second)
	deliver(w.t, w.sim, "cni-metrics", samples, err, w.at)
	deliver(w.t, w.sim, "components", w.reports, nil, w.at)
	w.up, w.fresh = err == nil, true
	w.evaluate()
	w.pass(5 * time.Second)
	w.evaluate()
}

// do lets one thing happen.
func (w *cniWatch) do(word string) {
	switch word {
	case "ok":
		w.daemon.request("ADD", "False", 0)
	case "fail":
		w.daemon.request("ADD", "True", 0)
	case "timeout":
		w.daemon.request("ADD", "True", 60)
	case "del":
		w.daemon.request("DEL", "True", 0)
	case "restart":
		w.lives++
		w.daemon = newCNIDaemon(w.lives)
	case "scrape":
		w.scrape(slices.DeleteFunc(w.daemon.samples(w.bounds), func(s collectors.Sample) bool {
			return w.without != "" && strings.HasSuffix(s.Labels.Get(model.MetricNameLabel), w.without)
		}), nil)
	case "refused":
		w.scrape([]collectors.Sample{cniSample("vitals_scrape_up", 0)}, errors.New("connection refused"))
	case "late":
		w.scrape(nil, errors.New("no result within the timeout"))
	case "4m", "6m": // of scrapes that stay away
		d, _ := time.ParseDuration(word)
		for end := w.at.Add(d); w.at.Before(end); {
			w.do("late")
		}
	case "reload":
		w.cfg.Files = []*rules.File{shippedRules(w.t, "kuryr-cni-histogram.yml")}
		var err error
		if w.snap, err = w.sim.Apply(context.Background(), w.cfg, w.at); err != nil {
			w.t.Fatal(err)
		}
	case "forget": // Vitals starts anew
		fresh := newCNIWatch(w.t, 3, w.at)
		fresh.daemon, fresh.lives = w.daemon, w.lives
		*w = *fresh
	default:
		w.t.Fatalf("unknown word %q", word)
	}
}

// streak returns the number of failures in a row by the rules, or -1.
func (w *cniWatch) streak() float64 {
	w.t.Helper()
	v, ok := query(w.t, w.sim, "kuryr_cni_add:consecutive_failures", w.at)
	if !ok {
		return -1
	}
	return v
}

// status is that of the alert.
func (w *cniWatch) status() string {
	for _, r := range w.snap.Rules {
		if r.Name == cniAlert {
			return r.Status.String()
		}
	}
	return "missing"
}
