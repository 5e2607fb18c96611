package expand

import (
	"errors"
	"fmt"
	"reflect"
)

var (
	errNotComparable = errors.New("invalid type for comparison")
	errNothing       = errors.New("missing argument for comparison")
)

// class is what comparison makes of a type: values of different classes do not
// compare, except that signed and unsigned integers do.
type class int

const (
	otherClass class = iota
	boolClass
	signedClass
	unsignedClass
	floatClass
	complexClass
	stringClass
)

func classOf(v reflect.Value) class {
	switch {
	case v.CanInt():
		return signedClass
	case v.CanUint():
		return unsignedClass
	case v.CanFloat():
		return floatClass
	case v.CanComplex():
		return complexClass
	}
	switch v.Kind() {
	case reflect.Bool:
		return boolClass
	case reflect.String:
		return stringClass
	}
	return otherClass
}

// equalAny reports whether the first argument equals one of the others.
func equalAny(args []any) (bool, error) {
	if len(args) == 1 {
		return false, errNothing
	}
	for _, b := range args[1:] {
		if equal, err := equal(args[0], b); equal || err != nil {
			return equal, err
		}
	}
	return false, nil
}

func equal(a, b any) (bool, error) {
	va, vb := reflect.ValueOf(a), reflect.ValueOf(b)
	ca, cb := classOf(va), classOf(vb)
	switch {
	case ca == signedClass && cb == unsignedClass:
		return va.Int() >= 0 && uint64(va.Int()) == vb.Uint(), nil
	case ca == unsignedClass && cb == signedClass:
		return vb.Int() >= 0 && uint64(vb.Int()) == va.Uint(), nil
	case ca != cb && (a == nil || b == nil):
		return false, nil
	case ca != cb:
		return false, incompatible(a, b)
	}
	switch ca {
	case boolClass:
		return va.Bool() == vb.Bool(), nil
	case signedClass:
		return va.Int() == vb.Int(), nil
	case unsignedClass:
		return va.Uint() == vb.Uint(), nil
	case floatClass:
		return va.Float() == vb.Float(), nil
	case complexClass:
		return va.Complex() == vb.Complex(), nil
	case stringClass:
		return va.String() == vb.String(), nil
	}
	return equalOther(va, vb)
}

// equalOther compares nil, pointers and structs; maps and slices compare with nil only.
func equalOther(a, b reflect.Value) (bool, error) {
	switch {
	case a.IsValid() && b.IsValid() && a.Kind() != b.Kind():
		return false, incompatible(a.Interface(), b.Interface())
	case isNil(a) || isNil(b):
		return isNil(a) == isNil(b), nil
	case !b.Type().Comparable():
		return false, fmt.Errorf("non-comparable type %s", b.Type())
	}
	return a.Interface() == b.Interface(), nil
}

func isNil(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Map, reflect.Pointer, reflect.Slice:
		return v.IsNil()
	}
	return false
}

func less(a, b any) (bool, error) {
	va, vb := reflect.ValueOf(a), reflect.ValueOf(b)
	ca, cb := classOf(va), classOf(vb)
	switch {
	case ca == otherClass || cb == otherClass:
		return false, errNotComparable
	case ca == signedClass && cb == unsignedClass:
		return va.Int() < 0 || uint64(va.Int()) < vb.Uint(), nil
	case ca == unsignedClass && cb == signedClass:
		return vb.Int() >= 0 && va.Uint() < uint64(vb.Int()), nil
	case ca != cb:
		return false, incompatible(a, b)
	}
	switch ca {
	case signedClass:
		return va.Int() < vb.Int(), nil
	case unsignedClass:
		return va.Uint() < vb.Uint(), nil
	case floatClass:
		return va.Float() < vb.Float(), nil
	case stringClass:
		return va.String() < vb.String(), nil
	}
	return false, errNotComparable
}

func lessOrEqual(a, b any) (bool, error) {
	if less, err := less(a, b); less || err != nil {
		return less, err
	}
	return equal(a, b)
}

func incompatible(a, b any) error {
	return fmt.Errorf("incompatible types for comparison: %T and %T", a, b)
}
