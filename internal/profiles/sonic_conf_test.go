package profiles

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The file of programs with heartbeats is as strict as that of critical programs.
func TestSonicWatchdogProcesses(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"one", "program:orchagent\n", "orchagent"},
		{"several with blank lines", "\nprogram:orchagent\n \n\tprogram:syncd", "orchagent syncd"},
		{"E59 empty", "", ""},
		{"a group", "program:a\ngroup:b\n", `/w:2: "group:b": expected program:NAME`},
		{"E58 no colon", "orchagent", `/w:1: "orchagent": expected program:NAME`},
		{"E58 two colons", "program:a:b", `/w:1: "program:a:b": expected program:NAME`},
		{"E58 no name", "program:\n# comment", `/w:1: "program:": expected program:NAME` + "\n" + `/w:2: "# comment": expected program:NAME`},
		{"a name that cannot be a label", "program:a b", `/w:1: name "a b": expected 1 to 63 letters, digits, '.', '_' or '-', with a letter or digit at both ends`},
		{"twice", "program:a\nprogram:a", `/w:2: program "a": expected each once`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			programs, errs := parseWatchdogProcesses("/w", tt.text)
			got := strings.Join(programs, " ")
			if len(errs) > 0 {
				var lines []string
				for _, err := range errs {
					lines = append(lines, err.Error())
				}
				got = strings.Join(lines, "\n")
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("parseWatchdogProcesses() (-want +got):\n%s", diff)
			}
		})
	}
}

// Variables replace the defaults of the profile.
func TestSonicVariables(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir+"/w", "program:orchagent\n")
	writeFile(t, dir+"/c", "program:orchagent\n")
	l, errs := Load(Options{Name: "sonic", Set: map[string]string{
		"socket": "/s.sock", "hook": "/h", "critical_processes": dir + "/c", "watchdog_processes": dir + "/w", "heartbeat": "1m30s",
		"auto_restart": "disabled", "hook_not_executable": "fail",
	}})
	if len(errs) > 0 {
		t.Fatalf("Load() = %v, want no errors", errs)
	}
	hearts := collectorNamed(l, "heartbeats").Components
	got := map[string]string{
		"socket": collectorNamed(l, "supervisor").Supervisor.Socket, "hook": collectorNamed(l, "hook").Script.Command[0],
		"critical_processes": collectorNamed(l, "supervisor").Supervisor.CriticalFile, "its file": collectorNamed(l, "critical-processes").File.Path,
		"heartbeat": hearts.Deadline.String(), "expected": strings.Join(hearts.Expect, " "), "rules": strings.Join(l.Config.RuleFiles, " "),
	}
	want := map[string]string{
		"socket": "/s.sock", "hook": "/h", "critical_processes": dir + "/c", "its file": dir + "/c",
		"heartbeat": "1m30s", "expected": "orchagent", "rules": "builtin:sonic builtin:sonic-no-restart builtin:sonic-critical-shown builtin:sonic-hook-refused",
	}
	if !maps.Equal(got, want) {
		t.Errorf("the profile has %v, want %v", got, want)
	}
}

// What becomes of critical programs.
func TestSonicCriticalPrograms(t *testing.T) {
	for _, tt := range []struct {
		set  map[string]string
		want string
	}{
		{nil, "sonic sonic-alive sonic-hook-skipped"},
		{map[string]string{"critical_programs": "obey"}, "sonic sonic-alive sonic-hook-skipped"},
		{map[string]string{"critical_programs": "show"}, "sonic sonic-critical-shown sonic-hook-skipped"},
		{map[string]string{"critical_programs": "show", "auto_restart": "disabled"}, "sonic sonic-critical-shown sonic-hook-skipped"},
		{map[string]string{"auto_restart": "disabled"}, "sonic sonic-no-restart sonic-critical-shown sonic-hook-skipped"},
	} {
		l, errs := Load(Options{Name: "sonic", Set: tt.set})
		if len(errs) > 0 {
			t.Fatalf("Load() = %v, want no errors", errs)
		}
		if got := strings.ReplaceAll(strings.Join(l.Config.RuleFiles, " "), "builtin:", ""); got != tt.want {
			t.Errorf("with %v the rules are %s, want %s", tt.set, got, tt.want)
		}
	}
}
