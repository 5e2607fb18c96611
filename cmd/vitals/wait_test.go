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
	"testing/synctest"
	"time"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/execprobe"
	"github.com/vitals-health/vitals/internal/server"
)

// scripted returns these results one after the other, and then the last one again
// and again. One that is nil does not answer before its deadline.
func scripted(looks *int, results ...*execprobe.Result) func(time.Time) execprobe.Result {
	return func(deadline time.Time) execprobe.Result {
		r := results[min(*looks, len(results)-1)]
		*looks++
		if r == nil {
			time.Sleep(time.Until(deadline))
			return execprobe.Result{Outcome: execprobe.Timeout, Text: "no answer in time"}
		}
		return *r
	}
}

func TestWait(t *testing.T) {
	said := func(v execprobe.Verdict) *execprobe.Result {
		v.State = "ready"
		r := execprobe.ResultOf(&v)
		return &r
	}
	down := func(value string) *execprobe.Result {
		return said(execprobe.Verdict{Verdict: "fail", Rule: "KeystoneDown", Status: "failing", Lines: []string{"KeystoneDown failing: down (value " + value + ")"}, ExitCode: 12})
	}
	nobody := &execprobe.Result{Outcome: execprobe.NoDaemon, Text: "there is no socket"}
	starting := said(execprobe.Verdict{Verdict: "fail", Reason: "starting", Lines: []string{"starting"}})
	passing := said(execprobe.Verdict{Verdict: "pass", Rules: 2})
	tests := []struct {
		name  string
		looks []*execprobe.Result
		want  string
		count int
		took  time.Duration
		told  string
	}{
		{"E51 not ready three times, then ready", []*execprobe.Result{down("1"), down("2"), down("3"), passing}, "ok 0 ready: 2 rules\n", 4, 3 * time.Second,
			"0s: failing 12 KeystoneDown failing: down (value 1)\n"},
		{"E52 never ready", []*execprobe.Result{down("1")}, "failing 12 KeystoneDown failing: down (value 1)\n", 10, 10 * time.Second,
			"0s: failing 12 KeystoneDown failing: down (value 1)\n10s: gave up\n"},
		{"E52 the last reason, not an answer that the end cut off", []*execprobe.Result{down("1"), down("1"), down("1"), down("1"), down("1"), down("1"), down("2"), nil}, "failing 12 KeystoneDown failing: down (value 2)\n", 8, 10 * time.Second,
			"0s: failing 12 KeystoneDown failing: down (value 1)\n10s: gave up\n"},
		{"a daemon that comes up", []*execprobe.Result{nobody, nobody, starting, starting, down("1"), passing}, "ok 0 ready: 2 rules\n", 6, 5 * time.Second,
			"0s: no daemon 4 there is no socket\n2s: unknown 2 starting\n4s: failing 12 KeystoneDown failing: down (value 1)\n"},
		{"ready at once", []*execprobe.Result{passing}, "ok 0 ready: 2 rules\n", 1, 0, ""},
		{"ready with a warning", []*execprobe.Result{said(execprobe.Verdict{Verdict: "warn", Lines: []string{"QuotaLow failing"}})}, "warning 0 QuotaLow failing\n", 1, 0, ""},
		{"an unknown state", []*execprobe.Result{{Outcome: execprobe.Usage, Text: "no such state"}}, "usage error 3 no such state\n", 1, 0, ""},
		{"a daemon that hangs", []*execprobe.Result{nil}, "timeout 5 no answer in time\n", 2, 10 * time.Second, "5s: timeout 5 no answer in time\n10s: gave up\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var progress bytes.Buffer
				looks, begin := 0, time.Now()
				w := &waiting{state: "ready", style: execprobe.Plain, timeout: 10 * time.Second, interval: time.Second, look: scripted(&looks, tt.looks...), progress: &progress}
				got := w.style.Render(w.wait())
				if got != tt.want || looks != tt.count || time.Since(begin) != tt.took {
					t.Errorf("wait() = %q after %d looks and %s, want %q after %d and %s", got, looks, time.Since(begin), tt.want, tt.count, tt.took)
				}
				if progress.String() != tt.told {
					t.Errorf("progress = %q, want %q", progress.String(), tt.told)
				}
			})
		})
	}
}

