package collectors

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// fileKey is the way to a value in a structured file.
type fileKey []fileStep

// fileStep is the name of an entry of a mapping, or the index of one of a list.
type fileStep struct {
	name string
	// index counts from 0; -1 where the step can only be a name.
	index int
}

// parseFileKey reads a path such as plugins.0.type: names and indexes with dots
// between them. A name with a dot in it stands in quotes, single or double, as in
// metadata.annotations."example.org/name"; there is no escape within them. In
// quotes, a number is a name.
func parseFileKey(text string) (fileKey, error) {
	var key fileKey
	rest, more := text, true
	for more {
		var step fileStep
		var err error
		if step, rest, more, err = cutFileStep(rest); err != nil {
			return nil, fmt.Errorf("key %q: %w", text, err)
		}
		key = append(key, step)
	}
	return key, nil
}

// cutFileStep takes the first step from a path, and says whether one must follow.
func cutFileStep(text string) (step fileStep, rest string, more bool, err error) {
	step.index = -1
	if text != "" && (text[0] == '"' || text[0] == '\'') {
		name, rest, closed := strings.Cut(text[1:], text[:1])
		if !closed || rest != "" && rest[0] != '.' {
			return step, "", false, errors.New("expected a quote at the end of a name, and a dot or nothing behind it")
		}
		step.name = name
		return step, strings.TrimPrefix(rest, "."), rest != "", nil
	}
	step.name, rest, more = strings.Cut(text, ".")
	if step.name == "" || strings.ContainsAny(step.name, `"'`) {
		return step, "", false, errors.New("expected names with dots between them, and quotes around a whole name only")
	}
	if n, err := strconv.Atoi(step.name); err == nil && strconv.Itoa(n) == step.name && n >= 0 {
		step.index = n
	}
	return step, rest, more, nil
}
