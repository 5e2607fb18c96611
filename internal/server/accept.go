package server

import (
	"strconv"
	"strings"
)

// maxRanges bounds how much of an Accept header is looked at. Browsers send fewer
// than ten ranges, Prometheus five.
const maxRanges = 32

// mediaRange is one element of an Accept header (RFC 9110, section 12.5.1).
type mediaRange struct {
	kind, subtype string
	version       string
	quality       float64
}

// offer is one media type that can be answered with. An offer with a version is
// meant only by ranges with that version, or without any.
type offer struct{ kind, subtype, version string }

// mentionsJSON says whether an Accept header may ask for anything but text: only
// then is it worth parsing.
func mentionsJSON(accept []string) bool {
	for _, a := range accept {
		if strings.Contains(a, "json") || strings.Contains(a, "JSON") || strings.Contains(a, "application/*") {
			return true
		}
	}
	return false
}

// negotiate returns the index of the offer that the client likes best, and 0 where
// it likes none: a probe is answered, never refused. Among equal qualities
// the more exact range wins, then the one that stands first in the header, then
// the earlier offer.
func negotiate(accept []string, offers []offer) int {
	ranges := parseAccept(accept)
	best, bestQuality, bestExact, bestAt := 0, 0.0, -1, 0
	for i, o := range offers {
		quality, exact, at := o.rate(ranges)
		if quality <= 0 || quality < bestQuality {
			continue
		}
		if quality > bestQuality || exact > bestExact || exact == bestExact && at < bestAt {
			best, bestQuality, bestExact, bestAt = i, quality, exact, at
		}
	}
	return best
}

// rate returns the quality that the most exact matching range gives the offer,
// how exact that range is and where it stands.
func (o offer) rate(ranges []mediaRange) (quality float64, exact, at int) {
	exact = -1
	for i, r := range ranges {
		e := -1
		switch {
		case r.kind == o.kind && r.subtype == o.subtype && r.version == o.version && r.version != "":
			e = 3
		case r.kind == o.kind && r.subtype == o.subtype && r.version == "":
			e = 2
		case r.kind == o.kind && r.subtype == "*":
			e = 1
		case r.kind == "*" && r.subtype == "*":
			e = 0
		}
		if e > exact {
			quality, exact, at = r.quality, e, i
		}
	}
	return quality, exact, at
}

// parseAccept reads an Accept header. Elements that are no media range are left out.
func parseAccept(accept []string) []mediaRange {
	var ranges []mediaRange
	for _, header := range accept {
		for element := range strings.SplitSeq(header, ",") {
			if len(ranges) == maxRanges {
				return ranges
			}
			if r, ok := parseRange(element); ok {
				ranges = append(ranges, r)
			}
		}
	}
	return ranges
}

func parseRange(element string) (mediaRange, bool) {
	name, params, _ := strings.Cut(element, ";")
	kind, subtype, ok := strings.Cut(strings.ToLower(strings.TrimSpace(name)), "/")
	if !ok || kind == "" || subtype == "" || kind == "*" && subtype != "*" {
		return mediaRange{}, false
	}
	r := mediaRange{kind: kind, subtype: subtype, quality: 1}
	for param := range strings.SplitSeq(params, ";") {
		key, value, _ := strings.Cut(param, "=")
		value = strings.Trim(strings.TrimSpace(value), `"`)
		switch strings.ToLower(strings.TrimSpace(key)) {
		case "q":
			if r.quality, ok = parseQuality(value); !ok {
				return mediaRange{}, false
			}
		case "version":
			r.version = value
		}
	}
	return r, true
}

// parseQuality reads a weight between 0 and 1 with at most three decimals (RFC
// 9110, section 12.4.2).
func parseQuality(s string) (float64, bool) {
	if len(s) == 0 || len(s) > len("0.000") || strings.Trim(s, "0123456789.") != "" {
		return 0, false
	}
	q, err := strconv.ParseFloat(s, 64)
	return q, err == nil && q <= 1
}
