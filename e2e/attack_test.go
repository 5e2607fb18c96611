//go:build e2e

package e2e_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/vitals-health/vitals/collectors/collectortest"
)

const (
	// attackFor is how long an attack lasts, after which the daemon was killed without bounds.
	attackFor = 15 * time.Second
	// attackPatience is how long the connection of a probe is kept at least, although strangers
	// have its address: until its first byte, which a busy client may send later.
	attackPatience = 100 * time.Millisecond
	// attackProbe is the longest that a probe may take: clients and server share few cores.
	attackProbe = 10 * time.Second
	// shippedLimit is the memory limit of the manifests, in MiB.
	shippedLimit = 128
)

// attackVariable makes the test binary attack: the name of an attack and an address.
const attackVariable = "VITALS_E2E_ATTACK"

// attacks are what strangers do, by name.
func attacks() map[string]func(a *attack) {
	return map[string]func(a *attack){
		"rapid reset of HTTP2 streams":             func(a *attack) { a.clients(10, rapidReset) },
		"800 pipelines that are not read":          func(a *attack) { a.clients(800, pipeline) },
		"200 idle connections with 64 descriptors": func(a *attack) { a.idle(200) },
		"1000 clients that reconnect with TLS":     func(a *attack) { a.clients(1000, reconnect) },
		"3000 clients that reconnect with TLS":     func(a *attack) { a.clients(3000, reconnect) },
		"5000 idle connections":                    func(a *attack) { a.idle(5000) },
		"half calls of gRPC":                       func(a *attack) { a.calls(200, halfCall, a.probes) },
		"calls of gRPC that are not read":          func(a *attack) { a.calls(200, unreadCall, a.probes) },
		"watches of gRPC":                          func(a *attack) { a.calls(200, watchCall, a.probes) },
		"calls of gRPC with 12 KiB of metadata":    func(a *attack) { a.calls(200, largeCall, a.probes) },
		"unread responses to 14 KiB of headers":    func(a *attack) { a.calls(256, unreadGet, a.probes, a.grpc) },
		"unfinished headers from 300 addresses":    func(a *attack) { a.unfinished(300, a.probes) },
		"unfinished headers from 600 addresses":    func(a *attack) { a.unfinished(600, a.probes) },
		"idle connections to the web listener":     func(a *attack) { a.idleFrom(200, 2, a.web) },
		"idle connections to the probe listener":   func(a *attack) { a.idleFrom(200, 2, a.probes) },
		"4352 endless headers to each listener":    func(a *attack) { a.endless(4352) },
	}
}

// attack is a daemon under the shipped memory limit, or, in another process, the strangers.
type attack struct {
	ctx context.Context
	// web is the address with TLS, probes the one for probes, and grpc the one for gRPC.
	web, probes, grpc string
	// network is the namespace of all of them.
	network string
}

// attackFrom runs an attack until it is killed. It prints a line once it has begun.
func attackFrom(job string) int {
	part := strings.Split(job, "@")
	attacks()[part[0]](&attack{ctx: context.Background(), web: part[1], probes: part[2], grpc: part[3]})
	return 1
}

// begin starts an attack in a process of its own, which leaves the processors to the daemon
// and the probes where they need them, as one on another machine does.
func (a *attack) begin(t *testing.T, name string) {
	t.Helper()
	command := append(a.inside(), "nice", "-n", "19", os.Args[0])
	cmd := exec.CommandContext(a.ctx, command[0], command[1:]...)
	cmd.Env = append(os.Environ(), attackVariable+"="+name+"@"+a.web+"@"+a.probes+"@"+a.grpc)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // its context may have ended it
		_ = cmd.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "begun\n" {
		t.Fatalf("the attack prints %q, %v, want begun", line, err)
	}
}

