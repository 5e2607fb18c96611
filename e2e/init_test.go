//go:build e2e

package e2e_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// networkOfItsOwn makes a network namespace that ends with the test, with a loopback interface.
// What listens elsewhere on the host is not in it. It returns the command that runs another there.
func networkOfItsOwn(t *testing.T) []string {
	t.Helper()
	name := fmt.Sprintf("vitals-init-%d", os.Getpid())
	if out, err := exec.Command("ip", "netns", "add", name).CombinedOutput(); err != nil {
		t.Fatalf("ip netns add: %v\n%s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("ip", "netns", "delete", name).CombinedOutput(); err != nil {
			t.Errorf("ip netns delete: %v\n%s", err, out)
		}
	})
	inside := []string{"ip", "netns", "exec", name}
	if out, err := exec.Command(inside[0], append(inside[1:], "ip", "link", "set", "lo", "up")...).CombinedOutput(); err != nil {
		t.Fatalf("ip link set lo up: %v\n%s", err, out)
	}
	return inside
}

// vitals init finds a redis and a PostgreSQL on this host by their processes, as their ports are
// not those of the services. What it writes is ready, until redis stops.
func TestInitOnThisHost(t *testing.T) {
	inside, dir := networkOfItsOwn(t), shortDirectory(t, "")
	on := func(command ...string) []string { return append(append([]string{}, inside...), command...) }
	redis := tcpServe(t, on("/usr/bin/redis-server", "--port", "7379", "--bind", "127.0.0.1", "--dir", dir, "--save", "")...)
	p := postgresql{dir: ownedDirectory(t, "postgres"), port: "7432"}
	runAsPostgres(t, postgresProgram(t, "initdb"), "--pgdata="+p.data(), "--auth=peer", "--encoding=UTF8", "--locale=C", "--no-sync")
	tcpServe(t, on(asPostgres(postgresProgram(t, "postgres"), "-D", p.data(), "-p", p.port, "-k", p.dir, "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off")...)...)

	vitals, socket := env(t).vitals, filepath.Join(dir, "vitals.sock")
	written := 0
	await(t, "vitals init finds both", startsWithin, func() error {
		written++ // it never writes over a file
		to := filepath.Join(dir, fmt.Sprint(written))
		cmd := exec.Command(inside[0], on(vitals, "init", "--write="+to)[1:]...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
		out, err := cmd.CombinedOutput()
		for _, want := range []string{"redis (redis): it listens on 127.0.0.1:7379 (redis-server)\n", "postgres (tcp): it listens on 127.0.0.1:7432 (postgres)\n"} {
			if err == nil && !strings.Contains(string(out), want) {
				err = fmt.Errorf("no %q", want)
			}
		}
		if err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
		return nil
	})
	to := filepath.Join(dir, fmt.Sprint(written))
	config := "--config.file=" + filepath.Join(to, "vitals.yml")
	for _, args := range [][]string{{"check", "config", filepath.Join(to, "vitals.yml")}, {"check", "rules", config}, {"test", "rules", filepath.Join(to, "rules_test.yml")}} {
		if out, err := exec.Command(vitals, args...).CombinedOutput(); err != nil || strings.Contains(string(out), "cure:") {
			t.Errorf("vitals %v: %v, want no findings\n%s", args, err, out)
		}
	}

	tcpServe(t, on(vitals, "run", config, "--web.listen-address=127.0.0.1:8080", "--web.unix-socket="+socket)...)
	ready := func() error {
		out, err := exec.Command(vitals, "wait", "ready", "--timeout=1s", "--socket="+socket).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
		return nil
	}
	await(t, "ready", tcpWithin, ready)
	redis.kill()
	await(t, "the stopped redis fails ready", 2*time.Minute, func() error {
		if ready() == nil {
			return errors.New("it is ready")
		}
		out, err := exec.Command(vitals, "explain", "ready", "--socket="+socket).CombinedOutput()
		if !strings.Contains(string(out), "RedisDown") {
			return fmt.Errorf("vitals explain prints no RedisDown: %v\n%s", err, out)
		}
		return nil
	})
}
