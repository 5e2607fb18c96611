package tcp

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/collectors/remote/query"
)

// mysqlQueries runs queries against a server in memory, and returns their values and reasons.
func mysqlQueries(t *testing.T, server *fakeMySQL, queries query.Queries) (values string, reasons map[string]remote.Reason) {
	t.Helper()
	reasons = map[string]remote.Reason{}
	var b collectors.Batch
	answered := false
	server.rows = mysqlRows()
	_, _, err := mysqlCheck(t, server, peer{
		queries:  queries,
		answered: func() { answered = true },
		ran: func(name string, o query.Outcome) {
			reasons[name] = query.ReasonOf(o.Err)
			queries.Add(&b, "d", name, o)
		},
	})
	if err != nil || !answered {
		t.Errorf("checkMySQL() = %v, answered %t, want a server that is up", err, answered)
	}
	for _, s := range b.Samples {
		if line := collectortest.Sample(s); strings.HasPrefix(line, "vitals_query_value") {
			values += line
		}
	}
	return values, reasons
}

func TestMySQLQueries(t *testing.T) {
	collectortest.NoLeaks(t)
	server := &fakeMySQL{
		tables: map[string]fakeTable{
			"cells": {[]string{"cell", "n"}, [][]string{{"c1", "1"}, {"c2", "2.5"}}},
			"none":  {[]string{"n"}, nil},
			"null":  {[]string{"n"}, [][]string{{"1"}, {"NULL"}, {"3"}}},
			"text":  {[]string{"n"}, [][]string{{"x"}, {"2"}}},
			"two":   {[]string{"n", "m"}, [][]string{{"1", "2"}}},
			"last":  {[]string{"n"}, [][]string{{"7"}}},
		},
		instead: map[string]string{
			"INSERT": fakeMySQLError(1792, "25006", "Cannot execute statement in a READ ONLY transaction"), "wrong": fakeMySQLError(1064, "42000", "You have an error in your SQL syntax"),
			"missing": fakeMySQLError(1146, "42S02", "Table 'nova.x' doesn't exist"), "slow": fakeMySQLError(1969, "70100", "Query execution was interrupted (max_statement_time exceeded)"),
			"secret": fakeMySQLError(1142, "42000", "SELECT command denied to user"), "full": fakeMySQLError(1037, "HY001", "Out of memory"),
		},
	}
	queries := query.Queries{"cells": {SQL: "cells", Labels: []string{"cell"}}}
	for _, name := range []string{"none", "null", "text", "two", "last", "INSERT", "wrong", "missing", "slow", "secret", "full"} {
		queries[name] = query.Query{SQL: name}
	}
	values, reasons := mysqlQueries(t, server, queries)
	want := "vitals_query_value{cell=\"c1\",dependency=\"d\",query=\"cells\"} 1\nvitals_query_value{cell=\"c2\",dependency=\"d\",query=\"cells\"} 2.5\nvitals_query_value{dependency=\"d\",query=\"last\"} 7\n"
	if values != want {
		t.Errorf("values =\n%s\nwant\n%s", values, want)
	}
	if diff := gocmp.Diff(map[string]remote.Reason{
		"cells": "", "none": "", "last": "", "null": "null", "text": "not_a_number", "two": "columns", "INSERT": "read_only", "wrong": "client_error",
		"missing": "not_found", "slow": "timeout", "secret": "forbidden", "full": "server_error",
	}, reasons); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
	if got := server.statements; len(got) != 2+len(queries) || got[0] != "SET SESSION TRANSACTION READ ONLY" || got[1] != "SET SESSION sql_select_limit=101" || !strings.HasPrefix(got[2], "SET SESSION max_execution_time=") {
		t.Errorf("the server receives %q, want the guards and a limit for each query", got)
	}
}

// MariaDB has another variable, in seconds.
func TestMySQLQueryTimeOfMariaDB(t *testing.T) {
	server := &fakeMySQL{tables: map[string]fakeTable{"one": {[]string{"n"}, [][]string{{"1"}}}}}
	rows := mysqlRows()
	rows[mysqlAlive][1] = "10.11.4-MariaDB"
	server.rows = rows
	ran := map[string]query.Outcome{}
	note, _, err := mysqlCheck(t, server, peer{queries: query.Queries{"one": {SQL: "one"}}, answered: func() {}, ran: func(name string, o query.Outcome) { ran[name] = o }})
	if err != nil || note != "10.11.4-MariaDB" || ran["one"].Err != nil {
		t.Errorf("checkMySQL() = %q, %v, outcome %v, want the version and no error", note, err, ran["one"])
	}
	limit := 0.0
	if got := server.statements; len(got) == 3 {
		_, _ = fmt.Sscanf(got[2], "SET SESSION max_statement_time=%f", &limit) // 0 for another statement
	}
	if limit <= 1 || limit > 9 {
		t.Errorf("the server receives %q, want a limit of what is left of 9 s", server.statements)
	}
}

// A server that breaks within a query is up, and the query and those after it fail.
func TestMySQLQueryThatBreaks(t *testing.T) {
	collectortest.NoLeaks(t)
	for name, answer := range map[string]string{
		"an OK for rows":       "\x00\x00\x00\x02\x00\x00\x00",
		"requests a file":      "\xfb/etc/passwd",
		"columns without rows": "\x01",
		"a cut column":         "\x01\x02\xfc",
	} {
		t.Run(name, func(t *testing.T) {
			ran := map[string]query.Outcome{}
			check := func(timeout time.Duration) (string, error) {
				server := &fakeMySQL{TB: t, plugin: mysqlNative, password: "hunter2", rows: mysqlRows(), instead: map[string]string{"a": answer}, tables: map[string]fakeTable{"b": {[]string{"n"}, [][]string{{"1"}}}}}
				ctx, conn := serveOnce(t, timeout, func(conn net.Conn) { server.serve(conn) })
				return checkMySQL(ctx, &peer{
					conn: conn, host: "localhost", login: &credentials{"vitals", "hunter2"},
					queries: query.Queries{"a": {SQL: "a"}, "b": {SQL: "b"}}, answered: func() {}, ran: func(name string, o query.Outcome) { ran[name] = o },
				})
			}
			timeout := 300 * time.Millisecond
			note, err := check(timeout)
			for err != nil && timeout < patience { // a busy machine needs longer for the login
				timeout *= 2
				note, err = check(timeout)
			}
			if err != nil || note != "8.4.0-fake" {
				t.Errorf("checkMySQL() = %q, %v, want a server that is up", note, err)
			}
			for _, name := range []string{"a", "b"} {
				if got := query.ReasonOf(ran[name].Err); !slices.Contains([]remote.Reason{remote.ReasonProtocol, remote.ReasonTimeout}, got) {
					t.Errorf("query %s: %v, reason %q, want protocol or timeout", name, ran[name].Err, got)
				}
			}
		})
	}
}
