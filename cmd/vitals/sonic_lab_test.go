package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/common/promslog"

	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/internal/config"
	"github.com/vitals-health/vitals/internal/execprobe"
)

// sonicLab is a SONiC container with fakes of all that the profile measures, and
// Vitals in it: as a daemon with its socket, and with a single evaluation.
type sonicLab struct {
	dir         string
	supervisord *supervisord
	set         map[string]string
	log         *lines
	daemon      *daemon
	socket      string
	// before is the number of transitions of a state before the case.
	before uint64
}

// sonicPace is the interval of the collectors of a lab's daemon; their timeout is
// labTimeout.
const sonicPace = 500 * time.Millisecond

// startSonicLab runs the profile until the test ends. Of set, DIR is the lab's directory.
func startSonicLab(t *testing.T, set map[string]string) *sonicLab {
	t.Helper()
	dir := collectortest.Dir(t)
	l := &sonicLab{dir: dir, supervisord: startSupervisord(t, dir), log: &lines{}, socket: filepath.Join(dir, "v.sock")}
	writeFile(t, l.path("critical_processes"), "program:snmpd\n\ngroup:dhcp\n")
	l.set = map[string]string{
		"socket": l.supervisord.socket, "hook": l.path("hook"), "critical_processes": l.path("critical_processes"),
	}
	for name, value := range set {
		l.set[name] = strings.ReplaceAll(value, "DIR", dir)
	}
	l.run(t, l.program(sonicPace))
	return l
}

// run starts a daemon that listens on the lab's socket.
func (l *sonicLab) run(t *testing.T, p *program) {
	t.Helper()
	loaded, errs := p.load()
	if len(errs) > 0 {
		t.Fatalf("load() = %v, want no mistakes", errs)
	}
	giveTime(&loaded.Config)
	d, err := p.newDaemon(loaded, promslog.New(&promslog.Config{Writer: l.log}))
	if err != nil {
		t.Fatal(err)
	}
	l.daemon = d
	listener, err := net.Listen("unix", l.socket)
	if err != nil {
		t.Fatal(err)
	}
	server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: d.newServer(p, nil).Local(anyWriter)}}
	server.Start()
	t.Cleanup(server.Close)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		d.eval.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
}

func anyWriter(*http.Request) error { return nil }

func (l *sonicLab) path(name string) string { return filepath.Join(l.dir, name) }

// program is the program with the flags of the lab; pace is the interval and the timeout
// of the collectors.
func (l *sonicLab) program(pace time.Duration) *program {
	return &program{
		profile: "sonic", set: maps.Clone(l.set), log: &promslog.Config{Writer: l.log}, levelGiven: true,
		adjust: func(c *config.Config) {
			c.EvaluationInterval = model.Duration(100 * time.Millisecond)
			for i := range c.Collectors {
				c.Collectors[i].Interval, c.Collectors[i].Timeout = model.Duration(pace), model.Duration(pace)
			}
		},
	}
}

// probe queries the daemon as readiness_probe.sh does.
func (l *sonicLab) probe(state string) (code int, text string) {
	r := execprobe.Query(l.socket, state, time.Now().Add(labPatience))
	return execprobe.Sonic.Code(r), execprobe.Sonic.Render(r)
}

// alone evaluates once without the daemon, as readiness_probe.sh does where there is none.
func (l *sonicLab) alone(state string) (code int, text string) {
	var out bytes.Buffer
	p := l.program(labTimeout)
	p.stdout, p.stderr, p.log = &out, &out, &promslog.Config{Writer: io.Discard}
	code = p.runOnce(state, string(execprobe.Sonic), labPatience)
	return code, out.String()
}

// sonicVerdict is the expected answer of a probe of a state.
type sonicVerdict struct {
	code int
	// rule is the one that decides, or warns; empty for none.
	rule string
	// words are in the first line of the answer.
	words []string
}

// differs returns how an answer differs from v, or "".
func (v sonicVerdict) differs(code int, text string) string {
	first, _, _ := strings.Cut(text, "\n")
	wrong := code != v.code || !strings.Contains(first, fmt.Sprintf(" %d ", v.code))
	for _, word := range append(slices.Clone(v.words), v.rule) {
		wrong = wrong || !strings.Contains(first, word)
	}
	if wrong || v.code == 0 && v.rule == "" && !strings.HasPrefix(first, "ok ") {
		return fmt.Sprintf("code %d, want %d of %q with %q:\n%s", code, v.code, v.rule, v.words, text)
	}
	return ""
}

