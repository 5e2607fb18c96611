// Package expand has the types of the templates in annotations and labels of alerting rules. Its
// folder texttemplate executes them: only a program that names that parser contains text/template.
package expand

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/prometheus/prometheus/model/histogram"
)

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

// Template is a parsed text. It is safe for concurrent use.
type Template interface {
	// Expand returns the text with every action replaced by its result. The function
	// query fails if q is nil. With an error the text is empty; see ErrorText. The error
	// wraps ctx.Err() if the context ended during the expansion.
	Expand(ctx context.Context, d Data, q Query) (string, error)
	// Dynamic reports whether the result may depend on more than the labels and the value:
	// on the time, or on a query.
	Dynamic() bool
	// Constants returns the string constants in the template's actions. They include the
	// expressions that it queries, except those composed from parts.
	Constants() []string
	// Queries returns the constant expressions that the template passes to the function query,
	// also in branches that an expansion may leave out.
	Queries() []string
}

// Parser parses a text with actions. The name appears in errors; Prometheus uses "__alert_" and
// the name of the alert.
type Parser func(name, text string) (Template, error)

// ErrNoParser is the error of Parse for a text with actions, without a parser.
var ErrNoParser = errors.New(`template in a program without templates, expected a text without "{{", or Options.Templates in the program (vitals.Templates())`)

// Parse parses a text. One without actions needs no parser; parser may be nil then.
func Parse(parser Parser, name, text string) (Template, error) {
	switch {
	case !strings.Contains(text, "{{"):
		return plain(text), nil
	case parser == nil:
		return nil, ErrNoParser
	}
	return parser(name, text)
}

// plain is a text without actions.
type plain string

// Expand implements Template.
func (p plain) Expand(context.Context, Data, Query) (string, error) { return string(p), nil }

// Dynamic implements Template.
func (plain) Dynamic() bool { return false }

// Constants implements Template.
func (plain) Constants() []string { return nil }

// Queries implements Template.
func (plain) Queries() []string { return nil }

// ErrorText returns the text that replaces one that could not be expanded. Prometheus
// uses the same wording.
func ErrorText(err error) string {
	return fmt.Sprintf("<error expanding template: %s>", err)
}
