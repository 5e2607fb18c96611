// Package expand expands the templates in annotations and labels of alerting rules
// as Prometheus does: with text/template, the same functions and the same data.
//
// Unlike Prometheus, it bounds each expansion in output, steps, depth and work, and
// ends it with its context. A verb of printf that prints a type (%T, %#v) prints other
// names for the types of query results.
package expand

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"text/template"
	"text/template/parse"
	"time"

	"github.com/prometheus/prometheus/model/histogram"
)

// The bounds of one expansion. An expansion that exceeds one of them fails.
const (
	// MaxOutput is the size of the result in bytes.
	MaxOutput = 64 << 10
	// MaxSteps is the number of range iterations and template calls.
	MaxSteps = 10_000
	// MaxDepth is the number of nested template calls.
	MaxDepth = 100
	// maxWork bounds everything else: executed nodes plus bytes of intermediate values.
	maxWork = 4 << 20
)

// variables is the text that Prometheus prepends to the templates of alerting rules.
const variables = "{{$labels := .Labels}}{{$externalLabels := .ExternalLabels}}{{$externalURL := .ExternalURL}}{{$value := .Value}}"

// Sample is one element of a query's result.
type Sample struct {
	// Labels include the metric's name as __name__.
	Labels map[string]string
	Value  float64
	// Histogram replaces the value; nil for a float.
	Histogram *histogram.FloatHistogram
}

// Query evaluates a PromQL expression at the given time, for the template function query.
type Query func(ctx context.Context, expr string, at time.Time) ([]Sample, error)

// Data is the input of an expansion.
type Data struct {
	// Labels are the labels of the alert's sample: $labels.
	Labels map[string]string
	// ExternalLabels and ExternalURL are those of the whole program.
	ExternalLabels map[string]string
	ExternalURL    string
	// Value is the value of the alert's sample: $value.
	Value float64
	// Histogram replaces the value; nil for a float.
	Histogram *histogram.FloatHistogram
	// At is the time of the evaluation, used by the functions now and query.
	At time.Time
}

// Template is a parsed template. It is safe for concurrent use; expansions of one
// template run one after the other.
type Template struct {
	// plain is the whole text if it contains no action; tmpl is nil then.
	plain     string
	tmpl      *template.Template
	constants []string
	dynamic   bool

	mu  sync.Mutex // guards run, which the functions of tmpl use
	run *expansion
}

// Parse parses text. The name appears in errors; Prometheus uses "__alert_" and the
// name of the alert.
func Parse(name, text string) (*Template, error) {
	if !strings.Contains(text, "{{") {
		return &Template{plain: text}, nil
	}
	run := &expansion{}
	funcs := run.functions()
	parsed, err := template.New(name).Funcs(funcs).Parse(variables + text)
	if err != nil {
		return nil, fmt.Errorf("error parsing template %s: %w", name, err)
	}
	t := &Template{tmpl: template.New(name).Option("missingkey=zero").Funcs(run.meters()), run: run}
	trees := parsed.Templates()
	slices.SortFunc(trees, func(a, b *template.Template) int { return strings.Compare(a.Name(), b.Name()) })
	for _, tree := range trees {
		if err := t.add(tree, funcs); err != nil {
			return nil, fmt.Errorf("error parsing template %s: %w", name, err)
		}
	}
	return t, nil
}

// add adds a parsed template with those of funcs that it calls: most templates call a
// few functions at most, and there can be thousands of templates.
func (t *Template) add(parsed *template.Template, funcs template.FuncMap) error {
	for _, s := range all[*parse.StringNode](parsed.Root) {
		t.constants = append(t.constants, s.Text)
	}
	for _, id := range all[*parse.IdentifierNode](parsed.Root) {
		if f, ok := funcs[id.Ident]; ok {
			t.tmpl.Funcs(template.FuncMap{id.Ident: f})
		}
		t.dynamic = t.dynamic || id.Ident == "query" || id.Ident == "now"
	}
	meter(parsed.Root)
	_, err := t.tmpl.AddParseTree(parsed.Name(), parsed.Tree)
	return err
}

// Dynamic reports whether the result may depend on more than the labels and the value:
// on the time, or on a query.
func (t *Template) Dynamic() bool { return t.dynamic }

// Constants returns the string constants in the template's actions. They include the
// expressions that it queries, except those composed from parts.
func (t *Template) Constants() []string { return t.constants }

// Expand returns the text with every action replaced by its result. The function
// query fails if q is nil. With an error the text is empty; see ErrorText. The error
// wraps ctx.Err() if the context ended during the expansion.
func (t *Template) Expand(ctx context.Context, d Data, q Query) (text string, err error) {
	if t.tmpl == nil {
		return t.plain, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	defer func() {
		*t.run = expansion{}
		// A bug here costs one annotation and not the program.
		if r := recover(); r != nil {
			text, err = "", fmt.Errorf("internal error: expanding template %s: %v", t.tmpl.Name(), r)
		}
	}()
	*t.run = expansion{ctx: ctx, data: d, query: q}
	if err := t.tmpl.Execute(t.run, newRoot(d)); err != nil {
		return "", fmt.Errorf("error executing template %s: %w", t.tmpl.Name(), err)
	}
	return t.run.out.String(), nil
}

// ErrorText returns the text that replaces one that could not be expanded. Prometheus
// uses the same wording.
func ErrorText(err error) string {
	return fmt.Sprintf("<error expanding template: %s>", err)
}
