//go:build e2e

package e2e_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Queries measure within their bounds, and change nothing on the server.
func TestPostgresQueries(t *testing.T) {
	t.Parallel()
	listen := address(t)
	p := postgresServer(t, listen)
	p.execute(t, postgresSQL()...)
	p.execute(t, "CREATE TABLE instances (cell text, busy int)", "INSERT INTO instances VALUES ('c1', 1), ('c1', 2), ('c2', 3)", "CREATE SEQUENCE counter", "CREATE TABLE secret (n int)",
		"GRANT SELECT ON instances TO vitals", "GRANT ALL ON counter TO vitals",
		"CREATE FUNCTION note() RETURNS int LANGUAGE sql VOLATILE AS 'INSERT INTO instances VALUES (''new'', 1) RETURNING 1'", "GRANT INSERT ON instances TO vitals")
	file := filepath.Join(shortDirectory(t, ""), "password")
	if err := os.WriteFile(file, []byte("test-password"), 0o600); err != nil {
		t.Fatal(err)
	}
	blocks, want := map[string]string{}, map[string]string{}
	for name, c := range map[string]struct{ sql, labels, reason string }{
		"cells":    {"SELECT cell, sum(busy) FROM instances GROUP BY cell;", "cell", ""},
		"total":    {"-- all of them\nSELECT count(*) FROM instances", "", ""},
		"values":   {"VALUES (1.5)", "", ""},
		"empty":    {"SELECT 1 WHERE false", "", ""},
		"readonly": {"SELECT (current_setting('transaction_read_only') = 'on')::int", "", ""},
		"nextval":  {"SELECT nextval('counter')", "", "read_only"},
		"function": {"SELECT note()", "", "read_only"},
		"insert":   {"INSERT INTO instances VALUES ('x', 1) RETURNING 1", "", "client_error"},
		"two":      {"SELECT 1; DROP TABLE instances", "", "client_error"},
		"commit":   {"COMMIT", "", "client_error"},
		"slow":     {"SELECT count(pg_sleep(30))", "", "timeout"},
		"columns":  {"SELECT n AS sell, n FROM (SELECT generate_series(1, 1000000000) AS n) AS s", "cell", "columns"},
		"rows":     {"SELECT n::text AS cell, n FROM (SELECT generate_series(1, 1000000000) AS n) AS s", "cell", "too_many_rows"},
		"huge":     {"SELECT repeat('x', 1000) AS cell, 1", "cell", "label"},
		"null":     {"SELECT sum(busy) FROM instances WHERE false", "", "null"},
		"text":     {"SELECT 'many'", "", "not_a_number"},
		"infinite": {"SELECT 'infinity'::float8", "", "not_a_number"},
		"secret":   {"SELECT n FROM secret", "", "forbidden"},
		"table":    {"SELECT 1 FROM nowhere", "", "not_found"},
		"zero":     {"SELECT 1 / (busy - busy) FROM instances", "", "client_error"},
	} {
		db := map[bool]string{true: "good", false: "bad"}[c.reason == "" || name == "slow"]
		blocks[db] += fmt.Sprintf("%q: {sql: %q, labels: [%s]}, ", name, c.sql, c.labels)
		want[db+" "+name] = c.reason
	}
	for db, queries := range blocks {
		blocks[db] = "address: '" + listen + "', username: vitals, password_file: " + file + ", database: postgres, queries: {" + queries + "}"
	}
	a := serverAsk(t, "postgres", blocks)
	for name, reason := range want {
		t.Run(name, func(t *testing.T) {
			db, query, _ := strings.Cut(name, " ")
			a.hasQuery(t, db, query, reason)
		})
	}
	a.sees(t, "good", "", " up: query slow: error 57014: ")
	a.hasValues(t,
		`vitals_query_value{cell="c1",dependency="good",query="cells"} 3`, `vitals_query_value{cell="c2",dependency="good",query="cells"} 3`,
		`vitals_query_value{dependency="good",query="readonly"} 1`, `vitals_query_value{dependency="good",query="total"} 3`, `vitals_query_value{dependency="good",query="values"} 1.5`,
	)
	a.ready(t, http.StatusOK)
	if got := p.execute(t, "SELECT count(*), sum(busy) FROM instances", "SELECT is_called FROM counter"); got != "3|6\nf" {
		t.Errorf("the tables have %q, want them unchanged", got)
	}
	await(t, "no query is left", tcpWithin, func() error {
		if got := p.execute(t, "SELECT count(*) FROM pg_stat_activity WHERE usename = 'vitals' AND state = 'active' AND now() - query_start > interval '2 seconds'"); got != "0" {
			return fmt.Errorf("%s queries run", got)
		}
		return nil
	})
}
