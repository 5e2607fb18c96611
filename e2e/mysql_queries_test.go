//go:build e2e

package e2e_test

import (
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// Queries of MariaDB measure within their bounds, and change nothing on the server.
func TestTCPMySQLQueries(t *testing.T) {
	t.Parallel()
	listen := address(t)
	m := mariadbServer(t, listen)
	m.execute(t, `CREATE DATABASE nova; CREATE TABLE nova.instances (cell VARCHAR(20), busy INT); INSERT INTO nova.instances VALUES ('c1', 1), ('c1', 2), ('c2', 3);
		CREATE DATABASE private; CREATE TABLE private.secret (n INT);
		CREATE USER vitals@'%' IDENTIFIED BY 'test-password'; GRANT ALL ON nova.* TO vitals@'%'`)
	m.execute(t, "DELIMITER //\nCREATE FUNCTION nova.note() RETURNS INT MODIFIES SQL DATA BEGIN INSERT INTO nova.instances VALUES ('new', 1); RETURN 1; END//")
	blocks, want := map[string]string{}, map[string]string{}
	for name, c := range map[string]struct{ sql, labels, reason string }{
		"cells":    {"SELECT cell, sum(busy) AS n FROM instances GROUP BY cell", "cell", ""},
		"total":    {"SELECT count(*) FROM instances", "", ""},
		"decimal":  {"SELECT 1.5", "", ""},
		"empty":    {"SELECT 1 FROM instances WHERE false", "", ""},
		"insert":   {"INSERT INTO instances VALUES ('x', 1)", "", "read_only"},
		"function": {"SELECT note()", "", "read_only"},
		"drop":     {"DROP TABLE instances", "", "read_only"},
		"two":      {"SELECT 1; DROP TABLE instances", "", "client_error"},
		"slow":     {"SELECT sum(a.seq * b.seq) FROM seq_1_to_100000 AS a, seq_1_to_100000 AS b", "", "timeout"},
		"rows":     {"SELECT seq AS cell, 1 FROM seq_1_to_1000000000", "cell", "too_many_rows"},
		"columns":  {"SELECT seq AS sell, 1 FROM seq_1_to_1000", "cell", "columns"},
		"label":    {"SELECT repeat('x', 1000) AS cell, 1", "cell", "label"},
		"null":     {"SELECT sum(busy) FROM instances WHERE false", "", "null"},
		"text":     {"SELECT 'many'", "", "not_a_number"},
		"secret":   {"SELECT n FROM private.secret", "", "forbidden"},
		"table":    {"SELECT 1 FROM nowhere", "", "not_found"},
	} {
		db := map[bool]string{true: "good", false: "bad"}[c.reason == "" || name == "slow"]
		blocks[db] += fmt.Sprintf("%q: {sql: %q, labels: [%s]}, ", name, c.sql, c.labels)
		want[db+" "+name] = c.reason
	}
	for db, queries := range blocks {
		blocks[db] = "address: '" + listen + "', protocol: mysql, username: vitals, password: test-password, database: nova, queries: {" + queries + "}"
	}
	a := tcpAsk(t, blocks)
	for name, reason := range want {
		t.Run(name, func(t *testing.T) {
			db, query, _ := strings.Cut(name, " ")
			a.hasQuery(t, db, query, reason)
		})
	}
	a.sees(t, "good", "", " up: query slow: read a row: error 1969: ")
	a.hasValues(t,
		`vitals_query_value{cell="c1",dependency="good",query="cells"} 3`, `vitals_query_value{cell="c2",dependency="good",query="cells"} 3`,
		`vitals_query_value{dependency="good",query="decimal"} 1.5`, `vitals_query_value{dependency="good",query="total"} 3`,
	)
	a.ready(t, http.StatusOK)
	count := exec.Command("mariadb", "--no-defaults", "--socket="+m.socket(), "--skip-column-names", "--execute=SELECT count(*), sum(busy) FROM nova.instances")
	if out, err := count.Output(); err != nil || strings.TrimSpace(string(out)) != "3\t6" {
		t.Errorf("the table has %q, %v, want it unchanged", out, err)
	}
	t.Run("frozen", func(t *testing.T) {
		a.staysAlive(t)
		m.signal(t, syscall.SIGSTOP)
		a.sees(t, "good", "timeout", "timeout")
		m.signal(t, syscall.SIGCONT)
		a.sees(t, "good", "", " up: query slow: ")
		a.hasQuery(t, "good", "total", "")
	})
}
