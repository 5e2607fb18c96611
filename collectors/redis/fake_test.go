package redis_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/collectors/collectortest"
)

// masterInfo is a part of what a master of Redis 7.0 sends.
const masterInfo = `# Server
redis_version:7.0.15
redis_mode:cluster

# Clients
connected_clients:42
maxclients:10000
blocked_clients:2

# Memory
used_memory:1640728
used_memory_human:1.56M
maxmemory:104857600
maxmemory_policy:allkeys-lru

# Persistence
loading:0
rdb_last_bgsave_status:ok
aof_enabled:1
aof_last_bgrewrite_status:ok
aof_last_write_status:err

# Stats
rejected_connections:3
evicted_keys:7

# Replication
role:master
connected_slaves:3
slave0:ip=10.0.0.6,port=6379,state=online,offset=900,lag=1
slave1:ip=10.0.0.7,port=6379,state=online,offset=400,lag=0
slave2:ip=10.0.0.8,port=6379,state=wait_bgsave,offset=0,lag=9
master_repl_offset:1000

# Cluster
cluster_enabled:1
`

// replicaInfo is that of a replica of Valkey whose master is gone.
const replicaInfo = `# Server
redis_version:7.2.4
valkey_version:8.1.0
redis_mode:standalone
# Clients
connected_clients:1
maxclients:100
blocked_clients:0
# Memory
used_memory:1000
maxmemory:0
maxmemory_policy:noeviction
# Persistence
loading:0
rdb_last_bgsave_status:err
aof_enabled:0
aof_last_write_status:ok
# Stats
rejected_connections:0
evicted_keys:0
# Replication
role:slave
master_host:10.0.0.5
master_link_status:down
master_last_io_seconds_ago:-1
master_link_down_since_seconds:12
slave_repl_offset:900
connected_slaves:0
master_repl_offset:900
# Cluster
cluster_enabled:0
`

// bulk returns lines as a bulk string.
func bulk(text string) string {
	text = strings.ReplaceAll(text, "\n", "\r\n")
	return fmt.Sprintf("$%d\r\n%s\r\n", len(text), text)
}

// fakeServer is a server with answers by command. PING has +PONG, AUTH compares the login.
type fakeServer struct {
	testing.TB
	username, password string
	answers            map[string]string
}

func serve(t testing.TB, f fakeServer) string {
	t.Helper()
	return collectortest.ListenOn(t, "tcp", "127.0.0.1:0", nil, f.serve)
}

// serve answers one client until it leaves.
func (f fakeServer) serve(conn net.Conn) {
	in := bufio.NewReader(conn)
	for {
		words := f.command(in)
		if len(words) == 0 {
			return
		}
		answer, ok := f.answers[strings.Join(words, " ")]
		switch {
		case !ok && words[0] == "PING":
			answer = "+PONG\r\n"
		case words[0] == "AUTH" && f.password != "":
			answer = "-WRONGPASS no\r\n"
			if words[1] == f.username && words[2] == f.password {
				answer = "+OK\r\n"
			}
		case words[0] == "AUTH":
			answer = f.answers["AUTH"]
		case !ok:
			f.Errorf("the server receives %q, want one of %v", words, f.answers)
		}
		if _, err := io.WriteString(conn, answer); err != nil || answer == "-ERR max number of clients reached\r\n" {
			return
		}
	}
}

// command reads an array of bulk strings.
func (f fakeServer) command(in *bufio.Reader) []string {
	number := func(prefix string) int {
		line, err := in.ReadString('\n')
		if err != nil {
			return 0
		}
		n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(line, prefix), "\r\n"))
		if err != nil {
			f.Errorf("the server receives the line %q, want %s and a number", line, prefix)
		}
		return n
	}
	var words []string
	for range number("*") {
		word := make([]byte, number("$")+2)
		if _, err := io.ReadFull(in, word); err != nil {
			return nil
		}
		words = append(words, string(word[:len(word)-2]))
	}
	return words
}
