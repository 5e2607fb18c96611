package systemd_test

import (
	"bufio"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/systemd"
	"github.com/vitals-health/vitals/internal/fakes"
)

func TestProblems(t *testing.T) {
	const notOne = `: expected the full name of one unit, such as nova-compute.service: no pattern, and no template without its instance`
	tests := []struct{ name, config, want string }{
		{"no unit", "{}", "units: no unit: expected at least one, such as nova-compute.service"},
		{"units", `{units: [nova-compute.service, "getty@tty1.service", "dev-disk-by\\x2dlabel.device", a.b.timer, ":-_.socket", "a@b@c.service"]}`, ""},
		{"without a type", "{units: [nova-compute]}", `units[0]: unit "nova-compute"` + notOne},
		{"unknown type", "{units: [a.service, a.snapshot]}", `units[1]: unit "a.snapshot"` + notOne},
		{"pattern", `{units: ["tripleo_*.service"]}`, `units[0]: unit "tripleo_*.service"` + notOne},
		{"pattern of instances", `{units: ["foo@*.service"]}`, `units[0]: unit "foo@*.service"` + notOne},
		{"template", `{units: ["foo@.service"]}`, `units[0]: unit "foo@.service"` + notOne},
		{"instance of nothing", `{units: ["@tty1.service"]}`, `units[0]: unit "@tty1.service"` + notOne},
		{"path", "{units: [/dev/sda]}", `units[0]: unit "/dev/sda"` + notOne},
		{"type alone", "{units: [.service]}", `units[0]: unit ".service"` + notOne},
		{"too long", "{units: [" + strings.Repeat("a", 248) + ".service]}", `units[0]: unit "` + strings.Repeat("a", 248) + `.service"` + notOne},
		{"unit twice", "{units: [a.service, b.service, a.service]}", `units[2]: unit "a.service" is named twice`},
		{"relative bus", "{units: [a.service], bus: bus}", `bus: path "bus": expected an absolute path`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := collectortest.Problems(t, tt.config, &systemd.Config{}); got != tt.want {
				t.Errorf("Problems() = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestIsLocal(t *testing.T) {
	c := &systemd.Config{}
	if c.External() || c.Uses() != nil {
		t.Errorf("External(), Uses() = %v, %v, want false, nil", c.External(), c.Uses())
	}
}

// units are units in all states, as returned by a real systemd.
func units() map[string]fakes.SystemdUnit {
	service := func(result string, restarts uint32, status int32) map[string]any {
		return map[string]any{
			"Unit.ActiveEnterTimestamp": uint64(1_700_000_000_250_000),
			"Service.Result":            result, "Service.NRestarts": restarts, "Service.ExecMainStatus": status,
		}
	}
	return map[string]fakes.SystemdUnit{
		"running.service":   {Load: "loaded", Active: "active", Properties: service("success", 2, 0)},
		"exited.service":    {Load: "loaded", Active: "failed", Properties: service("exit-code", 0, 3)},
		"killed.service":    {Load: "loaded", Active: "failed", Properties: service("signal", 5, 9)},
		"dumped.service":    {Load: "loaded", Active: "failed", Properties: service("core-dump", 0, 6)},
		"starting.service":  {Load: "loaded", Active: "activating", Properties: service("exit-code", 7, 1)},
		"limited.service":   {Load: "loaded", Active: "failed", Properties: service("start-limit-hit", 5, 1)},
		"reloading.service": {Load: "loaded", Active: "refreshing", Properties: service("success", 0, 0)},
		"masked.service":    {Load: "masked", Active: "inactive", Properties: service("success", 0, 0)},
		"bad.service":       {Load: "bad-setting", Active: "inactive", Properties: service("success", 0, 0)},
		"gone.service":      {Load: "not-found", Active: "active", Properties: service("success", 0, 0)},
		"a@tty-1.service":   {Load: "loaded", Active: "active", Properties: service("success", 0, 0)},
		"old.service": {Load: "loaded", Active: "inactive", Properties: map[string]any{ // before version 235
			"Service.Result": "success",
		}},
		"basic.target":     {Load: "loaded", Active: "active", Properties: map[string]any{"Unit.ActiveEnterTimestamp": uint64(1_700_000_000_000_000)}},
		"dreaming.service": {Load: "loaded", Active: "dreaming", Properties: service("success", 0, 0)},
		"merged.service":   {Load: "merged", Active: "inactive", Properties: service("success", 0, 0)},
		"text.service":     {Load: "loaded", Active: "inactive", Properties: map[string]any{"Service.Result": "success", "Service.NRestarts": "2"}},
		"a.socket":         {Load: "loaded", Active: "failed", Properties: map[string]any{"Socket.Result": "trigger-limit-hit"}},
	}
}

// startSystemd runs the fake and returns the path of its socket.
func startSystemd(t *testing.T) (*fakes.Systemd, string) {
	t.Helper()
	socket := filepath.Join(collectortest.Dir(t), "bus")
	s, err := fakes.StartSystemd(socket, units())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, socket
}

// newSystemd makes a collector of units behind a socket.
func newSystemd(t *testing.T, socket string, units ...string) collectors.Collector {
	t.Helper()
	return collectortest.New(t, "units", `{bus: `+socket+`, units: ["`+strings.Join(units, `", "`)+`"]}`, &systemd.Config{})
}

func TestExposition(t *testing.T) {
	_, socket := startSystemd(t)
	c := newSystemd(t, socket, "running.service", "exited.service", "missing.service", "basic.target")
	samples, err := collectortest.Collect(t, c)
	if err != nil {
		t.Fatalf("Collect() = %v, want no error", err)
	}
	collectortest.Golden(t, "metrics.prom", collectortest.Exposition(samples, c.Describe()))
}

func TestStates(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	s, socket := startSystemd(t)
	defer s.Close()
	for _, tt := range []struct {
		unit, load, state, result string  // which of the states is 1; "" for no state set
		restarts, start           float64 // -1 for absent
		note                      string
	}{
		{"running.service", "loaded", "active", "success", 2, 1_700_000_000.25, "running.service active"},
		{"exited.service", "loaded", "failed", "exit_code", 0, -1, "exited.service failed: exit_code 3"},
		{"killed.service", "loaded", "failed", "signal", 5, -1, "killed.service failed: signal 9"},
		{"dumped.service", "loaded", "failed", "core_dump", 0, -1, "dumped.service failed: core_dump 6"},
		{"starting.service", "loaded", "activating", "exit_code", 7, -1, "starting.service activating: exit_code 1"},
		{"limited.service", "loaded", "failed", "start_limit_hit", 5, -1, "limited.service failed: start_limit_hit 1"},
		{"reloading.service", "loaded", "reloading", "success", 0, 1_700_000_000.25, "reloading.service reloading"},
		{"masked.service", "masked", "inactive", "success", 0, -1, "masked.service masked"},
		{"bad.service", "bad_setting", "inactive", "success", 0, -1, "bad.service bad_setting"},
		{"gone.service", "not_found", "active", "success", 0, 1_700_000_000.25, "gone.service active"},
		{"missing.service", "not_found", "inactive", "", -1, -1, "missing.service not_found"},
		{"a@tty-1.service", "loaded", "active", "success", 0, 1_700_000_000.25, "a@tty-1.service active"},
		{"old.service", "loaded", "inactive", "success", -1, -1, "old.service inactive"},
		{"basic.target", "loaded", "active", "", -1, 1_700_000_000, "basic.target active"},
		{"a.socket", "loaded", "failed", "other", -1, -1, "a.socket failed: other"},
	} {
		t.Run(tt.unit, func(t *testing.T) {
			c := newSystemd(t, socket, tt.unit)
			samples, err := collectortest.Collect(t, c)
			if err != nil {
				t.Fatalf("Collect() = %v, want no error", err)
			}
			wantStateSet(t, samples, "vitals_systemd_unit_load_state", "state", tt.load)
			wantStateSet(t, samples, "vitals_systemd_unit_state", "state", tt.state)
			wantStateSet(t, samples, "vitals_systemd_unit_result", "result", tt.result)
			wantStateSet(t, samples, "vitals_systemd_failure", "reason", "")
			for metric, want := range map[string]float64{
				"vitals_systemd_unit_restarts_total":          tt.restarts,
				"vitals_systemd_unit_start_timestamp_seconds": tt.start,
			} {
				got, ok := collectortest.Value(samples, metric+`{systemd="units",unit="`+tt.unit+`"}`)
				if ok != (want >= 0) || ok && got != want {
					t.Errorf("%s = %v, %t, want %v (-1 for none)", metric, got, ok, want)
				}
			}
			if note := collectortest.Note(c); note != tt.note {
				t.Errorf("Note() = %q, want %q", note, tt.note)
			}
		})
	}
}

// wantStateSet wants one state of a set to be 1; "" wants none.
func wantStateSet(t *testing.T, samples []collectors.Sample, metric, label, want string) {
	t.Helper()
	var holds []string
	for _, s := range samples {
		if s.Labels.Get("__name__") == metric && s.Value == 1 {
			holds = append(holds, s.Labels.Get(label))
		}
	}
	if got := strings.Join(holds, " and "); got != want {
		t.Errorf("%s is %q, want %q", metric, got, want)
	}
}

func TestNote(t *testing.T) {
	_, socket := startSystemd(t)
	many := []string{"running.service", "basic.target"}
	c := newSystemd(t, socket, many...)
	if _, err := collectortest.Collect(t, c); err != nil {
		t.Fatal(err)
	}
	if got, want := collectortest.Note(c), "2 units active"; got != want {
		t.Errorf("Note() = %q, want %q", got, want)
	}
	for range 20 {
		many = append(many, strings.Repeat("x", len(many))+".service")
	}
	c = newSystemd(t, socket, many...)
	if _, err := collectortest.Collect(t, c); err != nil {
		t.Fatal(err)
	}
	if got := collectortest.Note(c); len(got) > 200 || !strings.HasPrefix(got, "xx.service not_found, xxx.service not_found, ") {
		t.Errorf("Note() = %q, %d bytes, want the first units that are not active in at most 200", got, len(got))
	}
}

func TestFailures(t *testing.T) {
	const errors = "org.freedesktop.DBus.Error."
	tests := []struct {
		name, member, fault, reason, text string
		units                             int // whose state is known all the same
	}{
		{"systemd is not on the bus", "ListUnitsByNames", errors + "ServiceUnknown", "missing", "list units: injected fault " + errors + "ServiceUnknown", 0},
		{"systemd cannot be started", "ListUnitsByNames", errors + "Spawn.ChildExited", "missing", "list units: ", 0},
		{"the policy forbids it", "ListUnitsByNames", errors + "AccessDenied", "forbidden", "list units: ", 0},
		{"systemd does not answer the bus", "ListUnitsByNames", errors + "NoReply", "timeout", "list units: ", 0},
		{"systemd does not answer", "ListUnitsByNames", fakes.Silence, "timeout", "list units: ", 0},
		{"the bus does not answer", "Hello", fakes.Silence, "timeout", "", 0},
		{"before version 230", "ListUnitsByNames", errors + "UnknownMethod", "protocol", "list units: ", 0},
		{"a property is gone", "Get", errors + "UnknownObject", "protocol", "unit running.service: property ActiveEnterTimestamp: ", 2},
		{"a property does not come", "Get", fakes.Silence, "timeout", "unit running.service: property ActiveEnterTimestamp: ", 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
			s, socket := startSystemd(t)
			defer s.Close()
			s.Fault(tt.member, tt.fault)
			c := newSystemd(t, socket, "running.service", "exited.service")
			collect := collectortest.Collect
			if tt.fault == fakes.Silence {
				collect = func(t testing.TB, c collectors.Collector) ([]collectors.Sample, error) {
					return collectortest.Outlast(t, c, collectortest.ErrorContains("query systemd at "+socket+": "+tt.text))
				}
			}
			samples, err := collect(t, c)
			if err == nil || !strings.HasPrefix(err.Error(), "query systemd at "+socket+": "+tt.text) {
				t.Errorf("Collect() = %v, want an error about %q", err, tt.text)
			}
			wantSystemdDown(t, samples, tt.reason)
			known := 0
			for _, s := range samples {
				if s.Labels.Get("__name__") == "vitals_systemd_unit_state" && s.Value == 1 {
					known++
				}
			}
			if known != tt.units {
				t.Errorf("the states of %d units are known, want %d", known, tt.units)
			}
			s.Fault(tt.member, "")
			if samples, err = collectortest.Collect(t, c); err != nil {
				t.Errorf("Collect() = %v after the fault, want no error", err)
			}
			wantStateSet(t, samples, "vitals_systemd_failure", "reason", "")
		})
	}
}

// The second connection of the library, for signals, leaks no goroutine where it
// ends while it is set up.
func TestSignalsAreNotAwaited(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	s, socket := startSystemd(t)
	defer s.Close()
	s.Fault("AddMatch", fakes.Silence)
	c := newSystemd(t, socket, "running.service")
	for range 3 {
		if samples, err := collectortest.CollectWithin(t, c, 100*time.Millisecond); len(samples) == 0 {
			t.Errorf("Collect() = nothing, %v, want at least that systemd is not up", err)
		}
	}
}

func wantSystemdDown(t *testing.T, samples []collectors.Sample, reason string) {
	t.Helper()
	if up, ok := collectortest.Value(samples, `vitals_systemd_up{systemd="units"}`); !ok || up != 0 {
		t.Errorf("vitals_systemd_up = %v, %t, want 0", up, ok)
	}
	wantStateSet(t, samples, "vitals_systemd_failure", "reason", reason)
}

// peer listens on a socket and serves every connection.
func peer(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	socket := filepath.Join(collectortest.Dir(t), "bus")
	collectortest.ListenOn(t, "unix", socket, nil, serve)
	return socket
}

func TestSocketFailures(t *testing.T) {
	dir := collectortest.Dir(t)
	refusing := filepath.Join(dir, "refusing")
	listener, err := net.Listen("unix", refusing)
	if err != nil {
		t.Fatal(err)
	}
	listener.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := errors.Join(listener.Close(), os.WriteFile(filepath.Join(dir, "file"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct{ socket, reason string }{
		"no socket":            {filepath.Join(dir, "nowhere"), "missing"},
		"no listener":          {refusing, "refused"},
		"a file":               {filepath.Join(dir, "file"), "refused"},
		"no login method":      {peer(t, func(c net.Conn) { answerLines(c, "REJECTED\r\n") }), "protocol"},
		"refuses this user":    {peer(t, func(c net.Conn) { answerLines(c, "REJECTED EXTERNAL\r\n", "REJECTED EXTERNAL\r\n") }), "forbidden"},
		"takes another login":  {peer(t, func(c net.Conn) { answerLines(c, "REJECTED DBUS_COOKIE_SHA1\r\n") }), "forbidden"},
		"too many connections": {peer(t, func(net.Conn) {}), "protocol"},
		"is something else":    {peer(t, func(c net.Conn) { answerLines(c, "HTTP/1.1 400 Bad Request\r\n") }), "protocol"},
		"unknown user":         {peer(t, func(c net.Conn) { answerLines(c, "REJECTED EXTERNAL\r\n", "OK 00\r\n") }), "forbidden"},
	} {
		t.Run(name, func(t *testing.T) {
			samples, err := collectortest.Collect(t, newSystemd(t, tt.socket, "a.service"))
			wantSystemdDown(t, samples, tt.reason)
			if err == nil || t.Failed() {
				t.Errorf("Collect() = %v, want an error with the reason %s", err, tt.reason)
			}
		})
	}
}

// answerLines answers one text for each line that is read.
func answerLines(conn net.Conn, texts ...string) {
	in := bufio.NewReader(conn)
	for _, text := range texts {
		if _, err := in.ReadString('\n'); err != nil {
			return
		}
		if _, err := conn.Write([]byte(text)); err != nil {
			return
		}
	}
	_, _ = in.ReadString('\n')
}

// An invalid state of one unit does not hide the others.
func TestSaysWhatMakesNoSense(t *testing.T) {
	_, socket := startSystemd(t)
	for name, tt := range map[string]struct{ unit, text string }{
		"state":      {"dreaming.service", `unit dreaming.service: state "dreaming" is unknown`},
		"load state": {"merged.service", `unit merged.service: load state "merged" is unknown`},
		"type":       {"text.service", `unit text.service: property NRestarts has type s: expected uint32`},
	} {
		t.Run(name, func(t *testing.T) {
			samples, err := collectortest.Collect(t, newSystemd(t, socket, tt.unit, "running.service"))
			if err == nil || !strings.HasSuffix(err.Error(), ": "+tt.text) {
				t.Errorf("Collect() = %v, want %s", err, tt.text)
			}
			wantSystemdDown(t, samples, "protocol")
			if got, _ := collectortest.Value(samples, `vitals_systemd_unit_state{state="active",systemd="units",unit="running.service"}`); got != 1 {
				t.Errorf("running.service is active %v, want 1", got)
			}
		})
	}
}

// A peer that never stops talking is not listened to for ever, nor remembered.
func TestHostilePeers(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	login := func(c net.Conn) { answerLines(c, "REJECTED EXTERNAL\r\n", "OK 00\r\n") }
	forever := func(c net.Conn, text string) {
		for {
			if _, err := c.Write([]byte(text)); err != nil {
				return
			}
		}
	}
	huge := "l\x02\x00\x01\xff\xff\xff\x07\x01\x00\x00\x00\x08\x00\x00\x00\x05\x01u\x00\x01\x00\x00\x00"
	for name, serve := range map[string]func(net.Conn){
		"endless line":          func(c net.Conn) { forever(c, strings.Repeat("a", 4096)) },
		"endless rejections":    func(c net.Conn) { forever(c, "REJECTED EXTERNAL\r\n") },
		"no answer":             func(c net.Conn) { answerLines(c) },
		"garbage after a login": func(c net.Conn) { login(c); forever(c, "garbage") },
		"zeros after a login":   func(c net.Conn) { login(c); forever(c, strings.Repeat("\x00", 4096)) },
		"endless body":          func(c net.Conn) { login(c); forever(c, huge) },
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			samples, err := collectortest.CollectWithin(t, newSystemd(t, peer(t, serve), "a.service"), 2*collectortest.Brief)
			if err == nil {
				t.Error("Collect() = nil, want an error")
			}
			if took := time.Since(start); took > collectortest.Patience {
				t.Errorf("Collect() took %s, want it to end at its deadline", took)
			}
			if up, ok := collectortest.Value(samples, `vitals_systemd_up{systemd="units"}`); !ok || up != 0 {
				t.Errorf("vitals_systemd_up = %v, %t, want 0", up, ok)
			}
		})
	}
}
