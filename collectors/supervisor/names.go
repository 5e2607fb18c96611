package supervisor

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/vitals-health/vitals/internal/text"
)

const (
	// maxName limits the names of programs and groups in bytes: they are labels.
	maxName = 255
	// maxCritical limits the number of programs in a file.
	maxCritical = 1000
)

// programName selects programs: one by name, in any group or in one, or all of a group.
type programName struct {
	// group is empty for any, program for all of the group.
	group, program string
}

// parseName reads NAME, GROUP:NAME or GROUP:*, as supervisorctl does.
func parseName(text string) (programName, error) {
	group, program, inGroup := strings.Cut(text, ":")
	if !inGroup {
		group, program = "", text
	}
	valid := validName(program) || inGroup && program == "*"
	if !valid || inGroup && !validName(group) {
		return programName{}, fmt.Errorf("program %q: expected NAME, GROUP:NAME or GROUP:*", text)
	}
	return programName{group, strings.TrimSuffix(program, "*")}, nil
}

// parseCritical reads program:NAME or group:NAME, as in critical_processes of
// SONiC.
func parseCritical(message string) (programName, error) {
	key, name, ok := strings.Cut(message, ":")
	key, name = strings.TrimSpace(key), strings.TrimSpace(name)
	switch {
	case !ok || strings.Contains(name, ":"):
		return programName{}, fmt.Errorf(`%q: expected program:NAME or group:NAME, with exactly one ":" and nothing else`, text.Short(message, maxName))
	case key != "program" && key != "group":
		return programName{}, fmt.Errorf("key %q: expected program or group", text.Short(key, maxName))
	case name == "":
		return programName{}, fmt.Errorf("no name after %q: expected one", key+":")
	case !validName(name):
		return programName{}, fmt.Errorf("name %q: expected a name of supervisord without spaces", text.Short(name, maxName))
	case key == "group":
		return programName{group: name}, nil
	}
	return programName{program: name}, nil
}

// parseCriticalFile reads a file of critical programs: one in each line, and blank
// lines. An error has a line for each mistake, with its place.
func parseCriticalFile(path string, data []byte) ([]programName, error) {
	var names []programName
	var errs []error
	number := 0
	for line := range strings.Lines(string(data)) {
		number++
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		name, err := parseCritical(line)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s:%d: %w", path, number, err))
		}
		if names = append(names, name); len(names) > maxCritical {
			return nil, fmt.Errorf("%s:%d: expected at most %d programs", path, number, maxCritical)
		}
	}
	return names, errors.Join(errs...)
}

// validName reports whether supervisord allows the name of a program or a group: no white
// space and no character of its syntax.
func validName(name string) bool {
	odd := func(r rune) bool {
		return r == ':' || r == '*' || r == unicode.ReplacementChar || unicode.IsSpace(r) || unicode.IsControl(r)
	}
	return name != "" && len(name) <= maxName && !strings.ContainsFunc(name, odd)
}

func (n programName) matches(p program) bool {
	return (n.group == "" || n.group == p.group) && (n.program == "" || n.program == p.name)
}

// String writes the name as supervisorctl does.
func (n programName) String() string {
	switch {
	case n.group == "":
		return n.program
	case n.program == "":
		return n.group + ":*"
	}
	return n.group + ":" + n.program
}

func anyMatches(names []programName, p program) bool {
	return slices.ContainsFunc(names, func(n programName) bool { return n.matches(p) })
}
