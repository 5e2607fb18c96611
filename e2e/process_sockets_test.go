//go:build e2e

package e2e_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// processWithin bounds what shows with the next collections.
const processWithin = time.Minute

// holder is a process that holds the sockets that a test orders.
type holder struct {
	// name is what none but its command line has: the last part of its script's path.
	name   string
	t      *testing.T
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
}

// newHolder starts one by the command, if there is any. It ends with the test.
func newHolder(t *testing.T, before ...string) *holder {
	t.Helper()
	dir := shortDirectory(t, "")
	h := &holder{name: "conductor-" + filepath.Base(dir), t: t}
	script := filepath.Join(dir, h.name)
	write(t, script, read(t, "testdata/process/client.py"))
	command := append(before, "/usr/bin/python3", script)
	h.cmd = exec.Command(command[0], command[1:]...)
	h.cmd.Stderr = os.Stderr
	stdin, errIn := h.cmd.StdinPipe()
	stdout, errOut := h.cmd.StdoutPipe()
	if err := errors.Join(errIn, errOut, h.cmd.Start()); err != nil {
		t.Fatal(err)
	}
	h.stdin, h.stdout = stdin, bufio.NewReader(stdout)
	t.Cleanup(h.end)
	h.expect("started")
	return h
}

// end closes its stdin, so that it exits, and waits.
func (h *holder) end() {
	_ = h.stdin.Close()
	_ = h.cmd.Wait()
}

func (h *holder) expect(want string) {
	h.t.Helper()
	if line, err := h.stdout.ReadString('\n'); err != nil || line != want+"\n" {
		h.t.Fatalf("%s printed %q, %v, want %q", h.name, line, err, want)
	}
}

// do has it do something: see testdata/process/client.py.
func (h *holder) do(command ...string) {
	h.t.Helper()
	if _, err := io.WriteString(h.stdin, strings.Join(command, " ")+"\n"); err != nil {
		h.t.Fatal(err)
	}
	h.expect("done")
}

// processVitals is a Vitals that measures processes and evaluates the documented rules,
// without their "for". The collectors have the names that the rules use.
type processVitals struct{ daemon }

