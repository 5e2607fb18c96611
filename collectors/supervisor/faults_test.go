package supervisor_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/supervisor"
)

// fakeBody answers with this.
func fakeBody(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }
}

// fakeMulticall is an answer with these results.
func fakeMulticall(results ...string) string {
	return "<?xml version='1.0'?><methodResponse><params><param><value><array><data><value>" + strings.Join(results, "</value><value>") + "</value></data></array></value></param></params></methodResponse>"
}

// fakeStruct is a struct in XML-RPC; texts of digits are numbers.
func fakeStruct(pairs ...string) string {
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		kind := "string"
		if strings.Trim(pairs[i+1], "-0123456789") == "" && pairs[i+1] != "" {
			kind = "int"
		}
		fmt.Fprintf(&b, "<member><name>%s</name><value><%s>%s</%[2]s></value></member>", pairs[i], kind, pairs[i+1])
	}
	return "<struct>" + b.String() + "</struct>"
}

// fakeProgram is one of supervisord's programs.
func fakeProgram(name, state string) string {
	return fakeStruct("name", name, "group", name, "start", "100", "stop", "0", "now", "150", "state", state, "statename", "?", "spawnerr", "", "exitstatus", "0", "pid", "1")
}

func fakePrograms(programs ...string) string {
	return "<array><data><value>" + strings.Join(programs, "</value><value>") + "</value></data></array>"
}

