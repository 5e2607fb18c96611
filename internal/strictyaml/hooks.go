package strictyaml

import (
	"encoding"
	"errors"
	"reflect"
	"time"

	"github.com/prometheus/common/model"
	"gopkg.in/yaml.v3"

	"github.com/vitals-health/vitals/internal/text"
)

// Expecter is a type with its own decoding method. Expected returns the expected form for
// messages, such as "a size such as 512MiB".
type Expecter interface{ Expected() string }

// Redirecter is a struct with keys that people expect under another name. Instead returns what to
// write for an unknown key, as in "tcp with protocol: mysql", or "". The message about any other key
// lists all keys, because one of them is what was meant.
type Redirecter interface{ Instead(key string) string }

// expected returns a suggestion for an unknown key of a struct: a similar key, and all of them.
func expected(v reflect.Value, key string, fields []field) string {
	if r, ok := v.Addr().Interface().(Redirecter); ok {
		if instead := r.Instead(key); instead != "" {
			return "expected " + instead
		}
		return listed(key, keys(fields), len(fields))
	}
	return listed(key, keys(fields), maxListed)
}

// unmarshaler is the older interface of the YAML libraries. It keeps decoding strict:
// unmarshal reports mistakes like Decode.
type unmarshaler interface {
	UnmarshalYAML(unmarshal func(any) error) error
}

// mistakes carries errors through the method of a type.
type mistakes []*Error

func (m mistakes) Error() string { return m[0].Error() }

// Custom reports whether a type has its own decoding method, so that only that method defines what it
// looks like in a file.
func Custom(t reflect.Type) bool { return isCustom(reflect.PointerTo(t)) }

// isCustom reports whether a pointer type has its own decoding method.
func isCustom(pointer reflect.Type) bool {
	return pointer.Implements(reflect.TypeFor[unmarshaler]()) ||
		pointer.Implements(reflect.TypeFor[yaml.Unmarshaler]()) ||
		pointer.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// custom decodes into a type with its own decoding method, and returns false for other
// types. A type with the *yaml.Node method gets scalars only, because decoding a node is
// not strict.
func (d *decoder) custom(at *yaml.Node, v reflect.Value, path string) bool {
	if v.Type() == reflect.TypeFor[time.Duration]() {
		v = v.Addr().Convert(reflect.TypeFor[*model.Duration]()).Elem()
	}
	expanded := d.expanded
	if decode := d.types[v.Type()]; decode != nil {
		d.refused(at, v, path, decode(d.unmarshal(at, path), v), d.expanded > expanded)
		return true
	}
	switch u := v.Addr().Interface().(type) {
	case unmarshaler:
		err := u.UnmarshalYAML(d.unmarshal(at, path))
		d.refused(at, v, path, err, d.expanded > expanded)
	case yaml.Unmarshaler:
		if t, ok := d.single(at, v, path); ok {
			n := *t.node
			n.Value = t.value
			d.refused(at, v, path, u.UnmarshalYAML(&n), t.expanded)
		}
	case encoding.TextUnmarshaler:
		if t, ok := d.single(at, v, path); ok {
			d.refused(at, v, path, u.UnmarshalText([]byte(t.value)), t.expanded)
		}
	default:
		return false
	}
	return true
}

// unmarshal returns the function for a type's own decoding method.
func (d *decoder) unmarshal(at *yaml.Node, path string) func(any) error {
	return func(into any) error {
		inner := &decoder{file: d.file, expand: d.expand, fields: d.fields, types: d.types}
		inner.value(at, reflect.ValueOf(into).Elem(), path)
		d.expanded += inner.expanded
		if len(inner.errs) > 0 {
			return mistakes(inner.errs)
		}
		return nil
	}
}

// single returns the text of a scalar for a type with its own decoding method.
func (d *decoder) single(at *yaml.Node, v reflect.Value, path string) (scalarText, bool) {
	if want := expectation(v); want != "" && deref(at).Kind != yaml.ScalarNode {
		d.wrong(at, path, want)
		return scalarText{}, false
	}
	return d.text(at, path)
}

// refused reports the error of a type's own decoding method, without its text if that may
// contain an expanded value.
func (d *decoder) refused(at *yaml.Node, v reflect.Value, path string, err error, expanded bool) {
	var inner mistakes
	want := expectation(v)
	switch n := deref(at); {
	case err == nil:
	case want != "" && (n.Kind != yaml.ScalarNode || !errors.As(err, &inner)):
		d.wrong(at, path, want)
	case errors.As(err, &inner):
		d.errs = append(d.errs, inner...)
	case expanded:
		d.fail(at, path, "invalid value, got %s", describe(at))
	default:
		d.fail(at, path, "invalid value, got %s: %s", describe(at), text.Clip(err.Error(), 200))
	}
}

// expectation returns the expected form of a type with its own decoding method, or "".
func expectation(v reflect.Value) string {
	if e, ok := v.Addr().Interface().(Expecter); ok {
		return e.Expected()
	}
	if v.Type() == reflect.TypeFor[model.Duration]() {
		return "a duration such as 10s or 5m"
	}
	return ""
}
