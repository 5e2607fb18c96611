package components

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/vitals-health/vitals/collectors"
)

const (
	// otherError is the class of errors that are not configured.
	otherError = "other"
	// The limits bound the number of series of one component.
	maxEventNames   = 20
	maxErrorClasses = 20
)

// Events configures the events of one name, such as the requests that a
// component serves.
type Events struct {
	// Limit is the allowed number of consecutive failures. It is exported for rules. With
	// zero the first failure exceeds it; nil is no limit.
	Limit *int `yaml:"limit,omitempty"`
	// Errors are the classes of errors that count as failures. A class in neither list is
	// "other", which counts too.
	Errors []string `yaml:"errors,omitempty"`
	// Excused are the classes that a restart of the component cannot fix. They do not
	// change the number of consecutive failures.
	Excused []string `yaml:"excused,omitempty"`
}

// validEventName is a name that needs no quotes in a datagram, in JSON or in a rule.
var validEventName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)

func eventNameProblem(path, what, name string) []collectors.Problem {
	if validEventName.MatchString(name) {
		return nil
	}
	return []collectors.Problem{{Path: path, Text: fmt.Sprintf("%s %q: expected 1 to 63 small letters, digits or '_', with a letter at the beginning", what, name)}}
}

func (c *Config) eventProblems() []collectors.Problem {
	var problems []collectors.Problem
	if n := len(c.Events); n > maxEventNames {
		problems = append(problems, collectors.Problem{Path: "events", Text: fmt.Sprintf("%d events: expected at most %d", n, maxEventNames)})
	}
	for _, name := range slices.Sorted(maps.Keys(c.Events)) {
		problems = append(problems, eventNameProblem("events."+name, "event", name)...)
		events := c.Events[name]
		problems = append(problems, events.problems("events."+name)...)
	}
	return problems
}

func (e *Events) problems(path string) []collectors.Problem {
	var problems []collectors.Problem
	if e.Limit != nil && *e.Limit < 0 {
		problems = append(problems, collectors.Problem{Path: path + ".limit", Text: fmt.Sprintf("limit %d: expected 0 or more", *e.Limit)})
	}
	if n := len(e.Errors) + len(e.Excused); n > maxErrorClasses {
		problems = append(problems, collectors.Problem{Path: path, Text: fmt.Sprintf("%d classes of errors: expected at most %d", n, maxErrorClasses)})
	}
	seen := map[string]bool{}
	check := func(key string, classes []string) {
		for i, class := range classes {
			at := fmt.Sprintf("%s.%s[%d]", path, key, i)
			switch {
			case class == otherError:
				problems = append(problems, collectors.Problem{Path: at, Text: `class "other": expected another name, because this is the class of every error that is not named`})
			case seen[class]:
				problems = append(problems, collectors.Problem{Path: at, Text: fmt.Sprintf("class %q: expected each class once, in errors or in excused", class)})
			}
			problems = append(problems, eventNameProblem(at, "class", class)...)
			seen[class] = true
		}
	}
	check("errors", e.Errors)
	check("excused", e.Excused)
	return problems
}

// eventKinds returns the configured events, sorted by name.
func (c *Config) eventKinds() []eventKind {
	var kinds []eventKind
	for _, name := range slices.Sorted(maps.Keys(c.Events)) {
		e := c.Events[name]
		kind := eventKind{name: name, counting: len(e.Errors), classes: slices.Concat(e.Errors, e.Excused, []string{otherError})}
		if e.Limit != nil {
			kind.limit = new(*e.Limit)
		}
		kinds = append(kinds, kind)
	}
	return kinds
}