func TestFailures(t *testing.T) {
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	running := fakeStruct("statecode", "1", "statename", "RUNNING")
	many := slices.Collect(func(yield func(string) bool) {
		for i := range 201 {
			if !yield(fakeProgram(fmt.Sprintf("p%03d", i), "20")) {
				return
			}
		}
	})
	tests := []struct {
		name   string
		answer http.HandlerFunc
		reason string
		text   string
	}{
		{"no programs", fakeBody(fakeMulticall(running, "<array><data></data></array>")), "", ""},
		{"as many programs as may be", fakeBody(fakeMulticall(running, fakePrograms(many[:200]...))), "", ""},
		{"one program more", fakeBody(fakeMulticall(running, fakePrograms(many...))), "too_many", "has 201 selected programs: expected at most the limit, 200"},
		{"E44 ending", fakeRecorded(t, "shutdown.xml"), "shutting_down", "it is shutting down or restarting"},
		{"E44 in the state shutdown", fakeBody(fakeMulticall(fakeStruct("statecode", "-1"), fakePrograms(many[0]))), "shutting_down", "in the state SHUTDOWN"},
		{"E44 in the state restarting", fakeBody(fakeMulticall(fakeStruct("statecode", "0"), fakePrograms(many[0]))), "shutting_down", "in the state RESTARTING"},
		{"no methods", fakeRecorded(t, "shutdown.xml", "<int>6<", "<int>1<", "SHUTDOWN_STATE", "UNKNOWN_METHOD"), "protocol", "expected a section rpcinterface:supervisor"},
		{"another fault", fakeBody("<methodResponse><fault><value>" + fakeStruct("faultCode", "30", "faultString", "FAILED") + "</value></fault></methodResponse>"), "protocol", "fault 30: FAILED"},
		{"a fault of the whole call at its end", fakeBody("<methodResponse><fault><value>" + fakeStruct("faultCode", "6", "faultString", "SHUTDOWN_STATE") + "</value></fault></methodResponse>"), "shutting_down", "shutting down"},
		{"401", status(401), "auth", "status 401"},
		{"403", status(403), "forbidden", "status 403"},
		{"404", status(404), "protocol", "status 404: expected 200"},
		{"500", status(500), "protocol", "status 500: expected 200"},
		{"redirect in a circle", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/", http.StatusFound) }, "protocol", "in a circle"},
		{"redirect to another host", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://other.invalid/", http.StatusFound)
		}, "protocol", "to another host is not followed: http://other.invalid:80"},
		{"nothing", fakeBody(""), "protocol", "unexpected EOF"},
		{"a page", fakeBody("<html></html>"), "protocol", `element "html": expected methodResponse`},
		{"cut off", fakeRecorded(t, "programs.xml", "</methodResponse>", ""), "protocol", "unexpected EOF"},
		{"connection closed", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "protocol", "EOF"},
		{"shorter than its Content-Length", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "<methodResponse>")
		}, "protocol", "unexpected EOF"},
		{"endless", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "<methodResponse>")
			for {
				if _, err := io.WriteString(w, strings.Repeat(" ", 64<<10)); err != nil {
					return
				}
			}
		}, "protocol", "more than 4194304 bytes"},
		{"one result", fakeBody(fakeMulticall(running)), "protocol", "expected a list of two results"},
		{"three results", fakeBody(fakeMulticall(running, fakePrograms(many[0]), running)), "protocol", "expected a list of two results"},
		{"no list", fakeBody("<methodResponse><params><param><value><int>1</int></value></param></params></methodResponse>"), "protocol", "expected a list of two results"},
		{"a state that does not exist", fakeBody(fakeMulticall(fakeStruct("statecode", "7"), fakePrograms(many[0]))), "protocol", "state 7: expected one of supervisord"},
		{"no state", fakeBody(fakeMulticall(fakeStruct(), fakePrograms(many[0]))), "protocol", "no statecode, or of another type"},
		{"programs that are no list", fakeBody(fakeMulticall(running, "<int>1</int>")), "protocol", "expected a list of programs"},
		{"a program that is none", fakeBody(fakeMulticall(running, fakePrograms("<int>1</int>"))), "protocol", "no group"},
		{"a program in a state that does not exist", fakeBody(fakeMulticall(running, fakePrograms(fakeProgram("p", "21")))), "protocol", "state 21"},
		{"a program without a name", fakeBody(fakeMulticall(running, fakePrograms(fakeProgram("", "20")))), "protocol", `a program of the name ""`},
		{"a program with a name that cannot be", fakeBody(fakeMulticall(running, fakePrograms(fakeProgram("a b", "20")))), "protocol", `a program of the name "a b"`},
		{"a program with a name that is too long", fakeBody(fakeMulticall(running, fakePrograms(fakeProgram(strings.Repeat("x", 256), "20")))), "protocol", "a program of the name"},
		{"a program twice", fakeBody(fakeMulticall(running, fakePrograms(many[0], many[0]))), "protocol", `program "p000:p000" twice`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newCollector(t, startSupervisord(t, tt.answer), "")
			samples, err := collectortest.Collect(t, c)
			if got := fakeFailure(t, samples); got != tt.reason || (err != nil) != (tt.reason != "") {
				t.Errorf("reason = %q, error %v, want %q", got, err, tt.reason)
			}
			answered := tt.reason == "" || tt.reason == "too_many" || strings.Contains(tt.name, "in the state")
			if up, ok := collectortest.Value(samples, `vitals_supervisor_up{supervisor="s"}`); !ok || (up == 1) != answered {
				t.Errorf("vitals_supervisor_up = %v, %v, want %v", up, ok, answered)
			}
			if err == nil {
				return
			}
			if text := err.Error(); !strings.Contains(text, tt.text) || len(text) > 600 || strings.Contains(text, "\n") {
				t.Errorf("error = %q, want one line with %q", text, tt.text)
			}
			if !answered && (len(samples) != 10 || collectortest.Note(c) == "" || len(collectortest.Note(c)) > 200) {
				t.Errorf("%d samples, Note() = %q, want vitals_supervisor_up, nine reasons, and a note", len(samples), collectortest.Note(c))
			}
		})
	}
}

