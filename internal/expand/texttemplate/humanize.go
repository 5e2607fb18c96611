package texttemplate

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/prometheus/common/helpers/templates"
)

// number makes a function of a float accept everything that Prometheus converts to a
// number: numbers, durations and strings.
func number(f func(float64) string) func(any) (string, error) {
	return func(v any) (string, error) {
		n, err := templates.ConvertToFloat(v)
		if err != nil {
			return "", err
		}
		return f(n), nil
	}
}

func humanize(v float64) string {
	switch {
	case v == 0 || math.IsNaN(v) || math.IsInf(v, 0):
		return fmt.Sprintf("%.4g", v)
	case math.Abs(v) >= 1:
		return scale(v, 1000, strings.Split(" k M G T P E Z Y", " "))
	}
	prefix := ""
	for _, p := range "munpfazy" {
		if math.Abs(v) >= 1 {
			break
		}
		prefix, v = string(p), v*1000
	}
	return fmt.Sprintf("%.4g%s", v, prefix)
}

func humanize1024(v float64) string {
	if math.Abs(v) <= 1 || math.IsNaN(v) || math.IsInf(v, 0) {
		return fmt.Sprintf("%.4g", v)
	}
	return scale(v, 1024, strings.Split(" ki Mi Gi Ti Pi Ei Zi Yi", " "))
}

// scale divides v by base until it is below base or has the largest prefix.
func scale(v, base float64, prefixes []string) string {
	i := 0
	for math.Abs(v) >= base && i < len(prefixes)-1 {
		v /= base
		i++
	}
	return fmt.Sprintf("%.4g%s", v, prefixes[i])
}

func toTime(v any) (*time.Time, error) {
	seconds, err := templates.ConvertToFloat(v)
	if err != nil {
		return nil, err
	}
	return templates.FloatToTime(seconds)
}

func toDuration(v any) (*time.Duration, error) {
	seconds, err := templates.ConvertToFloat(v)
	if err != nil {
		return nil, err
	}
	d := time.Duration(seconds * float64(time.Second))
	return &d, nil
}
