package http

import (
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/vitals-health/vitals/internal/text"
)

// writtenAnswer is an answer with a value for every variable.
func writtenAnswer() *answer {
	began := time.Unix(1_800_000_000, 0)
	after := func(ms int) time.Time { return began.Add(time.Duration(ms) * time.Millisecond) }
	return &answer{
		method: "GET", url: &url.URL{Scheme: "https", Host: "cloud:5000", Path: "/v3", RawQuery: "token=secret"},
		status: 200, version: 1.1, redirects: 1, size: 4321,
		trace: &trace{began: began, ended: after(1234), hops: []hop{{begin: began}, {
			begin: after(1), resolveEnd: after(2), connectEnd: after(3), handshakeEnd: after(40), ready: after(41), firstByte: after(500), peer: "[fd00::1]:5000",
		}}},
	}
}

func TestWriteOut(t *testing.T) {
	unix := writtenAnswer()
	unix.trace.hops[1].peer = "/run/s.sock"
	nothing := &answer{method: "GET", url: &url.URL{Scheme: "http", Host: "h"}, trace: &trace{}}
	tests := []struct {
		name, format string
		given        *answer
		want         string
	}{
		{"E01 the line of TripleO's scripts", `\n%{http_code} %{remote_ip}:%{remote_port} %{time_total} seconds\n`, writtenAnswer(), "200 fd00::1:5000 1.234 seconds"},
		{"address with its brackets", "%{http_code} %{remote_address} %{time_total} seconds", writtenAnswer(), "200 [fd00::1]:5000 1.234 seconds"},
		{"times", "%{time_namelookup} %{time_connect} %{time_appconnect} %{time_pretransfer} %{time_starttransfer} %{time_total}", writtenAnswer(), "0.002 0.003 0.040 0.041 0.500 1.234"},
		{"the request", "%{method} %{scheme} %{url_effective}", writtenAnswer(), "GET https https://cloud:5000/v3?..."},
		{"what was answered", "%{response_code} %{http_version} %{num_redirects} %{size_download}", writtenAnswer(), "200 1.1 1 4321"},
		{"Unix socket", "%{remote_ip}|%{remote_port}|%{remote_address}", unix, "/run/s.sock||/run/s.sock"},
		{"nothing", "%{http_code} %{http_version} %{remote_ip} %{time_total} %{time_connect}", nothing, "000 0  0.000 0.000"},
		{"no format", "", writtenAnswer(), ""},
		{"text alone", "up", writtenAnswer(), "up"},
		{"signs that stand for themselves", `100%% %x % \a \\ {} %`, writtenAnswer(), `100% %x % \a \\ {} %`},
		{"escapes on one line", `a\nb\tc\rd`, writtenAnswer(), "a b c d"},
		{"control characters", "a\x1b[0m\nb", writtenAnswer(), "a [0m b"},
		{"too long", strings.Repeat("é", 200), writtenAnswer(), strings.Repeat("é", 98) + "..."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			format, err := parseWriteOut(tt.format)
			if err != nil {
				t.Fatalf("parseWriteOut(%s) = %v, want no error", tt.format, err)
			}
			if got := text.Short(format.render(tt.given), maxNote); got != tt.want {
				t.Errorf("%s = %q, want %q", tt.format, got, tt.want)
			}
		})
	}
	for _, format := range []string{"%{", "%{http_code", "%{}", "%{HTTP_CODE}", "%{json}", "%{stderr}", "%{content_type}", "%{header_json}", "%%%{x}"} {
		if _, err := parseWriteOut(format); err == nil {
			t.Errorf("parseWriteOut(%s) = no error, want one", format)
		}
	}
}

// FuzzWriteOut checks properties that hold for the notes of all valid formats.
func FuzzWriteOut(f *testing.F) {
	for _, seed := range []string{`\n%{http_code} %{remote_ip}:%{remote_port} %{time_total} seconds\n`, "%%{x}", "%{url_effective}\x00\xff", "%{time_total"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, message string) {
		format, err := parseWriteOut(message)
		if err != nil {
			if !strings.Contains(message, "%{") {
				t.Errorf("parseWriteOut(%q) = %v without a variable", message, err)
			}
			return
		}
		note := text.Short(format.render(writtenAnswer()), maxNote)
		if len(note) > maxNote || !utf8.ValidString(note) || strings.ContainsFunc(note, unicode.IsControl) || strings.Contains(note, "secret") && !strings.Contains(message, "secret") {
			t.Errorf("%q gives %q", message, note)
		}
	})
}
