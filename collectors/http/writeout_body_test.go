package http_test

import (
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/collectors/collectortest"
	httpkind "github.com/vitals-health/vitals/collectors/http"
)

// The variable body of the note is the body on one bounded line, without secrets.
func TestNoteWithTheBody(t *testing.T) {
	token := filepath.Join(collectortest.Dir(t), "token")
	collectortest.Write(t, token, "echoed-token\n")
	server := collectortest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/fine" {
			w.WriteHeader(http.StatusInternalServerError)
		}
		_, _ = io.WriteString(w, map[string]string{
			"/fine":   "ok",
			"/dead":   "Component Watcher is dead.",
			"/lines":  "\n first\r\nsecond \n",
			"/url":    "connect to http://kuryr:s3cret@192.0.2.1/v3?password=s3cret failed",
			"/echo":   strings.Repeat("x", 190) + r.Header.Get("Authorization"),
			"/long":   strings.Repeat("y", 2<<10),
			"/broken": "a\xffb",
		}[r.URL.Path])
	})
	for path, want := range map[string]string{
		"/fine":   "200 ok",
		"/dead":   "500 Component Watcher is dead.: server_error",
		"/lines":  "500 first  second: server_error",
		"/url":    "500 connect to http://<secret>@192.0.2.1/v3?password=<secret> failed: server_error",
		"/echo":   "(text that repeats a secret is not shown): server_error",
		"/long":   "500 " + strings.Repeat("y", 179) + "...: server_error",
		"/broken": "500 a\uFFFDb: server_error",
		"/empty":  "500: server_error",
	} {
		config := `{url: "` + server.URL + path + `", body_size_limit: 1KiB, bearer_token_file: ` + token + `, note_format: "%{http_code} %{body}"}`
		c := collectortest.New(t, "original", config, &httpkind.Config{})
		_, _ = collectortest.Collect(t, c) // the note has the outcome
		if got := collectortest.Note(c); got != want {
			t.Errorf("Note() of %s = %q, want %q", path, got, want)
		}
	}
}
