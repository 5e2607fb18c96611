//go:build e2e

package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

// redisRules are those of the page of the kind, without their times.
func redisRules() []string {
	return []string{
		`{alert: RedisDown, expr: 'vitals_dependency_up{dependency=~"master|replica"} == 0', labels: {state: ready}}`,
		`{alert: RedisNotMaster, expr: 'vitals_redis_role{dependency="master", role="master"} == 0', labels: {state: ready}, annotations: {no_data: pass}}`,
		`{alert: RedisMemoryFull, expr: vitals_redis_memory_used_bytes >= vitals_redis_memory_limit_bytes and vitals_redis_memory_evicts == 0, labels: {state: ready}, annotations: {no_data: pass}}`,
		`{alert: ReplicaCutOff, expr: vitals_redis_master_link_up == 0, labels: {state: ready}, annotations: {no_data: pass}}`,
	}
}

// redisPair is a master of Redis, its replica, and a Vitals with collectors of both.
type redisPair struct {
	a               tcpAsking
	master, replica *tcpServer
	// listen and follows are the addresses of the two, and file has the password.
	listen, follows, file string
}

const (
	redisMaster  = " master"
	redisReplica = " replica"
)

// newRedisPair starts all three. The master accepts 20 connections, and sends its data at once.
func newRedisPair(t *testing.T) redisPair {
	t.Helper()
	p := redisPair{listen: address(t), follows: address(t), file: filepath.Join(shortDirectory(t, ""), "password")}
	p.rotate(t, "test-password")
	p.master = redisServer(t, p.listen, shortDirectory(t, ""), "--save", "", "--requirepass", "test-password", "--maxclients", "20",
		"--enable-debug-command", "local", "--repl-diskless-sync-delay", "0")
	p.replica = redisServer(t, p.follows, shortDirectory(t, ""), "--save", "", "--requirepass", "test-password", "--masterauth", "test-password",
		"--replicaof", "127.0.0.1 "+tcpPort(t, p.listen), "--replica-serve-stale-data", "no")
	p.runs(t, p.listen, "ACL SETUSER pings on >test-password-2 +ping", "+OK")
	block := func(listen, login string) string { return "redis: {address: '" + listen + "'" + login + "}" }
	p.a = watch(t, map[string]string{
		"master":  block(p.listen, ", password_file: "+p.file),
		"replica": block(p.follows, ", password_file: "+p.file),
		"none":    block(p.listen, ""),
		"unknown": block(p.listen, ", username: stranger, password: test-password"),
		"pings":   block(p.listen, ", username: pings, password: test-password-2"),
	}, redisRules()...)
	p.a.staysAlive(t)
	return p
}

// rotate writes a password into the file of the collectors.
func (p redisPair) rotate(t *testing.T, password string) {
	t.Helper()
	if err := os.WriteFile(p.file, []byte(password+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// runs logs in, sends a command and waits for its answer.
func (p redisPair) runs(t *testing.T, address, command, want string) {
	t.Helper()
	tcpSay(t, "tcp", address, "AUTH test-password\r\n"+command+"\r\n", "+OK\r\n"+want)
}

// recovers waits until both are up, and ready.
func (p redisPair) recovers(t *testing.T) {
	t.Helper()
	since := time.Now()
	p.a.sees(t, "replica", "", redisReplica)
	p.a.recovers(t, "master", redisMaster, since)
}

// A master and its replica: each fault has its reason, ready follows, and alive stays.
func TestRedis(t *testing.T) {
	t.Parallel()
	p := newRedisPair(t)
	t.Run("healthy", func(t *testing.T) {
		p.recovers(t)
		p.a.exports(t, `vitals_redis_role{dependency="master",role="master"} 1`, `vitals_redis_role{dependency="replica",role="replica"} 1`,
			`vitals_redis_replicas_online{dependency="master"} 1`, `vitals_redis_replica_lag_bytes{dependency="master"} 0`, `vitals_redis_master_link_up{dependency="replica"} 1`,
			`vitals_redis_clients_limit{dependency="master"} 20`, `vitals_redis_loading{dependency="master"} 0`)
	})
	for _, c := range []struct{ name, collector, reason, note string }{
		{"no password", "none", "login_required", "NOAUTH"},
		{"unknown user", "unknown", "auth", "WRONGPASS"},
		{"user who may only ping", "pings", "", "NOPERM"},
	} {
		t.Run(c.name, func(t *testing.T) { p.a.sees(t, c.collector, c.reason, c.note) })
	}
	t.Run("wrong password", func(t *testing.T) {
		p.rotate(t, "test-password-old")
		p.a.breaks(t, "master", "auth", "WRONGPASS")
		p.rotate(t, "test-password")
		p.recovers(t)
	})
	t.Run("frozen", func(t *testing.T) {
		p.master.signal(t, syscall.SIGSTOP)
		p.a.breaks(t, "master", "timeout", "timeout")
		p.master.signal(t, syscall.SIGCONT)
		p.recovers(t)
	})
	t.Run("slow", func(t *testing.T) {
		const pause = 15 * time.Second // longer than a busy machine takes to show it
		p.runs(t, p.listen, fmt.Sprint("CLIENT PAUSE ", pause.Milliseconds(), " ALL"), "+OK")
		until := time.Now().Add(pause)
		p.a.breaks(t, "master", "timeout", "timeout")
		p.a.recovers(t, "master", redisMaster, until)
	})
	t.Run("memory is full", func(t *testing.T) {
		p.runs(t, p.listen, "CONFIG SET maxmemory 100kb\r\nSET key value", "+OK\r\n-OOM")
		p.a.fails(t, "RedisMemoryFull")
		p.a.sees(t, "master", "", redisMaster)
		p.runs(t, p.listen, "CONFIG SET maxmemory 0\r\nSET key value", "+OK\r\n+OK")
		p.recovers(t)
	})
	t.Run("connections used up", func(t *testing.T) {
		release := p.a.useUp(t, "master", p.listen, 20, "too_many_connections")
		release()
		p.recovers(t)
	})
	t.Run("replica cut off", func(t *testing.T) {
		p.runs(t, p.follows, "REPLICAOF 127.0.0.1 "+tcpPort(t, address(t)), "+OK")
		p.a.breaks(t, "replica", "master_down", "MASTERDOWN")
		p.a.fails(t, "ReplicaCutOff")
		p.a.exports(t, `vitals_redis_master_link_up{dependency="replica"} 0`, `vitals_redis_replicas_online{dependency="master"} 0`)
		p.runs(t, p.follows, "REPLICAOF 127.0.0.1 "+tcpPort(t, p.listen), "+OK")
		p.recovers(t)
	})
	t.Run("stopped, then loading", func(t *testing.T) { p.loads(t) })
}

// loads stops the master, which then loads its data for seconds.
func (p redisPair) loads(t *testing.T) {
	p.runs(t, p.listen, redisPopulate, redisPopulated)
	p.master.kill()
	p.a.breaks(t, "master", "refused", "connection refused")
	p.a.sees(t, "replica", "master_down", "MASTERDOWN")
	p.master.command = append(slices.Clone(p.master.command), "--key-load-delay", redisKeyDelay, "--loading-process-events-interval-bytes", "1024")
	p.master.start(t)
	p.a.breaks(t, "master", "loading", "LOADING")
	p.a.exports(t, `vitals_redis_loading{dependency="master"} 1`)
	p.a.seesWithin(t, startsWithin, "master", "", redisMaster)
	p.recovers(t)
}
