package collectors

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Size is a number of bytes. A configuration has it as a whole number with a unit, such as
// 10MiB, or without a unit for bytes.
type Size int64

// ParseSize parses a whole number with one of the units B, KiB, MiB and GiB (powers of 1024)
// or kB, MB and GB (powers of 1000).
func ParseSize(text string) (Size, error) {
	digits := strings.TrimRight(text, "BiKMGk")
	unit, ok := sizeUnit(text[len(digits):])
	n, err := strconv.ParseInt(digits, 10, 64)
	if !ok || err != nil || n < 0 || n > math.MaxInt64/unit {
		return 0, fmt.Errorf("size %q: expected a whole number and B, KiB, MiB, GiB, kB, MB or GB, such as 10MiB", text)
	}
	return Size(n * unit), nil
}

// String formats the size in the largest binary unit that gives a whole number.
func (s Size) String() string {
	for _, unit := range []string{"GiB", "MiB", "KiB"} {
		if n, _ := sizeUnit(unit); s != 0 && int64(s)%n == 0 {
			return strconv.FormatInt(int64(s)/n, 10) + unit
		}
	}
	return strconv.FormatInt(int64(s), 10) + "B"
}

// UnmarshalYAML parses a scalar with ParseSize.
func (s *Size) UnmarshalYAML(unmarshal func(any) error) error {
	var text string
	if err := unmarshal(&text); err != nil {
		return err
	}
	size, err := ParseSize(text)
	if err != nil {
		return err
	}
	*s = size
	return nil
}

// MarshalYAML returns what String returns.
func (s Size) MarshalYAML() (any, error) { return s.String(), nil }

// sizeUnit returns the number of bytes of a unit.
func sizeUnit(unit string) (int64, bool) {
	switch unit {
	case "", "B":
		return 1, true
	case "KiB":
		return 1 << 10, true
	case "MiB":
		return 1 << 20, true
	case "GiB":
		return 1 << 30, true
	case "kB":
		return 1e3, true
	case "MB":
		return 1e6, true
	case "GB":
		return 1e9, true
	}
	return 1, false
}
