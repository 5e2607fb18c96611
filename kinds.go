package vitals

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/configfile"
)

// entry is an entry of the list of collectors. Kinds has one element unless there is a mistake.
type entry struct {
	Name     string                     `yaml:"name"`
	Interval model.Duration             `yaml:"interval,omitempty"`
	Timeout  model.Duration             `yaml:"timeout,omitempty"`
	Kinds    map[string]collectors.Kind `yaml:",inline"`

	// keys are those of all kinds.
	keys []string
}

// Common implements configfile.Entry.
func (e entry) Common() (name string, interval, timeout model.Duration) {
	return e.Name, e.Interval, e.Timeout
}

// WithTimeout implements configfile.Entry.
func (e entry) WithTimeout(d model.Duration) entry {
	e.Timeout = d
	return e
}

// Kind implements configfile.Entry.
func (e entry) Kind() (string, collectors.Kind) {
	if len(e.Kinds) == 1 {
		for key, kind := range e.Kinds {
			return key, kind
		}
	}
	return "", nil
}

// Problems implements configfile.Entry.
func (e entry) Problems() []collectors.Problem {
	_, kind := e.Kind()
	return collectors.EntryProblems(e.Name, e.Interval, e.Timeout, slices.Sorted(maps.Keys(e.Kinds)), e.keys, kind)
}

// validKey matches the key of a kind.
var validKey = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)

// checkKinds returns the mistakes in Options.Kinds.
func checkKinds(kinds map[string]collectors.Kind) []error {
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(kinds)) {
		t := reflect.TypeOf(kinds[key])
		switch {
		case !validKey.MatchString(key), slices.Contains([]string{"name", "interval", "timeout"}, key):
			errs = append(errs, fmt.Errorf("kind %q in Options.Kinds: expected a key of lower-case letters, digits or '_' other than name, interval and timeout", key))
		case t == nil || t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct:
			errs = append(errs, fmt.Errorf("kind %q in Options.Kinds is %T: expected a pointer to a struct", key, kinds[key]))
		}
	}
	return errs
}

// kindsOf returns the kinds for configfile. An entry is decoded into a struct type with a field for
// each kind, which is made here because the list is a value.
func kindsOf(kinds map[string]collectors.Kind) configfile.Kinds[entry] {
	keys := slices.Sorted(maps.Keys(kinds))
	fields := []reflect.StructField{
		{Name: "Name", Type: reflect.TypeFor[string](), Tag: `yaml:"name"`},
		{Name: "Interval", Type: reflect.TypeFor[model.Duration](), Tag: `yaml:"interval"`},
		{Name: "Timeout", Type: reflect.TypeFor[model.Duration](), Tag: `yaml:"timeout"`},
	}
	common := len(fields)
	for i, key := range keys {
		fields = append(fields, reflect.StructField{Name: fmt.Sprintf("Kind%d", i), Type: reflect.TypeOf(kinds[key]), Tag: reflect.StructTag(`yaml:"` + key + `"`)})
	}
	t := reflect.StructOf(fields)
	decode := func(unmarshal func(any) error) (entry, error) {
		v := reflect.New(t).Elem()
		v.Field(1).SetInt(int64(defaultInterval))
		v.Field(2).SetInt(int64(defaultTimeout))
		err := unmarshal(v.Addr().Interface())
		e := entry{Name: v.Field(0).String(), Interval: model.Duration(v.Field(1).Int()), Timeout: model.Duration(v.Field(2).Int()), Kinds: map[string]collectors.Kind{}, keys: keys}
		for i, key := range keys {
			if kind, ok := v.Field(common + i).Interface().(collectors.Kind); ok && !v.Field(common+i).IsNil() {
				e.Kinds[key] = kind
			}
		}
		return e, err
	}
	return configfile.Kinds[entry]{New: func(key string) collectors.Kind { return newKind(kinds[key]) }, Decode: decode}
}

// newKind returns a configuration of the type of a kind, with defaults only; nil for nil.
func newKind(like collectors.Kind) collectors.Kind {
	if like == nil {
		return nil
	}
	kind, _ := reflect.New(reflect.TypeOf(like).Elem()).Interface().(collectors.Kind)
	if d, ok := kind.(interface{ SetDefaults() }); ok {
		d.SetDefaults()
	}
	return kind
}
