package profiles_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/scrape"
	"github.com/vitals-health/vitals/evaluator"
)

// The scripts are events, with the result after them: =2 are two failures in a row, =? is
// none, and (failing) is the status of the alert. The limit is 3.
func TestCNIHistogram(t *testing.T) {
	tests := []struct{ name, script string }{
		{"failures in a row add up", "scrape =0 fail scrape =1 fail fail scrape =3 (ok) fail scrape =4 (failing) fail scrape =5 (failing)"},
		{"a success ends them", "scrape fail fail fail fail scrape =4 (failing) ok scrape =0 (ok) fail scrape =1"},
		{"failures that a success divides do not add up", "scrape fail fail fail scrape ok scrape fail fail fail scrape =3 (ok) ok scrape fail fail fail scrape =3 (ok)"},
		{"several successes at once", "scrape fail scrape ok ok ok scrape =0 scrape =0"},
		{"nothing happens", "scrape =0 (ok) scrape =0 fail scrape =1 scrape =1 scrape scrape scrape scrape scrape scrape =1 (ok)"},
		{"no success ever", "scrape fail fail fail fail scrape =4 (failing) scrape =4 (failing)"},
		{"first failures before any success, one a scrape", "scrape fail scrape =1 fail scrape =2 fail scrape =3 fail scrape =4 (failing)"},
		{"the first success after failures", "scrape fail fail scrape =2 ok scrape =0 fail scrape =1"},
		{"timeouts do not count", "scrape timeout timeout timeout timeout timeout scrape =0 fail scrape =1 timeout scrape =1 (ok)"},
		{"a timeout does not end them either", "scrape fail fail scrape =2 timeout scrape =2 fail fail scrape =4 (failing)"},
		{"DEL is not ADD", "scrape fail fail fail scrape del del del scrape =3 (ok)"},
		{"success and failures between two scrapes", "scrape fail fail scrape =2 ok fail fail scrape =0 fail scrape =1"},
		{"failures and success between two scrapes", "scrape fail fail scrape =2 fail fail ok scrape =0"},

		{"first seen in the middle, without a success", "fail fail fail fail fail scrape =0 (ok) fail scrape =1 ok scrape =0"},
		{"first seen in the middle, after a success", "ok fail fail fail fail scrape =0 (ok) fail scrape =1 fail fail fail scrape =4 (failing)"},
		{"Vitals starts anew", "scrape fail fail fail fail scrape =4 (failing) forget scrape =0 (ok) fail scrape =1"},

		{"the daemon starts anew and is idle", "scrape ok fail scrape fail fail fail fail scrape =4 (failing) restart scrape =0 (ok) scrape =0"},
		{"the daemon starts anew and fails", "scrape ok fail scrape fail scrape =1 restart fail fail scrape =2 fail fail scrape =4 (failing)"},
		{"the daemon starts anew and fails more than before", "scrape ok scrape fail scrape =1 restart fail fail fail scrape =3 (ok) fail scrape =4 (failing)"},
		{"the daemon starts anew, succeeds as often and fails more", "scrape ok scrape fail scrape =1 restart ok fail fail fail fail scrape =0 (ok) fail scrape =1"},
		{"the daemon starts anew, succeeds more often and fails", "scrape ok scrape fail scrape =1 restart ok ok fail fail scrape =0 fail scrape =1"},
		{"the daemon starts anew and succeeds after a scrape", "scrape ok fail fail scrape restart scrape fail fail scrape =2 ok scrape =0"},
		{"the daemon starts anew and had no success before", "scrape fail fail scrape =2 restart scrape =0 fail scrape =1 fail fail fail scrape =4 (failing)"},
		{"the daemon starts anew, twice", "scrape fail scrape restart scrape fail fail scrape =2 restart fail fail fail fail scrape =4 (failing) restart scrape =0 (ok)"},
		{"first seen in the middle, then started anew", "fail fail fail scrape =0 restart scrape =0 fail fail fail fail scrape =4 (failing)"},
		// The counter of a daemon that was first seen with 2 failures and without a
		// success increases from 2 to 3: how many of them are new is unknown.
		{"first seen in the middle, then started anew and failed more", "fail fail scrape =0 restart fail fail fail scrape =1 (ok)"},

		{"one scrape is refused", "scrape fail fail fail scrape =3 (ok) refused =? (ok) scrape =3 (ok)"},
		{"one scrape is refused while it fails", "scrape fail fail fail fail scrape =4 (failing) refused =? (failing) scrape =4 (failing)"},
		{"one scrape is late", "scrape fail fail fail fail scrape =4 (failing) late =? (failing) scrape =4 (failing)"},
		{"scrapes stay away", "scrape fail fail fail fail scrape =4 (failing) refused refused refused (failing) refused refused refused refused (unknown) scrape =4 (failing)"},
		{"failures while scrapes stay away", "scrape fail scrape =1 refused fail fail refused late fail scrape =4 (failing)"},
		{"a success while scrapes stay away", "scrape fail fail fail scrape =3 refused ok fail fail refused scrape =0 (ok)"},
		{"scrapes stay away for four minutes", "scrape ok fail scrape fail fail scrape =2 4m (unknown) scrape =2 fail scrape =3"},
		{"scrapes stay away for six minutes", "scrape ok fail scrape fail fail scrape =2 6m (unknown) fail scrape =0 fail scrape =1"},
		{"the daemon starts anew while scrapes stay away", "scrape ok fail fail scrape refused restart refused fail fail fail scrape =3 (ok)"},
		{"the daemon starts anew while it fails", "scrape fail fail fail fail scrape =4 (failing) restart refused (failing) refused scrape =0 (ok)"},
		{"the first scrape is refused", "refused =? (unknown) fail scrape =0 (ok) fail scrape =1"},

		{"reload", "scrape ok scrape fail fail fail scrape =3 reload =3 (ok) fail scrape =4 (failing) reload (failing) scrape =4 (failing) ok scrape =0 (ok)"},
		{"reload while scrapes stay away", "scrape ok scrape fail fail fail scrape =3 refused reload fail scrape =4 (failing)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { newCNIWatch(t, 3, epoch()).follow(tt.script) })
	}
}

// follow plays a script.
func (w *cniWatch) follow(script string) {
	w.t.Helper()
	for i, word := range strings.Fields(script) {
		so := strings.Join(strings.Fields(script)[:i+1], " ")
		switch word[0] {
		case '=':
			if got := strings.Replace(fmt.Sprintf("=%g", w.streak()), "-1", "?", 1); got != word {
				w.t.Errorf("%s: failures in a row %s", so, got)
			}
		case '(':
			if got := "(" + w.status() + ")"; got != word {
				w.t.Errorf("%s: %s", so, got)
			}
		default:
			w.do(word)
		}
	}
}

// The text format writes 50.0, other exporters write 50.
func TestCNIHistogramBoundsWithoutAFraction(t *testing.T) {
	w := newCNIWatch(t, 3, epoch())
	w.bounds = "%g"
	w.follow("scrape timeout fail fail scrape =2 fail fail scrape =4 (failing) ok scrape =0 (ok)")
}

// Without the sums a success still counts; only a daemon that started anew and
// succeeded as often equals one that did not.
func TestCNIHistogramWithoutSums(t *testing.T) {
	w := newCNIWatch(t, 3, epoch())
	w.without = "_sum"
	w.follow("scrape ok fail scrape fail fail scrape =2 ok scrape =0 fail scrape =1 restart scrape =0 fail scrape =1")
}

// With the limit N, the failure N+1 is one too many.
func TestCNIHistogramLimits(t *testing.T) {
	for limit, script := range map[float64]string{
		0: "scrape (ok) fail scrape (failing) ok scrape (ok)",
		1: "scrape fail scrape (ok) fail scrape (failing)",
		3: "scrape fail fail fail scrape (ok) fail scrape (failing)",
	} {
		newCNIWatch(t, limit, epoch()).follow(script)
	}
}

// The reports of a daemon take precedence over its histogram.
func TestCNIHistogramGivesWayToReports(t *testing.T) {
	w := newCNIWatch(t, 3, epoch())
	w.follow("scrape fail fail fail fail scrape =4 (failing)")
	w.report(0)
	w.follow("scrape =4 (ok)")
	w.report(-1)
	w.follow("scrape =4 (failing)")
}

// Without a limit nothing is known, and nothing restarts.
func TestCNIHistogramWithoutALimit(t *testing.T) {
	w := newCNIWatch(t, 3, epoch())
	w.reports = nil
	w.follow("scrape fail fail fail fail scrape =4 (unknown)")
	if s, _ := w.snap.State(evaluator.Alive, w.at); s.Verdict.String() != "pass" {
		t.Errorf("alive is %s, want pass", s.Verdict)
	}
}

func TestCNIHistogramSummary(t *testing.T) {
	w := newCNIWatch(t, 3, epoch())
	w.follow("scrape fail fail fail fail fail scrape (failing)")
	for _, r := range w.snap.Rules {
		if want := "5 CNI ADD requests failed in a row."; r.Name == cniAlert && r.Summary != want {
			t.Errorf("summary %q, want %q", r.Summary, want)
		}
	}
}

// The exporter's page, as the library that Kuryr uses writes it, read by the collector.
func TestCNIHistogramOfTheExporter(t *testing.T) {
	w := newCNIWatch(t, 3, epoch())
	page := func() string {
		var text strings.Builder
		text.WriteString("# HELP kuryr_cni_request_duration_seconds The duration of CNI requests\n# TYPE kuryr_cni_request_duration_seconds histogram\n")
		for _, s := range w.daemon.samples("%.1f") {
			line := labels.NewBuilder(s.Labels).Del(model.MetricNameLabel, "component").Labels().String()
			if name := s.Labels.Get(model.MetricNameLabel); strings.HasPrefix(name, "kuryr") {
				fmt.Fprintf(&text, "%s%s %v\n", name, strings.ReplaceAll(line, ", ", ","), s.Value)
			}
		}
		text.WriteString("# TYPE kuryr_cni_request_duration_seconds_created gauge\nkuryr_cni_request_duration_seconds_created{command=\"ADD\",error=\"True\"} 1.7e9\n")
		return text.String()
	}
	exporter := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		fmt.Fprint(rw, page())
	}))
	defer exporter.Close()
	config := &scrape.Config{}
	config.SetDefaults()
	config.URL, config.Keep = exporter.URL, []string{"kuryr_cni_request_duration_seconds_(bucket|count|sum)"}
	c, err := config.New(collectors.Env{Name: "cni-metrics"})
	if err != nil {
		t.Fatal(err)
	}
	scrape := func() {
		t.Helper()
		samples, err := c.Collect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		w.scrape(samples, nil)
	}
	scrape() // an empty page: there was no request yet
	w.follow("=0 (ok) ok timeout fail fail fail")
	scrape()
	w.follow("=0 (ok) timeout fail fail fail fail")
	scrape()
	w.follow("=4 (failing) ok")
	scrape()
	w.follow("=0 (ok)")
	exporter.Close()
	samples, err := c.Collect(t.Context())
	if err == nil {
		t.Fatal("Collect() of an exporter that is gone = nil, want an error")
	}
	w.scrape(samples, err)
	w.follow("=? (ok)")
}

