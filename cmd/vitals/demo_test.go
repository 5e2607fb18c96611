package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/internal/config"
	"github.com/vitals-health/vitals/internal/demo"
	"github.com/vitals-health/vitals/internal/fakes"
	"github.com/vitals-health/vitals/internal/server"
)

// demoFault is a button of the demo and what comes of it.
type demoFault struct {
	dependency, fault string
	// ready and alive are the verdicts, each with the rule that decides.
	ready, alive string
	// reason is the dependency's failure; empty where it stays up.
	reason string
	// why is the reason why a fault changes no verdict.
	why string
}

// The verdicts of the demo's states.
const (
	demoPass      = "pass"
	demoDead      = "fail ComponentDead"
	demoNotReady  = "fail ComponentNotReady"
	demoWatchDown = "fail KubernetesWatchDown"
)

// demoFaults are all the buttons. A dependency never fails alive: a restart of the
// workload cures no outage of another service.
func demoFaults() []demoFault {
	var all []demoFault
	for _, down := range [][2]string{{"kubernetes", "KubernetesDown"}, {"keystone", "KeystoneDown"}, {"neutron", "NeutronDown"}} {
		for _, fault := range [][2]string{
			{"refuse", "refused"}, {"hang", "timeout"}, {"slow", "timeout"}, {"empty", "protocol"},
			{"401", "auth"}, {"403", "forbidden"}, {"500", "server_error"}, {"503", "server_error"},
		} {
			all = append(all, demoFault{dependency: down[0], fault: fault[0], ready: "fail " + down[1], alive: demoPass, reason: fault[1]})
		}
	}
	for _, component := range demo.Components() {
		all = append(all,
			demoFault{dependency: component, fault: demo.FaultDead, ready: demoNotReady, alive: demoDead},
			demoFault{dependency: component, fault: demo.FaultNotReady, ready: demoNotReady, alive: demoPass},
			demoFault{dependency: component, fault: demo.FaultSilent, ready: demoNotReady, alive: demoDead})
	}
	return append(all,
		demoFault{dependency: "kubernetes", fault: "drop-watch", ready: demoWatchDown, alive: demoPass},
		demoFault{dependency: "kubernetes", fault: "deny-access", ready: "fail KubernetesAccessDenied", alive: demoPass},
		demoFault{dependency: "kubernetes", fault: "remove-crd", ready: "fail CRDMissing", alive: demoPass},
		demoFault{dependency: "keystone", fault: "wrong-password", ready: "fail KeystoneDown", alive: demoPass, reason: "auth"},
		// Keystone answers; it is Neutron that cannot be found.
		demoFault{dependency: "keystone", fault: "no-network-endpoint", ready: "fail NeutronDown", alive: demoPass},
		demoFault{dependency: "neutron", fault: "exhaust-ports", ready: "fail QuotaExhausted", alive: demoPass},
		demoFault{dependency: "neutron", fault: "low-ports", ready: "warn QuotaLow", alive: demoPass},
		demoFault{dependency: "neutron", fault: "revoke-token", ready: demoPass, alive: demoPass,
			why: "the collector gets itself a new token within the same round"},
		demoFault{dependency: "kubernetes", fault: "freeze-watch", ready: demoPass, alive: demoPass,
			why: "a silent watch is opened anew, which works"},
	)
}

// demoPace is calm enough for many labs at once.
const demoPace = 1200 * time.Millisecond

// startDemoLab runs what "vitals demo" runs, faster. Where idle is not zero, watches may
// be silent for as long, and are so from the start.
func startDemoLab(t *testing.T, pace time.Duration, idle model.Duration) *kuryrLab {
	t.Helper()
	return startDemo(t, labOptions{pace: pace}, idle)
}

func startDemo(t *testing.T, o labOptions, idle model.Duration) *kuryrLab {
	t.Helper()
	o.adjust = func(c *config.Config) {
		componentsOf(t, c).Expect = demo.Components()
		componentsOf(t, c).Deadline = model.Duration(10 * time.Second) // 100 reports
		if idle > 0 {
			c.Collectors[0].Kubernetes.WatchIdleTimeout = idle
		}
	}
	lab := newKuryrLab(t, o)
	w := demo.NewWorkload(lab.daemon.report, 100*time.Millisecond)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	lab.web = serveHTTP(t, lab.daemon.newServer(&program{}, demo.Routes(lab.cloud, w)).Handler())
	if idle > 0 {
		lab.press(t, "kubernetes", "freeze-watch")
	}
	lab.run(t)
	return lab
}

