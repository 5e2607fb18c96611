package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vitals-health/vitals/internal/standin"
)

// The budgets of the whole process.
const (
	maxBinaryBytes = 40_000_000
	maxRestRSS     = 32 << 20
	// maxRestCPU is in percent of a core.
	maxRestCPU = 0.2
	// cpuMargin is what a busy machine may add before the benchmark fails: a process
	// that is woken up with cold caches takes longer for the same work.
	cpuMargin = 2
)

// startDeadline bounds the wait for a process to say that it is ready.
const startDeadline = 30 * time.Second

// buildProgram builds the program as it is shipped.
func buildProgram(b *testing.B) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "vitals")
	cmd := exec.CommandContext(b.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-tags", "grpcnotrace", "-ldflags", "-s -w", "-o", path, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("go build: %v\n%s", err, out)
	}
	return path
}

// daemonProcess is the program under the controller's profile.
type daemonProcess struct {
	cmd *exec.Cmd
	log *bytes.Buffer
	url string
	// answered and ready are how long after its start the process first answered
	// /ready, and first answered it with 200.
	answered, ready time.Duration
}

// startDaemon starts the program and waits until it is ready. The stand-ins that it
// looks at live in the process of the benchmark, so their cost is not the program's.
func startDaemon(b *testing.B, path, conf string) *daemonProcess {
	b.Helper()
	address := freeAddress(b)
	d := &daemonProcess{log: &bytes.Buffer{}, url: "http://" + address + "/ready"}
	d.cmd = exec.Command(path, "run", "--profile=kuryr-controller", "--kuryr.conf="+conf, "--web.listen-address="+address, "--web.unix-socket=", "--web.shutdown-delay=0s")
	d.cmd.Stdout, d.cmd.Stderr = d.log, d.log
	d.cmd.Env = []string{} // neither the limits of the Go runtime nor OS_* of whoever runs it
	begin := time.Now()
	if err := d.cmd.Start(); err != nil {
		b.Fatal(err)
	}
	d.await(b, begin)
	return d
}

// await asks /ready every millisecond until it passes.
func (d *daemonProcess) await(b *testing.B, begin time.Time) {
	b.Helper()
	client := &http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	poll := time.NewTicker(time.Millisecond)
	defer poll.Stop()
	for ; time.Since(begin) < startDeadline; <-poll.C {
		resp, err := client.Get(d.url)
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

// startCloud starts the stand-ins and writes the kuryr.conf that leads to them.
func startCloud(b *testing.B) (conf string) {
	b.Helper()
	// A real API server sends bookmarks once a minute and changes pods now and then.
	cloud, err := standin.Start(standin.Options{BookmarkInterval: time.Minute, EventInterval: 10 * time.Second})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := cloud.Close(); err != nil {
			b.Errorf("close the stand-ins: %v", err)
		}
	})
	dir := b.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			b.Fatal(err)
		}
		return path
	}
	token, ca := write("token", []byte(cloud.Token())), write("ca.crt", cloud.Authority())
	return write("kuryr.conf", fmt.Appendf(nil, `[kubernetes]
api_root = %s
token_file = %s
ssl_ca_crt_file = %s
ssl_verify_server_crt = true
vif_pool_driver = noop
[neutron]
auth_type = password
auth_url = %s
username = %s
password = %s
project_name = %s
user_domain_name = %s
project_domain_name = %s
region_name = %s
[neutron_defaults]
project = %s
`, cloud.KubernetesURL(), token, ca, cloud.KeystoneURL(), cloud.Username(), cloud.Password(), cloud.Project(),
		cloud.Domain(), cloud.Domain(), cloud.Region(), cloud.ProjectID()))
}

// BenchmarkProcess measures the stripped program under the controller's profile as a
// process of its own: its size, its start and what it takes at rest.
func BenchmarkProcess(b *testing.B) {
	path, conf := buildProgram(b), startCloud(b)
	b.Run("binary", func(b *testing.B) { benchmarkBinary(b, path) })
	b.Run("start", func(b *testing.B) { benchmarkStart(b, path, conf) })
	b.Run("rest", func(b *testing.B) { benchmarkRest(b, path, conf) })
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
// to its first 200 on /ready, for which every collector must have succeeded once.
func benchmarkStart(b *testing.B, path, conf string) {
	var answered, ready []float64
	for b.Loop() {
		d := startDaemon(b, path, conf)
		answered, ready = append(answered, milliseconds(d.answered)), append(ready, milliseconds(d.ready))
		d.stop(b)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(answered), "answer-ms")
	b.ReportMetric(median(ready), "ready-ms")
}

// benchmarkRest is what the process takes while nothing happens: every second its
// rules are evaluated, every ten seconds its dependencies are asked.
// VITALS_BENCH_REST is how long to look; 30 s where it is not set.
func benchmarkRest(b *testing.B, path, conf string) {
	rest := 30 * time.Second
	if text := os.Getenv("VITALS_BENCH_REST"); text != "" {
		var err error
		if rest, err = time.ParseDuration(text); err != nil {
			b.Fatalf("VITALS_BENCH_REST: %v", err)
		}
	}
	d := startDaemon(b, path, conf)
	defer d.stop(b)
	pid := d.cmd.Process.Pid
	var rss []float64
	var anonymous, core float64
	for b.Loop() {
		// What the start left to do is over after the second round of the collectors.
		observe(b, 12*time.Second, func() {})
		used, begin := cpuTime(b, pid), time.Now()
		observe(b, rest, func() { rss = append(rss, memory(b, pid, "status", "VmRSS")) })
		core = 100 * float64(cpuTime(b, pid)-used) / float64(time.Since(begin))
		anonymous = memory(b, pid, "smaps_rollup", "Pss_Anon")
	}
	top := slices.Max(rss)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(core, "%core")
	b.ReportMetric(top/(1<<20), "max-RSS-MiB")
	b.ReportMetric(anonymous/(1<<20), "anonymous-MiB")
	if top > maxRestRSS {
		b.Errorf("RSS at rest = %.1f MiB, want at most %d MiB", top/(1<<20), maxRestRSS>>20)
	}
	if core > maxRestCPU*cpuMargin {
		b.Errorf("CPU at rest = %.2f %% of a core, want at most %.1f %%", core, maxRestCPU)
	}
}

// observe calls f every second for a while.
func observe(b *testing.B, d time.Duration, f func()) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), d+time.Second/2)
	defer cancel()
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-second.C:
			f()
		}
	}
}

// memory reads a line of /proc/PID/FILE, in bytes; see proc(5).
func memory(b *testing.B, pid int, file, key string) float64 {
	b.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file))
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if value, ok := strings.CutPrefix(line, key+":"); ok {
			kib, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")), 64)
			if err != nil {
				b.Fatal(err)
			}
			return kib * 1024
		}
	}
	b.Fatalf("/proc/%d/%s has no %s", pid, file, key)
	return 0
}

// cpuTime is the processor time of all threads, to the nanosecond: the ticks of
// /proc/PID/stat are 10 ms long, and a budget of 0.2 % is 2 ms a second.
func cpuTime(b *testing.B, pid int) (used time.Duration) {
	b.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil || len(threads) == 0 {
		b.Fatalf("no schedstat of process %d: %v", pid, err)
	}
	for _, path := range threads {
		data, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		first, _, _ := strings.Cut(string(data), " ")
		ns, err := strconv.ParseInt(first, 10, 64)
		if err != nil {
			b.Fatal(err)
		}
		used += time.Duration(ns)
	}
	return used
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// median returns the middle of values, which it sorts.
func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}
