package kubelet_test

import (
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/kubernetes/pkg/probe"
	execprobe "k8s.io/kubernetes/pkg/probe/exec"
	grpcprobe "k8s.io/kubernetes/pkg/probe/grpc"
	httpprobe "k8s.io/kubernetes/pkg/probe/http"
	tcpprobe "k8s.io/kubernetes/pkg/probe/tcp"
	"k8s.io/utils/exec"
)

const (
	// answers is the timeout of probes that get an answer. It is long for a busy machine.
	answers = 30 * time.Second
	// hangs is the timeout of probes that get none.
	hangs = 500 * time.Millisecond
	// refused is the timeout of probes whose connection is refused: that over gRPC tries again
	// until it ends.
	refused = 2 * time.Second
	// readLimit is what the kubelet reads of a body (maxRespBodyLength in
	// k8s.io/kubernetes/pkg/probe/http/http.go).
	readLimit = 10 << 10
)

// get probes a URL as the kubelet does for httpGet.
func get(t *testing.T, scheme string, port int, path string, timeout time.Duration) (probe.Result, string) {
	t.Helper()
	raw, query, _ := strings.Cut(path, "?")
	u := &url.URL{Scheme: scheme, Host: fmt.Sprintf("127.0.0.1:%d", port), Path: raw, RawQuery: query}
	req, err := httpprobe.NewProbeRequest(u, nil)
	if err != nil {
		t.Fatal(err)
	}
	result, text, err := httpprobe.New(false).Probe(req, timeout)
	if err != nil {
		t.Fatal(err)
	}
	return result, text
}

// serving probes a service as the kubelet does for grpc.
func serving(t *testing.T, port int, service string, timeout time.Duration) (probe.Result, string) {
	t.Helper()
	result, text, err := grpcprobe.New().Probe("127.0.0.1", service, port, timeout)
	if err != nil {
		t.Fatal(err)
	}
	return result, text
}

// command runs the exec probe as the kubelet does for exec.
func command(t *testing.T, args ...string) (probe.Result, string) {
	t.Helper()
	result, text, err := execprobe.New().Probe(exec.New().Command(filepath.Join(binaries, "healthcheck"), args...))
	if err != nil {
		t.Fatal(err)
	}
	return result, text
}