// press presses a button of the page.
func (l *kuryrLab) press(t *testing.T, dependency, fault string) {
	t.Helper()
	body := fmt.Sprintf(`{"dependency":%q,"fault":%q}`, dependency, fault)
	got := send(t, http.MethodPost, l.web.URL+"/demo/faults", body,
		"Content-Type", "application/json", "Origin", l.web.URL, "Sec-Fetch-Site", "same-origin")
	if got.code != http.StatusNoContent {
		t.Fatalf("POST /demo/faults %s = %d %s, want 204", body, got.code, got.body)
	}
}

// buttons are the faults that the page offers, and those that are active.
func (l *kuryrLab) buttons(t *testing.T) (all, active []string) {
	t.Helper()
	var boards []fakes.Dependency
	if err := json.Unmarshal([]byte(l.get(t, "/demo/faults").body), &boards); err != nil {
		t.Fatal(err)
	}
	for _, b := range boards {
		for _, fault := range b.Faults {
			all = append(all, b.Dependency+" "+fault)
		}
		if b.Active != fakes.None {
			active = append(active, b.Dependency+" "+b.Active)
		}
	}
	return all, active
}

// verdicts are the states as the page shows them, each with the rules that decide
// and are no consequence of another rule.
func (l *kuryrLab) verdicts(t *testing.T) map[string]string {
	t.Helper()
	var status server.Status
	if err := json.Unmarshal([]byte(l.get(t, "/api/v1/status").body), &status); err != nil {
		t.Fatal(err)
	}
	causes := map[string]string{}
	for _, r := range status.Rules {
		causes[r.Name] = r.Cause
	}
	all := map[string]string{}
	for _, s := range status.States {
		words := []string{s.Verdict}
		if s.Reason != "" {
			words = append(words, "("+s.Reason+")")
		}
		for _, rule := range s.Deciding {
			if causes[rule] == "" {
				words = append(words, rule)
			}
		}
		all[s.Name] = strings.Join(words, " ")
	}
	return all
}

// awaitVerdicts waits until the page and the probes show the verdicts of all states.
func (l *kuryrLab) awaitVerdicts(t *testing.T, ready, alive string) {
	t.Helper()
	want := map[string]string{"ready": ready, "alive": alive, "started": demoPass}
	soon(t, func() string {
		if diff := cmp.Diff(want, l.verdicts(t)); diff != "" {
			return "states (-want +got):\n" + diff
		}
		for state, verdict := range want {
			code, prefix := http.StatusOK, "ok"
			if rule, failing := strings.CutPrefix(verdict, "fail "); failing {
				code, prefix = http.StatusInternalServerError, rule+" failing: "
			}
			if got := l.get(t, "/"+state); got.code != code || !strings.HasPrefix(got.body, prefix) {
				return fmt.Sprintf("GET /%s = %d %q, want %d %q...", state, got.code, got.body, code, prefix)
			}
		}
		return ""
	})
}

// check injects the fault, checks every state, and removes the fault.
func (f demoFault) check(t *testing.T, l *kuryrLab) {
	l.awaitVerdicts(t, demoPass, demoPass)
	alive, started := l.transitions(t, "alive"), l.transitions(t, "started")
	l.press(t, f.dependency, f.fault)
	if _, active := l.buttons(t); !slices.Equal(active, []string{f.dependency + " " + f.fault}) {
		t.Errorf("active faults = %q, want this one", active)
	}
	if f.ready == demoPass {
		l.round(t) // or the verdict might be from before
	}
	l.awaitVerdicts(t, f.ready, f.alive)
	if f.reason != "" {
		failure(f.dependency, f.reason)(t, l)
	}
	l.round(t)
	l.awaitVerdicts(t, f.ready, f.alive) // it lasts
	if f.ready != demoPass {
		l.fits(t, 24)
	}
	l.press(t, f.dependency, fakes.None)
	l.awaitVerdicts(t, demoPass, demoPass)
	if now := l.transitions(t, "alive"); f.alive == demoPass && now != alive {
		t.Errorf("alive changed %d times, want never", now-alive)
	}
	if now := l.transitions(t, "started"); now != started {
		t.Errorf("started changed %d times, want never", now-started)
	}
}

// Each fault changes exactly the states that it should.
func TestDemoFaults(t *testing.T) {
	t.Parallel()
	byDependency := map[string][]demoFault{}
	for _, f := range demoFaults() {
		if f.fault != "freeze-watch" { // has a test of its own
			byDependency[f.dependency] = append(byDependency[f.dependency], f)
		}
	}
	// The labs mostly wait, so they all run at once, however few processors there are.
	var labs sync.WaitGroup
	for dependency, faults := range byDependency {
		for some := range slices.Chunk(faults, 6) {
			labs.Go(func() {
				t.Run(dependency, func(t *testing.T) { pressAll(t, some) })
			})
		}
	}
	labs.Go(func() { t.Run("kubernetes freeze-watch", testFrozenWatch) })
	labs.Wait()
}

