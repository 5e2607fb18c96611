package process_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/process"
	"github.com/vitals-health/vitals/collectors/process/proctest"
)

// The states of a TCP socket, as the kernel numbers them.
const (
	established = 1 + iota
	synSent
	synRecv
	finWait1
	finWait2
	timeWait
	closed
	closeWait
	lastACK
	listens
	closing
	newSynRecv
)

// socketSeries formats the samples of sockets: those of 1 or more, and of the others
// how much there is.
func socketSeries(samples []collectors.Sample) string {
	seen, zeros := socketsSeen(samples)
	return fmt.Sprintf("[%s] and %d that are 0", strings.Join(seen, ", "), zeros)
}

func socketsSeen(samples []collectors.Sample) (seen []string, zeros int) {
	for _, s := range samples {
		var what string
		switch s.Labels.Get(model.MetricNameLabel) {
		case "vitals_process_connections":
			what = s.Labels.Get("port") + " " + s.Labels.Get("state")
		case "vitals_process_listening":
			what = s.Labels.Get("protocol") + " " + s.Labels.Get("port")
		case "vitals_process_unix_socket":
			what = s.Labels.Get("path")
		default:
			continue
		}
		switch s.Value {
		case 0:
			zeros++
		case 1:
			seen = append(seen, what)
		default:
			seen = append(seen, fmt.Sprintf("%s %v", what, s.Value))
		}
	}
	slices.Sort(seen)
	return seen, zeros
}

func collectSockets(t *testing.T, config, mount string) string {
	t.Helper()
	c := collectortest.New(t, "p", config+"\nprocfs: "+mount+"\n", &process.Config{})
	samples, err := collectortest.Collect(t, c)
	if err != nil {
		return strings.ReplaceAll(outcome(samples, err), mount, "/proc") + " " + socketSeries(samples)
	}
	return socketSeries(samples)
}

func TestSocketsExposition(t *testing.T) {
	mount := proctest.ProcFS(t, proctest.Process{PID: 40, Comm: "conductor", Sockets: []int{1, 2, 3}, Net: map[string]string{
		"tcp": proctest.Inet(40000, 5672, established, 1) + proctest.Inet(40001, 5672, closeWait, 2), "unix": proctest.Unix(true, 1, 3, "/run/conductor.sock"),
	}})
	c := collectortest.New(t, "conductor", "name: conductor\nconnections: [5672]\nlisten: [873]\nudp: [8125]\nunix_sockets: [/run/conductor.sock]\nprocfs: "+mount, &process.Config{})
	samples, err := collectortest.Collect(t, c)
	if err != nil {
		t.Fatalf("Collect() = %v, want no error", err)
	}
	of := slices.DeleteFunc(samples, func(s collectors.Sample) bool {
		name := s.Labels.Get(model.MetricNameLabel)
		return name != "vitals_process_connections" && name != "vitals_process_listening" && name != "vitals_process_unix_socket"
	})
	collectortest.Golden(t, "sockets.prom", collectortest.Exposition(of, c.Describe()))
}

