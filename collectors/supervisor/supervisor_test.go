package supervisor_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/supervisor"
)

// startSupervisord listens on a Unix socket and answers like this; it returns the path.
func startSupervisord(t testing.TB, answer http.HandlerFunc) string {
	t.Helper()
	path := filepath.Join(collectortest.Dir(t), "s.sock")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: answer}}
	server.Start()
	t.Cleanup(server.Close)
	return path
}

// fakeRecorded answers with what a supervisord 4.2.5 answered, and checks what it is
// queried.
func fakeRecorded(t testing.TB, file string, replace ...string) http.HandlerFunc {
	t.Helper()
	body := strings.NewReplacer(replace...).Replace(collectortest.Read(t, "testdata/"+file))
	return func(w http.ResponseWriter, r *http.Request) {
		call, err := io.ReadAll(r.Body)
		if err != nil || r.Method != http.MethodPost || r.URL.Path != "/RPC2" || r.Header.Get("Content-Type") != "text/xml" ||
			!strings.Contains(string(call), "system.multicall") || strings.Count(string(call), "supervisor.get") != 2 {
			t.Errorf("%s %s %v: %s (%v), want a multicall of getState and getAllProcessInfo", r.Method, r.URL, r.Header, call, err)
		}
		w.Header().Set("Content-Type", "text/xml")
		_, _ = io.WriteString(w, body)
	}
}

// newCollector makes a collector of the programs of a socket.
func newCollector(t testing.TB, socket, more string) collectors.Collector {
	t.Helper()
	return collectortest.New(t, "s", "{socket: "+socket+more+"}", &supervisor.Config{})
}

// fakeFailure returns the reason that is 1, and empty for none.
func fakeFailure(t testing.TB, samples []collectors.Sample) string {
	t.Helper()
	var reasons []string
	for _, s := range samples {
		if s.Labels.Get("__name__") == "vitals_supervisor_failure" && s.Value == 1 {
			reasons = append(reasons, s.Labels.Get("reason"))
		}
	}
	if len(reasons) > 1 {
		t.Errorf("reasons = %v, want at most one", reasons)
	}
	return strings.Join(reasons, ",")
}

