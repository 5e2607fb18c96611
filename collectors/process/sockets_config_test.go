package process_test

import (
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/process"
	"github.com/vitals-health/vitals/collectors/process/proctest"
)

// A list without a port is a mistake.
func TestSocketsProblems(t *testing.T) {
	const port, path = "expected 1 to 65535", "expected an absolute path, or @ and the name of an abstract socket"
	tests := []struct{ name, config, want string }{
		{"all of them", "{name: x, connections: [1, 65535], listen: [873], udp: [8125], unix_sockets: [/run/x, '@x']}", ""},
		{"own process", "connections: [5672]", ""},
		{"E19 no port of a connection", "connections: []", "connections: connections is empty: expected at least one port, or no such key"},
		{"E19 no port at all", "{listen: [], udp: [], unix_sockets: []}", "listen: listen is empty: expected at least one port, or no such key\n" +
			"udp: udp is empty: expected at least one port, or no such key\nunix_sockets: unix_sockets is empty: expected at least one path, or no such key"},
		{"E19 port 0", "connections: [5672, 0]", "connections[1]: port 0: " + port},
		{"port that is none", "{connections: [-1], listen: [65536], udp: [0]}", "connections[0]: port -1: " + port + "\nlisten[0]: port 65536: " + port + "\nudp[0]: port 0: " + port},
		{"port twice", "connections: [1, 2, 1]", "connections[2]: port 1: expected each port once"},
		{"same port in two lists", "{connections: [1], listen: [1], udp: [1]}", ""},
		{"relative path", "unix_sockets: [run/x]", `unix_sockets[0]: path "run/x": ` + path},
		{"empty path", "unix_sockets: ['']", `unix_sockets[0]: path "": ` + path},
		{"abstract socket without a name", "unix_sockets: ['@']", `unix_sockets[0]: path "@": ` + path},
		{"path twice", "unix_sockets: [/x, '@x', /x]", `unix_sockets[2]: path "/x": expected each path once`},
		{"line break", `unix_sockets: ["/x\ny"]`, `unix_sockets[0]: path "/x\ny": expected no control characters`},
		{"longest path", "unix_sockets: [/" + strings.Repeat("x", 107) + "]", ""},
		{"path that is too long", "unix_sockets: ['@" + strings.Repeat("x", 108) + "']", `unix_sockets[0]: path "@` + strings.Repeat("x", 108) + `": expected at most 108 bytes`},
		{"beside a mistake of the selector", "{pid: -1, listen: [0]}", "listen[0]: port 0: " + port + "\npid: pid -1: expected a number above 0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := collectortest.Problems(t, tt.config, &process.Config{}); got != tt.want {
				t.Errorf("Problems() = %q, want %q", got, tt.want)
			}
		})
	}
}

// A list that a variable left without a value is refused when it is read.
func TestSocketsWithoutAValue(t *testing.T) {
	for config, want := range map[string]string{
		"name: x\nconnections:":                      "connections is empty: expected a value, or no such key",
		"name: x\nunix_sockets: ''":                  "cannot unmarshal",
		"name: x\nlisten: 873":                       "cannot unmarshal",
		"name: x\nlisten: [rsync]":                   "cannot unmarshal",
		"name: ''\nlisten: [873]":                    "name is empty: expected a value, or no such key",
		"name: x\nlistens: [873]":                    "field listens not found",
		"name: x\nprocfs: /p\nlisten: [873]\nudp: 0": "cannot unmarshal",
	} {
		decoder := yaml.NewDecoder(strings.NewReader(config))
		decoder.KnownFields(true)
		if err := decoder.Decode(&process.Config{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Decode(%q) = %v, want %q", config, err, want)
		}
	}
}

// The note of a collection: the process, and what was found or not.
func TestNote(t *testing.T) {
	const amqp = "connections: [5671, 5672]\n"
	conductor := proctest.Process{PID: 40, Comm: "conductor", Sockets: []int{1, 2, 3, 4}, Net: map[string]string{
		"tcp":  proctest.Inet(40000, 5672, established, 1) + proctest.Inet(40001, 5672, closeWait, 2) + proctest.Inet(40002, 5672, timeWait, 0) + proctest.Inet(873, 0, listens, 3),
		"unix": proctest.Unix(true, 1, 4, "/run/v"),
	}}
	second := conductor
	second.PID, second.Start = 41, 1
	tests := []struct {
		name, config string
		processes    []proctest.Process
		want         string
	}{
		{"no sockets", "name: conductor", []proctest.Process{conductor}, ""},
		{"no sockets, no process", "name: x", nil, "no process of name x"},
		{"a zombie", "pid: 40", []proctest.Process{{PID: 40, Comm: "x", State: "Z"}}, "find pid 40: it has ended and is a zombie (1 found)"},
		{"E12 states", "name: conductor\n" + amqp, []proctest.Process{conductor}, "process 40: port 5671: no connection, port 5672: 1 established 1 close_wait (and 1 time_wait of any process)"},
		{"several processes", "name: conductor\nlisten: [873, 874]", []proctest.Process{conductor, second}, "process 40 and 1 more: TCP 873: listens, TCP 874: does not listen"},
		{"E18 E21", "name: conductor\nudp: [8125]\nunix_sockets: [/run/v, '@v']", []proctest.Process{conductor}, "process 40: UDP 8125: missing, /run/v: found, @v: missing"},
		{"E15 process missing", "name: nova\n" + amqp, []proctest.Process{conductor}, "no process of name nova, expected connections to 5671 5672"},
		{"E15 missing, all that was expected", "name: nova\n" + amqp + "listen: [873]\nudp: [8125]\nunix_sockets: [/run/v]", nil,
			"no process of name nova, expected connections to 5671 5672, TCP listening on 873, UDP 8125, /run/v"},
		{"long", "name: conductor\nunix_sockets: [/" + strings.Repeat("ä", 50) + ", /" + strings.Repeat("b", 100) + "]", []proctest.Process{conductor},
			"process 40: /" + strings.Repeat("ä", 50) + ": missing, /" + strings.Repeat("b", 72) + "..."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			mount := proctest.ProcFS(t, tt.processes...)
			c := collectortest.New(t, "p", tt.config+"\nprocfs: "+mount, &process.Config{})
			_, _ = collectortest.Collect(t, c)
			note := c.(collectors.Noter).Note()
			if note != tt.want || len(note) > 200 {
				t.Errorf("Note() = %q (%d bytes), want %q", note, len(note), tt.want)
			}
		})
	}
}

// E15: without a process the note has the error.
func TestSocketsOfNoProcess(t *testing.T) {
	got := collectSockets(t, "name: nova\nconnections: [5671, 5672]", proctest.ProcFS(t))
	if want := "gone, up 0: no process of name nova [] and 0 that are 0"; got != want {
		t.Errorf("E15: Collect() = %s, want %s", got, want)
	}
}