// pressAll presses buttons in turn.
func pressAll(t *testing.T, faults []demoFault) {
	lab := startDemoLab(t, demoPace, 0)
	for _, f := range faults {
		if !t.Run(f.fault, func(t *testing.T) { f.check(t, lab) }) {
			return // the lab is in no known state
		}
	}
}

// A watch that stays silent is opened anew again and again. In the demo, too, that
// must not make ready come and go: with the rules' patience dropped, one moment
// without a watch would.
func testFrozenWatch(t *testing.T) {
	lab := startDemoLab(t, calmPace, demo.WatchIdleTimeout)
	lab.awaitVerdicts(t, demoPass, demoPass)
	before := lab.transitions(t, "ready")
	soon(t, func() string {
		if watchRestarts(t, lab, "pods") == 0 {
			return "the silent watch was not opened again"
		}
		return ""
	})
	lab.round(t)
	lab.awaitVerdicts(t, demoPass, demoPass)
	if now := lab.transitions(t, "ready"); now != before {
		t.Errorf("ready changed %d times, want never", now-before)
	}
	lab.press(t, "kubernetes", fakes.None)
	lab.awaitVerdicts(t, demoPass, demoPass)
	watchDelivers(t, lab)
}

// Every button has its row, and every row its button.
func TestDemoFaultsAreAllKnown(t *testing.T) {
	t.Parallel()
	var want []string
	for _, f := range demoFaults() {
		want = append(want, f.dependency+" "+f.fault)
		if (f.ready == demoPass) != (f.why != "") {
			t.Errorf("%s %s: ready %s because %q, want a reason where nothing changes", f.dependency, f.fault, f.ready, f.why)
		}
	}
	got, active := startDemoLab(t, demoPace, 0).buttons(t)
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("GET /demo/faults (-tested +offered):\n%s", diff)
	}
	if len(active) > 0 {
		t.Errorf("active at the start: %q, want nothing", active)
	}
}

// TestDemoProcess runs the demo as a user does, and follows what it prints.
func TestDemoProcess(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	p := launch(t, "demo", "--web.listen-address=127.0.0.1:0", "--web.unix-socket=", "--web.shutdown-delay=0s")
	eventually(t, "the demo to print the address", func() bool {
		p.running()
		return strings.Contains(p.log.String(), "Stop with Ctrl-C")
	})
	text := p.log.String()
	p.url = regexp.MustCompile(`status page +(http://127\.0\.0\.1:[0-9]+)/`).FindStringSubmatch(text)[1]
	for _, url := range regexp.MustCompile(`http://[^\s']+`).FindAllString(text, -1) {
		path := strings.TrimPrefix(url, p.url)
		eventually(t, "200 from "+url, func() bool { code, _ := p.get(path); return code == http.StatusOK })
	}
	if _, page := p.get("/"); !strings.Contains(page, "<title>") {
		t.Errorf("GET / = %.200q, want the page", page)
	}
	if _, body := p.get("/api/v1/status"); !strings.Contains(body, `"demo": true`) {
		t.Errorf("status %.200q, want demo set", body)
	}
	body := regexp.MustCompile(`curl -d '(.*)' `).FindStringSubmatch(text)[1]
	if code, answer := request(t, http.DefaultTransport, http.MethodPost, p.url+"/demo/faults", body); code != http.StatusNoContent {
		t.Errorf("the command that breaks = %d %s, want 204", code, answer)
	}
	eventually(t, "the fault to be seen", func() bool { return p.metric(`vitals_dependency_up{dependency="keystone"} 0`) })
	p.signal(syscall.SIGINT)
	if code := p.exit(); code != exitOK {
		t.Errorf("exit code = %d on SIGINT, want 0", code)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left behind %v, %v, want nothing: there is a token in the kubeconfig", left, err)
	}
}

// "make run" passes its ARGS to the demo, and the first page shows it with a flag of the demo.
func TestMakeRunPassesArguments(t *testing.T) {
	if makefile := readDoc(t, "Makefile"); !strings.Contains(makefile, "\n\t./bin/vitals demo $(ARGS)\n") {
		t.Error("the target run of the Makefile does not pass $(ARGS)")
	}
	_, after, ok := strings.Cut(readDoc(t, "README.md"), "`make run ARGS=")
	flag, _, _ := strings.Cut(after, "`")
	if err := parseOnly([]string{"demo", flag}); !ok || err != nil {
		t.Errorf("README.md shows make run ARGS=%s: %v, want a flag of the demo", flag, err)
	}
}
