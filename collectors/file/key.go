package file

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Key is the path of a value in a structured file.
type Key []step

// step is the name of an entry of a mapping, or the index of one of a list.
type step struct {
	Name string
	// Index counts from 0; -1 if the step can only be a name.
	Index int
}

// ParseKey reads a path such as plugins.0.type: names and indexes with dots
// between them. A name that contains a dot is quoted, single or double, as in
// metadata.annotations."example.org/name"; there is no escape within the quotes. A quoted
// number is a name.
func ParseKey(text string) (Key, error) {
	var key Key
	rest, more := text, true
	for more {
		var step step
		var err error
		if step, rest, more, err = cutStep(rest); err != nil {
			return nil, fmt.Errorf("key %q: %w", text, err)
		}
		key = append(key, step)
	}
	return key, nil
}

// cutStep cuts the first step off a path, and reports whether one must follow.
func cutStep(text string) (step step, rest string, more bool, err error) {
	step.Index = -1
	if text != "" && (text[0] == '"' || text[0] == '\'') {
		name, rest, closed := strings.Cut(text[1:], text[:1])
		if !closed || rest != "" && rest[0] != '.' {
			return step, "", false, errors.New("expected a quote at the end of a name, and a dot or nothing after it")
		}
		step.Name = name
		return step, strings.TrimPrefix(rest, "."), rest != "", nil
	}
	step.Name, rest, more = strings.Cut(text, ".")
	if step.Name == "" || strings.ContainsAny(step.Name, `"'`) {
		return step, "", false, errors.New("expected names with dots between them, and quotes around a whole name only")
	}
	if n, err := strconv.Atoi(step.Name); err == nil && strconv.Itoa(n) == step.Name && n >= 0 {
		step.Index = n
	}
	return step, rest, more, nil
}
