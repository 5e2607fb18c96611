//go:build e2e

package e2e_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	grpcProbeRules = `
groups:
  - name: work
    rules:
      - alert: WorkNotDone
        expr: vitals_file_exists{file="work"} == 0
        labels: {state: ready, severity: critical}
`
	// grpcProbeUser is a user of web.yml with the password "test", whose hash is bcrypt's with
	// the least cost.
	grpcProbeUser = "basic_auth_users: {probe: $2a$04$7b1fWjlDcsAtoR2bqsdmv.t9KQcyyER5rXRkeOWQgHQprQ/bq8zEu}\n"
)

// The exit codes of grpc-health-probe. Source: its main.go.
const (
	grpcProbeServing    = 0
	grpcProbeUsage      = 1
	grpcProbeConnection = 2
	grpcProbeCall       = 3
	grpcProbeUnhealthy  = 4
)

// grpcProbed is a daemon that grpc-health-probe probes.
type grpcProbed struct {
	*program
	// listen serves everything, probes the states only, and clear nothing but gRPC, without TLS.
	listen, probes, clear, socket string
	// work is the file without which ready fails.
	work string
}

// startProbed starts the daemon, which drains for the delay, with the text of a web.yml unless that
// is empty.
func startProbed(t *testing.T, delay time.Duration, web string) grpcProbed {
	t.Helper()
	dir := shortDirectory(t, "")
	g := grpcProbed{listen: address(t), probes: address(t), clear: address(t), socket: filepath.Join(dir, "vitals.sock"), work: filepath.Join(dir, "done")}
	write(t, g.work, "")
	write(t, filepath.Join(dir, "rules.yml"), grpcProbeRules)
	write(t, filepath.Join(dir, "vitals.yml"), fmt.Sprintf("rule_files: [rules.yml]\ncollectors:\n"+
		"  - {name: work, interval: 1s, timeout: 1s, file: {path: %q}}\n"+
		"  - {name: parts, components: {expect: [worker]}}\n", g.work))
	command := []string{os.Getenv("VITALS_BIN"), "run", "--config.file=" + filepath.Join(dir, "vitals.yml"), "--web.listen-address=" + g.listen,
		"--probe.listen-address=" + g.probes, "--grpc.listen-address=" + g.clear, "--web.unix-socket=" + g.socket, "--web.shutdown-delay=" + delay.String()}
	if web != "" {
		write(t, filepath.Join(dir, "web.yml"), web)
		command = append(command, "--web.config.file="+filepath.Join(dir, "web.yml"))
	}
	g.program = launch(t, g.probes, command...)
	await(t, "vitals is ready", time.Minute, func() error { return daemon{g.program}.want("/ready", http.StatusOK) })
	return g
}

// grpcProbe runs grpc-health-probe, and returns its exit code and what it printed. A
// connection that fails takes as long as its timeout.
func grpcProbe(t *testing.T, args ...string) (code int, out string) {
	t.Helper()
	text, code := probed(t, exec.CommandContext(t.Context(), cached(t, "grpc-health-probe", "grpc"), append([]string{"-rpc-timeout=20s"}, args...)...))
	return code, text
}

// grpcProbeCase is one run of the program.
type grpcProbeCase struct {
	name string
	args []string
	code int
	text string
}

// run compares the outcomes.
func (c grpcProbeCase) run(t *testing.T) {
	t.Run(c.name, func(t *testing.T) {
		args := c.args
		if c.code != grpcProbeConnection && c.code != grpcProbeUsage {
			args = append([]string{"-connect-timeout=20s"}, args...)
		}
		if code, out := grpcProbe(t, args...); code != c.code || !strings.Contains(out, c.text) {
			t.Errorf("grpc-health-probe %q = %d %q, want %d with %q", c.args, code, out, c.code, c.text)
		}
	})
}

