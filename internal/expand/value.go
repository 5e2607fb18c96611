package expand

import (
	"fmt"
	"reflect"
	"time"
)

// The values that a template can meet, beside Go's own: nil, bool, int, int64, byte,
// float64, complex128, string, time.Time, *time.Time, time.Duration, *time.Duration,
// time.Month, time.Weekday, *time.Location, map[string]string and root.
type (
	// sample is an element of a query's result.
	sample struct {
		Labels map[string]string
		Value  any
	}
	// vector is a query's result.
	vector []*sample
	// arguments is the result of the function args.
	arguments = map[string]any
	// safeHTML is the result of the function safeHtml: no string for the functions
	// that want one.
	safeHTML string
	// null is a nil that was found in a map. Unlike nil, it has no fields.
	null struct{}
)

// element is the value found in a map.
func element(v any) any {
	if v == nil {
		return null{}
	}
	return v
}

// plain is v without the memory of having been found in a map.
func plain(v any) any {
	if v == (any)(null{}) {
		return nil
	}
	return v
}

// param is the type of a function's parameter.
type param int

const (
	anything param = iota
	text
	samples
	oneSample
	integer
	duration
	moment
	zone
)

func (p param) goType() reflect.Type {
	switch p {
	case text:
		return reflect.TypeFor[string]()
	case samples:
		return reflect.TypeFor[vector]()
	case oneSample:
		return reflect.TypeFor[*sample]()
	case integer:
		return reflect.TypeFor[int]()
	case duration:
		return reflect.TypeFor[time.Duration]()
	case moment:
		return reflect.TypeFor[time.Time]()
	case zone:
		return reflect.TypeFor[*time.Location]()
	}
	return reflect.TypeFor[any]()
}

func (p param) String() string { return p.goType().String() }

// truth is what if makes of a value: whether it is neither zero nor empty.
func truth(v any) bool {
	rv := reflect.ValueOf(plain(v))
	switch rv.Kind() {
	case reflect.Invalid:
		return false
	case reflect.Map, reflect.Slice, reflect.String:
		return rv.Len() > 0
	case reflect.Struct:
		return true
	case reflect.Float64:
		return rv.Float() != 0 // IsZero does not hold of -0.
	case reflect.Complex128:
		return rv.Complex() != 0
	}
	return !rv.IsZero()
}

// printable is v as it is printed at the top: what it points to, where it is a pointer.
func printable(v any) any {
	switch v := plain(v).(type) {
	case nil:
		return "<no value>"
	case *sample:
		if v != nil {
			return *v
		}
	case *time.Time:
		return *v
	case *time.Duration:
		return *v
	}
	return plain(v)
}

// text is what an action prints.
func (e *expansion) text(v any) (string, error) {
	if _, err := e.weigh(v); err != nil {
		return "", err
	}
	if s, ok := v.(string); ok {
		return s, nil
	}
	return fmt.Sprint(printable(v)), nil
}

// size is how many bytes a function has made for its result.
func size(v any) int {
	switch v := v.(type) {
	case string:
		return len(v)
	case vector:
		return len(v)
	}
	return 1
}

// weigh books about as much work as printing v takes, and returns it. Arguments may
// contain the same value very often, so it stops where the work ends.
func (e *expansion) weigh(v any) (int, error) {
	weight := 32
	switch v := v.(type) {
	case string:
		weight = len(v)
	case safeHTML:
		weight = len(v)
	case vector:
		weight = 32 * len(v)
	case map[string]string:
		weight = labelsSize(v)
	case *sample:
		if v != nil {
			weight = 32 + labelsSize(v.Labels)
		}
	case root:
		weight = 32 + len(v.ExternalURL) + labelsSize(v.Labels) + labelsSize(v.ExternalLabels)
	case arguments:
		for _, a := range v {
			w, err := e.weigh(a)
			if err != nil {
				return 0, err
			}
			weight += 16 + w
		}
		return weight, e.charge(16 * len(v))
	}
	return weight, e.charge(weight)
}

func labelsSize(labels map[string]string) int {
	n := 0
	for name, value := range labels {
		n += len(name) + len(value) + 2
	}
	return n
}