// measureProcesses runs Vitals with the collectors, a line each, by the command if
// there is any.
func measureProcesses(t *testing.T, collectors string, before ...string) processVitals {
	t.Helper()
	dir := shortDirectory(t, "")
	rules := regexp.MustCompile(`(?m)^ *for: .*\n`).ReplaceAllString(read(t, "../collectors/process/testdata/rules.yml"), "")
	config := "evaluation_interval: 200ms\nrule_files: [rules.yml]\ncollectors:\n"
	for line := range strings.Lines(strings.TrimSpace(collectors)) {
		config += "  - {interval: 500ms, timeout: 400ms, " + strings.TrimSpace(line) + "}\n"
	}
	write(t, filepath.Join(dir, "rules.yml"), rules)
	write(t, filepath.Join(dir, "vitals.yml"), config)
	bin := filepath.Join(dir, "vitals")
	script := "#!/bin/sh\nexec " + strings.Join(append(before, os.Getenv("VITALS_BIN")), " ") + ` "$@"` + "\n"
	if err := os.WriteFile(bin, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return processVitals{runVitals(t, bin, filepath.Join(dir, "vitals.yml"), dir)}
}

// sees waits until a rule has a status, and the note of its collector matches.
func (l processVitals) sees(t *testing.T, what, rule, status, collector, note string) {
	t.Helper()
	await(t, what, processWithin, func() error {
		m, err := l.metrics()
		if err != nil {
			return err
		}
		if got := m.statusOf(rule, "ready"); got != status {
			err = fmt.Errorf("%s is %q, want %q", rule, got, status)
		}
		got, errNote := l.note(collector)
		if !regexp.MustCompile(note).MatchString(got) {
			errNote = errors.Join(errNote, fmt.Errorf("%s has the note %q, want %s", collector, got, note))
		}
		return errors.Join(err, errNote)
	})
}

// note returns the note of a collector's last collection.
func (l processVitals) note(collector string) (string, error) {
	_, status, err := l.get("/api/v1/status")
	if err != nil {
		return "", err
	}
	var snapshot struct {
		Collectors []struct{ Name, Note string }
	}
	err = json.Unmarshal([]byte(status), &snapshot)
	for _, c := range snapshot.Collectors {
		if c.Name == collector {
			return c.Note, err
		}
	}
	return "", errors.Join(err, fmt.Errorf("there is no collector %s", collector))
}

// The states of a client of a real server, as the health of nova-conductor is its connection
// to a message broker.
func TestProcessConnections(t *testing.T) {
	listen, other, dir := address(t), address(t), shortDirectory(t, "")
	port := tcpPort(t, listen)
	server := redisServer(t, listen, dir, "--save", "", "--bind", "127.0.0.1", "::1")
	redisServer(t, other, dir, "--save", "")
	gone := newHolder(t)
	gone.end()
	client, deaf := newHolder(t), newHolder(t)
	l := measureProcesses(t, fmt.Sprintf("name: conductor, process: {argument: %s, connections: [%s]}\nname: daemon, process: {argument: %s, connections: [%s]}", client.name, port, gone.name, port))
	const rule = "ConductorNotConnected"
	step := func(name, status, note string, do func()) {
		t.Run(name, func(t *testing.T) {
			do()
			l.sees(t, name, rule, status, "conductor", "port "+port+": "+note)
		})
	}
	t.Run("E15 process missing", func(t *testing.T) {
		l.sees(t, "no process", "DaemonGone", "failing", "daemon", "no process of argument "+gone.name+", expected connections to "+port)
		if _, body, err := l.get("/ready/DaemonGone"); err != nil || !strings.Contains(body, "no process of argument "+gone.name) || !strings.Contains(body, port) {
			t.Errorf("GET /ready/DaemonGone = %q, %v, want the process and the port", body, err)
		}
	})
	step("E16 no connection", "failing", "no connection", func() {})
	step("E16 another port", "failing", "no connection", func() { client.do("connect", "127.0.0.1", tcpPort(t, other)) })
	step("E11 established", "ok", "1 established", func() { client.do("connect", "127.0.0.1", port) })
	step("E17 IPv6", "ok", "1 established", func() { client.do("forget"); client.do("connect", "::1", port) })
	step("E17 IPv4 mapped into IPv6", "ok", "1 established", func() { client.do("forget"); client.do("mapped", port) })
	step("E13 the server is killed", "failing", "1 close_wait", func() { server.kill() })
	step("E12 the server is deaf", "failing", "1 syn_sent", func() {
		client.do("forget")
		deaf.do("deaf", "127.0.0.1", port)
		client.do("connect", "127.0.0.1", port)
	})
	step("E14 TIME_WAIT of another process", "failing", `no connection \(and \d+ time_wait of [^)]+\)`, func() {
		client.do("forget")
		deaf.do("forget")
		server.start(t)
		tcpSay(t, "tcp", listen, "PING\r\n", "+PONG")
	})
	step("E11 connected again", "ok", "1 established", func() { client.do("connect", "127.0.0.1", port) })
}

// TestProcessListens measures the daemons that swift and nova depend on.
func TestProcessListens(t *testing.T) {
	t.Run("E20 rsync", func(t *testing.T) {
		listen, dir := address(t), shortDirectory(t, "")
		port, other := tcpPort(t, listen), newHolder(t)
		config := filepath.Join(dir, "rsyncd.conf")
		write(t, config, "use chroot = no\n[data]\npath = "+dir+"\n")
		rsync := func(port string) *tcpServer {
			return tcpServe(t, "/usr/bin/rsync", "--daemon", "--no-detach", "--address=127.0.0.1", "--port="+port, "--config="+config)
		}
		l := measureProcesses(t, "name: rsync, process: {argument: --config="+config+", listen: ["+port+"]}")
		const rule = "RsyncDoesNotListen"
		l.sees(t, "rsync does not run", rule, "unknown", "rsync", "no process of .* expected TCP listening on "+port)
		elsewhere := rsync(tcpPort(t, address(t)))
		l.sees(t, "rsync listens on another port", rule, "failing", "rsync", "TCP "+port+": does not listen")
		other.do("listen", "127.0.0.1", port)
		l.sees(t, "another process listens on its port", rule, "failing", "rsync", "TCP "+port+": does not listen")
		other.do("forget")
		elsewhere.kill()
		rsync(port)
		tcpSay(t, "tcp", listen, "", "@RSYNCD:")
		l.sees(t, "rsync listens", rule, "ok", "rsync", "TCP "+port+": listens")
	})
	t.Run("E20 sshd", func(t *testing.T) {
		listen, dir := address(t), shortDirectory(t, "")
		port := tcpPort(t, listen)
		key, pid := filepath.Join(dir, "key"), filepath.Join(dir, "pid")
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key).CombinedOutput(); err != nil {
			t.Fatalf("ssh-keygen: %v\n%s", err, out)
		}
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil { // where it separates its privileges
			t.Fatal(err)
		}
		l := measureProcesses(t, "name: rsync, process: {pid_file: "+pid+", listen: ["+port+"]}\nname: other, process: {name: python3, listen: ["+port+"]}")
		l.sees(t, "sshd does not run", "RsyncDoesNotListen", "unknown", "rsync", "read PID file: .* expected TCP listening on "+port)
		newHolder(t)
		server := tcpServe(t, "/usr/sbin/sshd", "-D", "-e", "-f", "/dev/null", "-h", key, "-o", "PidFile="+pid, "-o", "ListenAddress="+listen)
		tcpSay(t, "tcp", listen, "", "SSH-2.0")
		l.sees(t, "sshd listens", "RsyncDoesNotListen", "ok", "rsync", "TCP "+port+": listens")
		l.sees(t, "and no other", "RsyncDoesNotListen", "ok", "other", "TCP "+port+": does not listen")
		server.kill()
		l.sees(t, "sshd is killed", "RsyncDoesNotListen", "unknown", "rsync", "expected TCP listening on "+port)
	})
}

