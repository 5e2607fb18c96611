package main

import (
	"bytes"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/server"
	"github.com/vitals-health/vitals/internal/server/limits"
)

// daemon serves a snapshot on a Unix socket, as the daemon does.
func daemon(t *testing.T, snap *evaluator.Snapshot) string {
	t.Helper()
	dir := collectortest.Dir(t)
	path := filepath.Join(dir, "vitals.sock")
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	web := limits.HTTPServer(server.New(server.Options{Snapshot: func() *evaluator.Snapshot { return snap }}).Local(nil))
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = web.Serve(ln)
	}()
	t.Cleanup(func() {
		_ = web.Close()
		<-done
	})
	return path
}

// snapshot has a failing ready, by a rule with an exit code, and a passing alive.
func snapshot() *evaluator.Snapshot {
	since := time.Now().Add(-time.Minute)
	zero := 0.0
	return &evaluator.Snapshot{
		Generation: 3, At: time.Now(), MaxAge: time.Hour,
		States: []evaluator.State{
			{Name: "ready", Verdict: evaluator.Fail, Since: since, Rules: []int{0}, Deciding: []int{0}},
			{Name: "alive", Verdict: evaluator.Pass, Since: since, Rules: []int{1}},
		},
		Rules: []evaluator.Rule{
			{Name: "DatabaseDown", State: "ready", Status: evaluator.Failing, Since: time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC), Decides: true, Summary: "The database is gone.", Observed: &zero, ExitCode: 12},
			{Name: "Dead", State: "alive", Status: evaluator.OK},
		},
	}
}

// call runs the program as it was called. By default it has time also on
// a busy machine.
func call(env map[string]string, args ...string) (string, int) {
	var out bytes.Buffer
	code := run(time.Now(), args, process{
		getenv: func(name string) string {
			if env[name] == "" && name == "VITALS_HEALTHCHECK_TIMEOUT" {
				return "1m"
			}
			return env[name]
		},
		stdout: &out,
		replace: func(args []string) error {
			executed := slices.Clone(args)
			executed[len(executed)-1], _, _ = strings.Cut(executed[len(executed)-1], "=")
			return errors.New(strings.Join(executed, " "))
		},
	})
	return out.String(), code
}

func TestHealthcheck(t *testing.T) {
	socket := "--socket=" + daemon(t, snapshot())
	const line = "DatabaseDown failing: The database is gone. (value 0, since 2026-01-02T12:00:00Z)"
	tests := []struct {
		name string
		args []string
		env  map[string]string
		want string
		code int
	}{
		{"by any other name", []string{"/usr/bin/probe", socket}, nil, "failing 12 " + line + "\n", 12},
		{"as healthcheck", []string{"/openstack/healthcheck", socket}, nil, "failing 1 " + line + "\n", 1},
		{"as healthcheck with the port that TripleO passes", []string{"/openstack/healthcheck", socket, "5672"}, nil, "failing 1 " + line + "\n", 1},
		{"as readiness_probe.sh", []string{"/usr/bin/readiness_probe.sh", socket}, nil, "failing 12 " + line + "\n", 12},
		{"as check_vitals", []string{"check_vitals", socket}, nil, "CRITICAL: " + line + " | ", 2},
		{"a flag before the name", []string{"healthcheck", socket, "--style=plain"}, nil, "failing 12 " + line + "\n", 12},
		{"the environment before the name", []string{"healthcheck", socket}, map[string]string{"VITALS_HEALTHCHECK_STYLE": "plain"}, "failing 12 " + line + "\n", 12},
		{"a flag before the environment", []string{"healthcheck", socket, "--style=docker"}, map[string]string{"VITALS_HEALTHCHECK_STYLE": "plain"}, "failing 1 ", 1},
		{"another state", []string{"p", socket, "--state=alive"}, nil, "ok 0 alive: 1 rule, since ", 0},
		{"all by the environment", []string{"p"}, map[string]string{"VITALS_HEALTHCHECK_SOCKET": strings.TrimPrefix(socket, "--socket="), "VITALS_HEALTHCHECK_STATE": "alive", "VITALS_HEALTHCHECK_TIMEOUT": "10s"}, "ok 0 alive: ", 0},
		{"an unknown state", []string{"p", socket, "--state=nothing"}, nil, `usage error 3 the daemon has no state "nothing": `, 3},
		{"a state that is no name", []string{"p", socket, "--state=../status"}, nil, `usage error 3 state "../status": expected a name such as ready or alive`, 3},
		{"an unknown style", []string{"p", socket, "--style=lsb"}, nil, `usage error 3 style "lsb": expected plain, docker, sonic or nagios`, 3},
		{"an unknown style in the environment", []string{"healthcheck", socket}, map[string]string{"VITALS_HEALTHCHECK_STYLE": "x"}, `usage error 1 style "x": `, 1},
		{"an unknown flag", []string{"healthcheck", "--sokcet=x"}, nil, "usage error 1 flag provided but not defined: -sokcet (try --help)\n", 1},
		{"an unknown flag behind an argument", []string{"healthcheck", socket, "5672", "-x"}, nil, "usage error 1 flag provided but not defined: -x (try --help)\n", 1},
		{"a flag behind an argument", []string{"healthcheck", "5672", socket, "--style=plain"}, nil, "failing 12 " + line + "\n", 12},
		{"a state like a flag", []string{"p", socket, "--state=-x"}, nil, `usage error 3 state "-x": expected a name`, 3},
		{"no duration", []string{"p", socket, "--timeout=900"}, nil, `usage error 3 timeout "900": expected a duration such as 900ms`, 3},
		{"no time", []string{"p", socket, "--timeout=0s"}, nil, `usage error 3 timeout "0s": expected a duration such as 900ms`, 3},
		{"pass without a daemon, with one", []string{"p", socket, "--no-daemon=pass"}, nil, "failing 12 " + line + "\n", 12},
		{"pass without a daemon", []string{"p", "--socket=/nowhere.sock", "--state=alive", "--no-daemon=pass"}, nil, "ok 0 alive: not evaluated, and ok by --no-daemon=pass: there is no socket /nowhere.sock\n", 0},
		{"pass without a daemon, by the environment", []string{"healthcheck", "--socket=/nowhere.sock"}, map[string]string{"VITALS_HEALTHCHECK_NO_DAEMON": "pass"}, "ok 0 ready: not evaluated", 0},
		{"pass without a daemon, although a configuration exists", []string{"check_vitals", "--socket=/nowhere.sock", "--config.file=main.go", "--no-daemon=pass"}, nil, "OK: ready: not evaluated", 0},
		{"something else without a daemon", []string{"p", socket, "--no-daemon=fail"}, nil, `usage error 3 no-daemon "fail": expected once or pass`, 3},
		{"time that is over", []string{"p", socket, "--timeout=1ns"}, nil, "timeout 5 ", 5},
		{"help", []string{"p", "--help"}, nil, "usage: healthcheck [flags] [arguments]\n", 0},
		{"help as Nagios wants it", []string{"check_vitals", "-h"}, nil, "usage: healthcheck [flags] [arguments]\n", 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, code := call(tt.env, tt.args...)
			if !strings.HasPrefix(out, tt.want) || code != tt.code {
				t.Errorf("run(%q) = %q, %d, want %q, %d", tt.args, out, code, tt.want, tt.code)
			}
		})
	}
}

