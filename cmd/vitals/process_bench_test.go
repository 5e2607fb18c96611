package main

import (
	"bytes"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

// The budgets of the whole process.
const (
	maxBinaryBytes = 40_000_000
	// maxRestCPU is in percent of a core.
	maxRestCPU = 0.2
	// cpuMargin is what a busy machine may add before the benchmark fails: a process
	// that is woken up with cold caches takes longer for the same work.
	cpuMargin = 2
)

// startDeadline bounds the wait for a process to be ready.
const startDeadline = 30 * time.Second

// buildProgram builds the program as it is shipped, except for further flags.
func buildProgram(b *testing.B, flags ...string) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "vitals")
	args := append([]string{"build", "-trimpath", "-buildvcs=false", "-tags", "grpcnotrace", "-ldflags", "-s -w", "-o", path}, flags...)
	cmd := exec.CommandContext(b.Context(), "go", append(args, ".")...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("go build: %v\n%s", err, out)
	}
	return path
}

// daemonProcess is the program under a profile.
type daemonProcess struct {
	cmd *exec.Cmd
	log *bytes.Buffer
	url string
	// answered and ready are how long after its start the process first answered
	// /ready, and first answered it with 200.
	answered, ready time.Duration
}

// startDaemon starts the program and waits until it is ready.
func startDaemon(b *testing.B, path string, w subject) *daemonProcess {
	b.Helper()
	address := freeAddress(b)
	d := &daemonProcess{log: &bytes.Buffer{}, url: "http://" + address}
	args := []string{"run", "--web.listen-address=" + address, "--web.unix-socket=" + w.socket, "--web.shutdown-delay=0s"}
	d.cmd = exec.Command(path, append(args, w.args...)...)
	d.cmd.Stdout, d.cmd.Stderr = d.log, d.log
	d.cmd.Env = append([]string{}, w.env...) // without GOGC, GOMEMLIMIT and OS_* of the calling shell
	begin := time.Now()
	if err := d.cmd.Start(); err != nil {
		b.Fatal(err)
	}
	d.await(b, begin)
	return d
}

// await queries /ready every millisecond until it passes.
func (d *daemonProcess) await(b *testing.B, begin time.Time) {
	b.Helper()
	client := &http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	poll := time.NewTicker(time.Millisecond)
	defer poll.Stop()
	for ; time.Since(begin) < startDeadline; <-poll.C {
		resp, err := client.Get(d.url + "/ready")
		if err != nil {
			continue
		}
		_ = resp.Body.Close()
		if d.answered == 0 {
			d.answered = time.Since(begin)
		}
		if resp.StatusCode == http.StatusOK {
			d.ready = time.Since(begin)
			return
		}
	}
	d.stop(b)
	b.Fatalf("not ready within %s:\n%s", startDeadline, d.log)
}

func (d *daemonProcess) stop(b *testing.B) {
	b.Helper()
	_ = d.cmd.Process.Signal(syscall.SIGTERM) // it may have ended already
	if err := d.cmd.Wait(); err != nil {
		b.Errorf("vitals run: %v\n%s", err, d.log)
	}
}

// freeAddress is a port of loopback that was free a moment ago.
func freeAddress(b *testing.B) string {
	b.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

// BenchmarkProcess measures the stripped program in a new process: its size,
// and with each profile its start and its use of resources at rest.
func BenchmarkProcess(b *testing.B) {
	path := buildProgram(b)
	b.Run("binary", func(b *testing.B) { benchmarkBinary(b, path) })
	for _, w := range shippedSubjects(b, path) {
		b.Run(w.profile+"/start", func(b *testing.B) { benchmarkStart(b, path, w) })
		b.Run(w.profile+"/rest", func(b *testing.B) { benchmarkRest(b, path, w) })
	}
}

func benchmarkBinary(b *testing.B, path string) {
	var size int64
	for b.Loop() {
		info, err := os.Stat(path)
		if err != nil {
			b.Fatal(err)
		}
		size = info.Size()
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(size)/1e6, "MB")
	if size > maxBinaryBytes {
		b.Errorf("the stripped binary has %d bytes, want at most %d", size, maxBinaryBytes)
	}
}

// benchmarkStart is the time from the start of the process to its first answer and
// to its first 200 on /ready, for which every collector must have finished once. A
// component that does not report is missed only later.
func benchmarkStart(b *testing.B, path string, w subject) {
	var answered, ready []float64
	for b.Loop() {
		d := startDaemon(b, path, w)
		answered, ready = append(answered, milliseconds(d.answered)), append(ready, milliseconds(d.ready))
		d.stop(b)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(answered), "answer-ms")
	b.ReportMetric(median(ready), "ready-ms")
}

// benchmarkRest is what the process takes while nothing happens: every second its
// rules are evaluated, every ten seconds its collectors measure and its components
// report. VITALS_BENCH_REST is how long to measure; 30 s where it is not set.
func benchmarkRest(b *testing.B, path string, w subject) {
	rest := durationFrom(b, "VITALS_BENCH_REST", 30*time.Second)
	d := startDaemon(b, path, w)
	defer d.stop(b)
	defer w.sendReports(b)()
	pid := d.cmd.Process.Pid
	var rss []float64
	var anonymous, core float64
	for b.Loop() {
		// What the start left to do is over after the second collection of each collector.
		observe(b, 12*time.Second, func() {})
		used, begin := cpuTime(b, pid), time.Now()
		observe(b, rest, func() { rss = append(rss, memory(b, pid, "status", "VmRSS")) })
		core = 100 * float64(cpuTime(b, pid)-used) / float64(time.Since(begin))
		anonymous = memory(b, pid, "smaps_rollup", "Pss_Anon")
	}
	d.mustMeasure(b, 15*time.Second)
	top := slices.Max(rss)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(core, "%core")
	b.ReportMetric(top/(1<<20), "max-RSS-MiB")
	b.ReportMetric(anonymous/(1<<20), "anonymous-MiB")
	if top > w.maxRSS {
		b.Errorf("RSS at rest = %.1f MiB, want at most %.0f MiB", top/(1<<20), w.maxRSS/(1<<20))
	}
	if core > maxRestCPU*cpuMargin {
		b.Errorf("CPU at rest = %.2f %% of a core, want at most %.1f %%", core, maxRestCPU)
	}
}

// durationFrom returns the value of an environment variable, or the default.
func durationFrom(b *testing.B, name string, standard time.Duration) time.Duration {
	b.Helper()
	text := os.Getenv(name)
	if text == "" {
		return standard
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		b.Fatalf("%s: %v", name, err)
	}
	return d
}
