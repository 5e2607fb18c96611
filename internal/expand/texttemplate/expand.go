// Package texttemplate expands the templates in annotations and labels of alerting rules
// as Prometheus does: with text/template, the same functions and the same data.
//
// Unlike Prometheus, it bounds each expansion in output, steps, depth and work, and
// ends it with its context. A verb of printf that prints a type (%T, %#v) prints other
// names for the types of query results.
package texttemplate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"text/template"
	"text/template/parse"

	"github.com/vitals-health/vitals/internal/expand"
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

// parsed is a template. It implements expand.Template. Expansions of one template run one after
// the other.
type parsed struct {
	tmpl      *template.Template
	constants []string
	dynamic   bool

	mu  sync.Mutex // guards run, which the functions of tmpl use
	run *expansion
}

// Parse parses a template. It is an expand.Parser.
func Parse(name, text string) (expand.Template, error) {
	run := &expansion{}
	funcs := run.functions()
	root, err := template.New(name).Funcs(funcs).Parse(variables + text)
	if err != nil {
		return nil, fmt.Errorf("error parsing template %s: %w", name, err)
	}
	t := &parsed{tmpl: template.New(name).Option("missingkey=zero").Funcs(run.meters()), run: run}
	trees := root.Templates()
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
func (t *parsed) add(from *template.Template, funcs template.FuncMap) error {
	for _, s := range all[*parse.StringNode](from.Root) {
		t.constants = append(t.constants, s.Text)
	}
	for _, id := range all[*parse.IdentifierNode](from.Root) {
		if f, ok := funcs[id.Ident]; ok {
			t.tmpl.Funcs(template.FuncMap{id.Ident: f})
		}
		t.dynamic = t.dynamic || id.Ident == "query" || id.Ident == "now"
	}
	meter(from.Root)
	_, err := t.tmpl.AddParseTree(from.Name(), from.Tree)
	return err
}

// Dynamic implements expand.Template.
func (t *parsed) Dynamic() bool { return t.dynamic }

// Constants implements expand.Template.
func (t *parsed) Constants() []string { return t.constants }

// Expand implements expand.Template.
func (t *parsed) Expand(ctx context.Context, d expand.Data, q expand.Query) (text string, err error) {
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
