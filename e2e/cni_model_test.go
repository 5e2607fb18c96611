//go:build e2e

package e2e_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	// partDeadline is the silence after which a part counts as dead. Each gives a sign
	// of life every 0.3 seconds.
	partDeadline = 8 * time.Second
	// partFlips bounds what takes effect at once: the parts' 0.3 seconds, a read of the
	// file of a shared boolean, the rule's second, the evaluation's, and the delays
	// of a busy machine.
	partFlips = 30 * time.Second
)

// cniWay is one way by which the parts report their health to the health manager.
type cniWay struct {
	name string
	// components is the configuration of the collector.
	components string
	// sick and silent are the reasons that are shown for a part that reports that it is
	// dead, and for one that reports nothing.
	sick, silent string
	// readiness is set if the parts report their readiness, too.
	readiness bool
}

func cniWays() []cniWay {
	return []cniWay{
		{"boolean", "shared_booleans: {watcher: {path: DIR/watcher, deadline: 8s}, server: {path: DIR/server, deadline: 8s}}",
			"shared boolean is false", "shared boolean not written for ", false},
		{"notify", "expect: [watcher, server], deadline: 8s, notify_directory: DIR/notify", "queue is stuck", "no report for ", true},
		{"http", "expect: [watcher, server], deadline: 8s", "queue is stuck", "no report for ", true},
	}
}

// cniDaemon is the process model of the CNI daemon: the health manager, and the two
// parts that report to it.
type cniDaemon struct {
	*cniManager
	way             cniWay
	watcher, server *part
}

// startDaemon starts the three processes.
func startDaemon(t *testing.T, way cniWay, more ...string) *cniDaemon {
	t.Helper()
	m := startCNI(t, cniOptions{collectors: "components: {components: {" + way.components + "}}"})
	return &cniDaemon{m, way,
		newPart(t, "watcher", nil, append(m.environment("watcher", way.name), more...)...),
		newPart(t, "server", nil, append(m.environment("server", way.name), more...)...)}
}

// environment is how a part has to report.
func (m *cniManager) environment(part, way string) []string {
	return []string{
		"VITALS_NAME=kuryr-" + part, "VITALS_COMPONENT=" + part, "VITALS_WAY=" + way,
		"VITALS_BOOLEAN=" + filepath.Join(m.dir, part),
		"NOTIFY_SOCKET=" + filepath.Join(m.dir, "notify", part+".sock"),
		"VITALS_SOCKET=" + filepath.Join(m.dir, "vitals.sock"),
	}
}

// await waits until the API, the gauges and both probes agree: the parts in dead are
// dead for the reason, all others are healthy.
func (d *cniDaemon) await(t *testing.T, what string, within time.Duration, reason string, dead ...*part) time.Duration {
	t.Helper()
	took := await(t, what, within, func() error { return d.shows(reason, dead) })
	t.Logf("%s after %s", what, took.Round(100*time.Millisecond))
	return took
}

func (d *cniDaemon) shows(reason string, dead []*part) error {
	reported, err := d.components()
	if err != nil {
		return err
	}
	got, err := d.metrics()
	if err != nil {
		return err
	}
	var problems []error
	for _, p := range []*part{d.watcher, d.server} {
		alive, because := 1.0, ""
		if slices.Contains(dead, p) {
			alive, because = 0, reason
		}
		if c := reported[p.name]; !strings.HasPrefix(c.Reason, because) || c.Alive == nil || *c.Alive != (alive == 1) {
			problems = append(problems, fmt.Errorf("API: %s is alive: %s for the reason %q, want %g, %q", p.name, shown(c.Alive), c.Reason, alive, because))
		}
		problems = append(problems, got.want(alive, "vitals_component_alive", "component", p.name))
		if d.way.readiness {
			problems = append(problems, got.want(alive, "vitals_component_ready", "component", p.name))
		}
	}
	return errors.Join(append(problems, d.probes(dead))...)
}

