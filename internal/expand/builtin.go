package expand

import (
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"
)

// function is a function that a template can call, or a method bound to its receiver.
type function struct {
	// in are the types of the parameters; after them a variadic function takes any
	// number of values of any type.
	in       []param
	variadic bool
	// call gets as many arguments as in asks for, each of that type or nil.
	call func(e *expansion, args []any) (any, error)
}

// param returns the type of the argument at that position.
func (fn function) param(i int) param {
	if i < len(fn.in) {
		return fn.in[i]
	}
	return anything
}

// builtins are the functions of text/template, except for and and or, which are
// evaluated where they are called.
func builtins() map[string]function {
	return map[string]function{
		"and":  {},
		"or":   {},
		"call": {in: []param{anything}, variadic: true, call: callNothing},
		"not": {in: []param{anything}, call: func(_ *expansion, args []any) (any, error) {
			return !truth(args[0]), nil
		}},

		"index": {in: []param{anything}, variadic: true, call: index},
		"slice": {in: []param{anything}, variadic: true, call: slice},
		"len":   {in: []param{anything}, call: length},

		"print":    {variadic: true, call: printWith(fmt.Sprint)},
		"println":  {variadic: true, call: printWith(fmt.Sprintln)},
		"printf":   {in: []param{text}, variadic: true, call: printFormat},
		"html":     {variadic: true, call: escapeWith(htmlEscape)},
		"js":       {variadic: true, call: escapeWith(jsEscape)},
		"urlquery": {variadic: true, call: escapeWith(url.QueryEscape)},

		"eq": {in: []param{anything}, variadic: true, call: func(_ *expansion, args []any) (any, error) { return equalAny(args) }},
		"ne": compare(func(a, b any) (bool, error) { return not(equal(a, b)) }),
		"lt": compare(less),
		"le": compare(lessOrEqual),
		"gt": compare(func(a, b any) (bool, error) { return not(lessOrEqual(a, b)) }),
		"ge": compare(func(a, b any) (bool, error) { return not(less(a, b)) }),
	}
}

func compare(f func(a, b any) (bool, error)) function {
	return function{in: []param{anything, anything}, call: func(_ *expansion, args []any) (any, error) {
		return f(args[0], args[1])
	}}
}

func not(b bool, err error) (bool, error) { return !b, err }

// callNothing is call: no value that a template can meet is a function.
func callNothing(_ *expansion, args []any) (any, error) {
	return nil, fmt.Errorf("non-function of type %T", args[0])
}

// target follows a pointer to what is indexed or measured; nil has nothing in it.
func target(v any) (reflect.Value, error) {
	rv := reflect.Indirect(reflect.ValueOf(v))
	if !rv.IsValid() {
		return rv, errors.New("value is nil")
	}
	return rv, nil
}

func index(_ *expansion, args []any) (any, error) {
	if args[0] == nil {
		return nil, errors.New("index of untyped nil")
	}
	item := args[0]
	for _, i := range args[1:] {
		rv, err := target(item)
		if err != nil {
			return nil, err
		}
		switch rv.Kind() {
		case reflect.Slice, reflect.String:
			n, err := position(i, rv.Len()-1)
			if err != nil {
				return nil, err
			}
			item = rv.Index(n).Interface()
		case reflect.Map:
			key, ok := i.(string)
			if !ok {
				return nil, fmt.Errorf("value has type %T; should be string", i)
			}
			item, _ = member(item, key)
			item = plain(item)
		default:
			return nil, fmt.Errorf("can't index item of type %T", item)
		}
	}
	return item, nil
}

// position converts an argument to an index from 0 to last.
func position(v any, last int) (int, error) {
	rv := reflect.ValueOf(v)
	switch {
	case rv.CanInt() && rv.Int() >= 0 && rv.Int() <= int64(last):
		return int(rv.Int()), nil
	case rv.CanUint() && last >= 0 && rv.Uint() <= uint64(last):
		return int(rv.Uint()), nil
	case rv.CanInt(), rv.CanUint():
		return 0, fmt.Errorf("index out of range: %d", v)
	}
	return 0, fmt.Errorf("cannot index slice/array with type %T", v)
}

