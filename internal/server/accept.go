package server

import (
	"cmp"
	"slices"
	"strings"

	"github.com/munnerz/goautoneg"
)

// maxRanges bounds the media ranges that are read from an Accept header. Browsers send
// fewer than ten, Prometheus five.
const maxRanges = 32

// offer is a media type of a response. An offer with a version matches ranges with
// that version or without any.
type offer struct{ kind, subtype, version string }

// mentionsJSON reports whether an Accept header may prefer another type than text. It
// spares most probe requests the parsing.
func mentionsJSON(accept []string) bool {
	for _, a := range accept {
		if strings.Contains(a, "json") || strings.Contains(a, "JSON") || strings.Contains(a, "application/*") {
			return true
		}
	}
	return false
}

// negotiate returns the index of the offer that the client prefers, and 0 if it accepts
// none: a probe never gets 406. Ranges are tried by quality, then exact ones before
// wildcards, then in the order of the header (RFC 9110, section 12.5.1).
func negotiate(accept []string, offers []offer) int {
	ranges := strings.SplitN(strings.ToLower(strings.Join(accept, ",")), ",", maxRanges+1)
	clauses := goautoneg.ParseAccept(strings.Join(ranges[:min(len(ranges), maxRanges)], ","))
	// ParseAccept sorts some wildcards behind exact ranges of a lower quality.
	slices.SortStableFunc(clauses, func(a, b goautoneg.Accept) int {
		return cmp.Or(cmp.Compare(b.Q, a.Q), strings.Count(a.Type+a.SubType, "*")-strings.Count(b.Type+b.SubType, "*"))
	})
	for _, c := range clauses {
		i := slices.IndexFunc(offers, func(o offer) bool { return o.matches(c) })
		if i >= 0 && c.Q > 0 && c.Q <= 1 {
			return i
		}
	}
	return 0
}

func (o offer) matches(c goautoneg.Accept) bool {
	if c.SubType == "*" {
		return c.Type == "*" || c.Type == o.kind
	}
	version := strings.Trim(c.Params["version"], `"`)
	return c.Type == o.kind && c.SubType == o.subtype && (version == "" || version == o.version)
}
