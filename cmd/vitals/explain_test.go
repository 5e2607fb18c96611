package main

import (
	"bytes"
	"cmp"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/promslog"

	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/internal/client"
	"github.com/vitals-health/vitals/internal/explain"
	"github.com/vitals-health/vitals/internal/server"
)

// anExplanation is one that a daemon may answer.
func anExplanation() *explain.Explanation {
	return &explain.Explanation{
		State: "ready", Verdict: "fail", Generation: 4711, At: time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC), RuleCount: 1, Deciding: 1,
		Rules: []*explain.Rule{{Name: "KeystoneDown", State: "ready", Status: "failing", Decides: true, Summary: "Keystone does not answer."}},
	}
}

// The server at the address or on the socket may be another program.
func TestExplainAnswers(t *testing.T) {
	answer := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}
	}
	good := explain.Text(anExplanation(), false, "")
	tests := []struct {
		name   string
		answer http.HandlerFunc
		code   int
		want   string
	}{
		{"an explanation", answer(200, string(server.ExplanationJSON(anExplanation()))), 0, good},
		{"no such state", answer(404, "there is no state \"ready\": expected one of alive\n"), 3, "there is no state \"ready\": expected one of alive\n"},
		{"a daemon that cannot explain", answer(404, "there is nothing at this path: there are /ready\n"), 9, "the daemon has no explanations: it may be older than this program\n"},
		{"another program", answer(404, "404 page not found\n"), 9, "the answer is not the daemon's: status 404\n"},
		{"a login", answer(401, "Unauthorized\n"), 7, "the daemon requires authentication: status 401\n"},
		{"no permission", answer(403, "no\n"), 7, "the daemon refuses the request: no\n"},
		{"an evaluator that hangs", answer(503, "the evaluator does not answer in time\n"), 5, "the evaluator does not answer in time\n"},
		{"a redirect", answer(302, ""), 9, "the answer is not the daemon's: status 302\n"},
		{"no JSON", answer(200, "ok"), 9, "the answer is not the daemon's: no explanation\n"},
		{"other JSON", answer(200, "{}"), 9, "the answer is not the daemon's: no explanation\n"},
		{"too much", answer(200, strings.Repeat(" ", 16<<20+1)), 9, "the answer is not the daemon's: more than 16777216 bytes\n"},
		{"nothing", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, 5, "the daemon AT does not answer in time\n"},
	}
	for _, tt := range tests {
		for _, way := range []string{"--url", "--socket"} {
			t.Run(tt.name+" "+way, func(t *testing.T) {
				web := httptest.NewUnstartedServer(tt.answer)
				defer web.Close()
				host := web.Listener.Addr().String()
				address, place := "http://user:s3cret@"+host, "at "+host
				if way != "--url" {
					address = filepath.Join(collectortest.Dir(t), "s")
					place = "on " + address
					ln, err := net.Listen("unix", address)
					if err != nil {
						t.Fatal(err)
					}
					_ = web.Listener.Close()
					web.Listener = ln
				}
				web.Start()
				timeout := "--timeout=30s"
				if tt.name == "nothing" {
					timeout = "--timeout=100ms"
				}
				var out, errs bytes.Buffer
				code := run([]string{"explain", way + "=" + address, timeout}, &out, &errs)
				if got := out.String() + errs.String(); code != tt.code || got != strings.Replace(tt.want, "AT", place, 1) {
					t.Errorf("vitals explain = %d %q, want %d %q", code, got, tt.code, tt.want)
				}
				if (code == 0) != (errs.Len() == 0) || (code == 0) != (out.Len() > 0) {
					t.Errorf("stdout = %q, stderr = %q, want the explanation on stdout and errors on stderr", &out, &errs)
				}
			})
		}
	}
}

// The daemon gets the options of the command line.
func TestExplainQueries(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{nil, "/api/v1/explain/ready?"},
		{[]string{"gold", "--all"}, "/api/v1/explain/gold?all=1"},
		{[]string{"ready", "--rule=A b&c/#"}, "/api/v1/explain/ready?rule=A+b%26c%2F%23"},
	} {
		var requested, user string
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			requested, user = r.URL.Path+"?"+r.URL.RawQuery, r.Header.Get("Authorization")
			_, _ = w.Write(server.ExplanationJSON(anExplanation()))
		}))
		var out, errs bytes.Buffer
		address := strings.Replace(web.URL, "http://", "http://user:s3cret@", 1)
		code := run(append([]string{"explain", "--format=json", "--url=" + address}, tt.args...), &out, &errs)
		web.Close()
		if code != 0 || requested != tt.want || user == "" {
			t.Errorf("vitals explain %v = %d, %s, requested %q as %q, want 0 and %q with a user", tt.args, code, &errs, requested, user, tt.want)
		}
		if out.String() != string(server.ExplanationJSON(anExplanation())) {
			t.Errorf("vitals explain --format=json = %s, want the answer as it came", &out)
		}
	}
}

// Where no daemon answers, a profile that only the environment names is evaluated, unless
// a flag names the daemon.
func TestExplainEvaluatesWhereNoDaemonAnswers(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "gone.sock")
	for _, tt := range []struct {
		name string
		e    explaining
		code int
		want string
	}{
		{"a profile of the environment", explaining{profileFromEnv: true}, 0, "one evaluation, in which for counts as 0"},
		{"as JSON", explaining{profileFromEnv: true, format: "json"}, 0, `"state": "ready"`},
		{"no profile", explaining{}, 4, "--config.file=FILE or --profile=NAME evaluate without a daemon"},
		{"a socket that a flag names", explaining{profileFromEnv: true, socketGiven: true}, 4, "gone.sock"},
		{"an address", explaining{profileFromEnv: true, daemon: client.Daemon{Address: "http://127.0.0.1:1"}, addressGiven: true}, 4, "no daemon answers at 127.0.0.1:1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			p := &program{stdout: &out, stderr: &out, log: &promslog.Config{Writer: io.Discard, Level: promslog.NewLevel()}}
			if tt.e.profileFromEnv {
				p.profile = "sonic"
			}
			tt.e.state, tt.e.daemon.Socket, tt.e.timeout = "ready", socket, 5*time.Second
			tt.e.format = cmp.Or(tt.e.format, "text")
			if code := p.runExplain(&tt.e); code != tt.code || !strings.Contains(out.String(), tt.want) {
				t.Errorf("explain = %d, want %d:\n%s\nwant %s", code, tt.code, &out, tt.want)
			}
		})
	}
}
