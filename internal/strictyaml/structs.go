package strictyaml

import (
	"fmt"
	"reflect"
	"strings"

	"gopkg.in/yaml.v3"
)

// field is a key of a struct.
type field struct {
	key   string
	index []int
}

func (d *decoder) structure(at *yaml.Node, v reflect.Value, path string) {
	if deref(at).Kind != yaml.MappingNode {
		d.wrong(at, path, "a mapping")
		return
	}
	fields := d.fieldsOf(v.Type())
	for _, e := range d.entries(at, path) {
		f, ok := find(fields, e.key.Value)
		if !ok {
			d.fail(e.key, path, "unknown key %s, %s", quote(e.key.Value), expected(v, e.key.Value, fields))
			continue
		}
		d.value(e.value, v.FieldByIndex(f.index), PathKey(path, f.key))
	}
}

func find(fields []field, key string) (field, bool) {
	for _, f := range fields {
		if f.key == key {
			return f, true
		}
	}
	return field{}, false
}

func keys(fields []field) []string {
	list := make([]string, len(fields))
	for i, f := range fields {
		list[i] = f.key
	}
	return list
}

func (d *decoder) fieldsOf(t reflect.Type) []field {
	list, ok := d.fields[t]
	if !ok {
		list = fieldsOf(t)
		d.fields[t] = list
	}
	return list
}

// Keys returns the keys of a struct type in a file, with the types of their values.
func Keys(t reflect.Type) map[string]reflect.Type {
	all := map[string]reflect.Type{}
	for _, f := range fieldsOf(t) {
		all[f.key] = t.FieldByIndex(f.index).Type
	}
	return all
}

// fieldsOf returns the keys of a struct and of its inline structs.
func fieldsOf(t reflect.Type) []field {
	var list []field
	add := func(f field) {
		if _, taken := find(list, f.key); taken {
			panic(fmt.Sprintf("internal error: strictyaml: %s has the key %q twice", t, f.key))
		}
		list = append(list, f)
	}
	for i := range t.NumField() {
		f := t.Field(i)
		key, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case !f.IsExported() || key == "-":
		case !strings.Contains(","+options+",", ",inline,"):
			if key == "" {
				key = strings.ToLower(f.Name)
			}
			add(field{key, f.Index})
		case f.Type.Kind() != reflect.Struct:
			panic(fmt.Sprintf("internal error: strictyaml: %s.%s is inline and not a struct", t, f.Name))
		default:
			for _, inner := range fieldsOf(f.Type) {
				add(field{inner.key, append([]int{i}, inner.index...)})
			}
		}
	}
	return list
}
