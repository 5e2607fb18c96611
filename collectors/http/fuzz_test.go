package http_test

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/remote"
)

// FuzzAnswer answers a request with any bytes: status, headers, redirects and body.
func FuzzAnswer(f *testing.F) {
	const header = "HTTP/1.1 200 OK\r\nX-Version: 1\r\n"
	for _, answer := range []string{
		header + "Content-Length: 13\r\n\r\n" + `{"a":{"b":1}}`, header + "Transfer-Encoding: chunked\r\n\r\n5\r\n{\"a\":\r\n0\r\n\r\n", "HTTP/1.1 302 Found\r\nLocation: /x\r\n\r\n",
		"HTTP/1.1 307 x\r\nLocation: http://user:hunter2@other.invalid/?token=x\r\n\r\n", "HTTP/1.1 429 \r\nRetry-After: Fri, 31 Dec 9999 23:59:59 GMT\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\n" + header + "\r\n",
		"HTTP/1.0 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\n\x1f\x8b\x08", "SSH-2.0-OpenSSH_9.2\r\n", "", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
	} {
		f.Add([]byte(answer))
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		host := serveConn(t, hangingUp(string(answer)))
		c := newCollector(t, "http://"+host+"/", `, body_size_limit: 10kB, expect: {headers: {X-Version: "^1"}, body_not: x, json: {a.b: 1}}`)
		samples, err := collectortest.Collect(t, c)
		reason := failureReason(t, samples)
		if (reason == "") != (err == nil) || reason != "" && !slices.Contains(collectors.Texts(remote.Reasons()), reason) {
			t.Errorf("reason %q, error %v, want one of the closed set", reason, err)
		}
		if reason == string(remote.ReasonTimeout) {
			t.Errorf("the answer %q has kept the collector waiting", answer)
		}
		for text, limit := range map[string]int{collectortest.Note(c): 200, errorText(err): collectors.MaxReason} {
			if len(text) > limit || !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
				t.Errorf("text %q, want one line of at most %d bytes", text, limit)
			}
		}
		for _, s := range samples {
			if !utf8.ValidString(s.Labels.String()) || len(s.Labels.String()) > 512 {
				t.Errorf("series %s, want labels of a closed set", s.Labels)
			}
		}
	})
}
