package strictyaml

import (
	"bytes"
	"fmt"
	"reflect"

	"gopkg.in/yaml.v3"
)

// Option configures Decode.
type Option func(*decoder)

// WithExpand makes Decode replace the text of every scalar value, keys excepted,
// by what expand returns for it, before it is converted to the target's type. An
// error of expand is reported at the value; it must not contain a secret.
func WithExpand(expand func(string) (string, error)) Option {
	return func(d *decoder) { d.expand = expand }
}

// WithType makes Decode get the values of the type T from decode, which calls unmarshal to decode
// them into another type. The mistakes in unmarshal are reported as those of Decode.
func WithType[T any](decode func(unmarshal func(any) error) (T, error)) Option {
	return func(d *decoder) {
		if d.types == nil {
			d.types = map[reflect.Type]func(func(any) error, reflect.Value) error{}
		}
		d.types[reflect.TypeFor[T]()] = func(unmarshal func(any) error, v reflect.Value) error {
			found, err := decode(unmarshal)
			v.Set(reflect.ValueOf(&found).Elem())
			return err
		}
	}
}

// Defaulter is a struct with defaults. SetDefaults is called once, before the
// struct's block is decoded into it, and also if the block is missing, for all
// structs that are not behind a pointer. An outer struct's defaults are set after,
// and so override, the ones of the structs in it.
type Defaulter interface{ SetDefaults() }

// Decode decodes the one YAML document in data into the value that into points
// to. It returns the mistakes in the order of the file, at most 100 of them and a
// count of the rest. Values without a mistake are decoded in any case. The Document is
// never nil.
//
// Structs have yaml tags with the options inline (structs only) and omitempty; without a
// tag the key is the field's name in lower case. An empty (null) value keeps the default,
// except that for a pointer to a struct it is a block with defaults only. A list replaces
// a default list; a mapping is merged into a default map. Decode panics if into is not a
// pointer or contains a type that it does not support, such as a channel.
func Decode(file string, data []byte, into any, opts ...Option) (*Document, []*Error) {
	data = bytes.Clone(data)
	root, err := parse(file, data)
	if err != nil {
		setDefaults(target(into))
		return &Document{file: file, data: data, starts: lineStarts(data), broken: []string{""}}, []*Error{err}
	}
	return decode(&Document{file: file, data: data, starts: lineStarts(data), root: root}, into, opts...)
}

// decode decodes a document that has a root.
func decode(doc *Document, into any, opts ...Option) (*Document, []*Error) {
	v := target(into)
	setDefaults(v)
	d := &decoder{file: doc.file, fields: map[reflect.Type][]field{}}
	for _, o := range opts {
		o(d)
	}
	d.value(doc.root, v, "")
	for _, e := range d.errs {
		doc.broken = append(doc.broken, e.Where)
	}
	return doc, sorted(d.errs)
}

// target returns the value that a pointer points to.
func target(into any) reflect.Value {
	v := reflect.ValueOf(into)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		panic(fmt.Sprintf("internal error: strictyaml decodes into pointers, not into %T", into))
	}
	return v.Elem()
}

// decoder decodes one document.
type decoder struct {
	file   string
	expand func(string) (string, error)
	fields map[reflect.Type][]field
	// types are the functions of WithType.
	types map[reflect.Type]func(unmarshal func(any) error, v reflect.Value) error
	errs  []*Error
	// expanded counts the values that expand has changed.
	expanded int
}

// fail reports a mistake at a node with the path.
func (d *decoder) fail(at *yaml.Node, path, format string, args ...any) {
	line, col := place(at)
	d.errs = append(d.errs, &Error{File: d.file, Line: line, Col: col, Where: path, Text: fmt.Sprintf(format, args...)})
}

// wrong reports a value that is not as expected.
func (d *decoder) wrong(at *yaml.Node, path, expected string) {
	d.fail(at, path, "expected %s, got %s", expected, describe(at))
}

