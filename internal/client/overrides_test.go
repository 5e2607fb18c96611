package client

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/vitals-health/vitals/internal/execprobe"
)

func TestOverriding(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const silence = `{"rule": "Down", "begin": "2026-01-02T12:00:00Z", "until": "2026-01-02T14:00:00Z", "by": "root (uid 0)", "reason": "upgrade"}`
	tests := []struct {
		name    string
		o       Overriding
		status  int
		answer  string
		request string
		want    string
		outcome execprobe.Outcome
	}{
		{"a silence", Overriding{Name: "Down", For: "2h", Reason: "upgrade", TokenFile: token}, 200, silence,
			`PUT /api/v1/silences/Down Bearer s3cret {"for":"2h","reason":"upgrade","state":""}`, "Down is silenced until 14:00 UTC, for 2h, by root (uid 0): upgrade\n", 0},
		{"as JSON", Overriding{Name: "Down", JSON: true}, 200, silence, `PUT /api/v1/silences/Down  {"for":"","reason":"","state":""}`, silence, 0},
		{"of one state", Overriding{Name: "a/b c", State: "ready", For: "1d"}, 200, `{"rule": "a/b c", "state": "ready", "begin": "2026-01-02T12:00:00Z", "until": "2026-01-03T12:00:00Z"}`,
			`PUT /api/v1/silences/a%2Fb%20c  {"for":"1d","reason":"","state":"ready"}`, "a/b c is silenced in ready until 2026-01-03 12:00 UTC, for 1d\n", 0},
		{"the end", Overriding{Name: "Down", State: "ready", End: true}, 204, "", `DELETE /api/v1/silences/Down?state=ready  `, "Down is no longer silenced in ready\n", 0},
		{"maintenance", Overriding{Maintenance: true, Name: "ready"}, 200, `{"state": "ready", "begin": "2026-01-02T12:00:00Z", "by": "root (uid 0)"}`,
			`PUT /api/v1/maintenance/ready  {"for":"","reason":"","state":""}`, "ready is under maintenance until it is switched off by root (uid 0)\n", 0},
		{"its end", Overriding{Maintenance: true, Name: "ready", End: true}, 204, "", `DELETE /api/v1/maintenance/ready  `, "maintenance of ready ended\n", 0},
		{"a silence that is not stored", Overriding{Name: "Down", For: "2h"}, 200, silence[:len(silence)-1] + `, "warning": "not stored yet"}`,
			"", "Down is silenced until 14:00 UTC, for 2h, by root (uid 0): upgrade\nwarning: not stored yet\n", 0},
		{"an end that is not stored", Overriding{Name: "Down", End: true}, 200, `{"warning": "not stored yet"}`, "", "Down is no longer silenced\nwarning: not stored yet\n", 0},
		{"no silence", Overriding{}, 200, `{"silences": []}`, `GET /api/v1/silences  `, "no rule is silenced\n", 0},
		{"no maintenance", Overriding{Maintenance: true}, 200, `{"maintenance": []}`, `GET /api/v1/maintenance  `, "no state is under maintenance\n", 0},
		{"a list", Overriding{}, 200, `{"silences": [` + silence + `]}`, `GET /api/v1/silences  `, "Down is silenced until 2026-01-02 14:00 UTC by root (uid 0): upgrade\n", 0},
		{"no such rule", Overriding{Name: "Dwn"}, 404, "there is no rule \"Dwn\"\n", "", `there is no rule "Dwn"`, execprobe.Usage},
		{"invalid", Overriding{Name: "Down"}, 400, "a duration of 31d\n", "", "a duration of 31d", execprobe.Usage},
		{"no token", Overriding{Name: "Down"}, 401, "this needs the token\n", "", "this needs the token", execprobe.Forbidden},
		{"no permission", Overriding{Name: "Down"}, 403, "the user 7 may read\n", "", "the user 7 may read", execprobe.Forbidden},
		{"an older daemon", Overriding{}, 404, execprobe.NoSuchPath + "there are /ready\n", "", "the daemon has no silences: it may be older than this program", execprobe.Protocol},
		{"another program", Overriding{}, 500, "oops", "", "the answer is not the daemon's: status 500", execprobe.Protocol},
		{"no JSON", Overriding{}, 200, "hello", "", "the answer is not the daemon's: invalid character 'h' looking for beginning of value", execprobe.Protocol},
		{"a daemon that ends", Overriding{Name: "Down"}, 503, "the evaluator has stopped\n", "", "the evaluator has stopped", execprobe.Timeout},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			daemon := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				got = fmt.Sprintf("%s %s %s %s", r.Method, r.RequestURI, r.Header.Get("Authorization"), body)
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.answer)
			}))
			defer daemon.Close()
			tt.o.Address, tt.o.Timeout = daemon.URL, time.Minute
			shown, failed := tt.o.Run()
			var outcome execprobe.Outcome
			if failed != nil {
				shown, outcome = failed.Text, failed.Outcome
			}
			if shown != tt.want || outcome != tt.outcome || tt.request != "" && got != tt.request {
				t.Errorf("Run() = %q, %v after %q, want %q, %v after %q", shown, outcome, got, tt.want, tt.outcome, tt.request)
			}
		})
	}
}

func TestOverridingUsage(t *testing.T) {
	for _, tt := range []struct {
		o    Overriding
		want string
	}{
		{Overriding{}, "--timeout=0s: expected a duration above 0"},
		{Overriding{Timeout: time.Second, Daemon: Daemon{Address: "host:8080"}}, "--url: expected an address such as http://host:8080"},
		{Overriding{Timeout: time.Second, TokenFile: "f"}, "--token-file is for a daemon at an address: expected --url with it"},
		{Overriding{Timeout: time.Second, TokenFile: "gone", Daemon: Daemon{Address: "http://127.0.0.1:1"}}, "--token-file: open gone: no such file or directory"},
	} {
		if _, failed := tt.o.Run(); failed == nil || failed.Text != tt.want || failed.Outcome != execprobe.Usage {
			t.Errorf("Run() of %+v = %+v, want %q", tt.o, failed, tt.want)
		}
	}
}
