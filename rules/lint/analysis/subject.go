package analysis

import (
	"fmt"

	"github.com/vitals-health/vitals/rules"
)

// Subject is a rule with its file and group.
type Subject struct {
	File  *rules.File
	Group *rules.Group
	Rule  *rules.Rule
}

// Where names the group and the rule, as findings do.
func (s *Subject) Where() string {
	where := fmt.Sprintf("group %q, rule %q", s.Group.Name, s.Rule.Name())
	if s.File.Part != "" {
		where = s.File.Part + ", " + where
	}
	return where
}

// Mistaken reports whether the rule is invalid.
func (s *Subject) Mistaken() bool { return s.File.Mistaken(s.Rule) }

// Enforced reports whether the rule can make its state fail.
func (s *Subject) Enforced() bool {
	return s.Rule.State != "" && s.Rule.Severity == rules.SeverityCritical && !s.Rule.Observe
}
