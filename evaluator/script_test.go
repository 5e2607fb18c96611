package evaluator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/evaluator/internal/workers"
	"github.com/vitals-health/vitals/rules"
)

// TestScripts plays the files of testdata. A file has up to three parts divided by
// lines of "---": settings, a rule file, and a timeline. A line of the timeline is
// a time, and what happens or is expected then; the rules are evaluated every
// second on the way there, and once more before something is expected.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.script")
	if err != nil || len(files) == 0 {
		t.Fatalf("Glob() = %v, %v, want scripts", files, err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".script"), func(t *testing.T) {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			newPlayer(t, f, string(data)).play()
		})
	}
}

// epoch is the time 0s of every script.
var epoch = time.Unix(1_700_000_000, 0)

// fakeCollector is only an identity: scripts hand in results themselves.
type fakeCollector struct{ name string }

func (*fakeCollector) Collect(context.Context) ([]collectors.Sample, error) { return nil, nil }
func (*fakeCollector) Describe() []collectors.Desc                          { return nil }

type player struct {
	t         *testing.T
	file      string
	core      *core
	cfg       Config
	timeline  []string
	firstLine int
	now       time.Duration
	stepped   time.Duration
	sources   map[string]*fakeCollector
	snap      *Snapshot
}

func newPlayer(t *testing.T, file, text string) *player {
	t.Helper()
	parts := strings.SplitN(text, "\n---\n", 3)
	if len(parts) != 3 {
		t.Fatalf("%s: got %d parts, want settings, rules and a timeline", file, len(parts))
	}
	p := &player{t: t, file: file, sources: map[string]*fakeCollector{}, now: -1}
	p.firstLine = strings.Count(parts[0]+parts[1], "\n") + 5
	p.settings(parts[0])
	p.cfg.Files = p.rules(parts[1])
	p.timeline = strings.Split(parts[2], "\n")
	var err error
	if p.core, err = newCore(p.cfg, Options{}, epoch); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *player) settings(text string) {
	for _, line := range strings.Split(text, "\n") {
		f := strings.Fields(line)
		switch {
		case len(f) == 0 || f[0] == "#":
		case f[0] == "state":
			p.cfg.States = append(p.cfg.States, p.policy(f[1:]))
		case f[0] == "collectors":
			for _, name := range f[1:] {
				c := &fakeCollector{name}
				p.sources[name] = c
				p.cfg.Sources = append(p.cfg.Sources, Source{Name: name, Interval: 10 * time.Second, Timeout: time.Second, Collector: c})
			}
		default:
			p.t.Fatalf("%s: unknown setting %q", p.file, line)
		}
	}
}

// policy parses "NAME [NO_DATA] [at_start=POLICY]".
func (p *player) policy(f []string) StatePolicy {
	s := StatePolicy{Name: f[0]}
	if start, ok := strings.CutPrefix(f[len(f)-1], "at_start="); ok {
		s.AtStart, f = AtStart(start), f[:len(f)-1]
	}
	s.NoData = rules.NoData(strings.Join(f[1:], " "))
	return s
}

func (p *player) rules(text string) []*rules.File {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	states := []string{Ready, Alive, Started}
	for _, s := range p.cfg.States {
		states = append(states, s.Name)
	}
	f, errs := rules.Parse(p.file, []byte(text), states)
	if len(errs) > 0 {
		p.t.Fatalf("rules.Parse() = %v, want no error", errs)
	}
	return []*rules.File{f}
}

func (p *player) play() {
	for i := 0; i < len(p.timeline); i++ {
		line, _, _ := strings.Cut(p.timeline[i], " # ")
		when, what, ok := strings.Cut(strings.TrimSpace(line), " ")
		if when == "" || when == "#" || strings.HasPrefix(when, "#") {
			continue
		}
		at, err := time.ParseDuration(when)
		if err != nil || !ok {
			p.t.Fatalf("%s:%d: %q: want a time and what happens", p.file, p.firstLine+i, line)
		}
		p.advance(at)
		if strings.TrimSpace(what) == "reload" {
			var text []string
			for i++; i < len(p.timeline) && p.timeline[i] != "..."; i++ {
				text = append(text, p.timeline[i])
			}
			p.cfg.Files = p.rules(strings.Join(text, "\n"))
			if err := p.core.apply(p.cfg, p.time()); err != nil {
				p.t.Fatal(err)
			}
			continue
		}
		if err := p.do(strings.TrimSpace(what)); err != nil {
			p.t.Errorf("%s:%d: at %s: %v", p.file, p.firstLine+i, at, err)
		}
	}
}

func (p *player) time() time.Time { return epoch.Add(p.now + p.stepped) }

// advance evaluates every second until at.
func (p *player) advance(at time.Duration) {
	for p.now < at {
		p.now = min(at, p.now.Truncate(time.Second)+time.Second)
		if p.now < 0 {
			p.now = 0
		}
		if p.now < at {
			p.evaluate()
		}
	}
}

