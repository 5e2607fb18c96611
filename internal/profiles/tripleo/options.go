package tripleo

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/vitals-health/vitals/internal/oslo"
)

// lookup returns an option, section.name, of a file. The section ends at the last dot,
// as in "pipeline:main.pipeline". Errors begin with the path and the line.
func lookup(path string, text []byte, option string) (value string, line int, err error) {
	file, mistakes := oslo.Parse(string(text))
	if len(mistakes) > 0 {
		return "", 0, errors.New(mistakes[0].In(path))
	}
	i := max(0, strings.LastIndex(option, "."))
	section, name := option[:i], strings.TrimPrefix(option[i:], ".")
	found, ok := file.Option(section, name)
	if !ok {
		return "", 0, nil
	}
	value, err = file.Resolve(section, found)
	if err != nil {
		return "", 0, fmt.Errorf("%s:%d: %s %w", path, found.Line, option, err)
	}
	return value, found.Line, nil
}

// Number returns the option's value in the text of the file at path: a whole number
// above 0. It returns Default if the option is not set or empty.
func (o Option) Number(path string, text []byte) (int, error) {
	value, line, err := lookup(path, text, o.Option)
	if err != nil || value == "" {
		return o.Default, err
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%s:%d: %s %.32q: expected a whole number above 0", path, line, o.Option, value)
	}
	return n, nil
}

// HasFilter reports whether the pipeline of Paste Deploy in the text of the file at path
// contains a filter. A pipeline may have several lines.
func HasFilter(path string, text []byte, filter string) (bool, error) {
	value, _, err := lookup(path, text, "pipeline:main.pipeline")
	return slices.Contains(strings.Fields(value), filter), err
}