// Without a daemon the process becomes "vitals once" where there is a configuration.
func TestStandalone(t *testing.T) {
	socket := "--socket=" + daemon(t, snapshot())
	absent := "--socket=" + filepath.Join(t.TempDir(), "none.sock")
	config := filepath.Join(t.TempDir(), "vitals.yml")
	if err := os.WriteFile(config, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	executedOf := func(source, style string) string {
		return "execute /v once: /v once ready " + source + " --style=" + style + " --timeout\n"
	}
	executed := func(style string) string { return executedOf("--config.file="+config, style) }
	profile := map[string]string{"VITALS_PROFILE": "tripleo"}
	unconfigured := "--config.file=" + config + ".none"
	tests := []struct {
		name string
		args []string
		env  map[string]string
		want string
		code int
	}{
		{"a daemon is queried first", []string{"p", socket, "--config.file=" + config, "--vitals=/v"}, nil, "failing 12 ", 12},
		{"E80 no daemon, and a configuration", []string{"healthcheck", absent, "--config.file=" + config, "--vitals=/v"}, nil, "usage error 1 " + executed("docker"), 1},
		{"no daemon and no configuration", []string{"p", absent, "--config.file=" + config + ".none", "--vitals=/v"}, nil, "no daemon 4 ", 4},
		{"without a daemon", []string{"p", socket, "--standalone", "--config.file=" + config, "--vitals=/v"}, nil, "usage error 3 " + executed("plain"), 3},
		{"by the environment", []string{"p", socket}, map[string]string{"VITALS_HEALTHCHECK_STANDALONE": "1", "VITALS_HEALTHCHECK_CONFIG_FILE": config, "VITALS_HEALTHCHECK_VITALS": "/v"}, "usage error 3 " + executed("plain"), 3},
		{"no time is left", []string{"p", "--standalone", "--config.file=" + config, "--timeout=1ns"}, nil, "timeout 5 no time left to evaluate with --config.file=" + config, 5},
		{"a profile", []string{"healthcheck", absent, unconfigured, "--profile=tripleo", "--vitals=/v"}, nil, "usage error 1 " + executedOf("--profile=tripleo", "docker"), 1},
		{"a profile with the caller's arguments", []string{"healthcheck", "5672", absent, unconfigured, "--vitals=/v", "5671"}, profile, "usage error 1 " + executedOf("--profile=tripleo --set=arguments=5672 5671", "docker"), 1},
		{"arguments like flags", []string{"healthcheck", absent, unconfigured, "--vitals=/v", "5672", "--", "-x", "--style=plain"}, profile, "usage error 1 " + executedOf("--profile=tripleo --set=arguments=5672 -x --style=plain", "docker"), 1},
		{"a profile, and without a daemon", []string{"p", socket, "--standalone", unconfigured, "--profile=sonic", "--vitals=/v"}, profile, "usage error 3 " + executedOf("--profile=sonic", "plain"), 3},
		{"a daemon before the profile", []string{"healthcheck", socket, unconfigured, "--vitals=/v", "5672"}, profile, "failing 1 ", 1},
		{"a configuration before the profile", []string{"p", absent, "--config.file=" + config, "--vitals=/v", "5672"}, profile, "usage error 3 " + executed("plain"), 3},
		{"no time is left for the profile", []string{"p", "--standalone", unconfigured, "--timeout=1ns"}, profile, "timeout 5 no time left to evaluate with --profile=tripleo", 5},
		{"neither a configuration nor a profile", []string{"p", "--standalone", unconfigured, "--vitals=/v"}, nil, "usage error 3 " + executedOf(unconfigured, "plain"), 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, code := call(tt.env, tt.args...)
			if !strings.HasPrefix(out, tt.want) || code != tt.code {
				t.Errorf("run(%q) = %q, %d, want %q, %d", tt.args, out, code, tt.want, tt.code)
			}
		})
	}
}

func TestReplaceNamesWhatIsMissing(t *testing.T) {
	if err := replace([]string{filepath.Join(t.TempDir(), "vitals")}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("replace() = %v, want %v", err, os.ErrNotExist)
	}
}
