package reply

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/munnerz/goautoneg"
)

// maxRanges bounds the media ranges that are read from an Accept header. Browsers send
// fewer than ten, Prometheus five.
const maxRanges = 32

// Offer is a media type of a response, such as text and plain. An offer with a version matches
// ranges with that version or without any.
type Offer struct{ Type, Subtype, Version string }

// MentionsJSON reports whether an Accept header may prefer another type than text. It
// spares most probe requests the parsing.
func MentionsJSON(accept []string) bool {
	for _, a := range accept {
		if strings.Contains(a, "json") || strings.Contains(a, "JSON") || strings.Contains(a, "application/*") {
			return true
		}
	}
	return false
}

// Negotiate returns the index of the offer that the client prefers, and 0 if it accepts
// none: a probe never gets 406. Ranges are tried by quality, then exact ones before
// wildcards, then in the order of the header (RFC 9110, section 12.5.1).
func Negotiate(accept []string, offers []Offer) int {
	ranges := strings.SplitN(strings.ToLower(strings.Join(accept, ",")), ",", maxRanges+1)
	clauses := goautoneg.ParseAccept(strings.Join(ranges[:min(len(ranges), maxRanges)], ","))
	// ParseAccept sorts some wildcards behind exact ranges of a lower quality.
	slices.SortStableFunc(clauses, func(a, b goautoneg.Accept) int {
		return cmp.Or(cmp.Compare(b.Q, a.Q), strings.Count(a.Type+a.SubType, "*")-strings.Count(b.Type+b.SubType, "*"))
	})
	for _, c := range clauses {
		i := slices.IndexFunc(offers, func(o Offer) bool { return o.matches(c) })
		if i >= 0 && c.Q > 0 && c.Q <= 1 {
			return i
		}
	}
	return 0
}

func (o Offer) matches(c goautoneg.Accept) bool {
	if c.SubType == "*" {
		return c.Type == "*" || c.Type == o.Type
	}
	version := strings.Trim(c.Params["version"], `"`)
	return c.Type == o.Type && c.SubType == o.Subtype && (version == "" || version == o.Version)
}

// AcceptsGzip reads the header Accept-Encoding (RFC 9110, section 12.5.3).
func AcceptsGzip(accept []string) bool {
	for _, header := range accept {
		for element := range strings.SplitSeq(header, ",") {
			coding, params, _ := strings.Cut(element, ";")
			if !strings.EqualFold(strings.TrimSpace(coding), "gzip") {
				continue
			}
			key, q, weighted := strings.Cut(strings.TrimSpace(params), "=")
			if !weighted || !strings.EqualFold(key, "q") {
				return true
			}
			quality, err := strconv.ParseFloat(q, 64)
			return err == nil && quality > 0
		}
	}
	return false
}
