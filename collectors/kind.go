package collectors

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/prometheus/common/model"
)

// Kind is the configuration of one kind of collector. A kind with defaults also has a method
// SetDefaults, which is called before the block is decoded.
type Kind interface {
	// Problems returns every mistake that can be found without I/O.
	Problems() []Problem
	// New creates the collector. It does no I/O that may block.
	New(env Env) (Collector, error)
	// External reports whether the collector measures something outside of this host,
	// which a restart of the workload cannot repair.
	External() bool
	// Metrics returns what the collector with this name can export under this
	// configuration, so that rules can be checked before the first collection. Without a
	// name, it returns what any configuration of the kind can export; the values of labels
	// that a configuration decides are then nil. The caller owns the result. Metrics that
	// an Exporter forwards are not included.
	Metrics(name string) []Metric
	// Uses returns the names of the collectors that this one depends on, such as one whose
	// token it shares.
	Uses() []string
}

// Problem is a mistake in a configuration.
type Problem struct {
	// Path leads from the checked block to the mistake, as in "access[0].verb". The empty
	// path is the block.
	Path string
	// Text describes the mistake and the expected value, without the path.
	Text string
}

// NameProblem checks a name that becomes a label and a part of a URL path: at most 63
// characters, the limit of Kubernetes for label values.
func NameProblem(path, name string) []Problem {
	if validName.MatchString(name) {
		return nil
	}
	return []Problem{{path, fmt.Sprintf("name %q: expected 1 to 63 letters, digits, '.', '_' or '-', with a letter or digit at both ends", name)}}
}

var validName = regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9_.-]{0,61}[a-zA-Z0-9])?$`)

// EntryProblems returns every mistake in an entry of the list of collectors: in the keys that all
// kinds share, in the keys of kinds that are set out of all of them, and in the kind. The kind is
// nil unless one key is set.
func EntryProblems(name string, interval, timeout model.Duration, set, all []string, kind Kind) []Problem {
	problems := NameProblem("name", name)
	if interval <= 0 {
		problems = append(problems, Problem{"interval", fmt.Sprintf("interval %s: expected more than 0s", interval)})
	}
	if timeout <= 0 || timeout > interval {
		problems = append(problems, Problem{"timeout", fmt.Sprintf("timeout %s: expected more than 0s and at most the interval, %s", timeout, interval)})
	}
	if len(set) != 1 {
		what := "no kind"
		if len(set) > 1 {
			what = "more than one kind (" + strings.Join(set, ", ") + ")"
		}
		return append(problems, Problem{"", fmt.Sprintf("collector %q has %s: expected exactly one of %s", name, what, strings.Join(all, ", "))})
	}
	for _, p := range kind.Problems() {
		problems = append(problems, Problem{strings.TrimSuffix(set[0]+"."+p.Path, "."), p.Text})
	}
	return problems
}

// SecretFinder is a Kind with secret values that the names of their keys do not reveal.
type SecretFinder interface {
	// SecretValue reports whether the value at a path is secret. The path is relative to
	// the kind's block, as in Problem. If decided is false, the name of the key decides.
	// The receiver may be a configuration with defaults only.
	SecretValue(path string) (secret, decided bool)
}

// Targeted is a Kind whose configuration names a target that may be on this host. External
// then depends on the configuration.
type Targeted interface{ ConfigurableTarget() }

// Several is a Kind that may check several targets, each with a name of its own in place of the
// collector's name.
type Several interface {
	// TargetNames returns the names of the targets that the configuration of the collector with
	// this name lists, by their paths, as in Problem. ok is unset for a single target.
	TargetNames(collector string) (names []TargetName, ok bool)
}

// Sized is a Kind whose targets take memory.
type Sized interface {
	// MaxTargets returns the length of the key targets, and how many targets the key
	// discovery.limit allows; 0 without discovery.
	MaxTargets() (listed, found int)
}

// TargetName is the name of a target in the configuration of a collector.
type TargetName struct{ Path, Name string }

// Reporting is a Kind whose samples may change at any time, not only at its interval.
type Reporting interface{ ReportsAnytime() }

// Exporter is a Kind that forwards metrics of another program. Metrics does not list them.
type Exporter interface {
	// PassedOn returns the labels that every forwarded series of the collector with this
	// name has, with their possible values. As in Metrics, an unknown value is nil.
	PassedOn(name string) map[string][]string
	// Forwards reports whether series of a metric are forwarded if the program exports it.
	Forwards(metric string) bool
}