// The states in which a process may be with what it depends on. The inodes are chosen so
// that each is a part of another.
func TestSockets(t *testing.T) {
	const mapped, loopback = "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"
	const amqp = "name: conductor\nconnections: [5671, 5672]"
	tests := []struct {
		name, config string
		sockets      []int
		net          map[string]string
		want         string
	}{
		{"E11 established", amqp, []int{42439}, map[string]string{"tcp": proctest.Inet(40000, 5672, established, 42439)}, "[5672 established] and 23 that are 0"},
		{"E11 several of them", amqp, []int{3, 4, 5, 6}, map[string]string{
			"tcp": proctest.Inet(40000, 5672, established, 3) + proctest.Inet(40001, 5672, established, 4) + proctest.Inet(40002, 5671, established, 5) + proctest.Inet(40003, 5672, closeWait, 6),
		}, "[5671 established, 5672 close_wait, 5672 established 2] and 21 that are 0"},
		{"E12 SYN_SENT only", amqp, []int{42439}, map[string]string{"tcp": proctest.Inet(40000, 5672, synSent, 42439)}, "[5672 syn_sent] and 23 that are 0"},
		{"E13 CLOSE_WAIT only", amqp, []int{42439}, map[string]string{"tcp": proctest.Inet(40000, 5672, closeWait, 42439)}, "[5672 close_wait] and 23 that are 0"},
		{"E14 TIME_WAIT", amqp, []int{10, 20}, map[string]string{
			"tcp": proctest.Inet(40000, 5672, timeWait, 0) + proctest.Inet(40001, 5672, timeWait, 0) + proctest.Inet(40002, 80, timeWait, 0),
		}, "[5672 time_wait 2] and 23 that are 0"},
		{"E14 orphans and connections not accepted yet", amqp, []int{10, 20}, map[string]string{
			"tcp": proctest.Inet(40000, 5672, finWait1, 0) + proctest.Inet(40001, 5672, established, 0) + proctest.Inet(40002, 5672, synRecv, 0),
		}, "[] and 24 that are 0"},
		{"E16 another port only", amqp, []int{42439}, map[string]string{"tcp": proctest.Inet(40000, 3306, established, 42439)}, "[] and 24 that are 0"},
		{"E16 another process's connection", amqp, []int{42439}, map[string]string{"tcp": proctest.Inet(40000, 5672, established, 4243) + proctest.Inet(40000, 5672, established, 2439)}, "[] and 24 that are 0"},
		{"E16 local port that is equal", amqp, []int{42439}, map[string]string{"tcp": proctest.Inet(5672, 3306, established, 42439)}, "[] and 24 that are 0"},
		{"E16 listens on the port", amqp, []int{42439}, map[string]string{"tcp": proctest.Inet(5672, 0, listens, 42439)}, "[] and 24 that are 0"},
		{"E17 IPv6", amqp, []int{42439}, map[string]string{"tcp6": proctest.Inet6(loopback, 40000, 5672, established, 42439)}, "[5672 established] and 23 that are 0"},
		{"E17 IPv4 mapped into IPv6", amqp, []int{42439}, map[string]string{"tcp6": proctest.Inet6(mapped, 40000, 5672, established, 42439)}, "[5672 established] and 23 that are 0"},
		{"E17 both", amqp, []int{1, 2}, map[string]string{
			"tcp": proctest.Inet(40000, 5672, established, 1), "tcp6": proctest.Inet6(loopback, 40000, 5672, established, 2),
		}, "[5672 established 2] and 23 that are 0"},
		{"E18 UDP bound", "name: conductor\nudp: [8125, 5555]", []int{42439}, map[string]string{"udp": proctest.Inet(8125, 0, closed, 42439)}, "[udp 8125] and 1 that are 0"},
		{"E18 UDP connected", "name: conductor\nudp: [8125]", []int{42439}, map[string]string{"udp": proctest.Inet(40000, 8125, established, 42439)}, "[udp 8125] and 0 that are 0"},
		{"E18 UDP of IPv6", "name: conductor\nudp: [8125]", []int{42439}, map[string]string{"udp6": proctest.Inet6(loopback, 8125, 0, closed, 42439)}, "[udp 8125] and 0 that are 0"},
		{"E18 UDP of another process", "name: conductor\nudp: [8125]", []int{42439}, map[string]string{"udp": proctest.Inet(8125, 0, closed, 4243)}, "[] and 1 that are 0"},
		{"E18 TCP for UDP", "name: conductor\nudp: [8125]", []int{42439}, map[string]string{"tcp": proctest.Inet(8125, 0, listens, 42439)}, "[] and 1 that are 0"},
		{"E20 listens", "name: conductor\nlisten: [873, 874]", []int{42439}, map[string]string{"tcp": proctest.Inet(873, 0, listens, 42439)}, "[tcp 873] and 1 that are 0"},
		{"E20 listens with IPv6", "name: conductor\nlisten: [873]", []int{42439}, map[string]string{"tcp6": proctest.Inet6(loopback, 873, 0, listens, 42439)}, "[tcp 873] and 0 that are 0"},
		{"E20 another listens", "name: conductor\nlisten: [873]", []int{42439}, map[string]string{"tcp": proctest.Inet(873, 0, listens, 4243)}, "[] and 1 that are 0"},
		{"E20 has accepted, and listens no more", "name: conductor\nlisten: [873]", []int{42439}, map[string]string{"tcp": proctest.Inet(873, 40000, established, 42439)}, "[] and 1 that are 0"},
		{"E20 listens with UDP", "name: conductor\nlisten: [873]", []int{42439}, map[string]string{"udp": proctest.Inet(873, 0, closed, 42439)}, "[] and 1 that are 0"},
		{"E21 held", "name: conductor\nunix_sockets: [/run/v, '@v']", []int{42439, 7}, map[string]string{"unix": proctest.Unix(true, 1, 42439, "/run/v") + proctest.Unix(true, 5, 7, "@v")}, "[/run/v, @v] and 0 that are 0"},
		{"E21 datagrams", "name: conductor\nunix_sockets: [/run/v]", []int{42439}, map[string]string{"unix": proctest.Unix(false, 2, 42439, "/run/v")}, "[/run/v] and 0 that are 0"},
		{"E21 other process", "name: conductor\nunix_sockets: [/run/v]", []int{42439}, map[string]string{"unix": proctest.Unix(true, 1, 4243, "/run/v")}, "[] and 1 that are 0"},
		{"E21 absent", "name: conductor\nunix_sockets: [/run/v]", []int{42439}, nil, "[] and 1 that are 0"},
		{"E21 path that begins or ends alike", "name: conductor\nunix_sockets: [/run/v]", []int{3, 4, 5}, map[string]string{
			"unix": proctest.Unix(true, 1, 3, "/run/v2") + proctest.Unix(true, 1, 4, "/host/run/v") + proctest.Unix(true, 1, 5, " /run/v"),
		}, "[] and 1 that are 0"},
		{"E21 client of it, and what was accepted from it", "name: conductor\nunix_sockets: [/run/v]", []int{3, 4}, map[string]string{
			"unix": proctest.Unix(false, 1, 3, "") + proctest.Unix(false, 1, 4, "/run/v"),
		}, "[] and 1 that are 0"},
		{"path with a space", "name: conductor\nunix_sockets: ['/run/a b ']", []int{3}, map[string]string{"unix": proctest.Unix(true, 1, 3, "/run/a b ")}, "[/run/a b ] and 0 that are 0"},
		{"all states", "name: conductor\nconnections: [5672]", []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}, map[string]string{
			"tcp": fakeStates(13),
		}, "[5672 close, 5672 close_wait, 5672 closing, 5672 established, 5672 fin_wait1, 5672 fin_wait2, 5672 last_ack, 5672 new_syn_recv, 5672 syn_recv, 5672 syn_sent, 5672 time_wait] and 1 that are 0"},
		{"row that shows twice", amqp, []int{1}, map[string]string{"tcp": strings.Repeat(proctest.Inet(40000, 5672, established, 1), 3)}, "[5672 established] and 23 that are 0"},
		{"no sockets at all", amqp + "\nlisten: [1]\nudp: [1]\nunix_sockets: [/a]", nil, map[string]string{}, "[] and 27 that are 0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			mount := proctest.ProcFS(t, proctest.Process{PID: 40, Comm: "conductor", Sockets: tt.sockets, Net: tt.net})
			if got := collectSockets(t, tt.config, mount); got != tt.want {
				t.Errorf("Collect() = %s, want %s", got, tt.want)
			}
		})
	}
}

