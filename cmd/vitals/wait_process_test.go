package main

import (
	"bytes"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/server"
)

// awaited is a daemon that is not ready for a number of queries.
func awaited(failing int32) (http.Handler, *atomic.Int32) {
	queries := new(atomic.Int32)
	snap := func() *evaluator.Snapshot {
		st := evaluator.State{Name: "ready", Verdict: evaluator.Pass, Rules: []int{0}}
		rule := evaluator.Rule{Name: "Down", State: "ready", Status: evaluator.OK}
		if queries.Load() <= failing {
			st.Verdict, st.Deciding = evaluator.Fail, []int{0}
			rule.Status, rule.Decides, rule.Summary = evaluator.Failing, true, "It is down."
		}
		return &evaluator.Snapshot{Generation: 1, At: time.Now(), MaxAge: time.Hour, States: []evaluator.State{st}, Rules: []evaluator.Rule{rule}}
	}
	h := server.New(server.Options{Snapshot: snap}).Handler()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		queries.Add(1)
		h.ServeHTTP(w, r)
	}), queries
}

// The same over both ways to the daemon.
func TestWaitQueries(t *testing.T) {
	for _, way := range []string{"--url", "--socket"} {
		for name, tt := range map[string]struct {
			failing int32
			args    []string
			want    string
			changes string
			code    int
		}{
			"E51": {3, []string{"--timeout=2m"}, "ok 0 ready: 1 rule\n", "failing 1 Down failing: It is down.\n", 0},
			// Within this time, one query has ended on a busy machine.
			"E52":              {1 << 30, []string{"--timeout=3s", "--style=docker"}, "failing 1 Down failing: It is down.\n", "failing 1 Down failing: It is down.\ngave up\n", 1},
			"an unknown state": {0, []string{"--timeout=2m", "nothing"}, "usage error 3 the daemon has no state \"nothing\": there are /ready, /STATE/RULE\n", "", 3},
		} {
			t.Run(name+" "+way, func(t *testing.T) {
				t.Parallel()
				h, queries := awaited(tt.failing)
				web := httptest.NewUnstartedServer(h)
				defer web.Close()
				address := "http://" + web.Listener.Addr().String()
				if way == "--socket" {
					address = filepath.Join(collectortest.Dir(t), "s")
					ln, err := net.Listen("unix", address)
					if err != nil {
						t.Fatal(err)
					}
					_ = web.Listener.Close()
					web.Listener = ln
				}
				web.Start()
				var out, changes bytes.Buffer
				code := run(append([]string{"wait", way + "=" + address, "--interval=10ms"}, tt.args...), &out, &changes)
				progress := regexp.MustCompile(`(?m)^[0-9.]+m?s: `).ReplaceAllString(changes.String(), "")
				if code != tt.code || out.String() != tt.want || progress != tt.changes {
					t.Errorf("vitals wait = %d, %q, %q, want %d, %q, %q", code, out.String(), progress, tt.code, tt.want, tt.changes)
				}
				if n := queries.Load(); name == "E51" && n != 4 {
					t.Errorf("queries = %d, want 4", n)
				}
			})
		}
	}
}

// The server at the address may be another program.
func TestWaitAtAnAddress(t *testing.T) {
	t.Parallel()
	answers := map[string]func(http.ResponseWriter, *http.Request){
		"no daemon 4 no daemon answers at HOST: EOF": func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_ = conn.Close()
			}
		},
		"forbidden 7 the daemon requires authentication: status 401": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusUnauthorized)
		},
		"not understood 9 the answer is not the daemon's: status 302": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
		},
		"not understood 9 the answer is not the daemon's: status 404":            http.NotFound,
		"not understood 9 the answer is not the daemon's: more than 65536 bytes": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 1<<20)) },
		"timeout 5 the daemon at HOST does not answer in time":                   func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	}
	// Each query but the last has time to get its answer, also on a busy machine.
	var all sync.WaitGroup
	for want, answer := range answers {
		all.Go(func() {
			web := httptest.NewServer(http.HandlerFunc(answer))
			defer web.Close()
			host := strings.TrimPrefix(web.URL, "http://")
			var out, changes bytes.Buffer
			run([]string{"wait", "--url=http://user:s3cret@" + host, "--timeout=3s", "--interval=1s"}, &out, &changes)
			if got := strings.ReplaceAll(out.String(), host, "HOST"); got != want+"\n" {
				t.Errorf("vitals wait = %q, want %q", got, want)
			}
			if n := strings.Count(changes.String(), "\n"); n != 2 || strings.Contains(changes.String(), "s3cret") {
				t.Errorf("progress = %q, want one reason and the end, and no password", changes.String())
			}
		})
	}
	all.Wait()
}

// The upgrade's check against the real daemon, which counts that it became ready.
func TestE51WaitForADaemon(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	marker := filepath.Join(dir, "marker")
	write(t, dir, "rules.yml", "groups: [{name: g, rules: [{alert: MarkerMissing, expr: vitals_file_exists == 0, labels: {state: ready}}]}]\n")
	config := write(t, dir, "vitals.yml", "rule_files: [rules.yml]\ncollectors: [{name: marker, interval: 2s, timeout: 2s, file: {path: "+marker+"}}]\n")
	p := runVitals(t, config)
	w := launch(t, "wait", "ready", "--socket="+p.socket, "--interval=20ms")
	eventually(t, "the reason", func() bool { return strings.Contains(w.log.String(), ": failing 1 MarkerMissing failing") })
	write(t, dir, "marker", "")
	<-w.done
	if w.code != 0 || !strings.Contains(w.log.String(), "\nok 0 ready: 1 rule, since ") {
		t.Errorf("E51: vitals wait = %d, %s, want 0", w.code, w.log)
	}
	if _, metrics := p.get("/metrics"); !strings.Contains(metrics, `vitals_state_transitions_total{state="ready"} 1`) {
		t.Errorf("E51: the metrics do not count one transition of ready:\n%s", metrics)
	}
}

// SIGINT and SIGTERM end a wait at once.
func TestWaitEndsBySignals(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		w := launch(t, "wait", "--socket="+filepath.Join(t.TempDir(), "s"), "--interval=1h", "--timeout=2h")
		eventually(t, "the reason", func() bool { return strings.Contains(w.log.String(), ": no daemon 4 there is no socket") })
		if err := w.cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		<-w.done
		if status, ok := w.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != sig {
			t.Errorf("%s: the process ended with %v, want by the signal", sig, w.cmd.ProcessState)
		}
	}
}
