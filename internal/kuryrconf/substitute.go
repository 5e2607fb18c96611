package kuryrconf

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// maxReferences bounds the references that make one value, and so ends a circle.
const maxReferences = 32

// resolver gives one value the meaning that oslo.config gives it: "$$" and "\$"
// are a dollar sign, and "$key", "$section.key" or "${...}" stand for the value of
// that option. A dollar sign that begins no name stays. Only options that the file
// sets are known here.
type resolver struct {
	file      file
	reference *regexp.Regexp
	left      int
}

// substitute returns the meaning of a value in a section.
func (f file) substitute(section, value string) (string, error) {
	if !strings.Contains(value, "$") {
		return value, nil
	}
	r := &resolver{
		file:      f,
		reference: regexp.MustCompile(`\$(\$|[_a-zA-Z][._a-zA-Z0-9]*|\{[_a-zA-Z][._a-zA-Z0-9]*\})`),
		left:      maxReferences,
	}
	text, err := r.expand(section, value)
	if err != nil {
		return "", fmt.Errorf("%w: expected a value (a dollar sign is written $$)", err)
	}
	return text, nil
}

func (r *resolver) expand(section, value string) (string, error) {
	var failed error
	value = strings.ReplaceAll(value, `\$`, "$$")
	text := r.reference.ReplaceAllStringFunc(value, func(match string) string {
		name := strings.Trim(match[1:], "{}")
		if name == "$" || failed != nil {
			return name
		}
		var text string
		text, failed = r.resolve(section, name)
		return text
	})
	return text, failed
}

// resolve returns the value of an option that another one refers to.
func (r *resolver) resolve(section, name string) (string, error) {
	if r.left == 0 {
		return "", errors.New("refers to too many other options, or in a circle")
	}
	r.left--
	places := [][2]string{{section, name}, {defaults, name}}
	if group, key, ok := strings.Cut(name, "."); ok {
		places[0] = [2]string{normal(group), key}
	}
	for _, place := range places {
		if a, ok := r.file[place[0]][place[1]]; ok {
			return r.expand(place[0], a.value)
		}
	}
	return "", fmt.Errorf("refers to $%.64s, which this file does not set", name)
}