// fakeStates are rows in the states up to one, each of the socket with its number.
func fakeStates(last int) string {
	var rows strings.Builder
	for state := range last + 1 {
		rows.WriteString(proctest.Inet(40000+state, 5672, state, state))
	}
	return rows.String()
}

// The sockets of each process are in the tables of its network namespace. Sockets that
// several processes share count once.
func TestSocketsOfNetworkNamespaces(t *testing.T) {
	first := map[string]string{"tcp": proctest.Inet(40000, 5672, established, 1) + proctest.Inet(40001, 5672, closeWait, 9) + proctest.Inet(40002, 5672, timeWait, 0)}
	second := map[string]string{"tcp": proctest.Inet(40000, 5672, established, 5) + proctest.Inet(40001, 5672, established, 1) + proctest.Inet(40002, 5672, timeWait, 0)}
	tests := []struct {
		name      string
		processes []proctest.Process
		want      string
	}{
		{"one of two in the same", []proctest.Process{{Sockets: []int{1}, Net: first}, {Sockets: []int{2}, Net: first}}, "[5672 established, 5672 time_wait] and 10 that are 0"},
		{"two share it", []proctest.Process{{Sockets: []int{1, 1}, Net: first}, {Sockets: []int{1}, Net: first}}, "[5672 established, 5672 time_wait] and 10 that are 0"},
		{"each in its own", []proctest.Process{{Sockets: []int{1}, Net: first}, {Sockets: []int{5}, Net: second, Netns: 2}}, "[5672 established 2, 5672 time_wait 2] and 10 that are 0"},
		{"inode that only another namespace has", []proctest.Process{{Sockets: []int{5}, Net: first}, {Sockets: []int{9}, Net: second, Netns: 2}}, "[5672 time_wait 2] and 11 that are 0"},
		{"zombie beside it", []proctest.Process{{Sockets: []int{1}, Net: first}, {Sockets: []int{9}, Net: first, State: "Z"}}, "[5672 established, 5672 time_wait] and 10 that are 0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for i := range tt.processes {
				tt.processes[i].PID, tt.processes[i].Comm = 50+i, "x"
			}
			if got := collectSockets(t, "name: x\nconnections: [5672]", proctest.ProcFS(t, tt.processes...)); got != tt.want {
				t.Errorf("Collect() = %s, want %s", got, tt.want)
			}
		})
	}
}