// startAttacked runs Vitals with 2,000 series in a cgroup with the shipped limit, at three
// addresses in a network.
func startAttacked(t *testing.T, files int, a *attack) (*program, memoryCgroup) {
	t.Helper()
	dir := shortDirectory(t, "")
	host, _, _ := net.SplitHostPort(a.web)
	_, cert, key := collectortest.Certificate(t, host, time.Now().Add(time.Hour))
	var series strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&series, "load{part=\"%d\"} %d\n", i, i)
	}
	target := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, series.String()) }))
	_ = target.Listener.Close()
	var err error
	if target.Listener, err = there(a.network, func() (net.Listener, error) { return net.Listen("tcp", "127.0.0.1:0") }); err != nil {
		t.Fatal(err)
	}
	target.Start()
	t.Cleanup(target.Close)
	write(t, filepath.Join(dir, "web.yml"), fmt.Sprintf("tls_server_config: {cert_file: %q, key_file: %q}\nhttp_server_config: {http2: true}\n", cert, key))
	write(t, filepath.Join(dir, "vitals.yml"), fmt.Sprintf("collectors:\n  - {name: load, interval: 1s, timeout: 1s, scrape: {url: %q}}\n", target.URL))
	c := newMemoryCgroup(t)
	c.limit(t, shippedLimit)
	c.countSockets(t)
	limited := []string{"sh", "-e", "-c", `ulimit -n "$0"; exec "$@"`, fmt.Sprint(files)}
	p := launch(t, a.probes, slices.Concat(c.inside(), a.inside(), limited, []string{os.Getenv("VITALS_BIN"), "run", "--config.file=" + filepath.Join(dir, "vitals.yml"), "--web.config.file=" + filepath.Join(dir, "web.yml"),
		"--web.listen-address=" + a.web, "--probe.listen-address=" + a.probes, "--grpc.listen-address=" + a.grpc, "--web.unix-socket=" + filepath.Join(dir, "v.sock"), "--web.shutdown-delay=0s"})...)
	await(t, "vitals listens", time.Minute, func() error { return a.alive(time.Second) })
	return p, c
}

// inside is the beginning of a command in the network of the attack. Unlike ip netns exec, it
// keeps the mounts, such as the cgroups.
func (a *attack) inside() []string { return []string{"nsenter", "--net=" + a.network} }

// probe probes on new connections, as a kubelet does, until the attack ends. It returns how
// long the probes took. The strangers have the address of some probes. On the attacked
// listener, the connections of that address are kept for 100 ms without a byte and for a second
// with one, which on a busy machine is too short for a few. Where a probe takes seconds, five of them
// are more than one in ten.
func (a *attack) probe(t *testing.T, from, url string) []time.Duration {
	client := &http.Client{Timeout: attackProbe, Transport: &http.Transport{DisableKeepAlives: true, DialContext: a.dialFrom(from), TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	shared := from == strangers && url == "https://"+a.web+"/alive"
	var took []time.Duration
	late := 0
	defer func() {
		if late > max(len(took)/10, min(5, len(took)/2)) {
			t.Errorf("%d of %d probes of %s from %s lost their connection, want at most one in 10, or 5 of few", late, len(took)+late, url, from)
		}
	}()
	for a.ctx.Err() == nil {
		start := time.Now()
		r, err := client.Get(url)
		if shared && (errors.Is(err, syscall.ECONNRESET) || errors.Is(err, io.EOF)) && time.Since(start) > attackPatience {
			late++
			continue
		}
		if err != nil {
			t.Errorf("probe %d of %s from %s: %v after %s", len(took), url, from, err, time.Since(start))
			return took
		}
		_ = r.Body.Close()
		if r.StatusCode != http.StatusOK || r.ProtoMajor != 1 {
			t.Errorf("GET %s = %s with %s, want 200 with HTTP/1.1", url, r.Status, r.Proto)
		}
		took = append(took, time.Since(start))
	}
	return took
}

// strangers is the address of those who attack.
const strangers = vitalsAddress

// Strangers who reach the port do not end Vitals, and keep no probe from its answer: neither those of
// other addresses, nor of their own. If more clients of an address reconnect than may wait, 1,024 with
// this memory limit, one more of that address has no better chance than they.
func TestAttack(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files int
		// crowd is set if there are more strangers than may wait.
		crowd bool
	}{
		{"rapid reset of HTTP2 streams", 4096, false},
		{"800 pipelines that are not read", 20_000, false},
		{"200 idle connections with 64 descriptors", 64, false},
		{"1000 clients that reconnect with TLS", 20_000, false},
		{"3000 clients that reconnect with TLS", 20_000, true},
		{"5000 idle connections", 20_000, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := newAttack(t)
			p, _ := startAttacked(t, tt.files, a)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			a.ctx = ctx
			a.begin(t, tt.name) // which may take a while
			defer time.AfterFunc(attackFor, cancel).Stop()
			var all sync.WaitGroup
			for _, probe := range [][2]string{{strangers, "https://" + a.web}, {proberAddress, "https://" + a.web}, {strangers, "http://" + a.probes}} {
				if tt.crowd && probe[0] == strangers && probe[1] == "https://"+a.web {
					continue
				}
				all.Go(func() {
					took := a.probe(t, probe[0], probe[1]+"/alive")
					if len(took) == 0 {
						return // an error of probe
					}
					slices.Sort(took)
					t.Logf("%d probes of %s from %s: median %s, p99 %s", len(took), probe[1], probe[0], took[len(took)/2], took[len(took)*99/100])
				})
			}
			all.Wait()
			if err := a.alive(attackProbe); err != nil {
				t.Errorf("after the attack: %v\n%s", err, p.tail())
			}
		})
	}
}