// probes compares both of them. What is dead is not ready either, even if no part has
// reported its readiness.
func (d *cniDaemon) probes(dead []*part) error {
	if len(dead) == 0 {
		return d.healthy()
	}
	who := "The component " + dead[0].name + " is "
	if len(dead) > 1 {
		who = fmt.Sprintf("%d alerts", len(dead))
	}
	ready := []string{"ComponentNotReady failing: ", who}
	if !d.way.readiness {
		ready = []string{"not alive"}
	}
	return errors.Join(d.state("alive", "ComponentDead failing: ", who), d.state("ready", ready...))
}

// component is what the API shows of one.
type component struct {
	Name, Reason string
	Alive, Ready *bool
}

// components queries the components from the API, by their names.
func (m *cniManager) components() (map[string]component, error) {
	_, body, err := m.get("/api/v1/status")
	if err != nil {
		return nil, err
	}
	var status struct{ Components []component }
	if err := json.Unmarshal([]byte(body), &status); err != nil {
		return nil, err
	}
	all := map[string]component{}
	for _, c := range status.Components {
		all[c.Name] = c
	}
	return all, nil
}

// TestCNIProcessModel flips, hangs, kills and restarts each of two processes that report
// to a third, in every way in which they can. The verdict follows, names the process and
// the reason, and recovers; the other process is never blamed.
func TestCNIProcessModel(t *testing.T) {
	t.Parallel()
	for _, way := range cniWays() {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			d := startDaemon(t, way)
			d.await(t, "both are healthy", cniWithin, "")
			for _, p := range []*part{d.watcher, d.server} {
				d.flipped(t, p)
				d.hung(t, p)
				d.killed(t, p)
			}
			d.watcher.kill(t)
			d.server.kill(t)
			d.await(t, "both are dead", partDeadline+partFlips, way.silent, d.watcher, d.server)
			d.watcher.start(t)
			d.await(t, "the server alone is dead", partFlips, way.silent, d.server)
			d.server.start(t)
			d.await(t, "both are back", partFlips, "")
		})
	}
}

// flipped lets a part report that it is dead, and then that it is alive.
func (d *cniDaemon) flipped(t *testing.T, p *part) {
	t.Helper()
	for range 2 {
		p.send(t, "dead")
		d.await(t, p.name+" reports that it is dead", partFlips, d.way.sick, p)
		p.send(t, "alive")
		d.await(t, p.name+" reports that it is alive", partFlips, "")
	}
}

// hung stops a part, which is there and does nothing.
func (d *cniDaemon) hung(t *testing.T, p *part) {
	t.Helper()
	p.signal(t, syscall.SIGSTOP)
	took := d.await(t, p.name+" hangs", partDeadline+partFlips, d.way.silent, p)
	if took < partDeadline/2 { // its last sign of life may be from a while before
		t.Errorf("%s is dead %s after it hung, want not long before %s", p.name, took, partDeadline)
	}
	p.signal(t, syscall.SIGCONT)
	d.await(t, p.name+" goes on", partFlips, "")
}

// killed ends a part that was healthy, and one that had reported that it was dead: its
// last report does not outlive its return.
func (d *cniDaemon) killed(t *testing.T, p *part) {
	t.Helper()
	p.kill(t)
	d.await(t, p.name+" is killed", partDeadline+partFlips, d.way.silent, p)
	p.start(t)
	d.await(t, p.name+" is back", partFlips, "")
	p.send(t, "dead")
	d.await(t, p.name+" reports that it is dead", partFlips, d.way.sick, p)
	p.kill(t)
	p.start(t)
	d.await(t, p.name+" is back and healthy", partFlips, "")
}

// TestCNIHealthManagerRestarts kills the health manager itself. Its
// successor finds the sockets and booleans of the former, and has the reports since its own
// start: no report is invented, and none is lost that a part repeats.
func TestCNIHealthManagerRestarts(t *testing.T) {
	t.Parallel()
	for _, way := range cniWays() {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			d := startDaemon(t, way)
			d.await(t, "both are healthy", cniWithin, "")
			d.watcher.send(t, "dead")
			d.await(t, "the watcher reports that it is dead", partFlips, way.sick, d.watcher)
			if err := d.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = d.cmd.Wait() // it was killed
			d.run(t)
			d.await(t, "the next one shows that the watcher is dead", partFlips, way.sick, d.watcher)
			d.watcher.send(t, "alive")
			d.await(t, "both are healthy again", partFlips, "")
		})
	}
}
