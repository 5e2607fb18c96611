package templates

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/expand"
	"github.com/vitals-health/vitals/internal/promexpr"
	"github.com/vitals-health/vitals/internal/strictyaml"
	"github.com/vitals-health/vitals/rules"
	"github.com/vitals-health/vitals/rules/lint/analysis"
	"github.com/vitals-health/vitals/rules/lint/check"
	"github.com/vitals-health/vitals/rules/lint/syntax"
)

// templateFails finds templates that fail with any data, and queries in templates that are
// invalid. An alert then shows the error in place of the text.
func templateFails(p *check.Pass, s *analysis.Subject) {
	if s.Rule.Alert == "" {
		return
	}
	for _, of := range []struct {
		key   string
		texts map[string]string
	}{{"labels", s.Rule.Labels}, {"annotations", s.Rule.Annotations}} {
		for _, name := range slices.Sorted(maps.Keys(of.texts)) {
			if why := templateFailure(s.Rule, of.texts[name]); why != "" {
				p.At(s, strictyaml.PathKey(of.key, name), "correct the template, and try it with a test of the rules (vitals test rules)",
					"the template of the %s %s fails: %s", strings.TrimSuffix(of.key, "s"), name, why)
			}
		}
	}
}

// trial is the data of one expansion: each label has the text, and each query returns so
// many samples.
type trial struct {
	text    string
	value   float64
	results int
}

// trials returns data for which most templates succeed: a long text, a number, a duration,
// and what is both of them.
func trials() []trial {
	return []trial{
		{"sample-of-a-long-name.example.com:9100/path", 1, 8},
		{"000000000000000000000000000000001700000000", 1_700_000_000, 1},
		{"1h", 0.5, 8},
		{"0", 0, 8},
	}
}

// templateFailure returns why a template fails; empty if it succeeds for any of the trials.
func templateFailure(r *rules.Rule, text string) string {
	tmpl, err := r.Template("t", text)
	if err != nil || !strings.Contains(text, "{{") { // an error is a mistake that the parser of rules reports
		return ""
	}
	for _, q := range tmpl.Queries() {
		if err := checkQuery(q); err != nil {
			return reason(err)
		}
	}
	var first error
	for _, t := range trials() {
		err := t.run(tmpl, text)
		if err == nil {
			return ""
		}
		if first == nil {
			first = err
		}
	}
	return reason(first)
}

// run expands a template. A result with an invalid verb of printf counts as an error.
func (t trial) run(tmpl expand.Template, text string) error {
	labels := map[string]string{"__name__": "metric", "instance": t.text, "job": t.text}
	for _, name := range append(tmpl.Constants(), names(text)...) {
		labels[name] = t.text
	}
	data := expand.Data{
		Labels: labels, ExternalLabels: labels, ExternalURL: "http://prometheus.example.com/path",
		Value: t.value, At: time.Unix(1_700_000_000, 0),
	}
	expanded, err := tmpl.Expand(context.Background(), data, func(_ context.Context, expr string, _ time.Time) ([]expand.Sample, error) {
		if err := checkQuery(expr); err != nil {
			return nil, err
		}
		samples := make([]expand.Sample, t.results)
		for i := range samples {
			samples[i] = expand.Sample{Labels: labels, Value: t.value}
		}
		return samples, nil
	})
	if err != nil {
		return err
	}
	if wrong := badVerb.FindString(expanded); wrong != "" && !strings.Contains(text, "%!") {
		return fmt.Errorf("it prints %s", wrong)
	}
	return nil
}

var (
	// afterDot matches a name that follows a dot.
	afterDot = regexp.MustCompile(`\.([a-zA-Z_][a-zA-Z0-9_]*)`)
	// badVerb matches what package fmt prints for a verb that does not fit its argument, as
	// in %!d(float64=1).
	badVerb = regexp.MustCompile(`%!([a-zA-Z]?\([^)]*\)|\(NOVERB\))`)
)

// names returns the names in a template that follow a dot: most of them are labels.
func names(text string) []string {
	var all []string
	for _, m := range afterDot.FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	return all
}

// checkQuery returns why an expression in a template fails.
func checkQuery(text string) error {
	ast, err := promexpr.Parse(text)
	if err != nil {
		var list parser.ParseErrors
		if errors.As(err, &list) && len(list) > 0 {
			err = list[0].Err
		}
		return fmt.Errorf("its query %s is not valid PromQL: %v", syntax.Quoted(text), err)
	}
	if wrong := syntax.WrongCalls(ast); len(wrong) > 0 {
		return fmt.Errorf("its query %s fails: %s", syntax.Quoted(text), wrong[0].Text)
	}
	return nil
}

// reason returns the message of an error without the template's place.
func reason(err error) string {
	text := err.Error()
	if _, after, ok := strings.Cut(text, ` executing "t" at `); ok {
		text = after
	}
	if i := strings.Index(text, "its query "); i > 0 {
		text = text[i:]
	}
	if before, _, ok := strings.Cut(text, " in type struct"); ok {
		text = before + ", only Labels, ExternalLabels, ExternalURL and Value"
	}
	const limit = 240
	if runes := []rune(text); len(runes) > limit {
		text = string(runes[:limit]) + "..."
	}
	return strings.Join(strings.Fields(text), " ")
}
