package script_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/script"
)

// newShell returns the collector of a shell command.
func newShell(t testing.TB, command, more string) collectors.Collector {
	t.Helper()
	return collectortest.New(t, "s", fmt.Sprintf("{command: [/bin/sh, -c, %s]%s}", strconv.Quote(command), more), &script.Config{})
}

// file writes a program.
func file(t testing.TB, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hook")
	collectortest.Write(t, path, text)
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// outcome runs a collector and returns what it exports and its note, as in
// "critical, exit 7: exit code 7".
func outcome(t testing.TB, c collectors.Collector, timeout time.Duration) string {
	t.Helper()
	samples, err := collectortest.CollectWithin(t, c, timeout)
	var result []string
	for _, name := range []string{"status", "failure"} {
		ones := 0
		for _, s := range samples {
			if s.Labels.Get("__name__") == "vitals_script_"+name && s.Value == 1 {
				result = append(result, s.Labels.Get("status")+s.Labels.Get("reason"))
				ones++
			}
		}
		if ones > 1 || (name == "failure") != (err == nil) && ones == 0 && name == "failure" {
			t.Errorf("Collect() = %v, %v, want one %s at most, and an error with a failure", samples, err, name)
		}
	}
	for _, what := range []string{"exit_code", "signal"} {
		if v, ok := collectortest.Value(samples, fmt.Sprintf("vitals_script_%s{script=%q}", what, "s")); ok && (v != 0 || what == "exit_code") {
			result = append(result, fmt.Sprintf("%s %v", strings.TrimSuffix(what, "_code"), v))
		}
	}
	return strings.Join(result, ", ") + ": " + collectortest.Note(c)
}

// killed is outcome for a script that runs until it is killed. It repeats with longer deadlines
// until the collector reports how the process ended: on a busy machine, the reserve of a tenth
// of the deadline may be too short.
func killed(t testing.TB, c collectors.Collector, timeout time.Duration) string {
	t.Helper()
	var result string
	collectortest.Wait(t, "it is known how the script ends", func() bool {
		result = outcome(t, c, timeout)
		if strings.Contains(result, "the process of an earlier collection was killed") {
			return false
		}
		timeout *= 2
		return !strings.HasPrefix(result, "unknown, timeout: ") || timeout > collectortest.Patience/2
	})
	return result
}

func TestProblems(t *testing.T) {
	tests := []struct{ name, config, want string }{
		{"no command", "{}", "command: no command: expected a program's absolute path and its arguments"},
		{"relative path", "command: [check_disk]", `command[0]: path "check_disk": expected an absolute path`},
		{"command", "command: [/usr/bin/check, -w, '10%']", ""},
		{"NUL", `command: [/c, "a\0b"]`, `command[1]: argument: expected none with a NUL`},
		{"convention", "{command: [/c], convention: icinga}", `convention: convention "icinga": expected one of plain, nagios, npd, sonic-hook, category-lines`},
		{"a pattern to inherit", "{command: [/c], inherit: [A, B*]}", `inherit[1]: expected the name of a variable, without '=' and '*'`},
		{"environment", "{command: [/c], environment: {A=B: c}}", `environment: variable "A=B": expected a name without '=', and no NUL`},
		{"directory", "{command: [/c], directory: tmp}", `directory: path "tmp": expected an absolute path`},
		{"missing", "{command: [/c], missing: warn}", `missing: missing "warn": expected fail or ignore`},
		{"limits", "{command: [/c], output_limit: 0, object_limit: 0}", "object_limit: object_limit 0: expected more than 0\noutput_limit: output_limit 0B: expected more than 0B"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := collectortest.Problems(t, tt.config, &script.Config{}); got != tt.want {
				t.Errorf("Problems() = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestIsLocal(t *testing.T) {
	c := &script.Config{Command: []string{"/c"}}
	if c.External() || c.Uses() != nil {
		t.Errorf("External(), Uses() = %v, %v, want false, nil", c.External(), c.Uses())
	}
}

func TestExposition(t *testing.T) {
	var samples []collectors.Sample
	var descs []collectors.Desc
	for _, tt := range []struct{ name, convention, output string }{
		{"disk", "nagios", `DISK OK - 42 % | /=2643MB;5948;5958;0;5968 load=0.5 'read time'=12ms;~:20;30`},
		{"platform", "category-lines", "Power\nPSU 1:OK\nPSU 2:no power"},
	} {
		path := filepath.Join(t.TempDir(), "output")
		collectortest.Write(t, path, tt.output)
		c := collectortest.New(t, tt.name, fmt.Sprintf("{command: [/bin/cat, %s], convention: %s}", path, tt.convention), &script.Config{})
		more, err := collectortest.Collect(t, c)
		if err != nil {
			t.Fatalf("Collect() = %v, want no error", err)
		}
		samples = append(samples, more...)
		for _, d := range c.Describe() {
			if !slices.Contains(descs, d) {
				descs = append(descs, d)
			}
		}
	}
	got := regexp.MustCompile(`(_duration_seconds\{.*\}) .*`).ReplaceAllString(collectortest.Exposition(samples, descs), "$1 0.002")
	collectortest.Golden(t, "metrics.prom", got)
}

// The meaning of exit codes and output by the conventions.
func TestConventions(t *testing.T) {
	tests := []struct{ name, convention, command, want string }{
		{"plain 0", "plain", "echo fine; echo more", "ok, exit 0: fine"},
		{"plain without output", "plain", "true", "ok, exit 0: exit code 0"},
		{"plain 3", "plain", "echo broken; exit 3", "critical, exit 3: exit code 3: broken"},
		{"plain with stderr only", "plain", "echo one >&2; echo two >&2; exit 1", "critical, exit 1: exit code 1: two"},
		{"plain by a shell whose command is missing", "plain", "exec 2>/dev/null; /no/such", "critical, exit 127: exit code 127 (a shell's: a command was not found)"},
		{"plain by a shell whose command is none", "plain", "exec 2>/dev/null; /", "critical, exit 126: exit code 126 (a shell's: a command cannot be executed)"},
		{"plain by a shell whose command crashed", "plain", "sh -c 'kill -9 $$' 2>/dev/null; exit $?", "critical, exit 137: exit code 137 (a shell's: signal 9 ended a command: killed)"},
		{"output is cleaned", "plain", `printf '\n  a\tb\033[1mc\377 \nd\n'`, "ok, exit 0: a b [1mc\uFFFD"},

		{"nagios 0", "nagios", "echo 'OK - fine | a=1'", "ok, exit 0: OK - fine"},
		{"nagios 1", "nagios", "echo WARNING; exit 1", "warning, exit 1: WARNING"},
		{"nagios 2", "nagios", "echo CRITICAL; exit 2", "critical, exit 2: CRITICAL"},
		{"nagios 3", "nagios", "echo usage >&2; exit 3", "unknown, exit 3: exit code 3: usage"},
		{"nagios 4", "nagios", "echo what; exit 4", "unknown, protocol, exit 4: what"},
		{"nagios with malformed data", "nagios", "echo 'OK | a=x b=2'", "ok, protocol, exit 0: OK"},
		{"nagios with too much", "nagios", "echo 'OK | a=1 b=2 c=3'", "ok, output, exit 0: OK"},
		{"nagios with too long an output", "nagios", "echo OK; head -c 2000 /dev/zero", "ok, output, exit 0: OK"},

		{"npd 0", "npd", "echo fine", "ok, exit 0: fine"},
		{"npd 1", "npd", "echo deadlock; exit 1", "critical, exit 1: exit code 1: deadlock"},
		{"npd 2", "npd", "exit 2", "unknown, exit 2: exit code 2"},
		{"npd 77", "npd", "exit 77", "unknown, exit 77: exit code 77"},

		{"E45 sonic-hook 0", "sonic-hook", "exit 0", "ok, exit 0: exit code 0"},
		{"E45 sonic-hook 7", "sonic-hook", "echo no route; exit 7", "critical, exit 7: exit code 7: no route"},
		{"E46 sonic-hook 1 by an exception", "sonic-hook", "printf 'Traceback:\\n  File\\nKeyError: 3\\n' >&2; exit 1", "critical, exit 1: exit code 1: KeyError: 3"},
		{"E46 sonic-hook 2", "sonic-hook", "exit 2", "critical, exit 2: exit code 2"},
		{"sonic-hook 256 is 0", "sonic-hook", "bash -c 'exit 256'", "ok, exit 0: exit code 0"},

		{"E72 two objects", "category-lines", "printf 'Cat\\nD1:OK\\nD3: too hot: 90\\n'", "critical, exit 0: Cat: D3: too hot: 90"},
		{"E72 all OK", "category-lines", "printf 'Cat\\nD1: OK \\nD3:OK'", "ok, exit 0: Cat: 2 OK"},
		{"category-lines with two that are not OK", "category-lines", "printf 'Cat\\nD1:ok\\nD2:'", "critical, exit 0: Cat: D1: ok and 1 more"},
		{"E73 OK and exit code 1", "category-lines", "printf 'Cat\\nD1:OK'; exit 1", "critical, exit 1: exit code 1: Cat: not OK"},
		{"E74 only a category", "category-lines", "echo Cat", "unknown, protocol, exit 0: read the output of /bin/sh: a category and no object: expected at least one object"},
		{"E74 no output", "category-lines", "true", "unknown, protocol, exit 0: read the output of /bin/sh: no output: expected a category, and objects below it"},
		{"category-lines without a colon", "category-lines", "printf 'Cat\\nD1:OK\\nD2'", "unknown, protocol, exit 0: read the output of /bin/sh: line 3: expected an object, a colon and its status"},
		{"category-lines with an object twice", "category-lines", "printf 'Cat\\nD1:OK\\nD1:no'", "unknown, protocol, exit 0: read the output of /bin/sh: line 3: expected each object once"},
		{"category-lines with too many objects", "category-lines", "printf 'Cat\\nD1:OK\\nD2:OK\\nD3:OK\\n'", "unknown, output, exit 0: read the output of /bin/sh: more than 2 objects"},
		{"category-lines with too long an output", "category-lines", "printf 'Cat\\nD1:OK\\n%990s\\nD2:no' ' '", "unknown, output, exit 0: Cat: 1 OK"},
		{"category-lines cut after an OK", "category-lines", "printf 'Cat\\nD1:OK\\n%984s\\nD2:OKAY, but hot' ' '", "unknown, output, exit 0: Cat: 1 OK"},
		{"category-lines with too long an output and one that is not OK", "category-lines", "printf 'Cat\\nD1:no\\n%990s\\nD2:OK' ' '", "critical, output, exit 0: Cat: D1: no"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newShell(t, tt.command, ", convention: "+tt.convention+", object_limit: 2, output_limit: 1000B")
			if got := outcome(t, c, collectortest.Patience); got != tt.want {
				t.Errorf("Collect() exports %q, want %q", got, tt.want)
			}
		})
	}
}

// Why a script did not exit.
func TestFailures(t *testing.T) {
	const shell = "#!/bin/sh\n"
	tests := []struct{ name, path, more, want string }{
		{"E47 signal", file(t, shell+"kill -9 $$\n", 0o755), "", "unknown, signal, signal 9: run PATH: signal 9 ended it: killed"},
		{"E48 interpreter is missing", file(t, "#!/no/such/python9 -u\n", 0o755), "", `unknown, interpreter: run PATH: its interpreter "/no/such/python9" cannot be executed`},
		{"interpreter is not executable", file(t, "#!"+file(t, "", 0o644)+"\n", 0o755), "", `unknown, interpreter: run PATH: its interpreter "ELSE" cannot be executed`},
		{"E48 directory", t.TempDir(), "", "unknown, interpreter: run PATH: it is a directory"},
		{"no program", file(t, "exit 0\n", 0o755), "", "unknown, interpreter: run PATH: it is not a program for this machine, and does not begin with #!"},
		{"E49 not executable", file(t, shell, 0o644), "", "unknown, not_executable: run PATH: it is not executable"},
		{"E49 not executable where it may be missing", file(t, shell, 0o644), ", missing: ignore", "unknown, not_executable: run PATH: it is not executable"},
		{"missing", "/no/such/hook", "", "unknown, missing: run PATH: there is no such file"},
		{"missing below a file", "/bin/sh/hook", "", "unknown, missing: run PATH: there is no such file"},
		{"missing where it may be", "/no/such/hook", ", missing: ignore", ": there is no PATH"},
		{"directory to run in is missing", file(t, shell, 0o755), ", directory: /no/such, missing: ignore", "unknown, start: run PATH: its directory cannot be entered: stat /no/such: no such file or directory"},
		{"E50 hangs", file(t, shell+"trap '' TERM INT HUP\nsleep 1000 & sleep 1000\n", 0o755), "", "unknown, timeout, signal 9: run PATH: killed after TIME, it did not exit"},
		{"E50 hangs, and what has left its group holds its output", file(t, shell+"setsid sleep 2 &\nsleep 1000\n", 0o755), "", "unknown, timeout, signal 9: run PATH: killed after TIME, it did not exit"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := collectortest.New(t, "s", fmt.Sprintf("{command: [%s]%s}", tt.path, tt.more), &script.Config{})
			result, timeout := outcome, collectortest.Patience
			if strings.HasPrefix(tt.name, "E50") {
				result, timeout = killed, 2*collectortest.Brief
			}
			got := strings.ReplaceAll(result(t, c, timeout), tt.path, "PATH")
			got = regexp.MustCompile(`after [\d.]+m?s`).ReplaceAllString(got, "after TIME")
			got = regexp.MustCompile(`"/tmp/[^"]*"`).ReplaceAllString(got, `"ELSE"`)
			if got != tt.want {
				t.Errorf("Collect() exports %q, want %q", got, tt.want)
			}
		})
	}
}

// A script gets the configured environment and the variables that it inherits, and an empty stdin.
func TestEnvironment(t *testing.T) {
	for name, value := range map[string]string{
		"VITALS_TEST_CHANGED": "before", "VITALS_TEST_NAMED": "named", "VITALS_TEST_OTHER": "other", "VITALS_TEST_NAMED_TOO": "too",
		"LANG": "C", "TZ": "UTC", "HOME": "/home", "PATH": "/bin:/usr/bin",
	} {
		t.Setenv(name, value)
	}
	dir := t.TempDir()
	for _, tt := range []struct{ more, want string }{
		{"", "HOME=/home LANG=C PATH=/bin:/usr/bin TZ=UTC"},
		{", inherit: [VITALS_TEST_NAMED, VITALS_TEST_UNSET]", "HOME=/home LANG=C PATH=/bin:/usr/bin TZ=UTC VITALS_TEST_NAMED=named"},
		{", environment: {VITALS_TEST_CHANGED: after, TZ: CET}, inherit: [VITALS_TEST_CHANGED]", "HOME=/home LANG=C PATH=/bin:/usr/bin TZ=CET VITALS_TEST_CHANGED=after"},
	} {
		c := newShell(t, `echo $(env | grep -v '^\(PWD\|OLDPWD\|SHLVL\|_\)=' | sort)`, tt.more)
		if got, want := outcome(t, c, collectortest.Patience), "ok, exit 0: "+tt.want; got != want {
			t.Errorf("with %q the environment is %q, want %q", tt.more, got, want)
		}
	}
	c := newShell(t, `echo "$PWD $# $0 $(cat | wc -c)"`, ", directory: "+dir)
	if got, want := outcome(t, c, collectortest.Patience), "ok, exit 0: "+dir+" 0 /bin/sh 0"; got != want {
		t.Errorf("Collect() exports %q, want %q", got, want)
	}
}

// The environment may contain secrets: no way of printing the configuration shows them.
func TestEnvironmentIsSecret(t *testing.T) {
	c := &script.Config{}
	collectortest.Decode(t, "{command: [/c], environment: {DB: test-password}}", c)
	if text := fmt.Sprintf("%v %+v %#v", *c, *c, *c); strings.Contains(text, "test-password") {
		t.Errorf("the configuration prints as %s, want no secret in it", text)
	}
}

// There is no shell: its syntax is part of an argument.
func TestIsNoShell(t *testing.T) {
	c := collectortest.New(t, "s", `command: [/bin/echo, "$HOME;", "*", "a b"]`, &script.Config{})
	if got, want := outcome(t, c, collectortest.Patience), "ok, exit 0: $HOME; * a b"; got != want {
		t.Errorf("Collect() exports %q, want %q", got, want)
	}
}

// A script that prints without end is bounded by the deadline. Output beyond the limit is read and
// discarded, so that the script does not block.
func TestOutputIsBounded(t *testing.T) {
	c := newShell(t, "head -c 10000000 /dev/zero; exit 4", ", output_limit: 100B")
	if got, want := outcome(t, c, collectortest.Patience), "critical, exit 4: exit code 4"; got != want {
		t.Errorf("Collect() exports %q, want %q", got, want)
	}
	c = newShell(t, "echo endless; exec cat /dev/zero", "")
	if got, want := killed(t, c, 2*collectortest.Brief), "unknown, timeout, signal 9: "; !strings.HasPrefix(got, want) {
		t.Errorf("Collect() exports %q, want %q", got, want)
	}
}

// Objects that a script no longer prints are no longer exported.
func TestObjectsFollowTheOutput(t *testing.T) {
	path := filepath.Join(t.TempDir(), "output")
	c := collectortest.New(t, "s", "{command: [/bin/cat, "+path+"], convention: category-lines}", &script.Config{})
	for _, step := range []struct{ output, want string }{
		{"Cat\nD1:OK\nD2:no\n", "D1 1, D2 0"},
		{"Cat\nD2:OK\n", "D2 1"},
		{"", ""},
	} {
		collectortest.Write(t, path, step.output)
		samples, _ := collectortest.Collect(t, c)
		var got []string
		for _, s := range samples {
			if s.Labels.Get("__name__") == "vitals_script_object_ok" {
				got = append(got, fmt.Sprintf("%s %v", s.Labels.Get("object"), s.Value))
			}
		}
		if diff := cmp.Diff(step.want, strings.Join(got, ", ")); diff != "" {
			t.Errorf("objects of %q (-want +got):\n%s", step.output, diff)
		}
	}
}
