package collectors

import (
	"fmt"
	"regexp"
)

// Kind is the configuration of one kind of collector. A kind with defaults has a
// method SetDefaults, which is called before the block is decoded into it.
type Kind interface {
	// Problems returns every mistake that can be seen without any I/O.
	Problems() []Problem
	// New makes the collector. It does no I/O that may block.
	New(env Env) (Collector, error)
	// External says whether what is measured lies outside this host, so that a
	// restart of the workload cannot cure it.
	External() bool
	// Metrics lists what collectors of this configuration export if they have this name,
	// before anything is measured: so that who reads rules can tell what a selector can
	// match. Without a name, it is what any configuration of the kind can export; the
	// values of labels that a configuration decides are then nil. The caller owns the
	// result. What a collector passes on for others is not in it.
	Metrics(name string) []Metric
	// Uses names the collectors that this one takes something from, such as the
	// keystone collector whose token a neutron collector shares.
	Uses() []string
}

// Problem is a mistake in a configuration.
type Problem struct {
	// Path leads from the block that was checked to the mistake, as in
	// "access[0].verb"; empty means the block itself.
	Path string
	// Text says what is wrong and what is expected, without the place.
	Text string
}

// NameProblem checks a name that becomes a label and a part of a path: at most 63
// characters, as Kubernetes limits label values.
func NameProblem(path, name string) []Problem {
	if validName.MatchString(name) {
		return nil
	}
	return []Problem{{path, fmt.Sprintf("name %q: expected 1 to 63 letters, digits, '.', '_' or '-', with a letter or digit at both ends", name)}}
}

var validName = regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9_.-]{0,61}[a-zA-Z0-9])?$`)

// SecretFinder is a Kind that decides which of its values are secret where the names
// of their keys do not.
type SecretFinder interface {
	// SecretValue reports whether the value at a path is secret. The path is relative to
	// the kind's block, as in Problem, and exact. Where decided is false, the name of the
	// key decides. It works on a configuration that has nothing but its defaults.
	SecretValue(path string) (secret, decided bool)
}

// Targeted is a Kind whose configuration names the target, which may be on this host:
// External depends on it.
type Targeted interface{ ConfigurableTarget() }

// Reporting is a Kind whose samples may change at any time and not only at its interval.
type Reporting interface{ ReportsAnytime() }

// Exporter is a Kind that passes on metrics of others, which Metrics does not list.
type Exporter interface {
	// PassedOn returns the values of the labels that every passed-on series of the
	// collector with this name has. As in Metrics, an unknown value is nil.
	PassedOn(name string) map[string][]string
}