func slice(_ *expansion, args []any) (any, error) {
	rv, err := target(args[0])
	if err != nil {
		return nil, err
	}
	indexes := args[1:]
	last := 0
	switch {
	case rv.Kind() == reflect.String && len(indexes) < 3:
		last = rv.Len()
	case rv.Kind() == reflect.Slice && len(indexes) <= 3:
		last = rv.Cap()
	default:
		return nil, fmt.Errorf("can't slice item of type %T with %d indexes", args[0], len(indexes))
	}
	bounds := [3]int{0, rv.Len(), last}
	for i, v := range indexes {
		if bounds[i], err = position(v, last); err != nil {
			return nil, err
		}
	}
	if bounds[0] > bounds[1] || bounds[1] > bounds[2] {
		return nil, fmt.Errorf("invalid slice index: %v", indexes)
	}
	if len(indexes) == 3 {
		return rv.Slice3(bounds[0], bounds[1], bounds[2]).Interface(), nil
	}
	return rv.Slice(bounds[0], bounds[1]).Interface(), nil
}

func length(_ *expansion, args []any) (any, error) {
	rv, err := target(args[0])
	if err != nil {
		return nil, err
	}
	switch rv.Kind() {
	case reflect.Map, reflect.Slice, reflect.String:
		return rv.Len(), nil
	}
	return nil, fmt.Errorf("len of type %T", args[0])
}

func printWith(print func(...any) string) func(*expansion, []any) (any, error) {
	return func(e *expansion, args []any) (any, error) {
		for _, a := range args {
			if _, err := e.weigh(a); err != nil {
				return nil, err
			}
		}
		return print(args...), nil
	}
}

func escapeWith(escape func(string) string) func(*expansion, []any) (any, error) {
	return func(e *expansion, args []any) (any, error) {
		for i, a := range args {
			if _, err := e.weigh(a); err != nil {
				return nil, err
			}
			args[i] = printable(a)
		}
		return escape(fmt.Sprint(args...)), nil
	}
}

// printFormat is printf. What it may make is estimated first, because a short format
// can ask for much: widths up to a million, and the same argument many times.
func printFormat(e *expansion, args []any) (any, error) {
	format := args[0].(string)
	heaviest, widths := 0, 0
	for _, a := range args[1:] {
		w, err := e.weigh(a)
		if err != nil {
			return nil, err
		}
		heaviest = max(heaviest, w)
		if n := reflect.ValueOf(a); n.CanInt() && strings.Contains(format, "*") {
			widths = max(widths, 1_000_000)
		}
	}
	// 350 bytes is the longest number; a byte of a string becomes six at most.
	estimate := len(format) + digits(format) + strings.Count(format, "*")*widths +
		strings.Count(format, "%")*(350+6*heaviest)
	if estimate > maxWork {
		return nil, errWork
	}
	return fmt.Sprintf(format, args[1:]...), nil
}

// digits returns the sum of the numbers in a format, each of which fmt limits to a
// million.
func digits(format string) int {
	sum, n := 0, 0
	for _, c := range []byte(format) {
		if c < '0' || c > '9' {
			sum, n = sum+n, 0
			continue
		}
		n = min(n*10+int(c-'0'), 1_000_000)
	}
	return sum + n
}

func htmlEscape(s string) string {
	return strings.NewReplacer("\x00", "\uFFFD", `"`, "&#34;", "'", "&#39;", "&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

// jsEscape escapes what could end a JavaScript string or start HTML, and what cannot
// be printed.
func jsEscape(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == '\\' || r == '\'' || r == '"':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || strings.ContainsRune("<>&=", r), r >= utf8.RuneSelf && !unicode.IsPrint(r):
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}