func (p *player) evaluate() {
	p.core.evaluate(context.Background(), p.time())
	p.snap = p.core.snapshot(context.Background(), p.time(), 0)
}

func (p *player) do(what string) error {
	verb, rest, _ := strings.Cut(what, " ")
	switch verb {
	case "shutdown":
		p.core.shuttingDown = true
		return nil
	case "clock": // clock -1h: the wall clock steps
		d, err := time.ParseDuration(strings.TrimPrefix(rest, "+"))
		p.stepped += d
		p.core.shift(d)
		return err
	case "silence", "maintenance", "end":
		return p.override(verb, strings.Fields(rest))
	case "expect":
		p.evaluate()
		return p.expect(rest)
	}
	c, ok := p.sources[verb]
	if !ok {
		return fmt.Errorf("unknown action %q", what)
	}
	r := workers.Result{Collector: c}
	switch rest {
	case "late":
		r.Err = errors.New("no result within the timeout")
	case "nothing":
	default:
		for _, s := range strings.Split(rest, "; ") {
			series, value, _ := strings.Cut(strings.TrimSpace(s), " = ")
			ls, err := parser.NewParser(parser.Options{}).ParseMetric(series)
			if err != nil {
				return err
			}
			v, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return err
			}
			r.Samples = append(r.Samples, collectors.Sample{Labels: ls, Value: v})
			r.Descs = append(r.Descs, collectors.Desc{Name: ls.Get(model.MetricNameLabel)})
		}
	}
	p.core.take(r, p.time())
	p.evaluate() // as the loop does
	return nil
}

// expect checks one line: "state ready fail [reason]", "rule Name status",
// "deciding ready A B", "alert Name firing|pending {labels} value", "alerts Name n",
// "cause Name Root", "reason Name text", "summary Name text", "silenced Name bool", "held Name duration", "starting Name bool", "exit_code Name n", "query expr value".
func (p *player) expect(what string) error {
	f := strings.Fields(what)
	got, want := "", strings.Join(f[2:], " ")
	switch f[0] {
	case "state":
		s, ok := p.snap.State(f[1], p.time())
		if !ok {
			return fmt.Errorf("no state %q", f[1])
		}
		got = strings.TrimSpace(s.Verdict.String() + " " + s.Reason)
	case "deciding":
		s, _ := p.snap.State(f[1], p.time())
		var names []string
		for _, i := range s.Deciding {
			names = append(names, p.snap.Rules[i].Name)
		}
		got = strings.Join(names, " ")
	case "since":
		since := time.Time{}
		if s, ok := p.snap.State(f[1], p.time()); ok {
			since = s.Since
		} else if r, ok := p.rule(f[1]); ok {
			since = r.Since
		}
		got = since.Sub(epoch.Add(p.stepped)).String()
	case "query":
		return p.expectQuery(strings.TrimPrefix(what, "query "))
	default:
		r, ok := p.rule(f[1])
		if !ok {
			return fmt.Errorf("no rule %q", f[1])
		}
		got = describe(f[0], r)
	}
	if got != want {
		return fmt.Errorf("%s %s = %q, want %q", f[0], f[1], got, want)
	}
	return nil
}

func describe(what string, r Rule) string {
	switch what {
	case "rule":
		return r.Status.String()
	case "cause":
		return r.Cause
	case "reason":
		return r.Reason
	case "summary":
		return r.Summary
	case "description":
		return r.Description
	case "runbook":
		return r.RunbookURL
	case "labels":
		return fmt.Sprint(r.Labels)
	case "held":
		return r.HeldFor.String()
	case "exit_code":
		return strconv.Itoa(r.ExitCode)
	case "flags":
		return fmt.Sprintf("decides=%t warns=%t", r.Decides, r.Warns)
	case "silenced":
		return strconv.FormatBool(r.Silence != nil && r.Observe)
	case "starting":
		return strconv.FormatBool(r.Starting)
	case "alerts":
		var all []string
		for _, a := range r.Alerts {
			state := "pending"
			if a.Firing {
				state = "firing"
			}
			all = append(all, fmt.Sprintf("%s %s %g", state, labels.NewBuilder(a.Labels).Del("alertname", "state", "severity").Labels(), a.Value))
		}
		return strings.Join(all, " ")
	}
	return "unknown expectation " + what
}

func (p *player) rule(name string) (Rule, bool) {
	for _, r := range p.snap.Rules {
		if r.Name == name {
			return r, true
		}
	}
	return Rule{}, false
}

func (p *player) expectQuery(what string) error {
	expr, want, ok := strings.Cut(what, " => ")
	if !ok {
		return fmt.Errorf("%q: want EXPR => VALUES", what)
	}
	v, err := p.core.query.instant(context.Background(), expr, p.time())
	if err != nil {
		return err
	}
	var got []string
	for _, s := range v {
		got = append(got, strconv.FormatFloat(s.F, 'g', -1, 64))
	}
	if g := strings.Join(got, " "); g != want && !(g == "" && want == "nothing") {
		return fmt.Errorf("query %s = %q, want %q", expr, g, want)
	}
	return nil
}
