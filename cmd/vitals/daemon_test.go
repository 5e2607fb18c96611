package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"github.com/vitals-health/vitals/collectors/collectortest"
)

// instance is the program within the test's own process.
type instance struct {
	log  *lines
	code chan int
	url  string
}

// runInstance calls run and waits until it listens.
func runInstance(t *testing.T, args ...string) *instance {
	t.Helper()
	i := &instance{log: &lines{}, code: make(chan int, 1)}
	go func() { i.code <- run(append([]string{"run"}, args...), io.Discard, i.log) }()
	listening := regexp.MustCompile(`msg="Listening on" address=(\S+)`)
	eventually(t, "the instance to listen", func() bool {
		if m := listening.FindStringSubmatch(i.log.String()); m != nil {
			i.url = "http://" + m[1]
		}
		select {
		case code := <-i.code:
			t.Fatalf("run() = %d, want it to go on; its log:\n%s", code, i.log)
		default:
		}
		return i.url != ""
	})
	return i
}

// TestTwoInstancesInOneProcess start, serve different verdicts side by side, and stop
// without leaving a goroutine, a socket or a connection behind.
func TestTwoInstancesInOneProcess(t *testing.T) {
	c, authURL, _ := cloud(t)
	before := goleak.IgnoreCurrent()
	transport := &http.Transport{DisableKeepAlives: true}
	configs := [2]string{}
	notify := collectortest.Dir(t)
	for i := range configs {
		dir := t.TempDir()
		text := strings.ReplaceAll(markers, "${VITALS_TEST_DIR}", dir)
		if i == 1 {
			write(t, dir, "bad", "")
			text += fmt.Sprintf(`
  - {name: kubernetes, kubernetes: {kubeconfig: %s, watch: [pods, services]}}
  - {name: keystone, keystone: {%s}}
  - {name: neutron, neutron: {keystone: keystone}}
  - {name: parts, components: {expect: [watcher], notify_directory: %s}}
  - {name: target, scrape: {url: "%s"}}
`, write(t, dir, "kubeconfig", string(c.Kubeconfig())), credentials(c, authURL), notify, c.NeutronURL())
		}
		write(t, dir, "rules.yml", markerRules)
		configs[i] = write(t, dir, "vitals.yml", text)
	}
	var all []*instance
	for i, config := range configs {
		all = append(all, runInstance(t, "--config.file="+config, "--web.listen-address=127.0.0.1:0", "--web.shutdown-delay=0s",
			"--web.unix-socket="+filepath.Join(filepath.Dir(config), fmt.Sprintf("%d.sock", i)), "--probe.listen-address=127.0.0.1:0"))
	}
	for i, want := range []string{"200 ok", "503 Bad failing: the marker exists (value 1, since "} {
		eventually(t, want, func() bool {
			code, body := request(t, transport, http.MethodGet, all[i].url+"/ready", "")
			return strings.HasPrefix(fmt.Sprintf("%d %s", code, body), want)
		})
	}
	eventually(t, "every dependency of the second to be up", func() bool {
		_, body := request(t, transport, http.MethodGet, all[1].url+"/metrics", "")
		for _, name := range []string{"kubernetes", "keystone", "neutron"} {
			if !strings.Contains(body, "\nvitals_dependency_up{dependency=\""+name+"\"} 1\n") {
				return false
			}
		}
		return strings.Contains(body, `vitals_kubernetes_watch_connected{dependency="kubernetes",resource="services"} 1`)
	})
	if _, body := request(t, transport, http.MethodGet, all[0].url+"/metrics", ""); strings.Contains(body, "vitals_dependency_up") {
		t.Error("the first instance shows the dependencies of the second")
	}

	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for i, in := range all {
		if code := <-in.code; code != 0 {
			t.Errorf("run() = %d, want 0; log of instance %d:\n%s", code, i, in.log)
		}
	}
	// Connections that clients keep for the next request end by themselves, after a
	// while or with the server; nothing else may be left before that.
	goleak.VerifyNone(t, before, goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"), goleak.IgnoreAnyFunction("net/http.(*conn).serve"))
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	goleak.VerifyNone(t, before)
	if left, err := filepath.Glob(filepath.Join(notify, "*")); err != nil || len(left) > 0 {
		t.Errorf("Glob() = %q, %v, want no socket left", left, err)
	}
}
