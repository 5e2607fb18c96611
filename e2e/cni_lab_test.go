//go:build e2e

package e2e_test

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/vitals-health/vitals/internal/fakes"
)

// cniWithin bounds what shows with the next collection: a second of interval, a second of
// "for", a second of evaluation, and the delays of a busy machine.
const cniWithin = time.Minute

// cniConfig is what Kuryr leaves in /etc/cni/net.d for the container runtime.
const cniConfig = `{"name": "kuryr", "cniVersion": "0.3.1", "plugins": [{"type": "kuryr-cni", "kuryr_conf": "/etc/kuryr/kuryr.conf"}]}`

// cniPlaces has the paths of the profile's files in the manager's directory.
const cniPlaces = `
kubernetes: {kubernetes: {kubeconfig: DIR/kubeconfig}}
cni-config: {file: {path: DIR/10-kuryr.conflist}}
cni-plugin: {file: {path: DIR/kuryr-cni}}
kuryr-conf: {file: {path: DIR/kuryr.conf}}
`

// cniManager is the health manager of a CNI daemon: Vitals with the profile kuryr-cni,
// alone on a node. Only the intervals differ from the shipped profile: the collectors
// measure every second, and every "for" is a second.
type cniManager struct {
	daemon
	// dir holds the profile's files, the sockets and the shared booleans.
	dir string
	// cloud imitates the Kubernetes API.
	cloud *fakes.Cloud
}

// cniOptions are the differences from the profile.
type cniOptions struct {
	// collectors is YAML that is laid over the profile's collectors, by their names. DIR
	// is the manager's directory.
	collectors string
	// rules are texts of the rules and what replaces them.
	rules []string
	// more names another file of rules that are shipped; empty: none.
	more string
}

// startCNI runs the health manager until the test ends.
func startCNI(t *testing.T, o cniOptions) *cniManager {
	t.Helper()
	m := newCNI(t, o)
	m.run(t)
	return m
}

// newCNI writes the profile's files and what they need.
func newCNI(t *testing.T, o cniOptions) *cniManager {
	t.Helper()
	m := &cniManager{dir: shortDirectory(t, "/dev/shm"), cloud: startCloud(t)}
	show := exec.Command(os.Getenv("VITALS_BIN"), "profiles", "show", "kuryr-cni", "--write="+m.dir)
	if out, err := show.CombinedOutput(); err != nil {
		t.Fatalf("vitals profiles show: %v\n%s", err, out)
	}
	// Its collectors are not configured here, and all files of the folder are used.
	if err := os.Remove(filepath.Join(m.dir, "rules", "kuryr-original.yml")); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"kubeconfig": string(m.cloud.Kubeconfig()), "10-kuryr.conflist": cniConfig, "kuryr-cni": "#!/bin/sh\n", "kuryr.conf": "[DEFAULT]\n",
	} {
		write(t, filepath.Join(m.dir, name), text)
	}
	if err := os.Chmod(filepath.Join(m.dir, "kuryr-cni"), 0o755); err != nil {
		t.Fatal(err)
	}
	if o.more != "" {
		write(t, filepath.Join(m.dir, "rules", o.more+".yml"), read(t, filepath.Join("..", "rules", "builtin", o.more+".yml")))
	}
	m.hasten(t, o.rules)
	rewrite(t, filepath.Join(m.dir, "vitals.yml"), func(text string) string { return m.configure(t, text, o.collectors) })
	return m
}

// hasten makes all rules impatient, and replaces texts in those of the profile's own name.
func (m *cniManager) hasten(t *testing.T, texts []string) {
	t.Helper()
	dir := filepath.Join(m.dir, "rules")
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		rewrite(t, filepath.Join(dir, file.Name()), func(text string) string {
			text = regexp.MustCompile(`(?m)^( *for:) .*$`).ReplaceAllString(text, "$1 1s")
			text = regexp.MustCompile(`(?m)^( *interval:) .*$`).ReplaceAllString(text, "$1 100ms")
			return regexp.MustCompile(`(?m)^ *keep_firing_for: .*\n`).ReplaceAllString(text, "")
		})
	}
	rewrite(t, filepath.Join(dir, "kuryr-cni.yml"), func(text string) string {
		for i := 0; i < len(texts); i += 2 {
			if !strings.Contains(text, texts[i]) {
				t.Fatalf("the rules have no %q", texts[i])
			}
			text = strings.ReplaceAll(text, texts[i], texts[i+1])
		}
		return text
	})
}

