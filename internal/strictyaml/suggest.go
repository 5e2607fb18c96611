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
	case len(valid) <= limit:
		return "expected one of " + strings.Join(valid, ", ")
	}
	return "expected one of " + strings.Join(valid[:limit], ", ") + ", ..."
}
