package redis_test

import (
	"crypto/tls"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/redis"
)

func newCollector(t testing.TB, address, more string) collectors.Collector {
	t.Helper()
	return collectortest.New(t, "cache", "{address: '"+address+"'"+more+"}", &redis.Config{})
}

func value(samples []collectors.Sample, metric string) (float64, bool) {
	return collectortest.Value(samples, "vitals_"+metric+`{dependency="cache"}`)
}

// timeless puts fixed values in the place of what depends on the clock.
func timeless(samples []collectors.Sample) []collectors.Sample {
	for i, s := range samples {
		switch s.Labels.Get(model.MetricNameLabel) {
		case "vitals_dependency_latency_seconds":
			samples[i].Value = 0.001
		case "vitals_tls_certificate_expiry_timestamp_seconds":
			samples[i].Value = 86400
		}
	}
	return samples
}

func TestExposition(t *testing.T) {
	cert, certFile, _ := collectortest.Certificate(t, "localhost", time.Now().Add(time.Hour))
	master := fakeServer{TB: t, username: "vitals", password: "hunter2", answers: map[string]string{
		"INFO":         bulk(masterInfo),
		"CLUSTER INFO": bulk("cluster_state:ok\ncluster_slots_assigned:16384\ncluster_slots_ok:16383\ncluster_slots_pfail:1\ncluster_slots_fail:0\ncluster_known_nodes:6\ncluster_size:3\n"),
	}}
	password := filepath.Join(t.TempDir(), "password")
	collectortest.Write(t, password, "hunter2\n")
	_, port, _ := net.SplitHostPort(collectortest.ListenOn(t, "tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{cert}}, master.serve))
	c := newCollector(t, "localhost:"+port, ", ip_family: 4, username: vitals, password_file: "+password+", tls: {ca_file: "+certFile+"}")
	samples, err := collectortest.Collect(t, c)
	if err != nil {
		t.Fatalf("Collect() = %v, want no error", err)
	}
	collectortest.Golden(t, "metrics.prom", collectortest.Exposition(timeless(samples), c.Describe()))
	if got, want := collectortest.Note(c), "redis 127.0.0.1:"+port+" 7.0.15 master"; got != want {
		t.Errorf("Note() = %q, want %q", got, want)
	}
}

// A replica, with and without a connection to its master.
func TestReplica(t *testing.T) {
	linked := strings.Replace(strings.Replace(replicaInfo, "master_link_status:down", "master_link_status:up", 1),
		"master_last_io_seconds_ago:-1\nmaster_link_down_since_seconds:12\n", "master_last_io_seconds_ago:3\n", 1)
	for golden, text := range map[string]string{"replica.prom": replicaInfo, "linked.prom": linked} {
		c := newCollector(t, serve(t, fakeServer{TB: t, answers: map[string]string{"INFO": bulk(text)}}), "")
		samples, err := collectortest.Collect(t, c)
		if err != nil {
			t.Fatalf("Collect() = %v, want no error", err)
		}
		collectortest.Golden(t, golden, collectortest.Exposition(timeless(samples), c.Describe()))
	}
}

// Each refusal of PING has its reason, and a server that answers INFO nonetheless is measured.
func TestRefusals(t *testing.T) {
	for _, c := range []struct{ answer, reason string }{
		{"-NOAUTH Authentication required.", "login_required"},
		{"-NOPERM User vitals has no permissions to run the 'ping' command", "forbidden"},
		{"-DENIED Redis is running in protected mode because ...", "forbidden"},
		{"-LOADING Redis is loading the dataset in memory", "loading"},
		{"-MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.", "master_down"},
		{"-BUSY Redis is busy running a script.", "busy"},
		{"-MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.", "cannot_save"},
		{"-ERR max number of clients reached", "too_many_connections"},
		{"-ERR unknown command 'PING'", "protocol"},
		{"-ERR internal error", "server_error"},
		{"-CLUSTERDOWN The cluster is down", "server_error"},
		{"+PONGO", "protocol"},
		{"$4", "protocol"},
		{"", "protocol"},
	} {
		t.Run(c.answer, func(t *testing.T) {
			t.Parallel()
			address := serve(t, fakeServer{TB: t, answers: map[string]string{"PING": c.answer + "\r\n", "INFO": bulk("role:master\nloading:1\n")}})
			kind := newCollector(t, address, "")
			samples, err := collectortest.Collect(t, kind)
			if got := collectortest.Reason(samples); got != c.reason || err == nil {
				t.Errorf("Collect() = %v, reason %q, want %q", err, got, c.reason)
			}
			refused := strings.HasPrefix(c.answer, "-")
			if _, ok := value(samples, "dependency_latency_seconds"); ok != refused {
				t.Errorf("there is a latency: %t, want one of a complete answer", ok)
			}
			if got, ok := value(samples, "redis_loading"); ok != (refused && c.reason != "too_many_connections") || ok && got != 1 {
				t.Errorf("vitals_redis_loading = %v, %t, want it of a server that refuses and keeps the connection", got, ok)
			}
			if note := collectortest.Note(kind); !strings.HasPrefix(note, "redis "+address+" "+c.reason+": ") || len(note) > collectors.MaxNote {
				t.Errorf("Note() = %q, want the reason", note)
			}
		})
	}
}

// A wrong login is refused, and its password never shown.
func TestLogin(t *testing.T) {
	password := filepath.Join(t.TempDir(), "password")
	collectortest.Write(t, password, "hunter2\n")
	for _, c := range []struct{ name, more, answer, reason string }{
		{"password", ", password: hunter2", "+OK", ""},
		{"user", ", username: vitals, password_file: " + password, "+OK", ""},
		{"wrong password", ", password_file: " + password, "-WRONGPASS invalid username-password pair or user is disabled.", "auth"},
		{"no password on the server", ", password: hunter2", "-ERR AUTH <password> called without any password configured for the default user.", "auth"},
		{"full", ", password: hunter2", "-ERR max number of clients reached", "too_many_connections"},
		{"before version 6", ", username: vitals, password: hunter2", "-ERR wrong number of arguments for 'auth' command", "auth"},
		{"the password comes back", ", password: hunter2", "-ERR unknown command `AUTH`, with args beginning with: `hunter2`", "protocol"},
		{"the password comes back unquoted", ", password: hunter2", "hunter2", "protocol"},
		{"no file", ", password_file: /nonexistent", "+OK", "auth"},
	} {
		t.Run(c.name, func(t *testing.T) {
			kind := newCollector(t, serve(t, fakeServer{TB: t, answers: map[string]string{"AUTH": c.answer + "\r\n", "INFO": bulk("role:master\n")}}), c.more)
			samples, err := collectortest.Collect(t, kind)
			if got := collectortest.Reason(samples); got != c.reason || (err == nil) != (c.reason == "") {
				t.Errorf("Collect() = %v, reason %q, want %q", err, got, c.reason)
			}
			if err != nil && strings.Contains(collectortest.Note(kind)+err.Error(), "hunter2") {
				t.Errorf("the password is shown: %q, %v", collectortest.Note(kind), err)
			}
		})
	}
}

// A server that answers PING is up, whatever it does not answer further.
func TestIncomplete(t *testing.T) {
	for _, c := range []struct{ name, info, cluster, text string }{
		{"INFO is not allowed", "-NOPERM User vitals has no permissions to run the 'info' command\r\n", "", "answer to INFO: NOPERM User vitals has no permissions to run the"},
		{"INFO has another type", "*1\r\n+a\r\n", "", `expected a bulk string for INFO, got "*1"`},
		{"INFO is empty", "$0\r\n\r\n", "", "no field that is measured"},
		{"INFO of another program", bulk("hello:world\n"), "", "no field that is measured"},
		{"INFO is null", "$-1\r\n", "", "expected a bulk string"},
		{"INFO is longer than announced", "$10\r\nrole:master\r\nloading:1\r\n", "", "longer than announced"},
		{"INFO is large", "$300000\r\n", "", "300000 bytes: expected at most 256KiB"},
		{"CLUSTER INFO is not allowed", bulk("role:master\ncluster_enabled:1\n"), "-NOPERM no\r\n", "answer to CLUSTER INFO: NOPERM no"},
	} {
		t.Run(c.name, func(t *testing.T) {
			kind := newCollector(t, serve(t, fakeServer{TB: t, answers: map[string]string{"INFO": c.info, "CLUSTER INFO": c.cluster}}), "")
			samples, err := collectortest.Collect(t, kind)
			if got := collectortest.Reason(samples); got != "" || err == nil || !strings.Contains(err.Error(), c.text) {
				t.Errorf("Collect() = %v, reason %q, want a server that is up, and the error %s", err, got, c.text)
			}
			if note := collectortest.Note(kind); !strings.Contains(note, " up: ") {
				t.Errorf("Note() = %q, want up", note)
			}
			if _, ok := value(samples, "dependency_latency_seconds"); !ok {
				t.Error("there is no latency, want that of PING")
			}
			_, role := collectortest.Value(samples, `vitals_redis_role{dependency="cache",role="master"}`)
			if want := c.cluster != ""; role != want {
				t.Errorf("there is a role: %t, want %t", role, want)
			}
		})
	}
}

// A Sentinel has no role, and no limit is no series.
func TestAbsentSeries(t *testing.T) {
	sentinel := newCollector(t, serve(t, fakeServer{TB: t, answers: map[string]string{"INFO": bulk("redis_version:7.0.15\nredis_mode:sentinel\nconnected_clients:3\n")}}), "")
	samples, err := collectortest.Collect(t, sentinel)
	if _, ok := collectortest.Value(samples, `vitals_redis_role{dependency="cache",role="master"}`); ok || err != nil {
		t.Errorf("Collect() = %v, with a role: %t, want none", err, ok)
	}
	if note := collectortest.Note(sentinel); !strings.HasSuffix(note, " 7.0.15 sentinel") {
		t.Errorf("Note() = %q, want the mode", note)
	}
	c := newCollector(t, serve(t, fakeServer{TB: t, answers: map[string]string{"INFO": bulk("role:master\nused_memory:many\nmaxmemory:0\nmaxmemory_policy:noeviction\nmaster_last_io_seconds_ago:-1\nrejected_connections:NaN\naof_enabled:0\naof_last_write_status:ok\n")}}), "")
	if samples, err = collectortest.Collect(t, c); err != nil {
		t.Fatalf("Collect() = %v, want no error", err)
	}
	for _, metric := range []string{"memory_used_bytes", "memory_limit_bytes", "memory_evicts", "master_last_io_seconds", "connections_rejected_total", "replica_lag_bytes", "master_link_up", "cluster_ok"} {
		if got, ok := value(samples, "redis_"+metric); ok {
			t.Errorf("vitals_redis_%s = %v, want none", metric, got)
		}
	}
	if got, ok := collectortest.Value(samples, `vitals_redis_persistence_ok{dependency="cache",operation="aof_write"}`); ok {
		t.Errorf("vitals_redis_persistence_ok of the append-only file = %v, want none without one", got)
	}
}

func TestUnixSocket(t *testing.T) {
	path := filepath.Join(collectortest.Dir(t), "redis.sock")
	collectortest.ListenOn(t, "unix", path, nil, fakeServer{TB: t, answers: map[string]string{"INFO": bulk(replicaInfo)}}.serve)
	c := newCollector(t, "unix:"+filepath.Dir(path)+"/*.sock", "")
	if _, err := collectortest.Collect(t, c); err != nil || collectortest.Note(c) != "redis unix:"+path+" 8.1.0 replica" {
		t.Errorf("Collect() = %v, note %q, want the replica", err, collectortest.Note(c))
	}
	missing := newCollector(t, "unix:"+filepath.Dir(path)+"/*.none", "")
	if samples, err := collectortest.Collect(t, missing); collectortest.Reason(samples) != "missing_endpoint" || err == nil {
		t.Errorf("Collect() = %v, reason %q, want missing_endpoint", err, collectortest.Reason(samples))
	}
}