// startCloud starts what imitates the Kubernetes API.
func startCloud(t *testing.T) *fakes.Cloud {
	t.Helper()
	cloud, err := fakes.Start(fakes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cloud.Close(); err != nil {
			t.Errorf("Close() = %v, want nil", err)
		}
	})
	return cloud
}

// configure hastens the collectors of a configuration and lays what a test needs over
// them.
func (m *cniManager) configure(t *testing.T, text, overlay string) string {
	t.Helper()
	var config map[string]any
	var changes map[string]map[string]any
	in := func(text string) []byte { return []byte(strings.ReplaceAll(text, "DIR", m.dir)) }
	if err := errors.Join(yaml.Unmarshal([]byte(text), &config), yaml.Unmarshal(in(cniPlaces), &changes), yaml.Unmarshal(in(overlay), &changes)); err != nil {
		t.Fatal(err)
	}
	config["rule_files"] = []string{"rules/*.yml"}
	delete(config["server"].(map[string]any), "listen_address")
	var list []any
	for _, c := range config["collectors"].([]any) {
		collector := c.(map[string]any)
		name := collector["name"].(string)
		collector["interval"], collector["timeout"] = "1s", "1s"
		list = append(list, lay(collector, changes[name]))
		delete(changes, name)
	}
	for name, change := range changes {
		list = append(list, lay(map[string]any{"name": name, "interval": "1s", "timeout": "1s"}, change))
	}
	config["collectors"] = list
	out, err := yaml.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// lay changes one mapping by another, key by key, and returns it.
func lay(under, over map[string]any) map[string]any {
	for key, value := range over {
		block, isBlock := value.(map[string]any)
		old, wasBlock := under[key].(map[string]any)
		switch {
		case value == nil:
			delete(under, key)
		case isBlock && wasBlock:
			under[key] = lay(maps.Clone(old), block)
		default:
			under[key] = value
		}
	}
	return under
}

// run starts Vitals and waits until it answers. What is in front of it runs before and
// then becomes it, as setpriv does.
func (m *cniManager) run(t *testing.T, before ...string) {
	t.Helper()
	listen := address(t)
	m.daemon = daemon{launch(t, listen, append(slices.Clone(before), os.Getenv("VITALS_BIN"), "run",
		"--config.file="+filepath.Join(m.dir, "vitals.yml"), "--web.listen-address="+listen,
		"--web.unix-socket="+filepath.Join(m.dir, "vitals.sock"), "--web.shutdown-delay=0s")...)}
	d := m.daemon
	t.Cleanup(func() {
		if d.cmd.ProcessState == nil { // unless the test has ended it
			d.keepsSecrets(t)
		}
	})
	await(t, "the health manager listens", cniWithin, func() error { return m.want("/alive", http.StatusOK) })
}

// state returns an error unless a probe answers 200 and "ok" or, if there are words, 500
// and a line with each of them.
func (m *cniManager) state(name string, words ...string) error {
	status, body, err := m.get("/" + name)
	if err != nil {
		return err
	}
	if len(words) == 0 && (status != http.StatusOK || body != "ok") {
		return fmt.Errorf("GET /%s = %d, want 200 and ok:\n%s", name, status, body)
	}
	if len(words) > 0 && status != http.StatusInternalServerError {
		return fmt.Errorf("GET /%s = %d, want 500 and %q:\n%s", name, status, words, body)
	}
	for _, w := range words {
		if !strings.Contains(body, w) {
			return fmt.Errorf("GET /%s = %d without %q:\n%s", name, status, w, body)
		}
	}
	return nil
}

// healthy returns an error unless all states of the manager pass.
func (m *cniManager) healthy() error { return errors.Join(m.state("alive"), m.state("ready")) }

// has compares one series, as metrics.want does.
func (m *cniManager) has(want float64, name string, pairs ...string) error {
	got, err := m.metrics()
	if err != nil {
		return err
	}
	return got.want(want, name, pairs...)
}

// steady fails the test when what it checks changes within that time.
func (m *cniManager) steady(t *testing.T, during time.Duration, check func() error) {
	t.Helper()
	until := time.Now().Add(during)
	await(t, "nothing happens", 2*during+cniWithin, func() error {
		if err := check(); err != nil {
			t.Fatal(err)
		}
		if left := time.Until(until); left > 0 {
			return fmt.Errorf("%s are left", left)
		}
		return nil
	})
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// rewrite changes the text of a file.
func rewrite(t *testing.T, path string, change func(string) string) {
	t.Helper()
	write(t, path, change(read(t, path)))
}
