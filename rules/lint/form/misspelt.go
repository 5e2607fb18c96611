package form

import (
	"maps"
	"slices"
	"strings"

	"github.com/vitals-health/vitals/internal/text"
	"github.com/vitals-health/vitals/rules"
	"github.com/vitals-health/vitals/rules/lint/analysis"
	"github.com/vitals-health/vitals/rules/lint/check"
)

// misspelt finds labels and annotations of alerts that look like a key of Vitals and are
// none. Similar words such as "stage" count only if their value suits the key, and only if
// the correct key is missing.
func misspelt(p *check.Pass, s *analysis.Subject) {
	if s.Rule.Alert == "" {
		return
	}
	misplacedState(p, s)
	probe := s.Rule.State != ""
	for _, name := range slices.Sorted(maps.Keys(s.Rule.Labels)) {
		value := s.Rule.Labels[name]
		switch {
		case isState(p, value) && lookAlike(s.Rule.Labels, name, s.File.StateLabel()):
			probe = true
			misspeltKey(p, s, "labels", name, s.File.StateLabel(), "the rule belongs to no state, and no probe uses it")
		case s.Rule.State != "" && lookAlike(s.Rule.Labels, name, "severity"):
			misspeltKey(p, s, "labels", name, "severity", "the rule has the default severity, critical")
		}
	}
	if !probe {
		return // annotations of ordinary alerts are for other programs
	}
	for _, name := range slices.Sorted(maps.Keys(s.Rule.Annotations)) {
		for _, k := range annotationKeys() {
			if lookAlike(s.Rule.Annotations, name, k.name) && k.plausible(s.Rule.Annotations[name]) {
				misspeltKey(p, s, "annotations", name, k.name, k.without)
			}
		}
	}
}

func misspeltKey(p *check.Pass, s *analysis.Subject, section, name, intended, effect string) {
	line, col := s.File.PlaceOfKey(s.Rule, section, name)
	p.AtPlace(s, line, col, "write "+intended+", or use a name that is less similar",
		strings.TrimSuffix(section, "s")+" "+name+" has no meaning and looks like "+intended+": without it, "+effect)
}

func isState(p *check.Pass, value string) bool {
	return slices.ContainsFunc(p.Options.States, func(s string) bool { return strings.EqualFold(s, value) })
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
	return text.Distance(a, b) <= min(check.MaxDistance, len(b)/3)
}

// plainKey returns a key in lower case and without separators.
func plainKey(key string) string {
	return strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(key))
}
