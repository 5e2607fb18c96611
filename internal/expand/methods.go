package expand

import (
	"errors"
	"time"
)

// method returns a method of v, which is a time, a duration or a part of one.
func method(v any, name string) (function, bool) {
	switch v := v.(type) {
	case *time.Time:
		return timeMethod(*v, name)
	case time.Time:
		return timeMethod(v, name)
	case *time.Duration:
		return durationMethod(*v, name)
	case time.Duration:
		return durationMethod(v, name)
	case time.Month:
		return getter(name == "String", v.String)
	case time.Weekday:
		return getter(name == "String", v.String)
	case *time.Location:
		return getter(name == "String", v.String)
	}
	return function{}, false
}

// getter is a method without parameters.
func getter[T any](ok bool, f func() T) (function, bool) {
	return function{call: func(*expansion, []any) (any, error) { return f(), nil }}, ok
}

// of is a method with one parameter of type p, which is A in Go.
func of[A, T any](p param, f func(A) T) (function, bool) {
	return function{in: []param{p}, call: func(_ *expansion, args []any) (any, error) {
		return f(args[0].(A)), nil
	}}, true
}

func timeMethod(t time.Time, name string) (function, bool) {
	switch name {
	case "Add":
		return of(duration, t.Add)
	case "After":
		return of(moment, t.After)
	case "Before":
		return of(moment, t.Before)
	case "Compare":
		return of(moment, t.Compare)
	case "Equal":
		return of(moment, t.Equal)
	case "Format":
		return of(text, t.Format)
	case "Round":
		return of(duration, t.Round)
	case "Sub":
		return of(moment, t.Sub)
	case "Truncate":
		return of(duration, t.Truncate)
	case "AddDate":
		return function{in: []param{integer, integer, integer}, call: func(_ *expansion, a []any) (any, error) {
			return t.AddDate(a[0].(int), a[1].(int), a[2].(int)), nil
		}}, true
	case "In":
		return function{in: []param{zone}, call: func(_ *expansion, a []any) (any, error) {
			if loc := a[0].(*time.Location); loc != nil {
				return t.In(loc), nil
			}
			return nil, errors.New("time zone is nil")
		}}, true
	}
	return timeGetter(t, name)
}

func timeGetter(t time.Time, name string) (function, bool) {
	switch name {
	case "Year":
		return getter(true, t.Year)
	case "Month":
		return getter(true, t.Month)
	case "Day":
		return getter(true, t.Day)
	case "Hour":
		return getter(true, t.Hour)
	case "Minute":
		return getter(true, t.Minute)
	case "Second":
		return getter(true, t.Second)
	case "Nanosecond":
		return getter(true, t.Nanosecond)
	case "Weekday":
		return getter(true, t.Weekday)
	case "YearDay":
		return getter(true, t.YearDay)
	case "Unix":
		return getter(true, t.Unix)
	case "UnixMilli":
		return getter(true, t.UnixMilli)
	case "UnixMicro":
		return getter(true, t.UnixMicro)
	case "UnixNano":
		return getter(true, t.UnixNano)
	case "UTC":
		return getter(true, t.UTC)
	case "Location":
		return getter(true, t.Location)
	case "IsZero":
		return getter(true, t.IsZero)
	case "IsDST":
		return getter(true, t.IsDST)
	case "GoString":
		return getter(true, t.GoString)
	}
	return getter(name == "String", t.String)
}

func durationMethod(d time.Duration, name string) (function, bool) {
	switch name {
	case "Hours":
		return getter(true, d.Hours)
	case "Minutes":
		return getter(true, d.Minutes)
	case "Seconds":
		return getter(true, d.Seconds)
	case "Milliseconds":
		return getter(true, d.Milliseconds)
	case "Microseconds":
		return getter(true, d.Microseconds)
	case "Nanoseconds":
		return getter(true, d.Nanoseconds)
	case "Abs":
		return getter(true, d.Abs)
	case "Round":
		return of(duration, d.Round)
	case "Truncate":
		return of(duration, d.Truncate)
	}
	return getter(name == "String", d.String)
}