func TestSockets(t *testing.T) {
	dir := collectortest.Dir(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	collectortest.Write(t, at("file"), "")
	left, err := net.ListenUnix("unix", &net.UnixAddr{Name: at("left"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	left.SetUnlinkOnClose(false)
	_ = left.Close()
	port := httptest.NewServer(nil)
	port.Close()
	tests := []struct{ name, config, reason string }{
		{"E43 missing", "socket: " + at("none"), "missing"},
		{"E43 below a file", "socket: " + at("file/s.sock"), "missing"},
		{"E43 refused", "socket: " + at("left"), "refused"},
		{"E43 a file", "socket: " + at("file"), "refused"},
		{"E43 no port", "url: " + port.URL, "refused"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			samples, err := collectortest.Collect(t, collectortest.New(t, "s", tt.config, &supervisor.Config{}))
			if got := fakeFailure(t, samples); got != tt.reason || err == nil {
				t.Errorf("reason = %q, error %v, want %q", got, err, tt.reason)
			}
		})
	}
}

func TestHangs(t *testing.T) {
	for _, when := range []string{"before the header", "in the body"} {
		t.Run(when, func(t *testing.T) {
			free := make(chan struct{})
			socket := startSupervisord(t, func(w http.ResponseWriter, _ *http.Request) {
				if when == "in the body" {
					_, _ = io.WriteString(w, "<methodResponse>")
					_ = http.NewResponseController(w).Flush()
				}
				<-free
			})
			defer close(free)
			samples, err := collectortest.CollectWithin(t, newCollector(t, socket, ""), 50*time.Millisecond)
			if got := fakeFailure(t, samples); got != "timeout" || err == nil {
				t.Errorf("reason = %q, error %v, want timeout", got, err)
			}
		})
	}
}

func TestPasswords(t *testing.T) {
	var user, password string
	var given bool
	socket := startSupervisord(t, func(w http.ResponseWriter, r *http.Request) {
		if user, password, given = r.BasicAuth(); !given || user != "u" || password != "correct-horse" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fakeRecorded(t, "programs.xml")(w, r)
	})
	file := filepath.Join(t.TempDir(), "password")
	collectortest.Write(t, file, "correct-horse\n")
	for _, tt := range []struct{ name, config, reason string }{
		{"none", "", "auth"},
		{"in the configuration", ", username: u, password: correct-horse", ""},
		{"in a file", ", username: u, password_file: " + file, ""},
		{"wrong", ", username: u, password: battery-staple", "auth"},
		{"in a file that is missing", ", username: u, password_file: /nowhere/password", "auth"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newCollector(t, socket, tt.config)
			samples, err := collectortest.Collect(t, c)
			if got := fakeFailure(t, samples); got != tt.reason || (err != nil) != (tt.reason != "") {
				t.Errorf("reason = %q, error %v, want %q", got, err, tt.reason)
			}
			for _, shown := range []string{fmt.Sprintf("%v %+v", err, c), collectortest.Note(c)} {
				if strings.Contains(shown, "correct-horse") || strings.Contains(shown, "battery-staple") {
					t.Errorf("shows a password: %s", shown)
				}
			}
		})
	}
}

func TestComesAndGoes(t *testing.T) {
	defer goleak.VerifyNone(t)
	answers := []http.HandlerFunc{fakeRecorded(t, "programs.xml"), fakeRecorded(t, "shutdown.xml"), fakeRecorded(t, "programs.xml")}
	path := filepath.Join(collectortest.Dir(t), "s.sock")
	c := newCollector(t, path, ", programs: [start]")
	var got []string
	for _, answer := range append(answers, nil) {
		end := func() {}
		if answer != nil {
			listener, err := net.Listen("unix", path)
			if err != nil {
				t.Fatal(err)
			}
			server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: answer}}
			server.Start()
			end = server.Close
		}
		samples, _ := collectortest.Collect(t, c)
		_, known := collectortest.Value(samples, `vitals_supervisor_process_exit_status{group="boot",program="start",supervisor="s"}`)
		got = append(got, fmt.Sprint(fakeFailure(t, samples), known))
		end()
	}
	if want := "[true shutting_downfalse true missingfalse]"; fmt.Sprint(got) != want {
		t.Errorf("rounds = %v, want %s", got, want)
	}
}

// A supervisord with a removed socket cannot be queried.
func TestSocketIsRemoved(t *testing.T) {
	socket := startSupervisord(t, fakeRecorded(t, "programs.xml"))
	c := newCollector(t, socket, "")
	if _, err := collectortest.Collect(t, c); err != nil {
		t.Fatalf("Collect() = %v, want no error", err)
	}
	if err := os.Remove(socket); err != nil {
		t.Fatal(err)
	}
	samples, err := collectortest.Collect(t, c)
	if got := fakeFailure(t, samples); got != "missing" || err == nil {
		t.Errorf("reason = %q, error %v, want missing", got, err)
	}
}

// Memory for an answer is a small multiple of the largest that is read.
func TestMemoryIsBounded(t *testing.T) {
	var body strings.Builder
	body.WriteString("<methodResponse><params><param><value><array><data>")
	for body.Len() < 4<<20 {
		body.WriteString("<value></value>")
	}
	c := newCollector(t, startSupervisord(t, fakeBody(body.String())), "")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := collectortest.Collect(t, c); err == nil {
		t.Error("Collect() = nil, want an error")
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 256<<20 {
		t.Errorf("%d MiB allocated for an answer of 4 MiB, want at most 256", grown>>20)
	}
}