// Each exit code of grpc-health-probe has its verdict, on every listener.
func TestGRPCHealthProbe(t *testing.T) {
	t.Parallel()
	g := startProbed(t, 0, "")
	at := "-addr=" + g.listen
	for _, c := range []grpcProbeCase{
		{"ready", []string{at, "-service=ready"}, grpcProbeServing, "status: SERVING"},
		{"no service", []string{at}, grpcProbeServing, "status: SERVING"},
		{"a rule", []string{at, "-service=ready/WorkNotDone"}, grpcProbeServing, "status: SERVING"},
		{"the listener for probes", []string{"-addr=" + g.probes, "-service=ready"}, grpcProbeServing, "status: SERVING"},
		{"the listener for gRPC", []string{"-addr=" + g.clear, "-service=ready"}, grpcProbeServing, "status: SERVING"},
		{"the Unix socket", []string{"-addr=unix:" + g.socket, "-service=ready"}, grpcProbeServing, "status: SERVING"},
		{"compressed", []string{at, "-gzip"}, grpcProbeServing, "status: SERVING"},
		{"a component without a report", []string{at, "-service=component/worker"}, grpcProbeUnhealthy, `responded with "UNKNOWN"`},
		{"an unknown service", []string{at, "-service=redy"}, grpcProbeCall, "code = NotFound"},
		{"a port without a listener", []string{"-addr=" + address(t)}, grpcProbeConnection, "failed to connect"},
		{"TLS to a port without", []string{at, "-tls", "-tls-no-verify"}, grpcProbeConnection, "failed to connect"},
		{"no address", nil, grpcProbeUsage, "-addr not specified"},
	} {
		c.run(t)
	}
	if err := os.Remove(g.work); err != nil {
		t.Fatal(err)
	}
	await(t, "ready fails", podWithin, func() error { return daemon{g.program}.want("/ready", http.StatusServiceUnavailable) })
	for _, c := range []grpcProbeCase{
		{"failing", []string{at, "-service=ready"}, grpcProbeUnhealthy, `responded with "NOT_SERVING"`},
		{"failing without a service", []string{at}, grpcProbeUnhealthy, `responded with "NOT_SERVING"`},
		{"alive while ready fails", []string{at, "-service=alive"}, grpcProbeServing, "status: SERVING"},
	} {
		c.run(t)
	}
}

// While the process drains, ready is not served and alive is. Then there is no connection.
func TestGRPCHealthProbeOfADrain(t *testing.T) {
	t.Parallel()
	g := startProbed(t, time.Minute, "")
	if err := g.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	await(t, "ready fails", podWithin, func() error { return daemon{g.program}.want("/ready", http.StatusServiceUnavailable) })
	grpcProbeCase{"ready while it drains", []string{"-addr=" + g.listen, "-service=ready"}, grpcProbeUnhealthy, `responded with "NOT_SERVING"`}.run(t)
	grpcProbeCase{"alive while it drains", []string{"-addr=" + g.listen, "-service=alive"}, grpcProbeServing, "status: SERVING"}.run(t)
	if err := g.cmd.Process.Signal(syscall.SIGTERM); err != nil { // which ends the delay
		t.Fatal(err)
	}
	if err := g.cmd.Wait(); err != nil {
		t.Errorf("exit of vitals: %v, want code 0\n%s", err, g.tail())
	}
	grpcProbeCase{"after the end", []string{"-addr=" + g.listen, "-service=alive"}, grpcProbeConnection, "failed to connect"}.run(t)
}

// TLS and users are those of web.yml, and the header authorization has the password.
func TestGRPCHealthProbeWithTLS(t *testing.T) {
	t.Parallel()
	dir := shortDirectory(t, "")
	tcpCertificates(t, dir)
	g := startProbed(t, 0, fmt.Sprintf("tls_server_config: {cert_file: %q, key_file: %q}\n", dir+"/cert.pem", dir+"/key.pem")+grpcProbeUser)
	at, trust := "-addr="+g.listen, "-tls-ca-cert="+dir+"/ca.pem"
	header := func(credentials string) string { return "-rpc-header=authorization: Basic " + credentials }
	const right, wrong = "cHJvYmU6dGVzdA==", "cHJvYmU6d3Jvbmc=" // probe:test and probe:wrong
	for _, c := range []grpcProbeCase{
		{"the user", []string{at, "-tls", trust, header(right), "-service=ready"}, grpcProbeServing, "status: SERVING"},
		{"another name in the certificate", []string{at, "-tls", trust, "-tls-server-name=localhost", header(right)}, grpcProbeServing, "status: SERVING"},
		{"no user", []string{at, "-tls", trust, "-service=ready"}, grpcProbeCall, "code = Unauthenticated"},
		{"a wrong password", []string{at, "-tls", trust, header(wrong), "-service=ready"}, grpcProbeCall, "code = Unauthenticated"},
		{"an authority that is not trusted", []string{at, "-tls", header(right)}, grpcProbeConnection, "failed to connect"},
		{"a name that is not in the certificate", []string{at, "-tls", trust, "-tls-server-name=other.example", header(right)}, grpcProbeConnection, "failed to connect"},
		{"no TLS", []string{at, header(right)}, grpcProbeConnection, "failed to connect"},
		{"the listener without TLS and users", []string{"-addr=" + g.clear, "-service=ready"}, grpcProbeServing, "status: SERVING"},
	} {
		c.run(t)
	}
}