// value decodes a node, which may be an alias, into v, which is settable.
func (d *decoder) value(at *yaml.Node, v reflect.Value, path string) {
	n := deref(at)
	switch {
	case !d.tagged(n, path):
	case isNull(n):
		null(v)
	case v.Kind() == reflect.Pointer:
		if v.IsNil() {
			v.Set(newValue(v.Type().Elem()).Addr())
		}
		d.value(at, v.Elem(), path)
	case d.custom(at, v, path):
	case v.Kind() == reflect.Struct:
		d.structure(at, v, path)
	case v.Kind() == reflect.Map:
		d.mapping(at, v, path)
	case v.Kind() == reflect.Slice:
		d.list(at, v, path)
	case v.Kind() == reflect.Interface && v.NumMethod() == 0:
		if found := d.anything(at, path); found != nil {
			v.Set(reflect.ValueOf(found))
		}
	default:
		d.scalar(at, v, path)
	}
}

// tagged reports a tag that is not of YAML's core schema.
func (d *decoder) tagged(n *yaml.Node, path string) bool {
	if n.Style&yaml.TaggedStyle == 0 {
		return true
	}
	switch n.ShortTag() {
	case "!!str", "!!int", "!!float", "!!bool", "!!null", "!!seq", "!!map":
		return true
	}
	d.fail(n, path, "unsupported tag %s, expected a value without a tag", quote(n.Tag))
	return false
}

// null decodes an empty value into v.
func null(v reflect.Value) {
	if v.Kind() == reflect.Pointer && v.IsNil() && v.Type().Elem().Kind() == reflect.Struct && !isCustom(v.Type()) {
		v.Set(newValue(v.Type().Elem()).Addr())
	}
}

// newValue returns a settable value with its defaults.
func newValue(t reflect.Type) reflect.Value {
	v := reflect.New(t).Elem()
	setDefaults(v)
	return v
}

// setDefaults sets the defaults of a struct and of the structs in it, inside out.
func setDefaults(v reflect.Value) {
	if v.Kind() != reflect.Struct {
		return
	}
	for i := range v.NumField() {
		if v.Type().Field(i).IsExported() {
			setDefaults(v.Field(i))
		}
	}
	if s, ok := v.Addr().Interface().(Defaulter); ok {
		s.SetDefaults()
	}
}

func (d *decoder) list(at *yaml.Node, v reflect.Value, path string) {
	n := deref(at)
	if n.Kind != yaml.SequenceNode {
		d.wrong(at, path, "a list")
		return
	}
	list := reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content))
	for i, c := range n.Content {
		setDefaults(list.Index(i))
		d.value(c, list.Index(i), PathIndex(path, i))
	}
	v.Set(list)
}

func (d *decoder) mapping(at *yaml.Node, v reflect.Value, path string) {
	t := v.Type()
	if t.Key().Kind() != reflect.String {
		panic(fmt.Sprintf("internal error: strictyaml cannot decode into %s: keys are strings", t))
	}
	if deref(at).Kind != yaml.MappingNode {
		d.wrong(at, path, "a mapping")
		return
	}
	if v.IsNil() {
		v.Set(reflect.MakeMap(t))
	}
	for _, e := range d.entries(at, path) {
		key := reflect.ValueOf(e.key.Value).Convert(t.Key())
		element := newValue(t.Elem())
		if old := v.MapIndex(key); old.IsValid() {
			element.Set(old)
		}
		d.value(e.value, element, PathKey(path, e.key.Value))
		v.SetMapIndex(key, element)
	}
}

// entries returns the keys of a mapping and reports invalid ones.
func (d *decoder) entries(at *yaml.Node, path string) []entry {
	return entries(deref(at), func(at *yaml.Node, text string) { d.fail(at, path, "%s", text) })
}

// anything decodes into the type in the document: map[string]any, []any, string,
// int, int64, uint64, float64, bool or nil.
func (d *decoder) anything(at *yaml.Node, path string) any {
	n := deref(at)
	switch {
	case !d.tagged(n, path):
		return nil
	case n.Kind == yaml.MappingNode:
		m := map[string]any{}
		for _, e := range d.entries(at, path) {
			m[e.key.Value] = d.anything(e.value, PathKey(path, e.key.Value))
		}
		return m
	case n.Kind == yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, c := range n.Content {
			list[i] = d.anything(c, PathIndex(path, i))
		}
		return list
	}
	s, ok := d.text(at, path)
	if !ok {
		return nil
	}
	return s.resolve(n.Style)
}
