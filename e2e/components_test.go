//go:build e2e

package e2e_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

const (
	// componentDeadline is the silence after which a component counts as dead. What was
	// reported is seen before it is over, also on a busy machine.
	componentDeadline = 8 * time.Second
	// componentSlack is what a busy machine may add to what happens at once.
	componentSlack = 30 * time.Second
	// componentToken lets a report in over TCP. The daemon must never show it.
	componentToken = "test-token-of-components"
	// componentPage is the documentation whose commands are run.
	componentPage = "../collectors/components/README.md"
	// componentFiles is the folder of the programs and rules that the page shows.
	componentFiles = "../collectors/components/testdata"
)

// parts is a daemon that evaluates the documented rules about components, without their
// "for". Its directory replaces the /run/vitals of the documentation.
type parts struct {
	daemon
	dir string
}

// startParts runs Vitals with a collector of components.
func startParts(t *testing.T, config string) *parts {
	t.Helper()
	dir := shortDirectory(t, "")
	rules := regexp.MustCompile(`(?m)^ *for: .*\n`).ReplaceAllString(read(t, filepath.Join(componentFiles, "rules.yml")), "")
	for name, text := range map[string]string{
		"rules.yml": rules,
		"vitals.yml": "rule_files: [rules.yml]\nserver: {component_token: " + componentToken + "}\n" +
			"collectors:\n  - {name: parts, interval: 1s, timeout: 1s, components: {" + strings.ReplaceAll(config, "/run/vitals", dir) + "}}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return &parts{runVitals(t, os.Getenv("VITALS_BIN"), filepath.Join(dir, "vitals.yml"), dir), dir}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// documentedShell returns the shell commands of the documentation in which a word is.
func documentedShell(t *testing.T, word string) string {
	t.Helper()
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(read(t, componentPage), -1) {
		if strings.Contains(block[1], word) {
			return block[1]
		}
	}
	t.Fatalf("%s shows no shell command with %q", componentPage, word)
	return ""
}

// command prepares a program that finds the daemon by the variables of the documentation.
func (p *parts) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "NOTIFY_SOCKET="+p.dir+"/notify/watcher.sock", "VITALS_SOCKET="+p.dir+"/vitals.sock")
	return cmd
}

