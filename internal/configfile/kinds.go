package configfile

import (
	"regexp"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/expand"
	"github.com/vitals-health/vitals/internal/redact"
	"github.com/vitals-health/vitals/internal/strictyaml"
)

// Entry is an entry of the list of collectors: the keys that all kinds share, and one kind. E is
// the type itself.
type Entry[E any] interface {
	// Common returns the keys that all kinds share.
	Common() (name string, interval, timeout model.Duration)
	// WithTimeout returns the entry with another timeout.
	WithTimeout(d model.Duration) E
	// Kind returns the kind and its key; nil unless there is exactly one.
	Kind() (string, collectors.Kind)
	// Problems returns every mistake in the entry, with those of its kind.
	Problems() []collectors.Problem
}

// Kinds are what a program contains for its configuration: the kinds that the file may name, and
// the templates of rules.
type Kinds[E Entry[E]] struct {
	// New returns a configuration of the kind with this key, with defaults only. It returns nil
	// for an unknown key.
	New func(key string) collectors.Kind
	// Decode decodes an entry into a type with the keys of the kinds, with unmarshal. Nil decodes
	// into E itself.
	Decode func(unmarshal func(any) error) (E, error)
	// Templates parses the templates of rules; nil for a program without them.
	Templates expand.Parser
}

// options returns how a configuration with these kinds is decoded.
func (k Kinds[E]) options(expand func(string) (string, error)) []strictyaml.Option {
	options := []strictyaml.Option{strictyaml.WithExpand(expand)}
	if k.Decode != nil {
		options = append(options, strictyaml.WithType(k.Decode))
	}
	return options
}

// kindValue is the path of a value in a collector's block: the kind, and the path below it.
var kindValue = regexp.MustCompile(`^collectors\[\d+\]\.(\w+)(?:\.?)(.*)$`)

// secretKey reports whether the value at a path is secret: by its kind or, where that does
// not decide, by the name of its key.
func (k Kinds[E]) secretKey(path, key string) bool {
	if m := kindValue.FindStringSubmatch(path); m != nil {
		if kind, ok := k.New(m[1]).(collectors.SecretFinder); ok {
			if secret, decided := kind.SecretValue(m[2]); decided {
				return secret
			}
		}
	}
	return redact.Name(key)
}
