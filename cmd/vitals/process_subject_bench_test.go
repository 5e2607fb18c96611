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
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"gopkg.in/yaml.v3"

	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/internal/fakes"
)

// subject is a profile with everything that it measures. What is played lives in the
// process of the benchmark, so that its cost is not the program's.
type subject struct {
	profile string
	// maxRSS is the budget at rest, in bytes.
	maxRSS float64
	// args start the program with the profile.
	args []string
	// env is the environment that it is deployed with.
	env []string
	// socket is the path of the socket for reports; empty without reports.
	socket string
	// components report this often.
	pace time.Duration
}

// nodeProcessors is what deploy/kubernetes/kuryr-cni.yaml sets: threads that wake each
// other up cost more than a second processor gains.
const nodeProcessors = "GOMAXPROCS=1"

// shippedSubjects are the profiles that are measured.
func shippedSubjects(b *testing.B, program string) []subject {
	const pace = 10 * time.Second // the interval of the collectors
	socket := filepath.Join(collectortest.Dir(b), "v.sock")
	return []subject{
		{"kuryr-controller", 32 << 20, []string{"--profile=kuryr-controller", "--kuryr.conf=" + startController(b)}, nil, "", pace},
		{"kuryr-cni", 30 << 20, []string{"--config.file=" + startNode(b, program, nil)}, []string{nodeProcessors}, socket, pace},
	}
}

// startKubernetes starts the fakes and writes the token and CA of the Kubernetes API.
func startKubernetes(b *testing.B, dir string) (cloud *fakes.Cloud, token, ca string) {
	b.Helper()
	// A real API server sends bookmarks once a minute and changes pods now and then.
	cloud, err := fakes.Start(fakes.Options{BookmarkInterval: time.Minute, EventInterval: 10 * time.Second})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := cloud.Close(); err != nil {
			b.Errorf("close the fakes: %v", err)
		}
	})
	return cloud, put(b, dir, "token", cloud.Token()), put(b, dir, "ca.crt", string(cloud.Authority()))
}

// put writes a file.
func put(b *testing.B, dir, name, text string) string {
	b.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		b.Fatal(err)
	}
	return path
}

