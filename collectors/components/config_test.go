package components_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/components"
)

func TestProblems(t *testing.T) {
	long := "/" + strings.Repeat("d", 100)
	tests := []struct{ name, config, want string }{
		{"nothing is expected", "{}", ""},
		{"all keys", `
expect: [watcher, server]
accept: any
deadline: 30s
deadlines: {watcher: 60s, other: 0s}
notify_directory: /run/vitals/notify
notify_mode: 0666
shared_booleans: {cni: /dev/shm/cni, server: {path: /dev/shm/server, deadline: 30s}, agent: {path: /dev/shm/agent}}
events: {cni_add: {limit: 0, errors: [netlink, internal], excused: [timeout]}, cni_del: {}, e2: }`, ""},
		{"a name twice", "expect: [a, b, a]", `expect[2]: component "a": expected each name once`},
		{"a name that is no label", "expect: [a/b]",
			`expect[0]: name "a/b": expected 1 to 63 letters, digits, '.', '_' or '-', with a letter or digit at both ends`},
		{"an unknown way to accept", "accept: all", `accept: accept "all": expected expected or any`},
		{"only expected names and none expected", "accept: expected", "accept: accept expected: expected at least one name in expect"},
		{"a deadline for a stranger", "{expect: [a], deadlines: {b: 1s}}", `deadlines.b: component "b": expected a name that is in expect`},
		{"a shared boolean with a relative path", "shared_booleans: {a: dev/shm/a}", `shared_booleans.a: path "dev/shm/a": expected an absolute path`},
		{"a shared boolean with a name that is no label", "shared_booleans: {'a b': /dev/shm/a}",
			`shared_booleans.a b: name "a b": expected 1 to 63 letters, digits, '.', '_' or '-', with a letter or digit at both ends`},
		{"a shared boolean without a path", "shared_booleans: {a: {deadline: 30s}}", `shared_booleans.a: path "": expected an absolute path`},
		{"a shared boolean without anything", "shared_booleans: {a: }", `shared_booleans.a: path "": expected an absolute path`},
		{"a heartbeat that is too fast", "shared_booleans: {a: {path: /dev/shm/a, deadline: 1999ms}}",
			"shared_booleans.a.deadline: deadline 1s999ms: expected 0s (none) or at least 2s, because the file is checked once a second"},
		{"sockets without components", "notify_directory: /run/n",
			"notify_directory: notify_directory without an expected component: expected at least one name in expect, because each gets a socket"},
		{"a relative directory", "{expect: [a], notify_directory: run/n}", `notify_directory: path "run/n": expected an absolute path`},
		{"a socket path that is too long", "{expect: [a, b2], notify_directory: " + long + "}",
			`notify_directory: socket path "` + long + `/b2.sock" has 109 bytes: expected at most 107` + "\n" +
				`notify_directory: socket path "` + long + `/a.sock" has 108 bytes: expected at most 107`},
		{"a mode that is not octal", "{expect: [a], notify_mode: 0689}", `notify_mode: mode "0689": expected octal permission bits such as 0660`},
		{"a mode beyond permissions", "{expect: [a], notify_mode: '7777'}", `notify_mode: mode "7777": expected octal permission bits such as 0660`},
		{"an event that is no label", "events: {cni-add: {}}",
			`events.cni-add: event "cni-add": expected 1 to 63 small letters, digits or '_', with a letter at the beginning`},
		{"an event with a long name", "events: {" + strings.Repeat("e", 64) + ": {}}", "events." + strings.Repeat("e", 64) + `: event "` + strings.Repeat("e", 64) +
			`": expected 1 to 63 small letters, digits or '_', with a letter at the beginning`},
		{"a limit below 0", "events: {cni_add: {limit: -1}}", "events.cni_add.limit: limit -1: expected 0 or more"},
		{"a class that is no label", "events: {cni_add: {errors: [EEXIST]}}",
			`events.cni_add.errors[0]: class "EEXIST": expected 1 to 63 small letters, digits or '_', with a letter at the beginning`},
		{"a class twice", "events: {cni_add: {errors: [a, b, a]}}", `events.cni_add.errors[2]: class "a": expected each class once, in errors or in excused`},
		{"a class that counts and is excused", "events: {cni_add: {errors: [a], excused: [b, a]}}",
			`events.cni_add.excused[1]: class "a": expected each class once, in errors or in excused`},
		{"the class of all others", "events: {cni_add: {excused: [other]}}",
			`events.cni_add.excused[0]: class "other": expected another name, because this is the class of every error that is not named`},
		{"more classes than there may be", "events: {cni_add: {errors: [" + namesOf(20) + "], excused: [x]}}",
			"events.cni_add: 21 classes of errors: expected at most 20"},
		{"more events than there may be", "events: {" + strings.ReplaceAll(namesOf(21), ",", ": {},") + ": {}}", "events: 21 events: expected at most 20"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := collectortest.Problems(t, tt.config, &components.Config{})
			if want := collectortest.Sorted(tt.want); got != want {
				t.Errorf("Problems() = %s, want %s", got, want)
			}
		})
	}
}

// namesOf lists n different names.
func namesOf(n int) string {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprint("n", i))
	}
	return strings.Join(names, ", ")
}

func TestAreLocal(t *testing.T) {
	c := &components.Config{}
	if c.External() || c.Uses() != nil {
		t.Errorf("External(), Uses() = %v, %v, want false, nil", c.External(), c.Uses())
	}
}
