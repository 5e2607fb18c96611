package history

import (
	"fmt"
	"slices"

	"github.com/vitals-health/vitals/internal/states"
)

// Status is the status of a subject, from the best to the worst: of a state ok, warning,
// unknown or failing; of a rule ok, pending, unknown or failing; of a collector ok or
// failing. The zero value is None.
type Status uint8

// The statuses.
const (
	// None: the subject is new, or nothing is recorded of that time.
	None Status = iota
	OK
	// Pending: the rule's expression is true, for less time than its for.
	Pending
	// Warning: a rule of the state is not ok, and does not make it fail.
	Warning
	// Unknown: the rule lacks evidence, or the state fails for that.
	Unknown
	Failing
	// Removed: the configuration no longer has the subject.
	Removed
)

// names returns the words of the statuses, by their value.
func names() []string {
	return []string{"", states.OK, states.Pending, states.Warning, states.Unknown, states.Failing, "removed"}
}

func (s Status) String() string { return names()[s] }

// MarshalText writes the word of the status.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the word of a status.
func (s *Status) UnmarshalText(b []byte) error {
	i := slices.Index(names(), string(b))
	if i < 0 {
		return fmt.Errorf("status %.32q: expected one of %q", b, names()[1:])
	}
	*s = Status(i)
	return nil
}

// Fails reports whether a state with the status fails.
func (s Status) Fails() bool { return s == Failing || s == Unknown }

// letter returns the letter of the status in a strip.
func (s Status) letter() byte {
	if s == None {
		return '.'
	}
	return s.String()[0]
}

// of returns the status of a word.
func of(word string) Status { return Status(slices.Index(names(), word)) }

func ofCollector(success bool) Status {
	if success {
		return OK
	}
	return Failing
}