// run runs a program that reports, to its end.
func (p *parts) run(t *testing.T, name string, args ...string) {
	t.Helper()
	cmd := p.command(name, args...)
	kill := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// shell runs commands of the documentation with the directory of this daemon.
func (p *parts) shell(t *testing.T, commands string) {
	t.Helper()
	p.run(t, "sh", "-e", "-c", strings.ReplaceAll(commands, "/run/vitals", p.dir))
}

// health is the visible state of the component watcher and of the two states. A nil
// pointer is unknown.
type health struct {
	alive, ready *bool
	// reason is in the component's reason; empty is not compared.
	reason string
	// aliveFails and readyFails are the lines of the rules that make alive and ready fail.
	aliveFails, readyFails string
}

var (
	neverReported = health{reason: "never reported", readyFails: "ComponentMissing failing: Component watcher has never reported."}
	wellReported  = health{alive: new(true), ready: new(true)}
)

func notReadyFor(reason string) health {
	return health{alive: new(true), ready: new(false), reason: reason, readyFails: "ComponentNotReady failing: Component watcher is not ready."}
}

// deadFor is a dead component: the workload is not ready either.
func deadFor(reason string) health {
	return health{alive: new(false), ready: new(false), reason: reason,
		aliveFails: "ComponentDead failing: Component watcher is not alive.",
		readyFails: "ComponentNotReady failing: Component watcher is not ready."}
}

// await waits until the API, the gauges and both probes agree.
func (p *parts) await(t *testing.T, what string, within time.Duration, want health) time.Duration {
	t.Helper()
	return await(t, what, within, func() error {
		return errors.Join(p.shows(want), p.gauge("vitals_component_alive", want.alive), p.gauge("vitals_component_ready", want.ready),
			p.probe("alive", want.aliveFails), p.probe("ready", want.readyFails))
	})
}

// shows compares what the API has of the component.
func (p *parts) shows(want health) error {
	_, body, err := p.get("/api/v1/status")
	if err != nil {
		return err
	}
	var status struct {
		Components []struct {
			Name, Reason string
			Alive, Ready *bool
		}
	}
	if err := json.Unmarshal([]byte(body), &status); err != nil {
		return err
	}
	for _, c := range status.Components {
		if c.Name != "watcher" {
			continue
		}
		if shown(c.Alive) != shown(want.alive) || shown(c.Ready) != shown(want.ready) || !strings.Contains(c.Reason, want.reason) {
			return fmt.Errorf("API: alive %s, ready %s, reason %q, want %s, %s, %q",
				shown(c.Alive), shown(c.Ready), c.Reason, shown(want.alive), shown(want.ready), want.reason)
		}
		return nil
	}
	return fmt.Errorf("API: no component watcher in %s", body)
}

func shown(b *bool) string {
	if b == nil {
		return "unknown"
	}
	return fmt.Sprint(*b)
}

// gauge compares one of the component's gauges, which is absent while the value is unknown.
func (p *parts) gauge(name string, want *bool) error {
	m, err := p.metrics()
	if err != nil {
		return err
	}
	got, ok := m[series(name, "component", "watcher")]
	if ok != (want != nil) || ok && (got == 1) != *want {
		return fmt.Errorf("%s = %g (present: %t), want %s", name, got, ok, shown(want))
	}
	return nil
}

// probe compares a state's status, and the line of the rule that makes it fail.
func (p *parts) probe(state, fails string) error {
	status, body, err := p.get("/" + state + "?verbose")
	if err != nil {
		return err
	}
	want, line := http.StatusOK, ""
	if fails != "" {
		want, line = http.StatusServiceUnavailable, "[-]"+fails
	}
	if status != want || !strings.Contains(body, line) {
		return fmt.Errorf("GET /%s?verbose = %d, want %d with %q:\n%s", state, status, want, line, body)
	}
	return nil
}

// way is one way to report. Its functions report for the component watcher.
type way struct {
	name string
	// healthy runs what the documentation shows.
	healthy func(*testing.T, *parts)
	// notReady and dead give a reason.
	notReady, dead func(t *testing.T, p *parts, reason string)
}

// curl reports over the network or, with more options, over the Unix socket.
func (p *parts) curl(t *testing.T, url, body string, options ...string) {
	t.Helper()
	p.run(t, "curl", append(options, "--silent", "--show-error", "--fail", "-X", "PUT", "-d", body, url+"/api/v1/components/watcher")...)
}

// python runs a program of the documentation and one more line.
func (p *parts) python(t *testing.T, program, more string) {
	t.Helper()
	p.run(t, "python3", "-c", read(t, filepath.Join(componentFiles, program))+more)
}

func ways() []way {
	body := func(alive, ready bool, reason string) string {
		return fmt.Sprintf(`{"alive":%t,"ready":%t,"reason":%q}`, alive, ready, reason)
	}
	overSocket := func(t *testing.T, p *parts, body string) {
		p.curl(t, "http://localhost", body, "--unix-socket", p.dir+"/vitals.sock")
	}
	overTCP := func(t *testing.T, p *parts, body string) {
		p.curl(t, p.url, body, "-H", "Authorization: Bearer "+componentToken)
	}
	return []way{
		{"systemd-notify",
			func(t *testing.T, p *parts) { p.shell(t, documentedShell(t, "systemd-notify")) },
			func(t *testing.T, p *parts, reason string) {
				p.run(t, "systemd-notify", "STOPPING=1", "STATUS="+reason)
			},
			func(t *testing.T, p *parts, reason string) {
				p.run(t, "systemd-notify", "WATCHDOG=trigger", "STATUS="+reason)
			}},
		{"python-datagram",
			func(t *testing.T, p *parts) { p.python(t, "notify.py", "") },
			func(t *testing.T, p *parts, reason string) {
				p.python(t, "notify.py", fmt.Sprintf(`notify("STOPPING=1\nSTATUS=%s")`, reason))
			},
			func(t *testing.T, p *parts, reason string) {
				p.python(t, "notify.py", fmt.Sprintf(`notify("ERRNO=5\nSTATUS=%s")`, reason))
			}},
		{"python-http",
			func(t *testing.T, p *parts) { p.python(t, "report.py", "") },
			func(t *testing.T, p *parts, reason string) {
				p.python(t, "report.py", fmt.Sprintf(`report("watcher", ready=False, reason=%q)`, reason))
			},
			func(t *testing.T, p *parts, reason string) {
				p.python(t, "report.py", fmt.Sprintf(`report("watcher", alive=False, reason=%q)`, reason))
			}},
		{"curl-unix-socket",
			func(t *testing.T, p *parts) { p.shell(t, documentedShell(t, "curl --unix-socket")) },
			func(t *testing.T, p *parts, reason string) { overSocket(t, p, body(true, false, reason)) },
			func(t *testing.T, p *parts, reason string) { overSocket(t, p, body(false, false, reason)) }},
		{"curl-tcp-token",
			func(t *testing.T, p *parts) { overTCP(t, p, body(true, true, "")) },
			func(t *testing.T, p *parts, reason string) { overTCP(t, p, body(true, false, reason)) },
			func(t *testing.T, p *parts, reason string) { overTCP(t, p, body(false, false, reason)) }},
	}
}

// watcherExpected is the configuration of a daemon that expects one component.
const watcherExpected = "expect: [watcher], deadline: 8s, notify_directory: /run/vitals/notify"

// TestComponentsReport reports in every way, with the real programs: what was never
// reported is unknown, each report takes effect, silence beyond the deadline is death,
// and every failure is over with the next good report.
func TestComponentsReport(t *testing.T) {
	for _, w := range ways() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			p := startParts(t, watcherExpected)
			p.await(t, "unknown before the first report", componentSlack, neverReported)
			w.healthy(t, p)
			p.await(t, "healthy", componentSlack, wellReported)
			w.notReady(t, p, "subnet is full")
			p.await(t, "not ready", componentSlack, notReadyFor("subnet is full"))
			w.healthy(t, p)
			p.await(t, "ready again", componentSlack, wellReported)
			w.dead(t, p, "queue is stuck")
			p.await(t, "dead", componentSlack, deadFor("queue is stuck"))
			w.healthy(t, p)
			p.await(t, "alive again", componentSlack, wellReported)
			took := p.await(t, "dead by silence", componentDeadline+componentSlack, deadFor("no report for "))
			t.Logf("dead %s after it was seen healthy (deadline: %s)", took.Round(100*time.Millisecond), componentDeadline)
			w.healthy(t, p)
			p.await(t, "alive after silence", componentSlack, wellReported)
		})
	}
}

