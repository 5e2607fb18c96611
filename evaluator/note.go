package evaluator

import (
	"slices"
	"strings"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/evaluator/internal/workers"
	"github.com/vitals-health/vitals/internal/text"
)

// maxNote bounds a collector's note, in bytes.
const maxNote = workers.MaxNote

// noteLine returns a text as one line of at most maxNote bytes.
func noteLine(s string) string { return text.Short(s, maxNote) }

// joined returns the texts that are not empty, each once, in at most 512 bytes.
func joined(texts []string) string {
	return bound(strings.Join(unique(texts), "; "))
}

// unique returns the texts that are not empty, each once.
func unique(texts []string) []string {
	return slices.DeleteFunc(collectors.Unique(texts), func(s string) bool { return s == "" })
}
