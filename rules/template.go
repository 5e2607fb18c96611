package rules

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/vitals-health/vitals/internal/expand"
	"github.com/vitals-health/vitals/internal/promexpr"
	"github.com/vitals-health/vitals/internal/strictyaml"
)

// templates checks the syntax of labels or annotations without executing them, and what
// their queries cost.
func (p *fileParser) templates(path string, texts map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		key := strictyaml.PathKey(path, name)
		template, err := expand.Parse(p.opts.Templates, "t", texts[name])
		switch {
		case errors.Is(err, expand.ErrNoParser):
			p.fail(key, "%s", err)
			continue
		case err != nil:
			p.fail(key, "not a valid template: %s", clip(syntaxError(err)))
			continue
		}
		for _, text := range template.Constants() {
			p.query(key, texts[name], text)
		}
	}
}

// syntaxError returns the message of an error from a template's parser. Its text is "error
// parsing template t: template: t:LINE: message", where LINE counts within the value.
func syntaxError(err error) string {
	_, text, _ := strings.Cut(err.Error(), ": template: t:")
	_, message, _ := strings.Cut(text, ": ")
	return message
}

// query checks a constant of a template that may be a query, or the format of one.
func (p *fileParser) query(key, template, text string) {
	expr, err := promexpr.Parse(strings.ReplaceAll(text, "%q", `""`))
	if err != nil {
		return // another text, or a query that fails when it is executed
	}
	for _, e := range Excesses(expr, p.opts.Step) {
		p.add(p.doc.ErrorAt(key, max(strings.Index(template, text), 0), "query of the template: %s", e.Text))
	}
}
