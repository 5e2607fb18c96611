package texttemplate_test

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// writer makes random templates. Most of them are well formed and well typed; some
// are not, on purpose.
type writer struct {
	t    *rapid.T
	vars []string
	// loops is how many ranges surround what is being written.
	loops int
}

func (w *writer) pick(choices ...string) string { return rapid.SampledFrom(choices).Draw(w.t, "pick") }

func (w *writer) n(max int) int { return rapid.IntRange(0, max).Draw(w.t, "n") }

func (w *writer) list(depth int) string {
	var b strings.Builder
	declared := len(w.vars)
	for range 1 + w.n(3) {
		b.WriteString(w.node(depth))
	}
	w.vars = w.vars[:declared]
	return b.String()
}

func (w *writer) node(depth int) string {
	if depth == 0 {
		return w.pick("text ", "{{ . }}", "{{ "+w.expr(1)+" }}")
	}
	switch w.n(9) {
	case 0:
		return w.pick(" a ", "x\n", "{{- 1 -}}", "{{/* c */}}")
	case 1:
		return "{{ if " + w.expr(2) + " }}" + w.list(depth-1) + w.orElse(depth) + "{{ end }}"
	case 2:
		return "{{ with " + w.expr(2) + " }}" + w.list(depth-1) + w.orElse(depth) + "{{ end }}"
	case 3, 4:
		return w.loop(depth)
	case 5:
		pipe := w.expr(2)
		name := w.pick("$x", "$y", "$z")
		w.vars = append(w.vars, name)
		return "{{ " + name + " := " + pipe + " }}"
	case 6:
		if len(w.vars) > 0 {
			return "{{ " + w.pick(w.vars...) + " = " + w.expr(2) + " }}"
		}
	case 7:
		if w.loops > 0 {
			return "{{ if " + w.expr(1) + " }}" + w.pick("{{ break }}", "{{ continue }}") + "{{ end }}"
		}
		return "{{ template " + w.pick(`"t"`, `"u"`, `"none"`) + " " + w.pick("", ".", w.expr(1)) + " }}"
	}
	return "{{ " + w.pipe(3) + " }}"
}

func (w *writer) orElse(depth int) string {
	return w.pick("", "{{ else }}"+w.list(depth-1), "{{ else if "+w.expr(1)+" }}"+w.list(depth-1))
}

func (w *writer) loop(depth int) string {
	over := w.pick(w.vectorExpr(), "$labels", w.expr(2), "3", "(args 1 nil .)")
	vars := w.pick("", "$k, $v := ", "$v := ", "$i := ")
	declared := len(w.vars)
	for _, name := range []string{"$k", "$v", "$i"} {
		if strings.Contains(vars, name) {
			w.vars = append(w.vars, name)
		}
	}
	w.loops++
	body := w.list(depth - 1)
	w.loops--
	w.vars = w.vars[:declared]
	return "{{ range " + vars + over + " }}" + body + w.pick("", "{{ else }}"+w.list(depth-1)) + "{{ end }}"
}

func (w *writer) pipe(depth int) string {
	p := w.expr(depth)
	for range w.n(2) {
		p += " | " + w.pick("print", "humanize", "len", "printf \"%v\"", "html", "js", "toUpper", "not", "first", "value", "label \"job\"",
			"humanizeDuration", "toTime", "eq "+w.expr(1), "index "+w.expr(1), "and "+w.expr(1), "sortByLabel \"job\"", "args", "reReplaceAll \"[a-m]+\" \"<$0>\"")
	}
	return p
}

func (w *writer) vectorExpr() string {
	return w.pick(`(query "up")`, `(query "empty")`, `(sortByLabel "job" (query "up"))`, `(slice (query "up") 1 3)`, `(sortByLabel "host" nil)`)
}

// expr writes an operand that needs no parentheses around it.
func (w *writer) expr(depth int) string {
	if depth == 0 {
		return w.atom()
	}
	a, b := w.expr(depth-1), w.expr(depth-1)
	switch w.n(9) {
	case 0, 1:
		return w.atom()
	case 2:
		return fmt.Sprintf("(%s %s %s)", w.pick("eq", "ne", "lt", "le", "gt", "ge"), a, b)
	case 3:
		return fmt.Sprintf("(%s %s %s)", w.pick("and", "or", "index", "print", "args", "slice", "html"), a, b)
	case 4:
		return fmt.Sprintf("(%s %s)", w.pick("not", "len", "humanize", "humanize1024", "humanizePercentage", "humanizeDuration", "humanizeTimestamp", "toTime", "toDuration"), a)
	case 5:
		return fmt.Sprintf("(printf %s %s %s)", w.pick(`"%v %v"`, `"%d-%s"`, `"%5.2f|%q"`, `"%x%%%t"`, `"%s"`), a, b)
	case 6:
		return w.pick("(first ", "(value ", "(len ", "(index 1 ") + w.vectorExpr() + ")"
	case 7:
		return "(first " + w.vectorExpr() + ")" + w.pick(".Value", ".Labels", ".Labels.job", ".Nope")
	case 8:
		return "(" + w.pick("toUpper", "title", "stripPort", "stripDomain", "toLower", "urlQueryEscape", "graphLink", "safeHtml", "js") + " " + a + ")"
	}
	return "(" + w.pick("toTime ", "toDuration ") + w.pick("0", "1.5", "90000", "$value") + ")" +
		w.pick(".Year", ".Hours", ".Unix", ".Seconds", ".Month", ".Abs", ".UTC", ".String")
}

func (w *writer) atom() string {
	atoms := []string{"1", "0", "-3", "2.5", "1e3", "'a'", `"x"`, `""`, `"a.b:80"`, `"1.5"`, "true", "false", "nil", ".", ".Value", ".Labels", ".Labels.job",
		"$", "$.Value", "$value", "$labels", "$labels.job", "$labels.none", "$externalLabels.cluster", "now", "externalURL", `(index "abc" 1)`, "args", ".arg0", "2i"}
	atoms = append(atoms, w.vars...)
	return rapid.SampledFrom(atoms).Draw(w.t, "atom")
}

// bound matches the errors of templates that exceed a bound.
var bound = regexp.MustCompile(`(takes more than \d+ steps|makes more than \d+ bytes|does too much work|more than \d+ deep)$`)

func TestRandomTemplatesExpandAsPrometheus(t *testing.T) {
	good := 0
	rapid.Check(t, func(t *rapid.T) {
		w := &writer{t: t}
		text := `{{ define "t" }}<` + w.list(1) + `>{{ end }}{{ define "u" }}{{ . }}{{ end }}` + w.list(rapid.IntRange(0, 3).Draw(t, "depth"))
		value := rapid.SampledFrom([]float64{0, 1, 2.5, -7, 1e9, math.NaN(), math.Inf(1)}).Draw(t, "value")
		if _, err := ours(text, data(value)); err != nil && bound.MatchString(err.Error()) {
			return // Prometheus has no bounds: some of these would take it forever.
		}
		if _, err := same(t, text, data(value)); err == nil {
			good++
		}
	})
	if good == 0 {
		t.Error("no random template could be expanded: the test compares errors with errors only")
	}
}
