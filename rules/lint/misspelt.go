package lint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/vitals-health/vitals/internal/strictyaml"
	"github.com/vitals-health/vitals/internal/text"
	"github.com/vitals-health/vitals/rules"
)

// maxDistance is the largest edit distance at which one key is reported as a misspelling of
// another.
const maxDistance = 2

// misspelt finds labels and annotations of alerts that look like a key of Vitals and are
// none. Similar words such as "stage" count only if their value suits the key, and only if
// the correct key is missing.
func misspelt(p *pass, s *subject) {
	if s.rule.Alert == "" {
		return
	}
	misplacedState(p, s)
	probe := s.rule.State != ""
	for _, name := range keys(s.rule.Labels) {
		value := s.rule.Labels[name]
		switch {
		case p.isState(value) && lookAlike(s.rule.Labels, name, s.file.StateLabel()):
			probe = true
			p.misspeltKey(s, "labels", name, s.file.StateLabel(), "the rule belongs to no state, and no probe uses it")
		case s.rule.State != "" && lookAlike(s.rule.Labels, name, "severity"):
			p.misspeltKey(s, "labels", name, "severity", "the rule has the default severity, critical")
		}
	}
	if !probe {
		return // annotations of ordinary alerts are for other programs
	}
	for _, name := range keys(s.rule.Annotations) {
		for _, k := range annotationKeys() {
			if lookAlike(s.rule.Annotations, name, k.name) && k.plausible(s.rule.Annotations[name]) {
				p.misspeltKey(s, "annotations", name, k.name, k.without)
			}
		}
	}
}

func (p *pass) misspeltKey(s *subject, section, name, intended, effect string) {
	line, col := s.file.PlaceOfKey(s.rule, section, name)
	p.about(s, line, col, "write "+intended+", or use a name that is less similar",
		strings.TrimSuffix(section, "s")+" "+name+" has no meaning and looks like "+intended+": without it, "+effect)
}

func (p *pass) isState(value string) bool {
	return slices.ContainsFunc(p.opts.States, func(s string) bool { return strings.EqualFold(s, value) })
}

// annotationKey is an annotation that Vitals uses.
type annotationKey struct {
	name string
	// without describes a rule that lacks the annotation.
	without string
	// plausible reports whether the value suits the annotation.
	plausible func(value string) bool
}

func annotationKeys() []annotationKey {
	oneOf := func(values ...string) func(string) bool {
		return func(v string) bool { return slices.Contains(values, strings.ToLower(v)) }
	}
	return []annotationKey{
		{"summary", "probes, page and alerts show the rule's name only", func(string) bool { return true }},
		{"depends_on", "the rule is never shown as a consequence", func(string) bool { return true }},
		{"no_data", "the state's own no_data applies", func(v string) bool { return rules.NoData(strings.ToLower(v)).Valid() }},
		{"mode", "the rule is enforced", oneOf("observe")},
		{"exit_code", "the exec probe does not return the code", func(v string) bool {
			_, ok := rules.ExitCode(v)
			return ok || strings.Contains(v, "{{")
		}},
	}
}

// lookAlike reports whether a key looks like another one that is missing.
func lookAlike(all map[string]string, key, other string) bool {
	if key == other || all[other] != "" {
		return false
	}
	a, b := plainKey(key), plainKey(other)
	return text.Distance(a, b) <= min(maxDistance, len(b)/3)
}

// plainKey returns a key in lower case and without separators.
func plainKey(key string) string {
	return strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(key))
}

// suggest returns a cure for an unknown name: the nearest known name, or all known names if
// they are few.
func suggest(got string, known []string) string {
	const few = 12
	known = slices.Sorted(slices.Values(known))
	known = slices.Compact(slices.DeleteFunc(known, func(name string) bool { return name == "" }))
	switch near := nearest(got, known); {
	case near != "":
		return fmt.Sprintf("did you mean %q?", near)
	case len(known) == 0:
		return "remove it: none exists"
	case len(known) == 1:
		return "use " + known[0]
	case len(known) <= few:
		return "use one of " + strings.Join(known, ", ")
	}
	return fmt.Sprintf("use one of %s and %d more", strings.Join(known[:few], ", "), len(known)-few)
}

// nearest returns the known name that is most similar, or "". The common prefix "vitals_"
// does not count.
func nearest(got string, known []string) string {
	const prefix = "vitals_"
	short, ours := strings.CutPrefix(got, prefix)
	if !ours {
		return strictyaml.Nearest(got, known)
	}
	var rest []string
	for _, name := range known {
		if name, ok := strings.CutPrefix(name, prefix); ok {
			rest = append(rest, name)
		}
	}
	if near := strictyaml.Nearest(short, rest); near != "" {
		return prefix + near
	}
	return ""
}

func keys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