// What cannot be seen is neither there nor missing.
func TestSocketsFaults(t *testing.T) {
	const all = "[5672 established, @v, tcp 873, udp 8125] and 11 that are 0"
	replace := func(path, text string) func(string) error {
		return func(mount string) error { return os.WriteFile(filepath.Join(mount, path), []byte(text), 0o600) }
	}
	remove := func(paths ...string) func(string) error {
		return func(mount string) error {
			var errs []error
			for _, path := range paths {
				errs = append(errs, os.RemoveAll(filepath.Join(mount, path)))
			}
			return errors.Join(errs...)
		}
	}
	broken := func(what string) string {
		return "unreadable, up 1: find sockets in net:[1]: read /proc/40/net/" + what + " [] and 0 that are 0"
	}
	tests := []struct {
		name  string
		fault func(mount string) error
		want  string
	}{
		{"none", remove("none"), all},
		{"kernel without IPv6", remove("40/net/tcp6", "40/net/udp6"), all},
		{"kernel without a table", remove("40/net/udp"), "unreadable, up 1: find sockets in net:[1]: open /proc/40/net/udp: no such file or directory [] and 0 that are 0"},
		{"neither table of TCP", remove("40/net/tcp", "40/net/tcp6"), "unreadable, up 1: find sockets in net:[1]: open /proc/40/net/tcp: no such file or directory [] and 0 that are 0"},
		{"no namespace of a process that runs", remove("40/ns/net"), "unreadable, up 1: read sockets of process 40: readlink /proc/40/ns/net: no such file or directory [] and 0 that are 0"},
		{"descriptor that is closed meanwhile", func(mount string) error { return os.Symlink("socket:[x]", filepath.Join(mount, "40/fd/77")) }, all},
		{"descriptor that is no link", replace("40/fd/5", ""), "unreadable, up 1: read sockets of process 40: readlink /proc/40/fd/5: invalid argument [] and 0 that are 0"},
		{"empty table", replace("40/net/tcp", ""), broken(`tcp, line 1: "": expected a first line with "local_address"`)},
		{"table of another format", replace("40/net/tcp", "Proto Local\ntcp 1:2\n"), broken(`tcp, line 1: "Proto Local\n": expected a first line with "local_address"`)},
		{"Unix table of another format", replace("40/net/unix", "RefCnt Path\n"), broken(`unix, line 1: "RefCnt Path\n": expected a first line with "Inode Path"`)},
		{"row that is none", replace("40/net/udp6", proctest.InetHeader+proctest.Inet(1, 2, 3, 4)+"   1: x\n"), broken(`udp6, line 3: "   1: x": expected a row of a socket`)},
		{"row without an end", replace("40/net/tcp", proctest.InetHeader+proctest.Inet(1, 2, 3, 4)+strings.TrimSuffix(proctest.Inet(40000, 5672, established, 1), "\n")), "[5672 established, @v, udp 8125] and 12 that are 0"},
		{"row longer than any", replace("40/net/tcp", proctest.InetHeader+strings.Repeat("x", 1<<20)), broken("tcp, line 2: bufio: buffer full")},
		{"name that makes a row up", replace("40/net/unix", proctest.UnixHeader+proctest.Unix(true, 1, 4, "/run/w")+proctest.Unix(true, 1, 77, "a\n"+proctest.Unix(true, 1, 4, "@v"))),
			broken("unix, line 4: two rows of the socket 4 differ: one of them may be a name with a line break")},
		{"name with line breaks", replace("40/net/unix", proctest.UnixHeader+proctest.Unix(true, 1, 77, "a\n\nb c\n")+proctest.Unix(true, 1, 4, "@v")), all},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			mount := proctest.ProcFS(t, proctest.Process{PID: 40, Comm: "x", Sockets: []int{1, 2, 3, 4}, Net: map[string]string{
				"tcp": proctest.Inet(40000, 5672, established, 1) + proctest.Inet(873, 0, listens, 2), "udp": proctest.Inet(8125, 0, closed, 3), "unix": proctest.Unix(true, 1, 4, "@v"),
			}})
			if err := tt.fault(mount); err != nil {
				t.Fatal(err)
			}
			if got := collectSockets(t, "pid: 40\nconnections: [5672]\nlisten: [873]\nudp: [8125]\nunix_sockets: ['@v']", mount); got != tt.want {
				t.Errorf("Collect() = %s, want %s", got, tt.want)
			}
		})
	}
}