// short returns the verdict as the documentation writes it.
func (v sonicVerdict) short() string {
	switch {
	case v.rule == "":
		return fmt.Sprintf("%d", v.code)
	case v.code == 0:
		return fmt.Sprintf("%d, warning `%s`", v.code, v.rule)
	}
	return fmt.Sprintf("%d `%s`", v.code, v.rule)
}

// sonicCase is a scenario: its fault, and the verdicts of ready and alive from the daemon
// and from a single evaluation. Both states pass before and after it: nothing latches.
type sonicCase struct {
	id, name     string
	given        func(*testing.T, *sonicLab)
	ready, alive sonicVerdict
	// check runs further checks while the verdicts hold.
	check func(*testing.T, *sonicLab)
}

// heal removes all faults.
func (l *sonicLab) heal(t *testing.T) {
	t.Helper()
	l.supervisord.reset()
	if _, err := os.Stat(l.path("away")); err == nil {
		if err := os.Rename(l.path("away"), l.supervisord.socket); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.RemoveAll(l.path("hook")); err != nil {
		t.Fatal(err)
	}
	writeFile(t, l.path("critical_processes"), "program:snmpd\n\ngroup:dhcp\n")
}

// await waits until the daemon answers with the verdict v.
func (l *sonicLab) await(t *testing.T, state string, v sonicVerdict) {
	t.Helper()
	soon(t, func() string { return v.differs(l.probe(state)) })
}

func (l *sonicLab) runCases(t *testing.T, cases []sonicCase) {
	for _, c := range cases {
		ok := t.Run(c.id+" "+c.name, func(t *testing.T) {
			l.await(t, "ready", sonicVerdict{})
			l.await(t, "alive", sonicVerdict{})
			c.given(t, l)
			for state, want := range map[string]sonicVerdict{"ready": c.ready, "alive": c.alive} {
				l.await(t, state, want)
				if wrong := want.differs(l.alone(state)); wrong != "" {
					t.Errorf("one evaluation of %s: %s", state, wrong)
				}
			}
			if c.check != nil {
				c.check(t, l)
			}
			l.heal(t)
			l.await(t, "ready", sonicVerdict{})
			l.await(t, "alive", sonicVerdict{})
		})
		if !ok {
			return // the state of the lab is undefined
		}
	}
}

// leaveSocket leaves a Unix socket without a listener behind.
func leaveSocket(t *testing.T, path string) {
	t.Helper()
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	listener.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
}

// hook writes the hook: a program for sh, or any other text.
func hook(text string, mode os.FileMode) func(*testing.T, *sonicLab) {
	return func(t *testing.T, l *sonicLab) {
		t.Helper()
		if !strings.HasPrefix(text, "#!") {
			text = "#!/bin/sh\n" + text + "\n"
		}
		// A rename: the hook is never open for writing while it may run (ETXTBSY).
		next := l.path("hook.next")
		writeFile(t, next, text)
		if err := errors.Join(os.Chmod(next, mode), os.Rename(next, l.path("hook"))); err != nil {
			t.Fatal(err)
		}
	}
}

// programIs changes what supervisord reports on one program.
func programIs(m managed) func(*testing.T, *sonicLab) {
	return func(_ *testing.T, l *sonicLab) { l.supervisord.set(m) }
}

// transitions returns how often a state changed.
func (l *sonicLab) transitions(t *testing.T, state string) uint64 {
	t.Helper()
	s := l.daemon.eval.Snapshot()
	st, ok := s.State(state, s.At)
	if !ok {
		t.Fatalf("there is no state %s", state)
	}
	return st.Transitions
}

// note returns the last note of a collector.
func (l *sonicLab) note(name string) string {
	for _, c := range l.daemon.eval.Snapshot().Collectors {
		if c.Name == name {
			return c.Note
		}
	}
	return ""
}

// sample returns the value of a series, and false if there is none.
func (l *sonicLab) sample(name string, pairs ...string) (float64, bool) {
	for _, batch := range l.daemon.eval.Snapshot().Batches {
		for _, s := range batch.Samples {
			same := s.Labels.Get(model.MetricNameLabel) == name
			for i := 0; i+1 < len(pairs); i += 2 {
				same = same && s.Labels.Get(pairs[i]) == pairs[i+1]
			}
			if same {
				return s.Value, true
			}
		}
	}
	return 0, false
}
