// Package oslo reads files of oslo.config, the INI dialect of OpenStack's services.
//
// It follows oslo_config/iniparser.py and the substitution in oslo_config/cfg.py
// (https://opendev.org/openstack/oslo.config):
//
//   - A comment is a line that begins with # or ;. There are no comments behind a value.
//   - The first = or : ends the name of an option. One pair of quotes around a value is
//     dropped.
//   - An indented line continues the value above it. A comment or an empty line ends it.
//   - The last assignment of an option counts. Sections of the same name are one.
//   - Names of sections are case-insensitive, except DEFAULT. Names of options are
//     case-sensitive. No section inherits options from DEFAULT.
package oslo

import (
	"fmt"
	"strings"
)

// defaults is the section in which a reference is looked up last.
const defaults = "DEFAULT"

// File is the options of a file. The zero value is an empty file.
type File struct {
	sections map[string]map[string]Option // by the names that normal returns
}

// Option is an assignment in a file.
type Option struct {
	// Value is the value as written, without quotes around it and with references. The
	// lines of a continued value are joined by newlines.
	Value string
	// Line is the line of the option's name; the first line is 1.
	Line int
}

// Option returns the last assignment of an option, and false if the file has none.
func (f File) Option(section, name string) (Option, bool) {
	o, ok := f.sections[normal(section)][name]
	return o, ok
}

// normal returns the normalized name of a section: lower case, except DEFAULT.
func normal(name string) string {
	if name == defaults {
		return name
	}
	return strings.ToLower(name)
}

// Error is a mistake in a line of a file. Those that Parse returns contain nothing of
// the line, which may be a password.
type Error struct {
	Line int // the first line is 1
	Text string
}

// Error returns the mistake with the number of its line.
func (e Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Text) }

// In returns the mistake as path:line: text.
func (e Error) In(path string) string { return fmt.Sprintf("%s:%d: %s", path, e.Line, e.Text) }