// TestProcessUDPAndUnixSockets measures sockets without connections.
func TestProcessUDPAndUnixSockets(t *testing.T) {
	dir := shortDirectory(t, "")
	port, path := tcpPort(t, address(t)), filepath.Join(dir, "virtlogd-sock")
	process, other := newHolder(t), newHolder(t)
	l := measureProcesses(t, fmt.Sprintf("name: rsync, process: {argument: %s, udp: [%s]}\nname: virtlogd, process: {argument: %s, unix_sockets: [%s]}", process.name, port, process.name, path))
	step := func(name, rule, status, collector, note string, do func()) {
		t.Run(name, func(t *testing.T) { do(); l.sees(t, name, rule, status, collector, note) })
	}
	step("E18 no socket", "RsyncDoesNotListen", "failing", "rsync", "UDP "+port+": missing", func() {})
	step("E18 TCP", "RsyncDoesNotListen", "failing", "rsync", "UDP "+port+": missing", func() { process.do("listen", "127.0.0.1", port) })
	step("E18 another process", "RsyncDoesNotListen", "failing", "rsync", "UDP "+port+": missing", func() { other.do("udp", "127.0.0.1", port) })
	step("E18 bound", "RsyncDoesNotListen", "ok", "rsync", "UDP "+port+": found$", func() { other.do("forget"); process.do("udp", "127.0.0.1", port) })
	step("E21 absent", "VirtlogdSocketMissing", "failing", "virtlogd", path+": missing", func() {})
	step("E21 other process", "VirtlogdSocketMissing", "failing", "virtlogd", path+": missing", func() { other.do("unix", path) })
	step("E21 held", "VirtlogdSocketMissing", "ok", "virtlogd", path+": found$", func() {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		process.do("unix", path)
	})
}

