//go:build e2e

package e2e_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// booleanWithin is how soon a boolean that was flipped shows in the probe, in one half of
// the cases at least: the machine is busy.
const booleanWithin = time.Second

// aliveBoolean starts a process that maps the boolean as the documentation shows and
// returns how to set it. A child writes it: the memory is shared by all of them.
func (p *parts) aliveBoolean(t *testing.T, file string) (set func(alive bool)) {
	t.Helper()
	cmd := p.command("python3", "-c", read(t, filepath.Join(componentFiles, "shared_boolean.py"))+`
import sys
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        alive.value = line == "true\n"
        os._exit(0)
    os.waitpid(child, 0)
`)
	cmd.Env = append(cmd.Env, "VITALS_BOOLEAN="+file)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the process that shares the boolean: %v", err)
		}
	})
	return func(alive bool) {
		t.Helper()
		if _, err := fmt.Fprintln(stdin, alive); err != nil {
			t.Fatal(err)
		}
	}
}

// flipped returns how long the probe takes to answer with the status.
func (p *parts) flipped(t *testing.T, status int) time.Duration {
	t.Helper()
	begin := time.Now()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for p.want("/alive", status) != nil {
		if time.Since(begin) > componentSlack {
			t.Fatalf("/alive is not %d within %s of the flip", status, componentSlack)
		}
		<-tick.C
	}
	return time.Since(begin)
}

// TestComponentsSharedBoolean flips a byte that another process has mapped. It has
// no readiness, which another report adds.
func TestComponentsSharedBoolean(t *testing.T) {
	t.Parallel()
	file := filepath.Join(shortDirectory(t, "/dev/shm"), "kuryr-watcher")
	p := startParts(t, "expect: [watcher], shared_booleans: {watcher: "+file+"}")
	missing := neverReported
	missing.reason = "shared boolean: "
	p.await(t, "unknown while there is no boolean", componentSlack, missing)

	set := p.aliveBoolean(t, file)
	p.await(t, "alive, with unknown readiness", componentSlack, health{alive: new(true), readyFails: "ComponentNotReady unknown: no data for vitals_component_ready"})
	p.curl(t, "http://localhost", `{"ready":true}`, "--unix-socket", p.dir+"/vitals.sock")
	p.await(t, "healthy", componentSlack, wellReported)

	var all []time.Duration
	for range 5 {
		for _, alive := range []bool{false, true} {
			status, want := http.StatusOK, wellReported
			if !alive {
				status, want = http.StatusServiceUnavailable, deadFor("shared boolean is false")
			}
			set(alive)
			took := p.flipped(t, status)
			t.Logf("the boolean is %t: /alive answers %d after %s", alive, status, took.Round(100*time.Microsecond))
			all = append(all, took)
			p.await(t, fmt.Sprintf("the boolean is %t", alive), componentSlack, want)
		}
	}
	slices.Sort(all)
	if median := all[len(all)/2]; median > booleanWithin {
		t.Errorf("half of the flips took %s and more, want at most %s", median, booleanWithin)
	}
	t.Logf("slowest of 10: %s", all[len(all)-1].Round(100*time.Microsecond))

	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	p.await(t, "unknown without the file", componentSlack, health{ready: new(true), reason: "no such file or directory"})
}
