package oslo

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// The bounds of one value. A circle of references ends at the first of them.
const (
	maxReferences = 32
	maxLength     = 1 << 20 // in bytes
)

// reference is the pattern of ConfigOpts.Template, with the escaped dollar sign.
var reference = regexp.MustCompile(`\$(\$|[_a-zA-Z][._a-zA-Z0-9]*|\{[_a-zA-Z][._a-zA-Z0-9]*\})`)

// resolver replaces the references of one value.
type resolver struct {
	file File
	left int // references until maxReferences
}

// Resolve returns the value of an option of a section, with references replaced: $name
// and ${name} are an option of the same section or else of DEFAULT, $section.name and
// ${section.name} are one of another section. $$ and \$ are a dollar sign. A dollar sign
// before anything else is kept. An option that the file does not set is an error: its
// default is part of the service, not of the file.
func (f File) Resolve(section string, o Option) (string, error) {
	r := &resolver{file: f, left: maxReferences}
	text, err := r.expand(section, o.Value)
	if err != nil {
		return "", fmt.Errorf("%w: expected a value (a dollar sign is written $$)", err)
	}
	return text, nil
}

func (r *resolver) expand(section, value string) (string, error) {
	if !strings.Contains(value, "$") {
		return value, nil
	}
	var failed error
	value = strings.ReplaceAll(value, `\$`, "$$")
	text := reference.ReplaceAllStringFunc(value, func(match string) string {
		name := strings.Trim(match[1:], "{}")
		if name == "$" || failed != nil {
			return name
		}
		var text string
		text, failed = r.resolve(section, name)
		return text
	})
	if failed == nil && len(text) > maxLength {
		failed = fmt.Errorf("has more than %d bytes with its references replaced", maxLength)
	}
	return text, failed
}

// resolve returns the value that replaces a reference in a section.
func (r *resolver) resolve(section, name string) (string, error) {
	if r.left == 0 {
		return "", errors.New("refers to too many other options, or in a circle")
	}
	r.left--
	group, key, ok := strings.Cut(name, ".")
	if !ok {
		group, key = section, name
	}
	if o, ok := r.file.Option(group, key); ok {
		return r.expand(group, o.Value)
	}
	if o, ok := r.file.Option(defaults, name); ok {
		return r.expand(defaults, o.Value)
	}
	return "", fmt.Errorf("refers to $%.64s, which this file does not set", name)
}
