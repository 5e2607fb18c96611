// Package expand expands the templates in annotations and labels of alerting
// rules exactly as Prometheus does, without text/template.
//
// Executing text/template looks up methods by names that only the run time knows.
// The linker then has to keep every exported method of every type, which makes a
// binary with the Kubernetes client 10 MB larger. This package uses only the
// parser, text/template/parse, and walks its tree. The values that a template can
// meet are a closed set, so that their methods can be listed.
//
// What differs from Prometheus: an expansion is bounded in output, steps, depth and
// work; the methods of times and durations that encode, decode or read the local
// time zone are missing; where printf prints a type (%T, %#v, a verb that does not
// fit), query results and safeHtml have other names.
package expand

import (
	"context"
	"fmt"
	"strings"
	"text/template/parse"
	"time"
)

// The bounds of one expansion. Beyond each of them it is an error.
const (
	// MaxOutput is the size of the result in bytes.
	MaxOutput = 64 << 10
	// MaxSteps is the number of range iterations and template calls.
	MaxSteps = 10_000
	// MaxDepth is how deep templates may call each other.
	MaxDepth = 100
	// maxWork bounds everything else: nodes visited plus bytes that functions made.
	maxWork = 4 << 20
)

// variables are what Prometheus puts in front of every template of an alerting rule.
const variables = "{{$labels := .Labels}}{{$externalLabels := .ExternalLabels}}{{$externalURL := .ExternalURL}}{{$value := .Value}}"

// Sample is one element of a query's result.
type Sample struct {
	// Labels include the metric's name as __name__.
	Labels map[string]string
	Value  float64
}

// Query evaluates a PromQL expression at a moment, for the template function query.
type Query func(ctx context.Context, expr string, at time.Time) ([]Sample, error)

// Data is what a template is expanded with.
type Data struct {
	// Labels are the labels of the alert's sample: $labels.
	Labels map[string]string
	// ExternalLabels and ExternalURL are those of the whole program.
	ExternalLabels map[string]string
	ExternalURL    string
	// Value is the value of the alert's sample: $value.
	Value float64
	// At is the time of the evaluation, in which now and query work.
	At time.Time
}

// Template is a parsed template. It is immutable and safe for concurrent use.
type Template struct {
	name string
	// plain is the whole text if nothing in it is to be expanded.
	plain string
	trees map[string]*parse.Tree
	funcs map[string]function
	// dynamic is set if a word of the text may be the function query or now.
	dynamic bool
}

// Parse parses text. The name appears in errors; Prometheus uses "__alert_" and the
// name of the alert.
func Parse(name, text string) (*Template, error) {
	if !strings.Contains(text, "{{") {
		return &Template{name: name, plain: text}, nil
	}
	funcs := functions()
	names := make(map[string]any, len(funcs))
	for n := range funcs {
		names[n] = true
	}
	trees, err := parse.Parse(name, variables+text, "", "", names)
	if err != nil {
		return nil, fmt.Errorf("error parsing template %s: %w", name, err)
	}
	dynamic := strings.Contains(text, "query") || strings.Contains(text, "now")
	return &Template{name: name, trees: trees, funcs: funcs, dynamic: dynamic}, nil
}

// Dynamic says whether the result may depend on more than the labels and the value:
// on the time, or on a query.
func (t *Template) Dynamic() bool { return t.dynamic }

// Expand returns the text with every action replaced by its result. The function
// query fails if q is nil. An error has no partial result; see ErrorText.
func (t *Template) Expand(ctx context.Context, d Data, q Query) (text string, err error) {
	if t.trees == nil {
		return t.plain, nil
	}
	defer func() {
		// A bug here costs one annotation and not the program.
		if r := recover(); r != nil {
			text, err = "", fmt.Errorf("internal error: expanding template %s: %v", t.name, r)
		}
	}()
	e := &expansion{ctx: ctx, data: d, query: q, funcs: t.funcs, trees: t.trees}
	if err := e.run(t.trees[t.name]); err != nil {
		return "", fmt.Errorf("error executing template %s: %w", t.name, err)
	}
	return e.out.String(), nil
}

// ErrorText returns what stands in the place of a text that could not be expanded,
// in Prometheus' words.
func ErrorText(err error) string {
	return fmt.Sprintf("<error expanding template: %s>", err)
}
