package redis

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote/lines"
)

// maxReplicas is how many replicas of a server are read.
const maxReplicas = 1000

// info is what INFO or CLUSTER INFO of a server contains. Only the fields that are read are kept.
// Source of the fields: https://redis.io/docs/latest/commands/info/
type info struct {
	fields   map[string]string
	replicas []replica
}

// replica is one of the lines slave0, slave1, ... of a master.
type replica struct {
	online      bool
	offset, lag float64 // negative if absent
}

// gauge is a field with the metric that has its number.
type gauge struct {
	field string
	def   *collectors.Def
}

// numbers are the fields with the numbers of metrics. A negative number is one that does not apply.
func numbers() []gauge {
	return []gauge{
		{"master_last_io_seconds_ago", masterIOMetric}, {"master_link_down_since_seconds", masterLinkDownMetric},
		{"used_memory", memoryMetric}, {"evicted_keys", evictedMetric},
		{"connected_clients", clientsMetric}, {"maxclients", clientsLimitMetric}, {"blocked_clients", clientsBlockedMetric},
		{"rejected_connections", rejectedMetric},
		{"cluster_known_nodes", clusterNodesMetric},
	}
}

// texts are the other fields that are read.
func texts() []string {
	return []string{
		"redis_version", "valkey_version", "redis_mode", "role", "master_link_status", "master_repl_offset", "slave_repl_offset",
		"maxmemory", "maxmemory_policy", "loading", "aof_enabled", "cluster_enabled", "cluster_state",
	}
}

// reads reports whether a field is kept.
func reads(field string) bool {
	has := func(n named) bool { return n.field == field }
	return slices.ContainsFunc(numbers(), func(g gauge) bool { return g.field == field }) || slices.Contains(texts(), field) ||
		slices.ContainsFunc(operations(), has) || slices.ContainsFunc(slotStates(), has)
}

// add reads a line. A field that is there twice has its last value.
func (i *info) add(line string) {
	field, value, ok := strings.Cut(line, ":")
	if !ok {
		return
	}
	if number, is := strings.CutPrefix(field, "slave"); is && len(i.replicas) < maxReplicas {
		if _, err := strconv.ParseUint(number, 10, 32); err == nil {
			i.replicas = append(i.replicas, parseReplica(value))
			return
		}
	}
	if !reads(field) {
		return
	}
	if i.fields == nil {
		i.fields = map[string]string{}
	}
	i.fields[field] = value
}

// parseReplica reads ip=10.0.0.6,port=6379,state=online,offset=1234,lag=0.
func parseReplica(text string) replica {
	r := replica{offset: -1, lag: -1}
	for pair := range strings.SplitSeq(text, ",") {
		key, value, _ := strings.Cut(pair, "=")
		switch key {
		case "state":
			r.online = value == "online"
		case "offset":
			r.offset = parse(value)
		case "lag":
			r.lag = parse(value)
		}
	}
	return r
}

// parse returns a number that is finite and not negative, and otherwise -1.
func parse(text string) float64 {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) || n < 0 {
		return -1
	}
	return n
}

// number returns the number of a field, and -1 without one.
func (i *info) number(field string) float64 { return parse(i.fields[field]) }

// set sets a gauge to a number that is not negative.
func set(s *lines.Session, def *collectors.Def, value float64, labels ...string) {
	if value >= 0 {
		s.Measured(def, value, labels...)
	}
}

// is sets a gauge to whether a field has a value, if there is the field.
func (i *info) is(s *lines.Session, def *collectors.Def, field, want string, labels ...string) {
	if value, ok := i.fields[field]; ok {
		s.Measured(def, collectors.Number(value == want), labels...)
	}
}

// role returns the value of the label role, "" for a server that has none.
func (i *info) role() string {
	return map[string]string{"master": "master", "slave": "replica", "replica": "replica"}[i.fields["role"]]
}

// export sets the gauges of INFO.
func (i *info) export(s *lines.Session) {
	for _, n := range numbers() {
		set(s, n.def, i.number(n.field))
	}
	i.is(s, loadingMetric, "loading", "1")
	for _, o := range operations() {
		if strings.HasPrefix(o.field, "rdb_") || i.fields["aof_enabled"] == "1" {
			i.is(s, persistenceMetric, o.field, "ok", o.label)
		}
	}
	if limit := i.number("maxmemory"); limit > 0 {
		s.Measured(memoryLimitMetric, limit)
		if policy, ok := i.fields["maxmemory_policy"]; ok {
			s.Measured(evictsMetric, collectors.Number(policy != "noeviction"))
		}
	}
	i.exportReplication(s)
}

func (i *info) exportReplication(s *lines.Session) {
	role := i.role()
	if role == "" {
		return
	}
	for _, r := range roles() {
		s.Measured(roleMetric, collectors.Number(r == role), r)
	}
	offset := i.number("master_repl_offset")
	if role == "replica" {
		i.is(s, masterLinkMetric, "master_link_status", "up")
		offset = i.number("slave_repl_offset")
	}
	set(s, offsetMetric, offset)

	online, behind, age := 0, -1.0, -1.0
	for _, r := range i.replicas {
		if !r.online {
			continue
		}
		online++
		age = max(age, r.lag)
		if r.offset >= 0 && offset >= 0 {
			behind = max(behind, offset-r.offset, 0)
		}
	}
	s.Measured(replicasMetric, float64(online))
	set(s, replicaLagMetric, behind)
	set(s, replicaAgeMetric, age)
}

// exportCluster sets the gauges of CLUSTER INFO.
func (i *info) exportCluster(s *lines.Session) {
	i.is(s, clusterMetric, "cluster_state", "ok")
	for _, state := range slotStates() {
		set(s, clusterSlotsMetric, i.number(state.field), state.label)
	}
	set(s, clusterNodesMetric, i.number("cluster_known_nodes"))
}

// note returns the version and the role, or the mode of a server without one.
func (i *info) note() string {
	version := i.fields["valkey_version"]
	if version == "" {
		version = i.fields["redis_version"]
	}
	role := i.role()
	if role == "" {
		role = i.fields["redis_mode"]
	}
	return strings.TrimSpace(version + " " + role)
}
