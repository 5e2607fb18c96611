package strictyaml

import (
	"strings"

	"github.com/vitals-health/vitals/internal/text"
)

// maxListed bounds the keys in a message.
const maxListed = 12

// Nearest returns the most similar valid name, or "" if none is similar.
func Nearest(got string, valid []string) string {
	best, distance := "", 1+len(got)/3
	for _, k := range valid {
		if !text.Near(got, k, distance) {
			continue
		}
		if n := text.Distance(got, k); n < len(k) {
			best, distance = k, n-1
		}
	}
	return best
}

// Expected returns a suggestion for an unvalid name: a similar valid name or a list of them.
func Expected(got string, valid []string) string { return suggestion(got, valid, maxListed) }

// suggestion lists at most limit names.
func suggestion(got string, valid []string, limit int) string {
	best := Nearest(got, valid)
	switch {
	case best != "":
		return "did you mean " + quote(best) + "?"
	case len(valid) == 0:
		return "expected no keys here"
	}
	return "expected one of " + list(valid, limit)
}

// listed is a suggestion that always has the list, behind the similar name. Only one of the
// names may be what was meant, and the similar one need not be it.
func listed(got string, valid []string, limit int) string {
	first := suggestion(got, valid, limit)
	if Nearest(got, valid) != "" && len(valid) > 1 {
		first += " Expected one of " + list(valid, limit)
	}
	return first
}

// list returns at most limit names.
func list(names []string, limit int) string {
	if len(names) > limit {
		return strings.Join(names[:limit], ", ") + ", ..."
	}
	return strings.Join(names, ", ")
}
