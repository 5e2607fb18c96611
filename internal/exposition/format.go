package exposition

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
)

// Format is a text format for metrics.
type Format int

// The formats: version 0.0.4 of Prometheus' own, and OpenMetrics 1.0.
const (
	Text Format = iota
	OpenMetrics
	// Formats is their number.
	Formats
)

// ContentType returns the media type.
func (f Format) ContentType() string {
	if f == OpenMetrics {
		return "application/openmetrics-text; version=1.0.0; charset=utf-8; escaping=underscores"
	}
	return "text/plain; version=0.0.4; charset=utf-8; escaping=underscores"
}

// end appends what ends an exposition.
func (f Format) end(text []byte) []byte {
	if f == OpenMetrics {
		return append(text, "# EOF\n"...)
	}
	return text
}

// writeFamily appends a family with its HELP and TYPE lines.
func writeFamily(b *bytes.Buffer, fam *family, f Format) {
	if fam.help != "" {
		b.WriteString("# HELP " + fam.name + " " + escape(fam.help, f == OpenMetrics) + "\n")
	}
	kind := string(fam.kind)
	if fam.kind == model.MetricTypeUnknown && f == Text {
		kind = "untyped"
	}
	b.WriteString("# TYPE " + fam.name + " " + kind + "\n")
	for i := range fam.series {
		writeSeries(b, &fam.series[i], f)
	}
}

func writeSeries(b *bytes.Buffer, s *series, f Format) {
	b.WriteString(s.labels.Get(model.MetricNameLabel))
	open := byte('{')
	s.labels.Range(func(l labels.Label) {
		if l.Name == model.MetricNameLabel {
			return
		}
		b.WriteByte(open)
		b.WriteString(l.Name)
		b.WriteString(`="`)
		b.WriteString(escape(l.Value, true))
		b.WriteByte('"')
		open = ','
	})
	if open == ',' {
		b.WriteByte('}')
	}
	b.WriteByte(' ')
	b.Write(strconv.AppendFloat(b.AvailableBuffer(), s.value, 'g', -1, 64))
	if s.t != 0 {
		b.WriteByte(' ')
		if f == OpenMetrics { // Seconds here, milliseconds there.
			b.Write(strconv.AppendFloat(b.AvailableBuffer(), float64(s.t)/1000, 'f', -1, 64))
		} else {
			b.Write(strconv.AppendInt(b.AvailableBuffer(), s.t, 10))
		}
	}
	b.WriteByte('\n')
}

// escape writes a backslash before backslashes and, where they are special, double
// quotes, and turns line feeds into \n.
func escape(s string, quotes bool) string {
	special := "\\\n"
	if quotes {
		special = "\\\n\""
	}
	if !strings.ContainsAny(s, special) {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\\', c == '"' && quotes:
			b.WriteByte('\\')
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