// startController starts what the controller's profile measures, and writes the
// kuryr.conf that leads there.
func startController(b *testing.B) (conf string) {
	b.Helper()
	dir := b.TempDir()
	cloud, token, ca := startKubernetes(b, dir)
	return put(b, dir, "kuryr.conf", fmt.Sprintf(`[kubernetes]
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

// startNode starts what the CNI daemon's profile measures, and writes the profile as a
// user who changes it does: with everything that it can measure, and paths of this
// machine. change, where it is set, then changes the configuration of the collectors.
func startNode(b *testing.B, program string, change func(name string, collector map[string]any)) (config string) {
	b.Helper()
	dir := b.TempDir()
	if out, err := exec.CommandContext(b.Context(), program, "profiles", "show", "kuryr-cni", "--write", dir).CombinedOutput(); err != nil {
		b.Fatalf("profiles show: %v\n%s", err, out)
	}
	config = filepath.Join(dir, "vitals.yml")
	text, err := os.ReadFile(config)
	if err != nil {
		b.Fatal(err)
	}
	var cfg map[string]any
	if err := yaml.Unmarshal(text, &cfg); err != nil {
		b.Fatal(err)
	}
	delete(cfg["server"].(map[string]any), "listen_address")
	cfg["rule_files"] = []string{"rules/*.yml"} // with the limit of the memory
	daemon := map[string]any{"name": startGroup(b, dir)}
	all := append(cfg["collectors"].([]any), map[string]any{"name": "daemon", "interval": "10s", "timeout": "5s", "process": daemon})
	cfg["collectors"] = all
	place(b, dir, daemon, all)
	for _, c := range all {
		if collector := c.(map[string]any); change != nil {
			change(collector["name"].(string), collector)
		}
	}
	if text, err = yaml.Marshal(cfg); err != nil {
		b.Fatal(err)
	}
	return put(b, dir, "vitals.yml", string(text))
}

// place leads each collector to what it is to measure.
func place(b *testing.B, dir string, daemon map[string]any, all []any) {
	b.Helper()
	cloud, token, ca := startKubernetes(b, dir)
	changes := map[string]map[string]any{
		"kubernetes":  {"server": cloud.KubernetesURL(), "token_file": token, "ca_file": ca},
		"net-admin":   {"process": daemon},
		"netlink":     {"interfaces": []string{"lo"}},
		"memory":      {"process": daemon, "limit": "512MiB"},
		"components":  {"expect": []string{"watcher", "server"}},
		"cni-metrics": {"url": serveDaemonMetrics(b)},
		"cni-config":  {"path": put(b, dir, "10-kuryr.conflist", `{"cniVersion": "0.3.1", "name": "kuryr", "plugins": [{"type": "kuryr-cni", "kuryr_conf": "/etc/kuryr/kuryr.conf", "debug": true}]}`)},
		"cni-plugin":  {"path": put(b, dir, "kuryr-cni", "#!/bin/true\n")},
		"kuryr-conf":  {"path": put(b, dir, "kuryr.conf", "[DEFAULT]\ndebug = false\n[kubernetes]\napi_root = https://[fd00::1]:6443\n[cni_daemon]\nworker_num = 30\n")},
	}
	for _, c := range all {
		collector := c.(map[string]any)
		for key, kind := range collector {
			if kind, ok := kind.(map[string]any); ok {
				for name, value := range changes[collector["name"].(string)] {
					kind[name] = value
				}
				collector[key] = kind
			}
		}
	}
}

// startGroup starts processes of one name, as many as the CNI daemon has: its master,
// the watcher, the server and the health server. They sleep.
func startGroup(b *testing.B, dir string) (name string) {
	b.Helper()
	name = "bench-daemon"
	sleep, err := exec.LookPath("sleep")
	if err == nil {
		err = os.Symlink(sleep, filepath.Join(dir, name))
	}
	if err != nil {
		b.Fatal(err)
	}
	for range 4 {
		cmd := exec.Command(filepath.Join(dir, name), "infinity")
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait() // it was killed
		})
	}
	return name
}

// serveDaemonMetrics serves what the CNI daemon's exporter does: one histogram, of two
// commands that succeed and fail.
func serveDaemonMetrics(b *testing.B) (url string) {
	b.Helper()
	registry := prometheus.NewRegistry()
	requests := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "kuryr_cni_request_duration_seconds", Help: "The duration of CNI requests.", Buckets: prometheus.LinearBuckets(5, 5, 12),
	}, []string{"command", "error"})
	registry.MustRegister(requests)
	for _, labels := range [][]string{{"ADD", "False"}, {"ADD", "True"}, {"DEL", "False"}, {"DEL", "True"}} {
		requests.WithLabelValues(labels...).Observe(7)
	}
	server := &http.Server{Handler: promhttp.HandlerFor(registry, promhttp.HandlerOpts{}), ReadHeaderTimeout: time.Minute}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	go func() { _ = server.Serve(ln) }() // it ends with Close
	b.Cleanup(func() { _ = server.Close() })
	return "http://" + ln.Addr().String() + "/metrics"
}

// sendReports has the components report until the returned function is called, each with a
// request that was served and over a new connection, as a script does.
func (w subject) sendReports(b *testing.B) (stop func()) {
	b.Helper()
	if w.socket == "" {
		return func() {}
	}
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", w.socket)
	}}}
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(w.pace)
		defer ticker.Stop()
		for {
			for _, name := range []string{"watcher", "server"} {
				if err := report(ctx, client, name); err != nil && ctx.Err() == nil {
					b.Errorf("report of %s: %v", name, err)
				}
			}
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

func report(ctx context.Context, client *http.Client, name string) error {
	const text = `{"alive": true, "ready": true, "events": [{"event": "cni_add", "result": "success"}]}`
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, "http://localhost/api/v1/components/"+name, bytes.NewReader([]byte(text)))
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusNoContent {
		return fmt.Errorf("answer has status %s", resp.Status)
	}
	return nil
}

// mustMeasure fails unless each collector has succeeded of late: what fails costs less
// than what measures.
func (d *daemonProcess) mustMeasure(b *testing.B, late time.Duration) {
	b.Helper()
	found := 0
	for series, value := range d.metrics(b) {
		if !strings.HasPrefix(series, "vitals_collector_last_success_timestamp_seconds{") {
			continue
		}
		found++
		if age := time.Since(time.UnixMilli(int64(value * 1000))); age > late {
			b.Errorf("%s: the last success was %s ago, want at most %s:\n%s", series, age, late, d.log)
		}
	}
	if found == 0 {
		b.Error("no collector ever succeeded")
	}
}