// awaited is a daemon that is not ready for a number of looks.
func awaited(failing int32) (http.Handler, *atomic.Int32) {
	looks := new(atomic.Int32)
	snap := func() *evaluator.Snapshot {
		st := evaluator.State{Name: "ready", Verdict: evaluator.Pass, Rules: []int{0}}
		rule := evaluator.Rule{Name: "Down", State: "ready", Status: evaluator.OK}
		if looks.Load() <= failing {
			st.Verdict, st.Deciding = evaluator.Fail, []int{0}
			rule.Status, rule.Decides, rule.Summary = evaluator.Failing, true, "It is down."
		}
		return &evaluator.Snapshot{Generation: 1, At: time.Now(), MaxAge: time.Hour, States: []evaluator.State{st}, Rules: []evaluator.Rule{rule}}
	}
	h := server.New(server.Options{Snapshot: snap}).Handler()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		looks.Add(1)
		h.ServeHTTP(w, r)
	}), looks
}

// The same over both ways to the daemon.
func TestWaitAsks(t *testing.T) {
	for _, way := range []string{"--url", "--socket"} {
		for name, tt := range map[string]struct {
			failing int32
			args    []string
			want    string
			told    string
			code    int
		}{
			"E51": {3, []string{"--timeout=2m"}, "ok 0 ready: 1 rule\n", "failing 1 Down failing: It is down.\n", 0},
			// Within this time, one look of a busy machine has ended.
			"E52":              {1 << 30, []string{"--timeout=3s", "--style=docker"}, "failing 1 Down failing: It is down.\n", "failing 1 Down failing: It is down.\ngave up\n", 1},
			"an unknown state": {0, []string{"--timeout=2m", "nothing"}, "usage error 3 the daemon has no state \"nothing\": there are /ready, /STATE/RULE\n", "", 3},
		} {
			t.Run(name+" "+way, func(t *testing.T) {
				t.Parallel()
				h, looks := awaited(tt.failing)
				web := httptest.NewUnstartedServer(h)
				defer web.Close()
				address := "http://" + web.Listener.Addr().String()
				if way == "--socket" {
					address = filepath.Join(shortDir(t), "s")
					ln, err := net.Listen("unix", address)
					if err != nil {
						t.Fatal(err)
					}
					_ = web.Listener.Close()
					web.Listener = ln
				}
				web.Start()
				var out, told bytes.Buffer
				code := run(append([]string{"wait", way + "=" + address, "--interval=10ms"}, tt.args...), &out, &told)
				progress := regexp.MustCompile(`(?m)^[0-9.]+m?s: `).ReplaceAllString(told.String(), "")
				if code != tt.code || out.String() != tt.want || progress != tt.told {
					t.Errorf("vitals wait = %d, %q, %q, want %d, %q, %q", code, out.String(), progress, tt.code, tt.want, tt.told)
				}
				if n := looks.Load(); name == "E51" && n != 4 {
					t.Errorf("looks = %d, want 4", n)
				}
			})
		}
	}
}

// What answers at the address may be anything.
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
	// Each look but the last has time to get its answer, also on a busy machine.
	var all sync.WaitGroup
	for want, answer := range answers {
		all.Go(func() {
			web := httptest.NewServer(http.HandlerFunc(answer))
			defer web.Close()
			host := strings.TrimPrefix(web.URL, "http://")
			var out, told bytes.Buffer
			run([]string{"wait", "--url=http://user:s3cret@" + host, "--timeout=3s", "--interval=1s"}, &out, &told)
			if got := strings.ReplaceAll(out.String(), host, "HOST"); got != want+"\n" {
				t.Errorf("vitals wait = %q, want %q", got, want)
			}
			if n := strings.Count(told.String(), "\n"); n != 2 || strings.Contains(told.String(), "s3cret") {
				t.Errorf("progress = %q, want one reason and the end, and no password", told.String())
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

// A wait that is not wanted any more ends at once.
func TestWaitEndsBySignals(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		w := launch(t, "wait", "--socket="+filepath.Join(t.TempDir(), "s"), "--interval=1h", "--timeout=2h")
		eventually(t, "the reason", func() bool { return strings.Contains(w.log.String(), "0s: no daemon 4 there is no socket") })
		if err := w.cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		<-w.done
		if status, ok := w.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != sig {
			t.Errorf("%s: the process ended with %v, want by the signal", sig, w.cmd.ProcessState)
		}
	}
}
