package reply_test

import (
	"strings"
	"testing"

	"github.com/vitals-health/vitals/internal/server/reply"
)

// offers are those of a probe.
func offers() []reply.Offer {
	return []reply.Offer{{Type: "text", Subtype: "plain", Version: "0.0.4"}, {Type: "application", Subtype: "json"}}
}

func TestNegotiate(t *testing.T) {
	for accept, want := range map[string]int{
		"":                                        0,
		"*/*":                                     0,
		"application/json":                        1,
		"APPLICATION/JSON":                        1,
		"application/*":                           1,
		"image/png":                               0,
		"text/plain;version=0.0.5, */*;q=0.1":     0,
		"text/plain;q=0.2, application/json":      1,
		"application/json;q=0.5, text/*":          0,
		"application/json;q=0, text/plain":        0,
		"application/json;q=2":                    0,
		`text/plain;version="0.0.4"`:              0,
		strings.Repeat("a/b,", 32) + "text/plain": 0,
		strings.Repeat("a/b,", 31) + "application/json": 1,
		strings.Repeat("a/b,", 32) + "application/json": 0,
	} {
		if got := reply.Negotiate([]string{accept}, offers()); got != want {
			t.Errorf("Negotiate(%q) = %d, want %d", accept, got, want)
		}
	}
}

func TestAcceptsGzip(t *testing.T) {
	for accept, want := range map[string]bool{
		"": false, "gzip": true, "br, GZIP": true, "gzip;q=0": false, "gzip; Q=0.5": true, "gzip;q=x": false, "gzip;x=1": true, "gzipped": false,
	} {
		if got := reply.AcceptsGzip([]string{accept}); got != want {
			t.Errorf("AcceptsGzip(%q) = %t, want %t", accept, got, want)
		}
	}
}

// FuzzAccept reads arbitrary headers: the result is always one of the offers.
func FuzzAccept(f *testing.F) {
	for _, accept := range []string{"text/plain;q=2", `*/*;q="`, ",;=,gzip;Q=0", "gzip;q=NaN", "application/json;version=1;q=0.5,*/*"} {
		f.Add(accept)
	}
	f.Fuzz(func(t *testing.T, accept string) {
		if i := reply.Negotiate([]string{accept}, offers()); i < 0 || i >= len(offers()) {
			t.Errorf("Negotiate(%q) = %d, want the index of an offer", accept, i)
		}
		if reply.AcceptsGzip([]string{accept}) && !strings.Contains(strings.ToLower(accept), "gzip") {
			t.Errorf("AcceptsGzip(%q) = true, want it for gzip only", accept)
		}
	})
}
