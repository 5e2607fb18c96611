//go:build e2e

package e2e_test

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vitals-health/vitals/internal/fakes"
)

// kuryrCNIConf is what a deployed CNI daemon has; the placeholders are the port, the
// limit in MiB, and how the Kubernetes API is reached.
const kuryrCNIConf = `[DEFAULT]
debug = false

[cni_health_server]
port = %s
max_memory_usage = %s

[kubernetes]
api_root = %s
token_file = %[4]s/token
ssl_ca_crt_file = %[4]s/ca.crt
ssl_verify_server_crt = True
`

// shippedWithin bounds what takes the shipped intervals and rules: ten seconds of
// interval, at most 25 of "for", and slack.
const shippedWithin = time.Minute

// cniConf is a kuryr.conf of a CNI daemon.
type cniConf struct {
	dir, port string
	cloud     *fakes.Cloud
}

func newCNIConf(t *testing.T, port string) cniConf {
	t.Helper()
	c := cniConf{t.TempDir(), port, startCloud(t)}
	write(t, filepath.Join(c.dir, "token"), c.cloud.Token())
	write(t, filepath.Join(c.dir, "ca.crt"), string(c.cloud.Authority()))
	return c
}

func (c cniConf) path() string { return filepath.Join(c.dir, "kuryr.conf") }

// limit writes the file, with that max_memory_usage.
func (c cniConf) limit(t *testing.T, max string) {
	t.Helper()
	next := c.path() + ".next"
	write(t, next, fmt.Sprintf(kuryrCNIConf, c.port, max, c.cloud.KubernetesURL(), c.dir))
	if err := os.Rename(next, c.path()); err != nil {
		t.Fatal(err)
	}
}

// TestCNIKuryrConf runs the profile as it is shipped, with a kuryr.conf and with flags.
// The port, the limit and the Kubernetes API come from the file, and follow its changes.
// The measured memory is that of the cgroup in which Vitals itself runs.
func TestCNIKuryrConf(t *testing.T) {
	t.Parallel()
	where := address(t)
	_, port, err := net.SplitHostPort(where)
	if err != nil {
		t.Fatal(err)
	}
	conf := newCNIConf(t, port)
	conf.limit(t, "1")
	c := newMemoryCgroup(t)
	m := &cniManager{dir: shortDirectory(t, "/dev/shm")}
	m.daemon = daemon{launch(t, where, append(c.inside(), os.Getenv("VITALS_BIN"), "run", "--profile=kuryr-cni",
		"--kuryr.conf="+conf.path(), "--set=interfaces=lo", "--set=shared_booleans=watcher:"+filepath.Join(m.dir, "watcher")+":3s",
		"--web.unix-socket=", "--web.shutdown-delay=0s", "--config.poll-interval=1s")...)}
	await(t, "it listens on the port of kuryr.conf", cniWithin, func() error { return m.want("/alive", http.StatusOK) })
	limited := func(mebibytes float64) error {
		return m.has(mebibytes*mebibyte, "vitals_memory_limit_bytes", "cgroup", "memory")
	}
	await(t, "1 MiB is exceeded", shippedWithin, func() error {
		return errors.Join(limited(1), m.uses(1, 100), m.state("alive", "MemoryLimitExceeded failing: "))
	})
	if err := m.has(1, "vitals_dependency_up", "dependency", "kubernetes"); err != nil {
		t.Error(err)
	}
	conf.limit(t, "512")
	await(t, "512 MiB are not exceeded", shippedWithin, func() error { return errors.Join(limited(512), m.state("alive")) })
	conf.limit(t, "-1")
	await(t, "there is no limit", shippedWithin, func() error {
		if limited(512) == nil {
			return errors.New("vitals_memory_limit_bytes is there, want none")
		}
		return m.state("alive")
	})
	watcher := newPart(t, "watcher", nil, m.environment("watcher", "boolean")...)
	await(t, "the settings of the flags are checked", shippedWithin, func() error {
		return errors.Join(m.has(1, "vitals_component_alive", "component", "watcher"), m.has(1, "vitals_netlink_interface_present", "netlink", "netlink", "interface", "lo"))
	})
	watcher.signal(t, syscall.SIGSTOP)
	await(t, "the watcher hangs", shippedWithin, func() error { return m.state("alive", "ComponentDead failing: The component watcher is ") })
	watcher.signal(t, syscall.SIGCONT)
	await(t, "the watcher goes on", shippedWithin, func() error { return m.state("alive") })
}

// TestCNIKuryrConfMistakes starts the profile with limits and ports that make no sense.
func TestCNIKuryrConfMistakes(t *testing.T) {
	t.Parallel()
	for _, mistake := range []struct{ port, max, line string }{
		{"8090", "0", "6"},
		{"8090", "-2", "6"},
		{"8090", "plenty", "6"},
		{"0", "-1", "5"},
	} {
		conf := newCNIConf(t, mistake.port)
		conf.limit(t, mistake.max)
		out, err := exec.Command(os.Getenv("VITALS_BIN"), "run", "--profile=kuryr-cni", "--kuryr.conf="+conf.path(), "--web.unix-socket=").CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 3 || !strings.Contains(string(out), conf.path()+":"+mistake.line+":") {
			t.Errorf("port %s, max_memory_usage %s: %v, want exit code 3 and the line %s:\n%s", mistake.port, mistake.max, err, mistake.line, out)
		}
	}
}

// TestProfileCNI stops and freezes a real kube-apiserver. The node is not ready until it
// is back, and the daemon on it is not restarted for a moment.
func TestProfileCNI(t *testing.T) {
	kubeconfig := filepath.Join(env(t).state, "kubernetes", "kubeconfig")
	m := startCNI(t, cniOptions{collectors: "kubernetes: {kubernetes: {kubeconfig: " + kubeconfig + "}}"})
	for _, f := range []struct{ fault, reason string }{
		{"apiserver-killed", "refused"}, {"apiserver-frozen", "timeout"}, {"token-rejected", "auth"},
	} {
		t.Run(f.fault, func(t *testing.T) {
			await(t, "healthy before the fault", time.Minute, m.healthy)
			m.staysAlive(t)
			heal := broken(t, "kubernetes", f.fault)
			took := await(t, "the fault shows", cniWithin, func() error {
				return errors.Join(m.state("ready", "KubernetesDown failing: "), m.has(0, "vitals_dependency_up", "dependency", "kubernetes"),
					m.has(1, "vitals_dependency_failure", "dependency", "kubernetes", "reason", f.reason))
			})
			t.Logf("not ready %s after the fault", took.Round(100*time.Millisecond))
			heal()
			await(t, "the fault has passed", time.Minute, m.healthy)
		})
	}
}
