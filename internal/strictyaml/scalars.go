package strictyaml

import (
	"fmt"
	"math"
	"reflect"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/vitals-health/vitals/internal/text"
)

// scalarText is the text of a scalar for conversion.
type scalarText struct {
	value string
	node  *yaml.Node
	// expanded is set if value differs from the file, and so may be a secret.
	expanded bool
}

// text returns the text of a scalar. It reports other nodes and errors of expansion.
func (d *decoder) text(at *yaml.Node, path string) (scalarText, bool) {
	n := deref(at)
	if n.Kind != yaml.ScalarNode {
		d.wrong(at, path, "a single value")
		return scalarText{}, false
	}
	t := scalarText{value: n.Value, node: n}
	if d.expand == nil {
		return t, true
	}
	value, err := d.expand(n.Value)
	if err != nil {
		d.fail(at, path, "%s", text.Clip(err.Error(), 300))
		return scalarText{}, false
	}
	if value != n.Value {
		t.expanded, t.value = true, value
		d.expanded++
	}
	return t, true
}

// resolve returns the value of the text in YAML's core schema. A quoted text is a string.
func (t scalarText) resolve(style yaml.Style) any {
	n := yaml.Node{Kind: yaml.ScalarNode, Value: t.value, Style: style}
	if style != 0 {
		n.Tag = t.node.Tag
	}
	var v any
	if err := n.Decode(&v); err != nil {
		return t.value
	}
	if _, isTime := v.(time.Time); isTime {
		return t.value // dates are strings here
	}
	return v
}

// scalar decodes into a string, a boolean or a number. An expanded value may be a number even
// in quotes.
func (d *decoder) scalar(at *yaml.Node, v reflect.Value, path string) {
	if deref(at).Kind != yaml.ScalarNode {
		d.wrong(at, path, expectedOf(v.Type()))
		return
	}
	t, ok := d.text(at, path)
	if !ok {
		return
	}
	if v.Kind() == reflect.String {
		v.SetString(t.value)
		return
	}
	style := t.node.Style
	if t.expanded {
		style = 0
	}
	if !setNumber(v, t.resolve(style)) {
		d.wrong(at, path, expectedOf(v.Type()))
	}
}

// setNumber sets a boolean or a number. It returns false if the value does not fit.
func setNumber(v reflect.Value, value any) bool {
	found := reflect.ValueOf(value)
	switch {
	case !found.IsValid():
		return false
	case v.Kind() == reflect.Bool:
		if found.Kind() == reflect.Bool {
			v.SetBool(found.Bool())
		}
		return found.Kind() == reflect.Bool
	case v.CanInt():
		n, ok := wholeNumber(found)
		if ok = ok && !v.OverflowInt(n); ok {
			v.SetInt(n)
		}
		return ok
	case v.CanUint():
		if found.CanUint() && !v.OverflowUint(found.Uint()) {
			v.SetUint(found.Uint())
			return true
		}
		n, ok := wholeNumber(found)
		if ok = ok && n >= 0 && !v.OverflowUint(uint64(n)); ok {
			v.SetUint(uint64(n))
		}
		return ok
	case v.CanFloat():
		if !found.CanInt() && !found.CanUint() && !found.CanFloat() {
			return false
		}
		f := found.Convert(reflect.TypeFor[float64]()).Float()
		v.SetFloat(f)
		return !v.OverflowFloat(f)
	}
	panic(fmt.Sprintf("internal error: strictyaml cannot decode into %s", v.Type()))
}

// wholeNumber accepts 5 and 5.0.
func wholeNumber(v reflect.Value) (int64, bool) {
	switch {
	case v.CanInt():
		return v.Int(), true
	case v.CanFloat():
		f := v.Float()
		return int64(f), f == math.Trunc(f) && math.Abs(f) < 1<<53
	}
	return 0, false
}

// expectedOf describes the values of a type for messages.
func expectedOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a single text"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Int8, reflect.Int16, reflect.Int32:
		limit := int64(1) << (t.Bits() - 1)
		return fmt.Sprintf("a whole number from %d to %d", -limit, limit-1)
	case reflect.Uint, reflect.Uint64, reflect.Uintptr:
		return "a whole number that is not negative"
	case reflect.Uint8, reflect.Uint16, reflect.Uint32:
		return fmt.Sprintf("a whole number from 0 to %d", uint64(1)<<t.Bits()-1)
	case reflect.Float32, reflect.Float64:
		return "a number"
	}
	panic(fmt.Sprintf("internal error: strictyaml cannot decode into %s", t))
}
