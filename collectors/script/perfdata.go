package script

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/vitals-health/vitals/collectors"
)

// The metrics of performance data.
var (
	perfdataMetric         = collectors.NewGauge("vitals_script_perfdata", "A number that the script measured, in the base unit.", "script", "label", "unit")
	perfdataWarningMetric  = collectors.NewGauge("vitals_script_perfdata_warning", "The warning threshold, if it is a plain number, in the base unit.", "script", "label", "unit")
	perfdataCriticalMetric = collectors.NewGauge("vitals_script_perfdata_critical", "The critical threshold, if it is a plain number, in the base unit.", "script", "label", "unit")
	perfdataMinMetric      = collectors.NewGauge("vitals_script_perfdata_min", "The minimum of the number, in the base unit.", "script", "label", "unit")
	perfdataMaxMetric      = collectors.NewGauge("vitals_script_perfdata_max", "The maximum of the number, in the base unit.", "script", "label", "unit")
)

// perfdatum is one number that a Monitoring Plugin measured, in base units.
type perfdatum struct {
	label, unit string
	value       float64
	// limits are the warning and the critical threshold, the minimum and the maximum; nil
	// without one, or if the threshold is a range.
	limits [4]*float64
}

// perfdataLimits are the metrics of a datum's limits, in the order of perfdatum.limits.
func perfdataLimits() [4]*collectors.Def {
	return [4]*collectors.Def{perfdataWarningMetric, perfdataCriticalMetric, perfdataMinMetric, perfdataMaxMetric}
}

func perfdataDefs() []*collectors.Def {
	return []*collectors.Def{
		perfdataMetric,
		perfdataWarningMetric,
		perfdataCriticalMetric,
		perfdataMinMetric,
		perfdataMaxMetric,
	}
}

// addPerfdata appends performance data.
func addPerfdata(b *collectors.Batch, script string, data []perfdatum) {
	for _, d := range data {
		b.Set(perfdataMetric, d.value, script, d.label, d.unit)
	}
	for i, metric := range perfdataLimits() {
		for _, d := range data {
			if d.limits[i] != nil {
				b.Set(metric, *d.limits[i], script, d.label, d.unit)
			}
		}
	}
}

// parsePerfdata reads 'label'=value[UOM];[warn];[crit];[min];[max], separated by white
// space, as in the Monitoring Plugins' development guidelines. It returns what it could
// read together with the first error.
func parsePerfdata(text string, limit int) (data []perfdatum, err error) {
	seen := map[string]bool{}
	for number := 1; ; number++ {
		label, fields, rest, ok := cutPerfdatum(text)
		if !ok {
			return data, err
		}
		text = rest
		d, absent, good := readPerfdatum(label, fields)
		switch {
		case absent:
		case !good:
			if err == nil {
				err = collectors.Errorf(protocol, "datum %d: expected 'label'=value[UOM];[warn];[crit];[min];[max]", number)
			}
		case seen[d.label]:
			if err == nil {
				err = collectors.Errorf(protocol, "datum %d: expected each label once", number)
			}
		case len(data) == limit:
			return data, collectors.Errorf(tooLarge, "more than %d data", limit)
		default:
			seen[d.label] = true
			data = append(data, d)
		}
	}
}

// cutPerfdatum cuts the next datum off a text: its label, without quotes, and the fields
// after the equals sign. It returns false at the end of the text.
func cutPerfdatum(text string) (label, fields, rest string, ok bool) {
	text = strings.TrimLeft(text, " \t\r\n")
	if text == "" {
		return "", "", "", false
	}
	if quoted, ok := strings.CutPrefix(text, "'"); ok {
		label, text = cutQuoted(quoted)
	} else {
		end := strings.IndexAny(text, "= \t\r\n")
		if end < 0 {
			end = len(text)
		}
		label, text = text[:end], text[end:]
	}
	end := strings.IndexAny(text, " \t\r\n")
	if end < 0 {
		end = len(text)
	}
	return label, text[:end], text[end:], true
}

// cutQuoted reads up to the quote that ends a label; two of them are an escaped one.
func cutQuoted(text string) (label, rest string) {
	var b strings.Builder
	for {
		before, after, ok := strings.Cut(text, "'")
		b.WriteString(before)
		if !ok {
			return b.String(), ""
		}
		if text, ok = strings.CutPrefix(after, "'"); !ok {
			return b.String(), after
		}
		b.WriteByte('\'')
	}
}

// perfdataValue is a number and its unit of measurement.
var perfdataValue = regexp.MustCompile(`^([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)([a-zA-Z%/µ°]{0,16})$`)

// readPerfdatum reads a datum's fields. One that the plugin could not determine is absent.
func readPerfdatum(label, fields string) (d perfdatum, absent, ok bool) {
	d.label = labelValue(label)
	fields, ok = strings.CutPrefix(fields, "=")
	parts := strings.Split(fields, ";")
	if !ok || d.label == "" || len(parts) > 5 && strings.Join(parts[5:], "") != "" {
		return d, false, false
	}
	if parts[0] == "U" {
		return d, true, true
	}
	match := perfdataValue.FindStringSubmatch(parts[0])
	if match == nil {
		return d, false, false
	}
	var scale perfdataScale
	d.unit, scale = perfdataUnit(match[2])
	value := scale.number(match[1])
	if value == nil {
		return d, false, false
	}
	d.value = *value
	for i, message := range parts[1:min(len(parts), 5)] {
		d.limits[i] = scale.number(message)
	}
	return d, false, true
}

// perfdataScale converts to the base unit: multiplied by times, divided by by.
type perfdataScale struct{ times, by float64 }

// number parses a plain number and scales it. It returns nil for a range and for no number.
func (s perfdataScale) number(text string) *float64 {
	if match := perfdataValue.FindStringSubmatch(text); match == nil || match[2] != "" {
		return nil
	}
	n, err := strconv.ParseFloat(text, 64)
	if n = n * s.times / s.by; err != nil || math.IsInf(n, 0) {
		return nil
	}
	return &n
}

// perfdataUnit returns the base unit of a unit of measurement, and the conversion. Plugins count
// bytes in powers of 1024, with every prefix. An unknown unit is returned unchanged.
func perfdataUnit(uom string) (unit string, scale perfdataScale) {
	const kilo = 1 << 10
	switch uom {
	case "":
		return "none", perfdataScale{1, 1}
	case "s":
		return "seconds", perfdataScale{1, 1}
	case "ms":
		return "seconds", perfdataScale{1, 1e3}
	case "us", "µs":
		return "seconds", perfdataScale{1, 1e6}
	case "ns":
		return "seconds", perfdataScale{1, 1e9}
	case "%":
		return "ratio", perfdataScale{1, 100}
	case "c":
		return "count", perfdataScale{1, 1}
	case "B":
		return "bytes", perfdataScale{1, 1}
	case "KB", "kB", "KiB":
		return "bytes", perfdataScale{kilo, 1}
	case "MB", "MiB":
		return "bytes", perfdataScale{kilo * kilo, 1}
	case "GB", "GiB":
		return "bytes", perfdataScale{kilo * kilo * kilo, 1}
	case "TB", "TiB":
		return "bytes", perfdataScale{kilo * kilo * kilo * kilo, 1}
	case "PB", "PiB":
		return "bytes", perfdataScale{kilo * kilo * kilo * kilo * kilo, 1}
	}
	return uom, perfdataScale{1, 1}
}
