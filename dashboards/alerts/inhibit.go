package alerts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vitals-health/vitals/internal/promexpr"
	"github.com/vitals-health/vitals/rules"
)

// causesComment separates the inhibitions of alertmanager.yml that are always there from
// those that depend on the rules.
const causesComment = `
  # Causes and consequences, from depends_on of the rules. A cause does not inhibit alerts
  # of a higher severity.
`

// alertmanager returns alertmanager.yml.
func (s *set) alertmanager() []byte {
	text, _, _ := strings.Cut(source("alertmanager.yml"), causesComment)
	if all := s.inhibitions(); len(all) > 0 {
		text += causesComment + strings.Join(all, "")
	}
	return []byte(text)
}

// inhibitions returns the inhibit rules that follow from depends_on, without duplicates and
// in the order of the rules. Causes of a consequence share one if their labels are the same.
func (s *set) inhibitions() []string {
	var all []string
	for _, f := range s.Rules {
		for _, consequence := range rulesOf(f) {
			for _, i := range s.inhibitionsOf(f, consequence) {
				if text := i.String(); !slices.Contains(all, text) {
					all = append(all, text)
				}
			}
		}
	}
	return all
}

// inhibition is an inhibit rule of Alertmanager: while an alert that matches source fires,
// alerts that match target and have the same values of the equal labels are inhibited.
type inhibition struct{ source, target, equal []string }

// String returns the YAML of the inhibition.
func (i inhibition) String() string {
	return fmt.Sprintf("  - source_matchers: [%s]\n    target_matchers: [%s]\n    equal: [%s]\n",
		strings.Join(i.source, ", "), strings.Join(i.target, ", "), strings.Join(i.equal, ", "))
}

// inhibitionsOf returns the inhibitions of one consequence.
func (s *set) inhibitionsOf(f *rules.File, consequence *rules.Rule) []inhibition {
	var order []string
	causes := map[string][]string{}
	for _, name := range consequence.DependsOn {
		equal := strings.Join(s.equal(s.causes(f, name), consequence), ", ")
		if causes[equal] == nil {
			order = append(order, equal)
		}
		causes[equal] = append(causes[equal], name)
	}
	var all []inhibition
	for _, equal := range order {
		i := inhibition{
			source: []string{named(causes[equal])},
			target: []string{named([]string{consequence.Alert})},
			equal:  strings.Split(equal, ", "),
		}
		if consequence.State != "" {
			i.target = append(i.target, fmt.Sprintf("state=%q", consequence.State))
		}
		switch consequence.Severity {
		case "info":
		case rules.SeverityWarning:
			i.source = append(i.source, `severity!="info"`)
		default:
			i.source = append(i.source, `severity!~"warning|info"`)
		}
		all = append(all, i)
	}
	return all
}

// named returns a matcher for alerts by name.
func named(names []string) string {
	if len(names) == 1 {
		return fmt.Sprintf("alertname=%q", names[0])
	}
	return fmt.Sprintf("alertname=~%q", strings.Join(names, "|"))
}

// causes returns the alerts of a name: those in the same file, or else in the first other
// file that has any.
func (s *set) causes(f *rules.File, name string) []*rules.Rule {
	var found []*rules.Rule
	for _, file := range append([]*rules.File{f}, s.Rules...) {
		for _, r := range rulesOf(file) {
			if r.Alert == name {
				found = append(found, r)
			}
		}
		if len(found) > 0 {
			break
		}
	}
	return found
}

// equal returns the labels that must be the same for a consequence and its causes: those of
// the target, and those that all alerts have and no expression fixes.
func (s *set) equal(causes []*rules.Rule, consequence *rules.Rule) []string {
	common := s.free(consequence)
	for _, c := range causes {
		other := s.free(c)
		common = slices.DeleteFunc(common, func(l string) bool { return !slices.Contains(other, l) })
	}
	return append([]string{"job", "instance"}, common...)
}

// free returns the sorted labels of an alert that can have more than one value.
func (s *set) free(r *rules.Rule) []string {
	var names []string
	for name, is := range promexpr.ResultLabels(r.AST, s.Labels) {
		if _, own := r.Labels[name]; !own && is == promexpr.Open {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// rulesOf returns the rules of a file.
func rulesOf(f *rules.File) []*rules.Rule {
	var all []*rules.Rule
	for g := range f.Groups {
		for r := range f.Groups[g].Rules {
			all = append(all, &f.Groups[g].Rules[r])
		}
	}
	return all
}