// cniModel is what can be known from scrapes, counted by hand.
type cniModel struct {
	// known is whether what the last scrape showed is remembered.
	known bool
	// life, failures and successes are those of the last scrape.
	life                uint64
	failures, successes int
	streak              int
}

// scrape takes what a scrape shows, and what failed since the daemon's last success.
func (m *cniModel) scrape(life uint64, failures, successes int) {
	forgiven := m.failures - m.streak
	switch {
	case !m.known:
		m.streak = 0
	case life != m.life && successes > 0, life == m.life && successes > m.successes:
		m.streak = 0
	case life == m.life:
		m.streak += failures - m.failures
	case m.successes == 0 && failures >= forgiven: // the new life equals the old one
		m.streak = failures - forgiven
	default:
		m.streak = failures
	}
	*m = cniModel{true, life, failures, successes, m.streak}
}

// TestCNIHistogramAtRandom plays random timelines against the model, and against what
// really happened: the rules may count fewer failures in a row than there were, when a
// success and failures came between two scrapes, and never more.
func TestCNIHistogramAtRandom(t *testing.T) {
	const seed = 1 // another one plays other timelines; a failure is to be one of the change that is tested
	exact, fewer, restarts := 0, 0, 0
	for timeline := range 30 {
		r := rand.New(rand.NewPCG(seed, uint64(timeline)))
		w := newCNIWatch(t, 3, epoch())
		w.step = time.Duration(1+r.IntN(10)) * time.Second
		var model cniModel
		var script []string
		failures, successes, inRow := 0, 0, 0
		words := strings.Fields("scrape scrape scrape scrape scrape scrape scrape fail fail fail fail fail ok ok timeout del refused late restart restart reload")
		if timeline%4 == 0 {
			words = append(words, "4m", "6m")
		}
		for range 80 {
			word := words[r.IntN(len(words))]
			script = append(script, word)
			w.do(word)
			switch word {
			case "fail":
				failures, inRow = failures+1, inRow+1
			case "ok":
				successes, inRow = successes+1, 0
			case "restart":
				failures, successes, inRow = 0, 0, 0
				restarts++
			}
			if word != "scrape" {
				continue
			}
			model.known = w.kept
			model.scrape(w.lives, failures, successes)
			if got := w.streak(); got != float64(model.streak) || got > float64(inRow) {
				t.Fatalf("timeline %d of seed %d: failures in a row %g, want %d of %d:\n%s", timeline, seed, got, model.streak, inRow, strings.Join(script, " "))
			}
			if model.streak == inRow {
				exact++
			} else {
				fewer++
			}
		}
	}
	t.Logf("%d times exact, %d times fewer, %d restarts", exact, fewer, restarts)
	if exact < 300 || fewer < 20 || restarts < 50 {
		t.Errorf("%d times exact, %d times fewer, %d restarts: the test has become weak", exact, fewer, restarts)
	}
}
