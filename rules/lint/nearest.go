package lint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/vitals-health/vitals/internal/strictyaml"
)

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