// beat starts a process that is a component: the documented Python program, which then
// gives a sign of life every half second.
func (p *parts) beat(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := p.command("python3", "-c", read(t, filepath.Join(componentFiles, "notify.py"))+
		"import time\nwhile True:\n    time.sleep(0.5)\n    notify(\"WATCHDOG=1\")\n")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd
}

// TestComponentsKilled kills a component's process, which then reports nothing.
func TestComponentsKilled(t *testing.T) {
	t.Parallel()
	p := startParts(t, watcherExpected)
	process := p.beat(t)
	p.await(t, "healthy", componentSlack, wellReported)
	until := time.Now().Add(2 * componentDeadline)
	await(t, "two deadlines pass", 3*componentDeadline+componentSlack, func() error {
		if err := errors.Join(p.want("/alive", http.StatusOK), p.want("/ready", http.StatusOK)); err != nil {
			t.Fatalf("while it gives signs of life: %v", err)
		}
		if left := time.Until(until); left > 0 {
			return fmt.Errorf("%s are left", left)
		}
		return nil
	})
	for range 2 {
		if err := process.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = process.Wait() // it was killed
		took := p.await(t, "dead", componentDeadline+componentSlack, deadFor("no report for "))
		if took < componentDeadline/2 { // its last sign of life may be from a while before
			t.Errorf("dead %s after it was killed, want not long before %s", took, componentDeadline)
		}
		process = p.beat(t)
		back := p.await(t, "back", componentSlack, wellReported)
		t.Logf("dead %s after it was killed, healthy %s after it was back", took.Round(100*time.Millisecond), back.Round(100*time.Millisecond))
	}
}

// TestComponentsExpected compares who was expected with who has reported.
func TestComponentsExpected(t *testing.T) {
	t.Parallel()
	p := startParts(t, "expect: [server, watcher], notify_directory: /run/vitals/notify")
	p.shell(t, `NOTIFY_SOCKET=/run/vitals/notify/server.sock systemd-notify --ready`)
	p.await(t, "one of two has reported", componentSlack, neverReported)
	m, err := p.metrics()
	if err != nil {
		t.Fatal(err)
	}
	for name, reported := range map[string]float64{"server": 1, "watcher": 0} {
		if err := errors.Join(m.want(1, "vitals_component_expected", "component", name), m.want(reported, "vitals_component_reported", "component", name)); err != nil {
			t.Error(err)
		}
	}
	var out bytes.Buffer
	stranger := p.command("curl", "--silent", "--write-out", "%{http_code}", "--unix-socket", p.dir+"/vitals.sock",
		"-X", "PUT", "-d", `{"alive":true}`, "http://localhost/api/v1/components/stranger")
	stranger.Stdout = &out
	if err := stranger.Run(); err != nil || !strings.Contains(out.String(), "404") || !strings.Contains(out.String(), "expected one of server, watcher") {
		t.Errorf("report of a stranger = %v %q, want 404 and the names that are expected", err, out.String())
	}
	p.shell(t, documentedShell(t, "systemd-notify"))
	p.await(t, "both have reported", componentSlack, wellReported)
}
