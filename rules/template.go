package rules

import (
	"maps"
	"slices"
	"strings"
	"text/template/parse"

	"github.com/vitals-health/vitals/internal/strictyaml"
)

// templateVariables is the text that Prometheus puts before every template.
const templateVariables = `{{$labels := .Labels}}{{$externalLabels := .ExternalLabels}}{{$externalURL := .ExternalURL}}{{$value := .Value}}`

// templateFunctions returns the functions that a template may call: those of text/template
// and those that Prometheus documents under "template reference".
func templateFunctions() map[string]any {
	functions := map[string]any{}
	for _, name := range strings.Fields(`
		and call eq ge gt html index js le len lt ne not or print printf println slice urlquery
		args externalURL first graphLink humanize humanize1024 humanizeDuration humanizePercentage
		humanizeTimestamp label match now parseDuration pathPrefix query reReplaceAll safeHtml
		sortByLabel stripDomain stripPort strvalue tableLink title toDuration toLower toTime
		toUpper urlQueryEscape value`) {
		functions[name] = true
	}
	return functions
}

// templates checks the syntax of labels or annotations without executing them.
func (p *fileParser) templates(path string, texts map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if err := checkTemplate(texts[name]); err != "" {
			p.fail(strictyaml.PathKey(path, name), "not a valid template: %s", clip(err))
		}
	}
}

// checkTemplate returns the syntax error of a template, or "".
func checkTemplate(text string) string {
	if !strings.Contains(text, "{{") {
		return ""
	}
	_, err := parse.Parse("t", templateVariables+text, "{{", "}}", templateFunctions())
	if err == nil {
		return ""
	}
	// The text is "template: t:LINE: message". LINE counts within the value.
	what := strings.TrimPrefix(err.Error(), "template: t:")
	if _, after, ok := strings.Cut(what, ": "); ok {
		what = after
	}
	return what
}
