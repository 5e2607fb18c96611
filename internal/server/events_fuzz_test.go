package server_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/vitals-health/vitals/internal/server"
)

// FuzzEvents queries the history: a valid query gets events in their order, and any other
// one line.
func FuzzEvents(f *testing.F) {
	for _, query := range []string{"", "state=ready&limit=1", "since=-9223372036854775808ns&until=0s", "since=9999-12-31T23:59:59%2B99:99", "after=18446744073709551615", "limit=-1", "span=24h", "since=%00%zz;"} {
		f.Add(query, "1")
	}
	f.Add("", "x\x7f")
	h := withHistory(past())
	f.Fuzz(func(t *testing.T, query, last string) {
		for _, path := range []string{"/api/v1/events?", "/api/v1/history?"} {
			r := request(t, h, http.MethodGet, path+query, "", "Last-Event-ID", last)
			body := text(t, r)
			if r.StatusCode == 400 {
				if line := strings.TrimSuffix(body, "\n"); len(line) > 512 || !utf8.ValidString(line) || strings.ContainsFunc(line, unicode.IsControl) {
					t.Errorf("GET %s%s = %q, want one bounded line", path, query, body)
				}
				continue
			}
			var found server.Events
			if err := json.Unmarshal([]byte(body), &found); err != nil || r.StatusCode != 200 {
				t.Fatalf("GET %s%s = %d %q, want JSON", path, query, r.StatusCode, body)
			}
			for i, e := range found.Events {
				if e == nil || i > 0 && e.ID <= found.Events[i-1].ID {
					t.Errorf("GET %s%s = %q, want the events in their order", path, query, body)
				}
			}
		}
	})
}
