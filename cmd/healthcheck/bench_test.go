package main

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vitals-health/vitals/collectors/collectortest"
)

// The budget of a probe, and what a busy machine may add before the benchmark fails.
const (
	maxProbeCPU = 2 * time.Millisecond
	cpuMargin   = 2
)

// containers is how many of them are checked, each once a minute, on a large node.
const containers = 70

// BenchmarkProbe compares ways to check whether a container is healthy: this
// program, the same rules without a daemon, a script of curl and awk, and supervisorctl.
// "floor" is the time that the kernel needs for a process that does nothing. CPU time is that of
// the process and of all that it starts; a daemon's is not in it.
func BenchmarkProbe(b *testing.B) {
	dir := collectortest.Dir(b)
	for _, p := range probesOf(b, dir) {
		if _, err := exec.LookPath(p.command[0]); err != nil {
			b.Logf("%s is not measured: %v", p.name, err)
			continue
		}
		if p.start != nil {
			p.start(b)
		}
		b.Run(p.name, p.measure)
	}
}

// subject is a probe that is measured.
type subject struct {
	name    string
	command []string
	// start starts the server that is queried; nil without one.
	start func(*testing.B)
	// budget is the most CPU time that a run may take; 0 is any.
	budget time.Duration
}

func probesOf(b *testing.B, dir string) []subject {
	b.Helper()
	bin, socket, config := buildBoth(b, dir), filepath.Join(dir, "v.sock"), filepath.Join(dir, "vitals.yml")
	service := httptest.NewServer(http.NotFoundHandler())
	b.Cleanup(service.Close)
	conn, err := net.Dial("tcp", service.Listener.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = conn.Close() })
	answering := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	b.Cleanup(answering.Close)
	write(b, config, "rule_files: [rules.yml]\ncollectors: [{name: work, file: {path: /}}]\n")
	write(b, filepath.Join(dir, "rules.yml"), `groups: [{name: work, rules: [{alert: Gone, expr: vitals_file_exists == 0, labels: {state: ready}}]}]`)
	write(b, filepath.Join(dir, "supervisord.conf"), fmt.Sprintf(`[supervisord]
nodaemon=true
logfile=/dev/null
logfile_maxbytes=0
pidfile=%[1]s/pid
[unix_http_server]
file=%[1]s/supervisor.sock
[rpcinterface:supervisor]
supervisor.rpcinterface_factory = supervisor.rpcinterface:make_main_rpcinterface
[supervisorctl]
serverurl=unix://%[1]s/supervisor.sock
[program:start]
command=sleep 1h
startsecs=0
`, dir))
	port := fmt.Sprintf("%04X", service.Listener.Addr().(*net.TCPAddr).Port)
	return []subject{
		{name: "floor", command: []string{"true"}},
		{name: "healthcheck", command: []string{bin + "/healthcheck", "--socket=" + socket}, budget: maxProbeCPU, start: func(b *testing.B) {
			background(b, bin+"/vitals", "run", "--config.file="+config, "--web.listen-address=127.0.0.1:0", "--web.unix-socket="+socket, "--web.shutdown-delay=0s")
		}},
		{name: "once", command: []string{bin + "/vitals", "once", "--config.file=" + config}},
		{name: "standalone", command: []string{bin + "/healthcheck", "--standalone", "--config.file=" + config, "--timeout=9s"}},
		{name: "script", command: []string{"bash", "testdata/probe.sh", fmt.Sprint(os.Getpid()), port, answering.URL}},
		{name: "supervisorctl", command: []string{"supervisorctl", "-c", dir + "/supervisord.conf", "status", "start"}, start: func(b *testing.B) {
			background(b, "supervisord", "-c", dir+"/supervisord.conf")
		}},
	}
}

// measure runs the probe over and over.
func (p subject) measure(b *testing.B) {
	p.await(b)
	var cpu time.Duration
	runs := 0
	for b.Loop() {
		cmd := exec.Command(p.command[0], p.command[1:]...)
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v: %v\n%s", p.command, err, out)
		}
		cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		runs++
	}
	each := cpu / time.Duration(runs)
	b.ReportMetric(each.Seconds()*1e3, "cpu-ms/op")
	b.ReportMetric(each.Minutes()*containers*100, "core-%/70-containers")
	if p.budget > 0 && each > cpuMargin*p.budget {
		b.Errorf("%s takes %s of CPU time, want at most %s", p.name, each, p.budget)
	}
}

// await runs the probe until it passes: the server may have been started just now.
func (p subject) await(b *testing.B) {
	b.Helper()
	var out []byte
	for begin := time.Now(); time.Since(begin) < 20*time.Second; <-time.After(10 * time.Millisecond) {
		var err error
		if out, err = exec.Command(p.command[0], p.command[1:]...).CombinedOutput(); err == nil {
			return
		}
	}
	b.Fatalf("%v does not pass:\n%s", p.command, out)
}

// background runs a program until the benchmark ends.
func background(b *testing.B, command ...string) {
	b.Helper()
	var log bytes.Buffer
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			b.Errorf("%s: %v\n%s", command[0], err, log.String())
		}
	})
}

// buildBoth builds the programs as they are shipped, and returns their directory.
func buildBoth(b *testing.B, dir string) string {
	b.Helper()
	for name, tags := range map[string]string{"vitals": "grpcnotrace", "healthcheck": ""} {
		cmd := exec.CommandContext(b.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-tags", tags, "-ldflags", "-s -w", "-o", filepath.Join(dir, name), "../"+name)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, out)
		}
	}
	return dir
}

func write(b *testing.B, path, text string) {
	b.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
}
