package supervisor

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/vitals-health/vitals/collectors"
)

const (
	// maxSupervisorName bounds the names of programs and groups in bytes: they are labels.
	maxSupervisorName = 255
	// maxCritical bounds how many programs a file may call critical.
	maxCritical = 1000
)

// supervisorName is what a configuration says of programs: one by its name, in any
// group or in one, or all of a group.
type supervisorName struct {
	// group is empty for any, program for all of the group.
	group, program string
}

// parseSupervisorName reads NAME, GROUP:NAME or GROUP:*, as supervisorctl takes them.
func parseSupervisorName(text string) (supervisorName, error) {
	group, program, inGroup := strings.Cut(text, ":")
	if !inGroup {
		group, program = "", text
	}
	valid := validSupervisorName(program) || inGroup && program == "*"
	if !valid || inGroup && !validSupervisorName(group) {
		return supervisorName{}, fmt.Errorf("program %q: expected NAME, GROUP:NAME or GROUP:*", text)
	}
	return supervisorName{group, strings.TrimSuffix(program, "*")}, nil
}

// parseCritical reads program:NAME or group:NAME, the form of a line of SONiC's
// critical_processes.
func parseCritical(text string) (supervisorName, error) {
	key, name, ok := strings.Cut(text, ":")
	key, name = strings.TrimSpace(key), strings.TrimSpace(name)
	switch {
	case !ok || strings.Contains(name, ":"):
		return supervisorName{}, fmt.Errorf(`%q: expected program:NAME or group:NAME, with exactly one ":" and nothing else`, collectors.OneLine(text, maxSupervisorName))
	case key != "program" && key != "group":
		return supervisorName{}, fmt.Errorf("key %q: expected program or group", collectors.OneLine(key, maxSupervisorName))
	case name == "":
		return supervisorName{}, fmt.Errorf("no name behind %q: expected one", key+":")
	case !validSupervisorName(name):
		return supervisorName{}, fmt.Errorf("name %q: expected a name of supervisord's, without spaces", collectors.OneLine(name, maxSupervisorName))
	case key == "group":
		return supervisorName{group: name}, nil
	}
	return supervisorName{program: name}, nil
}

// parseCriticalFile reads a file of critical programs: one in each line, and blank
// lines. An error has a line for each mistake, with its place.
func parseCriticalFile(path string, data []byte) ([]supervisorName, error) {
	var names []supervisorName
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

// validSupervisorName says whether a program or a group can have the name: supervisord
// allows neither white space nor what its own syntax needs.
func validSupervisorName(name string) bool {
	odd := func(r rune) bool {
		return r == ':' || r == '*' || r == unicode.ReplacementChar || unicode.IsSpace(r) || unicode.IsControl(r)
	}
	return name != "" && len(name) <= maxSupervisorName && !strings.ContainsFunc(name, odd)
}

func (n supervisorName) matches(p program) bool {
	return (n.group == "" || n.group == p.group) && (n.program == "" || n.program == p.name)
}

// String writes the name as supervisorctl does.
func (n supervisorName) String() string {
	switch {
	case n.group == "":
		return n.program
	case n.program == "":
		return n.group + ":*"
	}
	return n.group + ":" + n.program
}

func anyMatches(names []supervisorName, p program) bool {
	return slices.ContainsFunc(names, func(n supervisorName) bool { return n.matches(p) })
}
