package kubereport

import (
	"strings"

	"github.com/vitals-health/vitals/internal/text"
)

const (
	// maxMessage and maxReason bound the texts in bytes, and maxWhy the part of a message that
	// the configuration and the collectors have written.
	// Source: k8s.io/kubernetes/pkg/apis/core/validation/events.go, noteLengthLimit and ReasonLengthLimit.
	maxMessage, maxReason, maxWhy = 1024, 128, 800
)

// camel returns a name in the form of a reason, such as DbDown for db-down.
// Source: the pattern of Condition.reason in k8s.io/apimachinery/pkg/apis/meta/v1.
func camel(name string) string {
	var b strings.Builder
	begin := true
	for _, r := range name {
		letter, digit := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z', r >= '0' && r <= '9'
		if !letter && !digit {
			begin = true
			continue
		}
		if b.Len() == 0 && digit {
			b.WriteString("Rule")
		}
		if begin && r >= 'a' && r <= 'z' {
			r += 'A' - 'a'
		}
		begin = false
		b.WriteRune(r)
	}
	if b.Len() == 0 {
		return "Rule"
	}
	return b.String()[:min(b.Len(), maxReason)]
}

// because returns a reason on one line, with the number of further rules that decide.
func because(why string, rules int) string {
	why = text.Short(why, maxWhy)
	if rules > 1 {
		why += " (and " + text.Plural(rules-1, "more rule") + ")"
	}
	return why
}