// TestProcessOfAnotherNamespace has the same port in two network namespaces: each process
// is measured in its own.
func TestProcessOfAnotherNamespace(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Fatal("network namespaces need root")
	}
	n := newNamespace(t)
	n.ip(t, "link", "set", "lo", "up")
	within := []string{"ip", "netns", "exec", string(n)}
	listen := address(t)
	port := tcpPort(t, listen)
	redisServer(t, listen, shortDirectory(t, ""), "--save", "")
	client, neighbour, server := newHolder(t, within...), newHolder(t), newHolder(t, within...)
	l := measureProcesses(t, fmt.Sprintf("name: conductor, process: {argument: %s, connections: [%s]}\nname: rsync, process: {argument: %s, listen: [%s]}", client.name, port, server.name, port))
	neighbour.do("connect", "127.0.0.1", port)
	neighbour.do("listen", "127.0.0.2", port)
	l.sees(t, "E16 a neighbour is connected outside", "ConductorNotConnected", "failing", "conductor", "port "+port+": no connection")
	l.sees(t, "E20 a neighbour listens outside", "RsyncDoesNotListen", "failing", "rsync", "TCP "+port+": does not listen")
	server.do("listen", "127.0.0.1", port)
	client.do("connect", "127.0.0.1", port)
	l.sees(t, "E11 connected inside", "ConductorNotConnected", "ok", "conductor", "port "+port+": 1 established")
	l.sees(t, "E20 listens inside", "RsyncDoesNotListen", "ok", "rsync", "TCP "+port+": listens")
	server.end()
	l.sees(t, "E16 the server inside has ended", "ConductorNotConnected", "failing", "conductor", "port "+port+": no connection")
	if c, err := net.Dial("tcp", listen); err != nil {
		t.Errorf("the server outside: %v, want that it goes on", err)
	} else {
		_ = c.Close()
	}
}

// TestProcessOfAnotherPIDNamespace runs a process in a PID namespace below that of Vitals,
// as a container on its host is, and Vitals in one of its own.
func TestProcessOfAnotherPIDNamespace(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Fatal("PID namespaces need root")
	}
	own := []string{"unshare", "--pid", "--fork", "--kill-child", "--mount-proc"}
	contained, host := newHolder(t, own...), newHolder(t)
	l := measureProcesses(t, fmt.Sprintf("name: daemon, process: {argument: %[1]s, listen: [1]}\nname: conductor, process: {argument: %[1]s, pid_namespace: any, listen: [1]}\nname: rsync, process: {argument: %[2]s, listen: [1]}", contained.name, host.name))
	// unshare itself has the name among its arguments, and is in the namespace of Vitals.
	await(t, "processes of both namespaces", processWithin, func() error {
		m, err := l.metrics()
		return errors.Join(err, m.want(1, "vitals_process_instances", "process", "daemon"), m.want(2, "vitals_process_instances", "process", "conductor"), m.want(1, "vitals_process_instances", "process", "rsync"))
	})
	dir := shortDirectory(t, "")
	for argument, want := range map[string]string{host.name: "no process of argument " + host.name, dir + "/vitals.yml": "which is Vitals"} {
		out, code := onceForProcess(t, dir, "argument: "+argument, append(own, os.Getenv("VITALS_BIN"), "once", "ready", "--config.file", dir+"/vitals.yml")...)
		if code != 1 || !strings.Contains(out, want) {
			t.Errorf("inside, %s: code %d, %s, want %s", argument, code, out, want)
		}
	}
}

// onceForProcess runs a command that runs "vitals once" for a process, with the files in
// the directory.
func onceForProcess(t *testing.T, dir, selector string, command ...string) (out string, code int) {
	t.Helper()
	write(t, filepath.Join(dir, "rules.yml"), "groups: [{name: g, rules: [{alert: Gone, expr: vitals_process_up == 0, labels: {state: ready}}]}]\n")
	write(t, filepath.Join(dir, "vitals.yml"), "rule_files: [rules.yml]\ncollectors: [{name: nova, process: {"+selector+", connections: [5672]}}]\n")
	text, err := exec.Command(command[0], command[1:]...).CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if exit != nil {
		code = exit.ExitCode()
	}
	return string(text), code
}

// A check that is started by a script of the service's name, with the service's name,
// finds neither.
func TestProcessIsNotWhatChecksIt(t *testing.T) {
	dir := shortDirectory(t, "")
	name := "nova-" + filepath.Base(dir)
	script := filepath.Join(dir, name)
	text := "#!/bin/sh\n'" + os.Getenv("VITALS_BIN") + "' once ready --config.file='" + dir + "/vitals.yml'\nexit $?\n"
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"name", "argument"} {
		out, code := onceForProcess(t, dir, kind+": "+name, script, name)
		if code != 1 || !strings.Contains(out, "which is Vitals, ") {
			t.Errorf("by %s: code %d, %s, want that the service does not run", kind, code, out)
		}
	}
}
