package check

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/internal/strictyaml"
)

// MaxDistance is the largest edit distance at which one key is reported as a misspelling of
// another.
const MaxDistance = 2

// Suggest returns a cure for an unknown name: the nearest known name, or all known names if
// they are few.
func Suggest(got string, known []string) string {
	const few = 12
	known = slices.Sorted(slices.Values(known))
	known = slices.Compact(slices.DeleteFunc(known, func(name string) bool { return name == "" }))
	switch near := Nearest(got, known); {
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

// Nearest returns the known name that is most similar, or "". The common prefix "vitals_"
// does not count.
func Nearest(got string, known []string) string {
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

// FormatDuration formats a duration as in rule files.
func FormatDuration(d time.Duration) string { return model.Duration(d).String() }
