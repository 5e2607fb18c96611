package alerts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vitals-health/vitals/rules"
)

// causesComment separates the inhibitions of alertmanager.yml that are always there from
// those that depend on the rules.
const causesComment = `
  # Causes and their consequences, as depends_on of the rules names them. No cause silences
  # what is worse than itself.
`

// alertmanager returns alertmanager.yml.
func (s *set) alertmanager() []byte {
	text, _, _ := strings.Cut(source("alertmanager.yml"), causesComment)
	if all := s.inhibitions(); len(all) > 0 {
		text += causesComment + strings.Join(all, "")
	}
	return []byte(text)
}

// inhibitions are those that depends_on asks for, in the order of the rules and each once:
// one for all causes of a consequence that agree in the labels.
func (s *set) inhibitions() []string {
	var all []string
	for _, f := range s.Rules {
		for _, consequence := range rulesOf(f) {
			for _, i := range s.silences(f, consequence) {
				if text := i.String(); !slices.Contains(all, text) {
					all = append(all, text)
				}
			}
		}
	}
	return all
}

// inhibition is a rule of Alertmanager's: while an alert like source fires, those like
// target with equal values of the labels are silent.
type inhibition struct{ source, target, equal []string }

// String is the rule as it is written in the file.
func (i inhibition) String() string {
	return fmt.Sprintf("  - source_matchers: [%s]\n    target_matchers: [%s]\n    equal: [%s]\n",
		strings.Join(i.source, ", "), strings.Join(i.target, ", "), strings.Join(i.equal, ", "))
}

// silences are the inhibitions of one consequence.
func (s *set) silences(f *rules.File, consequence *rules.Rule) []inhibition {
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

// named matches alerts by their names.
func named(names []string) string {
	if len(names) == 1 {
		return fmt.Sprintf("alertname=%q", names[0])
	}
	return fmt.Sprintf("alertname=~%q", strings.Join(names, "|"))
}

// causes finds the alerts of a name: in the same file, or else in the others.
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

// equal are the labels in which a consequence has to agree with its causes: those of the
// target, and those that all of them have and none of them demands a value of.
func (s *set) equal(causes []*rules.Rule, consequence *rules.Rule) []string {
	common := s.free(consequence)
	for _, c := range causes {
		other := s.free(c)
		common = slices.DeleteFunc(common, func(l string) bool { return !slices.Contains(other, l) })
	}
	return append([]string{"job", "instance"}, common...)
}

// free are the labels of an alert, sorted, that can have more than one value.
func (s *set) free(r *rules.Rule) []string {
	var names []string
	for name, is := range resultLabels(r.AST, s.Labels) {
		if _, own := r.Labels[name]; !own && is == open {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// rulesOf are the rules of a file.
func rulesOf(f *rules.File) []*rules.Rule {
	var all []*rules.Rule
	for g := range f.Groups {
		for r := range f.Groups[g].Rules {
			all = append(all, &f.Groups[g].Rules[r])
		}
	}
	return all
}