func TestProblems(t *testing.T) {
	tests := []struct{ name, config, want string }{
		{"nothing but defaults", "{}", ""},
		{"everything", "{socket: /s.sock, username: u, password_file: /p, programs: [start, 'grp:*', 'grp:start'], critical: ['program:snmpd', 'group:dhcp-relay'], limit: 1}", ""},
		{"url", "{url: 'http://127.0.0.1:9001', username: u, password: p}", ""},
		{"relative socket", "socket: s.sock", `socket: path "s.sock": expected an absolute path`},
		{"socket too long", "socket: /" + strings.Repeat("x", 107), "socket: socket path has 108 bytes: expected at most 107"},
		{"socket and url", "{socket: /s.sock, url: 'http://127.0.0.1:9001'}", "socket: socket and url: expected one of them"},
		{"url with a path", "url: http://127.0.0.1:9001/RPC2", "url: expected an address such as http://127.0.0.1:9001, without a path"},
		{"url with a port beyond", "url: http://127.0.0.1:90010", "url: port 90010 in the URL: expected 1 to 65535"},
		{"url that is none", "url: 127.0.0.1:9001", "url: expected an address such as http://127.0.0.1:9001, without a path"},
		{"url of a socket", "url: unix:///var/run/supervisor.sock", "url: expected an address such as http://127.0.0.1:9001, without a path"},
		{"password in the url", "url: http://u:p@127.0.0.1:9001", "url: a user in the URL: expected username and password instead"},
		{"both passwords", "{username: u, password: p, password_file: /p}", "password: password and password_file: expected one of them"},
		{"password without a user", "password: p", "username: no user name for the password: expected username, too"},
		{"user without a password", "username: u", "username: no password for the user name: expected password or password_file, too"},
		{"relative files", "{username: u, password_file: p, critical_file: c}", "critical_file: path \"c\": expected an absolute path\npassword_file: expected the absolute path of a file"},
		{"names of programs", "programs: ['', 'a b', '*', 'a:', ':b', 'a:b:c', 'a:**']", `programs[0]: program "": expected NAME, GROUP:NAME or GROUP:*
programs[1]: program "a b": expected NAME, GROUP:NAME or GROUP:*
programs[2]: program "*": expected NAME, GROUP:NAME or GROUP:*
programs[3]: program "a:": expected NAME, GROUP:NAME or GROUP:*
programs[4]: program ":b": expected NAME, GROUP:NAME or GROUP:*
programs[5]: program "a:b:c": expected NAME, GROUP:NAME or GROUP:*
programs[6]: program "a:**": expected NAME, GROUP:NAME or GROUP:*`},
		{"E58 critical without a colon", "critical: [snmpd]", `critical[0]: "snmpd": expected program:NAME or group:NAME, with exactly one ":" and nothing else`},
		{"E58 critical of an unknown kind", "critical: ['service:snmpd']", `critical[0]: key "service": expected program or group`},
		{"no limit", "limit: 0", "limit: limit 0: expected more than 0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := collectortest.Problems(t, tt.config, &supervisor.Config{}); got != tt.want {
				t.Errorf("Problems() = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestIsLocal(t *testing.T) {
	for url, want := range map[string]bool{
		"": false, "http://127.0.0.1:9001": false, "http://localhost:9001": false, "http://[::1]:9001": false, "http://192.0.2.1:9001": true, "http://supervisor:9001": true,
	} {
		c := &supervisor.Config{URL: url}
		if got := c.External(); got != want || c.Uses() != nil {
			t.Errorf("External() of %q, Uses() = %v, %v, want %v, nil", url, got, c.Uses(), want)
		}
	}
}

func TestExposition(t *testing.T) {
	socket := startSupervisord(t, fakeRecorded(t, "programs.xml"))
	c := newCollector(t, socket, ", programs: [start, 'worker:*', absent], critical: ['program:running', 'group:absent']")
	samples, err := collectortest.Collect(t, c)
	if err != nil {
		t.Fatalf("Collect() = %v, want no error", err)
	}
	collectortest.Golden(t, "metrics.prom", collectortest.Exposition(samples, c.Describe()))
}

// The states of table B.1, as returned by a real supervisord.
func TestProgramStates(t *testing.T) {
	socket := startSupervisord(t, fakeRecorded(t, "programs.xml"))
	c := newCollector(t, socket, "")
	samples, err := collectortest.Collect(t, c)
	if err != nil {
		t.Fatalf("Collect() = %v, want no error", err)
	}
	tests := []struct {
		name, group, program, state string
		exit                        string
		spawnError                  float64
	}{
		{"E36 exited with 0", "done", "done", "exited", "0", 0},
		{"E37 exited with 3", "three", "three", "exited", "3", 1},
		{"E38 killed by a signal", "killed", "killed", "exited", "-1", 1},
		{"E39 running", "running", "running", "running", "", 0},
		{"E39 starting", "starting", "starting", "starting", "", 0},
		{"E39 backoff", "backoff", "backoff", "backoff", "", 1},
		{"E39 stopped", "stopped", "stopped", "stopped", "", 0},
		{"E39 stopping", "stopping", "stopping", "stopping", "", 0},
		{"E40 fatal, cannot be started", "fatal-spawn", "fatal-spawn", "fatal", "", 1},
		{"E40 fatal, ends at once", "fatal-loop", "fatal-loop", "fatal", "", 1},
		{"E42 in a group", "boot", "start", "exited", "0", 0},
		{"E53 exited with a status that is expected", "expected", "expected", "exited", "3", 0},
		{"one of several processes", "worker", "worker_01", "running", "", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			of := fmt.Sprintf(`group=%q,program=%q`, tt.group, tt.program)
			states := 0.0
			for _, s := range samples {
				if s.Labels.Get("__name__") == "vitals_supervisor_process_state" && s.Labels.Get("group") == tt.group && s.Labels.Get("program") == tt.program {
					states += s.Value
				}
			}
			if v, ok := collectortest.Value(samples, `vitals_supervisor_process_state{`+of+fmt.Sprintf(`,state=%q,supervisor="s"}`, tt.state)); !ok || v != 1 || states != 1 {
				t.Errorf("state %s = %v (%v), all states together %v, want 1, 1", tt.state, v, ok, states)
			}
			exit := ""
			if v, ok := collectortest.Value(samples, `vitals_supervisor_process_exit_status{`+of+`,supervisor="s"}`); ok {
				exit = fmt.Sprint(v)
			}
			if exit != tt.exit {
				t.Errorf("exit status = %q, want %q", exit, tt.exit)
			}
			if v, ok := collectortest.Value(samples, `vitals_supervisor_process_spawn_error{`+of+`,supervisor="s"}`); !ok || v != tt.spawnError {
				t.Errorf("spawn error = %v (%v), want %v", v, ok, tt.spawnError)
			}
			if _, ok := collectortest.Value(samples, `vitals_supervisor_process_uptime_seconds{`+of+`,supervisor="s"}`); ok != (tt.state == "running") {
				t.Errorf("uptime present = %v, want it while running", ok)
			}
		})
	}
}

func TestPrograms(t *testing.T) {
	socket := startSupervisord(t, fakeRecorded(t, "programs.xml"))
	tests := []struct{ name, config, programs, present, note string }{
		{"all", "", "14", "", "backoff BACKOFF (Exited too quickly (process log may have details)), expected EXITED 3, fatal-loop FATAL (Exited too quickly (process log may have details)), fatal-spawn FATAL (can't find command '..."},
		{"E36 the one that has to end", ", programs: [done]", "done:done", "done 1", "done EXITED 0, 1 exited"},
		{"E37 with another status", ", programs: [three]", "three:three", "three 1", "three EXITED 3 (Bad exit code 3), 1 exited"},
		{"E38 by a signal", ", programs: [killed]", "killed:killed", "killed 1", "killed EXITED -1 (Bad exit code -1), 1 exited"},
		{"E39 that has not ended yet", ", programs: [running]", "running:running", "running 1", "running RUNNING, 1 running"},
		{"E40 that cannot be started", ", programs: [fatal-spawn]", "fatal-spawn:fatal-spawn", "fatal-spawn 1", "fatal-spawn FATAL (can't find command '/usr/bin/no-such-program'), 1 fatal"},
		{"E41 that does not exist", ", programs: [absent]", "", "absent 0", "no program absent, no programs"},
		{"E42 only in a group", ", programs: [start]", "boot:start", "start 1", "boot:start EXITED 0, 1 exited"},
		{"E42 in its group", ", programs: ['boot:start']", "boot:start", "boot:start 1", "boot:start EXITED 0, 1 exited"},
		{"in another group", ", programs: ['other:start']", "", "other:start 0", "no program other:start, no programs"},
		{"a group", ", programs: ['worker:*', 'none:*']", "worker:worker_00 worker:worker_01", "none:* 0, worker:* 1", "no program none:*, 2 running"},
		{"E57 critical beside it", ", programs: [done, done], critical: ['program:running', 'group:worker']", "done:done running:running! worker:worker_00! worker:worker_01!",
			"done 1, running 1, worker:* 1", "done EXITED 0, 3 running, 1 exited"},
		{"critical that does not exist", ", programs: [done], critical: ['program:absent']", "done:done", "absent 0, done 1", "no program absent, done EXITED 0, 1 exited"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newCollector(t, socket, tt.config)
			samples, err := collectortest.Collect(t, c)
			if err != nil {
				t.Fatalf("Collect() = %v, want no error", err)
			}
			var programs, present []string
			for _, s := range samples {
				switch s.Labels.Get("__name__") {
				case "vitals_supervisor_process_critical":
					programs = append(programs, s.Labels.Get("group")+":"+s.Labels.Get("program")+strings.Repeat("!", int(s.Value)))
				case "vitals_supervisor_process_present":
					present = append(present, fmt.Sprint(s.Labels.Get("program"), " ", s.Value))
				}
			}
			if got := strings.Join(programs, " "); got != tt.programs && fmt.Sprint(len(programs)) != tt.programs {
				t.Errorf("programs = %s, want %s", got, tt.programs)
			}
			if got := collectortest.Sorted(strings.Join(present, "\n")); got != strings.ReplaceAll(tt.present, ", ", "\n") {
				t.Errorf("present = %q, want %q", got, tt.present)
			}
			if got := collectortest.Note(c); got != tt.note {
				t.Errorf("Note() = %q, want %q", got, tt.note)
			}
		})
	}
}
