package kubelet_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/probe"
	execprobe "k8s.io/kubernetes/pkg/probe/exec"
	grpcprobe "k8s.io/kubernetes/pkg/probe/grpc"
	httpprobe "k8s.io/kubernetes/pkg/probe/http"
	kubeexec "k8s.io/utils/exec"
	"sigs.k8s.io/yaml"
)

// statesConfig has a collector that ends once the test lets it, and files that fail ready and alive.
const statesConfig = `
evaluation_interval: 100ms
rule_files: [rules.yml]
collectors:
  - {name: warmup, interval: 10m, timeout: 10m, http: {url: "http://ADDRESS/"}}
  - {name: bad, interval: 1s, timeout: 1s, file: {path: "DIR/bad"}}
  - {name: dead, interval: 1s, timeout: 1s, file: {path: "DIR/dead"}}
`

const statesRules = `
groups:
  - name: g
    rules:
      - alert: Bad
        expr: vitals_file_exists{file="bad"} == 1
        labels: {state: ready}
        annotations: {summary: The marker exists.}
      - alert: Dead
        expr: vitals_file_exists{file="dead"} == 1
        labels: {state: alive}
        annotations: {summary: The marker exists.}
`

// holdWarmup starts a server that answers once the test lets it, and returns its address.
func holdWarmup(t *testing.T) (address string, release func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	released := make(chan struct{})
	server := &http.Server{ReadHeaderTimeout: patience, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-released:
		case <-r.Context().Done():
		}
	})}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(l) }) // closed by the test
	t.Cleanup(func() {
		_ = server.Close()
		serving.Wait()
	})
	return l.Addr().String(), sync.OnceFunc(func() { close(released) })
}

// generate decodes, as the kubelet does, what "vitals generate probes" prints for a type: the probes
// of the workload's container, and of that of Vitals.
func (d *daemon) generate(kind string) (workload, vitals corev1.Container) {
	d.t.Helper()
	port := fmt.Sprint(d.port(probesOnly))
	args := []string{"generate", "probes", "--config.file=" + filepath.Join(d.dir, "vitals.yml"), "--type=" + kind, "--vitals-port=" + port, "--host=127.0.0.1"}
	if kind == "exec" {
		args = append(args, "--command="+filepath.Join(binaries, "healthcheck"))
	} else {
		args = append(args, "--port="+port)
	}
	printed, err := exec.Command(filepath.Join(binaries, "vitals"), args...).Output()
	if err != nil {
		d.t.Fatalf("vitals %q: %v", args, err)
	}
	first, second, ok := strings.Cut(string(printed), "\n---\n")
	for text, into := range map[string]*corev1.Container{first: &workload, second: &vitals} {
		if err := yaml.UnmarshalStrict([]byte(text), into); err != nil || !ok {
			d.t.Fatalf("%v in\n%s", err, printed)
		}
	}
	return workload, vitals
}

// run runs a probe as the kubelet does, on loopback. The command runs on this host, with the socket of
// the daemon in its environment.
func (d *daemon) run(p *corev1.Probe, of *corev1.Container) (probe.Result, string, error) {
	timeout := time.Duration(p.TimeoutSeconds) * time.Second
	switch {
	case p.HTTPGet != nil:
		req, err := httpprobe.NewRequestForHTTPGetAction(p.HTTPGet, of, "127.0.0.1", "probe")
		if err != nil {
			return probe.Unknown, "", err
		}
		return httpprobe.New(false).Probe(req, timeout)
	case p.GRPC != nil:
		return grpcprobe.New().Probe("127.0.0.1", *p.GRPC.Service, int(p.GRPC.Port), timeout)
	case p.Exec != nil:
		ctx, cancel := context.WithTimeout(d.t.Context(), patience)
		defer cancel()
		cmd := kubeexec.New().CommandContext(ctx, p.Exec.Command[0], p.Exec.Command[1:]...)
		cmd.SetEnv(append(os.Environ(), "VITALS_HEALTHCHECK_SOCKET="+d.socket, "VITALS_HEALTHCHECK_CONFIG_FILE="+filepath.Join(d.dir, "none.yml")))
		return execprobe.New().Probe(cmd)
	}
	return probe.Unknown, "", fmt.Errorf("the probe %+v has no handler", p.ProbeHandler)
}

// results are those of startup, readiness and liveness of the workload, and of liveness of Vitals.
type results [4]probe.Result

// expect waits until the generated probes of each type have the results. A busy machine may delay an
// answer beyond the timeout of one second.
func (d *daemon) expect(when string, want map[string]results) {
	d.t.Helper()
	for kind, results := range want {
		workload, vitals := d.generate(kind)
		for i, p := range []*corev1.Probe{workload.StartupProbe, workload.ReadinessProbe, workload.LivenessProbe, vitals.LivenessProbe} {
			of := &workload
			if i == 3 {
				of = &vitals
			}
			what := fmt.Sprintf("%s: %s of probe %d of type %s", when, results[i], i, kind)
			eventually(d.t, what, func() bool {
				got, _, err := d.run(p, of)
				if err != nil {
					d.t.Fatalf("%s: %v", what, err)
				}
				return got == results[i]
			})
		}
	}
}

// The probes that "vitals generate probes" prints have the result of each state, by the code of the
// kubelet. The exec probes of startup and liveness pass without a daemon.
func TestGeneratedProbes(t *testing.T) {
	t.Parallel()
	address, release := holdWarmup(t)
	d := launch(t, strings.Replace(statesConfig, "ADDRESS", address, 1), statesRules, "--probe.listen-address=127.0.0.1:0", "--web.shutdown-delay=10m")
	const ok, not = probe.Success, probe.Failure
	same := func(r results) map[string]results { return map[string]results{"http": r, "grpc": r, "exec": r} }

	d.expect("before the first collection has ended", same(results{not, ok, ok, ok}))
	release()
	d.expect("everything is well", same(results{ok, ok, ok, ok}))
	d.fail()
	d.expect("ready fails", same(results{ok, not, ok, ok}))
	d.write("dead", "")
	d.become("alive", 1)
	d.expect("alive fails", same(results{ok, not, not, ok}))
	for _, name := range []string{"bad", "dead"} {
		if err := os.Remove(filepath.Join(d.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	d.become("ready", 0)
	d.stop()
	d.expect("it hangs", same(results{not, not, not, not}))
	d.signal(syscall.SIGCONT)
	d.expect("it runs again", same(results{ok, ok, ok, ok}))
	d.signal(syscall.SIGTERM)
	d.expect("it drains", same(results{ok, not, ok, ok}))
	d.kill()
	d.expect("it is gone", map[string]results{"http": {not, not, not, not}, "grpc": {not, not, not, not}, "exec": {ok, not, ok, not}})
}