// status returns the status of a path, without following a redirect, and the size of the body.
func status(t *testing.T, port int, path string) (code int, size int64) {
	t.Helper()
	client := http.Client{Timeout: answers, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r, err := client.Get(fmt.Sprintf("http://127.0.0.1:%d%s", port, path))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	var b strings.Builder
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, int64(b.Len())
}

// TestHTTP probes each status over HTTP, on the port of everything and on that of the probes.
func TestHTTP(t *testing.T) {
	t.Parallel()
	d := start(t, config, rules, "--probe.listen-address=127.0.0.1:0")
	d.fail()
	for _, c := range []struct {
		path string
		code int
		want probe.Result
		text string
	}{
		{"/alive", 200, probe.Success, "ok"},
		{"/livez", 200, probe.Success, "ok"},
		{"/started", 200, probe.Success, "ok"},
		{"/alive?verbose", 200, probe.Success, ""},
		{"/ready?exclude=Bad", 200, probe.Success, ""},
		{"/-/healthy", 200, probe.Success, ""},
		{"/ready", 503, probe.Failure, "HTTP probe failed with statuscode: 503"},
		{"/readyz", 503, probe.Failure, "HTTP probe failed with statuscode: 503"},
		{"/ready?verbose", 503, probe.Failure, "HTTP probe failed with statuscode: 503"},
		{"/ready/Bad", 503, probe.Failure, "HTTP probe failed with statuscode: 503"},
		{"/redy", 404, probe.Failure, "HTTP probe failed with statuscode: 404"},
		{"/ready/", 404, probe.Failure, "HTTP probe failed with statuscode: 404"},
		{"/Ready", 404, probe.Failure, "HTTP probe failed with statuscode: 404"},
		{"/ready/Bda", 404, probe.Failure, "HTTP probe failed with statuscode: 404"},
		{"/metrics/", 404, probe.Failure, "HTTP probe failed with statuscode: 404"},
	} {
		for _, listener := range []string{everything, probesOnly} {
			port := d.port(listener)
			if code, _ := status(t, port, c.path); code != c.code {
				t.Errorf("%s: %s: status %d, want %d", listener, c.path, code, c.code)
			}
			if got, text := get(t, "http", port, c.path, answers); got != c.want || !strings.Contains(text, c.text) {
				t.Errorf("%s: %s: %s, %q, want %s, %q", listener, c.path, got, text, c.want, c.text)
			}
		}
	}
	// The port of everything does not accept GET here: the only 405 that a kubelet can get.
	if got, text := get(t, "http", d.port(everything), "/api/v1/components/x", answers); got != probe.Failure || !strings.Contains(text, "405") {
		t.Errorf("GET of a component: %s, %q, want a failure with 405", got, text)
	}
}

// A redirect would be a success of the kubelet, as a warning. No path has one.
func TestNoRedirects(t *testing.T) {
	t.Parallel()
	d := start(t, config, rules, "--probe.listen-address=127.0.0.1:0")
	for _, listener := range []string{everything, probesOnly} {
		port := d.port(listener)
		for _, path := range []string{"/", "//ready", "/ready/", "/./ready", "/x/../ready", "/ready/..", "/ready//Bad", "/ready?", "/-/", "/-/healthy/", "/api", "/api/", "/api/v1/", "/assets", "/metrics/", "/badge", "/wall/", "/%2Fready"} {
			if code, _ := status(t, port, path); code/100 == 3 {
				t.Errorf("%s: %s: status %d, want no redirect", listener, path, code)
			}
			if got, text := get(t, "http", port, path, answers); got == probe.Warning {
				t.Errorf("%s: %s: %s, %q, want success or failure", listener, path, got, text)
			}
		}
	}
}

// server.failing_status changes the status, and not the result.
func TestFailingStatus(t *testing.T) {
	t.Parallel()
	d := start(t, config+"server: {failing_status: 500}\n", rules)
	d.fail()
	if got, text := get(t, "http", d.port(everything), "/ready", answers); got != probe.Failure || text != "HTTP probe failed with statuscode: 500" {
		t.Errorf("/ready: %s, %q, want a failure with 500", got, text)
	}
}

// The kubelet reads a part of a long body only; the result is that of the status.
func TestLongBody(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	many.WriteString("groups:\n  - name: many\n    rules:\n")
	for i := range 200 {
		fmt.Fprintf(&many, "      - {alert: Rule%d%s, expr: 'vitals_file_exists{file=\"bad\"} == 1', labels: {state: ready}, annotations: {summary: The marker exists.}}\n", i, strings.Repeat("X", 60))
	}
	d := start(t, config, many.String())
	port := d.port(everything)
	check := func(want probe.Result) {
		t.Helper()
		if _, size := status(t, port, "/ready?verbose"); size <= readLimit {
			t.Errorf("the body has %d bytes, want more than %d", size, readLimit)
		}
		if got, text := get(t, "http", port, "/ready?verbose", answers); got != want {
			t.Errorf("/ready?verbose: %s, %.80q, want %s", got, text, want)
		}
	}
	eventually(t, "ready to pass", func() bool { code, _ := d.healthcheck("ready"); return code == 0 })
	check(probe.Success)
	d.fail()
	check(probe.Failure)
}

// TestGRPC probes each status of gRPC on all ports.
func TestGRPC(t *testing.T) {
	t.Parallel()
	d := start(t, config, rules, "--probe.listen-address=127.0.0.1:0", "--grpc.listen-address=127.0.0.1:0")
	d.fail()
	for _, c := range []struct {
		service string
		want    probe.Result
		text    string
	}{
		{"alive", probe.Success, "service healthy"},
		{"started", probe.Success, "service healthy"},
		{"", probe.Failure, `NOT_SERVING`},
		{"ready", probe.Failure, `NOT_SERVING`},
		{"ready/Bad", probe.Failure, `NOT_SERVING`},
		{"redy", probe.Failure, "NotFound"},
		{"ready/Bda", probe.Failure, "NotFound"},
		{"component/none", probe.Failure, "NotFound"},
	} {
		for _, listener := range []string{everything, probesOnly, grpcOnly} {
			if got, text := serving(t, d.port(listener), c.service, answers); got != c.want || !strings.Contains(text, c.text) {
				t.Errorf("%s: service %q: %s, %q, want %s, %q", listener, c.service, got, text, c.want, c.text)
			}
		}
	}
	if got, text := get(t, "http", d.port(grpcOnly), "/ready", answers); got != probe.Failure || !strings.Contains(text, "415") {
		t.Errorf("httpGet at the port for gRPC: %s, %q, want a failure with 415", got, text)
	}
}

// TestExec runs the exec probe with each of its exit codes.
func TestExec(t *testing.T) {
	t.Parallel()
	d := start(t, config, rules)
	d.fail()
	none := strings.Replace(strings.Join(d.arguments("ready"), " "), "v.sock", "none.sock", 1)
	for name, c := range map[string]struct {
		args []string
		want probe.Result
		text string
	}{
		"0, ok":                {d.arguments("alive"), probe.Success, "ok 0 "},
		"1, failing":           {d.arguments("ready"), probe.Failure, "failing 1 "},
		"2, unknown":           {d.arguments("gold"), probe.Failure, "unknown 2 "},
		"3, usage":             {[]string{"--state"}, probe.Failure, ""},
		"4, no daemon":         {strings.Fields(none), probe.Failure, " 4 "},
		"0, without a daemon":  {append(strings.Fields(none), "--no-daemon=pass"), probe.Success, " 0 "},
		"17, of the rule":      {d.arguments("silver"), probe.Failure, "failing 17 "},
		"a state that is none": {d.arguments("redy"), probe.Failure, ""},
	} {
		if got, text := command(t, c.args...); got != c.want || !strings.Contains(text, c.text) {
			t.Errorf("%s: %s, %q, want %s, %q", name, got, text, c.want, c.text)
		}
	}
}

// A process that hangs fails every probe within its timeout, and one that ended at once. A TCP
// probe passes while the process hangs, as the kernel accepts the connection.
func TestHungAndGone(t *testing.T) {
	t.Parallel()
	d := start(t, config, rules)
	port := d.port(everything)
	all := func(timeout time.Duration) map[string]probe.Result {
		results := map[string]probe.Result{}
		results["http"], _ = get(t, "http", port, "/alive", timeout)
		results["grpc"], _ = serving(t, port, "alive", timeout)
		results["exec"], _ = command(t, append(d.arguments("alive"), "--timeout="+timeout.String())...)
		var err error
		if results["tcp"], _, err = tcpprobe.New().Probe("127.0.0.1", port, timeout); err != nil {
			t.Fatal(err)
		}
		return results
	}
	expect := func(when string, got map[string]probe.Result, others, tcp probe.Result) {
		t.Helper()
		for kind, result := range got {
			if want := map[bool]probe.Result{true: tcp, false: others}[kind == "tcp"]; result != want {
				t.Errorf("%s: %s: %s, want %s", when, kind, result, want)
			}
		}
	}
	expect("it answers", all(answers), probe.Success, probe.Success)
	d.stop()
	expect("it hangs", all(hangs), probe.Failure, probe.Success)
	d.signal(syscall.SIGCONT)
	expect("it answers again", all(answers), probe.Success, probe.Success)
	d.kill()
	expect("it is gone", all(refused), probe.Failure, probe.Failure)
}

// While the process drains, ready fails and alive passes, for each kind of probe.
func TestDraining(t *testing.T) {
	t.Parallel()
	d := start(t, config, rules, "--web.shutdown-delay=2m")
	port := d.port(everything)
	d.signal(syscall.SIGTERM)
	eventually(t, "ready to fail", func() bool { got, _ := get(t, "http", port, "/ready", answers); return got == probe.Failure })
	for state, want := range map[string]probe.Result{"ready": probe.Failure, "alive": probe.Success} {
		overGRPC, _ := serving(t, port, state, answers)
		overHTTP, _ := get(t, "http", port, "/"+state, answers)
		byCommand, out := command(t, d.arguments(state)...)
		if overGRPC != want || overHTTP != want || byCommand != want {
			t.Errorf("%s: gRPC %s, HTTP %s, exec %s (%q), want %s", state, overGRPC, overHTTP, byCommand, out, want)
		}
	}
}
