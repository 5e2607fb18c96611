package query_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/collectors/remote/query"
)

func TestProblems(t *testing.T) {
	var many, labels strings.Builder
	for i := range 17 {
		fmt.Fprintf(&many, "q%d: {sql: SELECT 1},", i)
		fmt.Fprintf(&labels, "l%d,", i)
	}
	for _, c := range []struct{ name, block, want string }{
		{"nothing", "{}", ""},
		{"all of it", "{a.b: {sql: 'SELECT 1', labels: [cell, _x9]}}", ""},
		{"17 queries", "{" + many.String() + "}", "queries: 17 queries: expected at most 16"},
		{"no statement", "{a: {sql: ' '}}", "queries.a.sql: no statement: expected one"},
		{"long statement", "{a: {sql: '" + strings.Repeat("x", 8193) + "'}}", "queries.a.sql: statement of 8193 bytes: expected at most 8192"},
		{"a zero byte", `{a: {sql: "SELECT\0"}}`, "queries.a.sql: statement with a zero byte: expected text"},
		{"17 labels", "{a: {sql: x, labels: [" + labels.String() + "]}}", "queries.a.labels: 17 labels: expected at most 8"},
		{"bad labels", "{a: {sql: x, labels: [a-b, 1a, __a, '']}}", `queries.a.labels[0]: label "a-b": expected letters, digits and '_', without a digit or two '_' at the beginning
queries.a.labels[1]: label "1a": expected letters, digits and '_', without a digit or two '_' at the beginning
queries.a.labels[2]: label "__a": expected letters, digits and '_', without a digit or two '_' at the beginning
queries.a.labels[3]: label "": expected letters, digits and '_', without a digit or two '_' at the beginning`},
		{"a label of all series", "{a: {sql: x, labels: [dependency]}}", `queries.a.labels[0]: label "dependency" is that of every series: expected another name for the column, as in SELECT dependency AS ...`},
		{"a label twice", "{a: {sql: x, labels: [a, a]}}", `queries.a.labels[1]: label "a" twice: expected one`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var queries query.Queries
			if err := yaml.Unmarshal([]byte(c.block), &queries); err != nil {
				t.Fatal(err)
			}
			var lines []string
			for _, p := range queries.Problems("queries") {
				lines = append(lines, p.Path+": "+p.Text)
			}
			if got := strings.Join(lines, "\n"); got != c.want {
				t.Errorf("Problems() =\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// texts are the cells of a row. "NULL" is NULL.
func texts(cells ...string) [][]byte {
	var row [][]byte
	for _, cell := range cells {
		if cell == "NULL" {
			row = append(row, nil)
			continue
		}
		row = append(row, []byte(cell))
	}
	return row
}

// read returns the series of the rows, or the reason of the failure and its error.
func read(q query.Query, columns []string, rows ...[][]byte) (string, remote.Reason, error) {
	result, err := q.Result(columns)
	for _, row := range rows {
		if err == nil {
			err = result.Add(row)
		}
	}
	return values(q, result, err), query.ReasonOf(err), err
}

// values returns the series of a result.
func values(q query.Query, result *query.Result, err error) string {
	queries := query.Queries{"q": q}
	var b collectors.Batch
	queries.Add(&b, "d", "q", query.Outcome{Result: result, Took: time.Second, Err: err})
	var values strings.Builder
	for _, s := range b.Samples {
		if strings.Contains(s.Labels.String(), "vitals_query_value") {
			values.WriteString(collectortest.Sample(s))
		}
	}
	return values.String()
}

func TestRows(t *testing.T) {
	one, cell := query.Query{}, query.Query{Labels: []string{"cell", "host"}}
	all := []string{"host", "n", "cell"}
	var many [][][]byte
	for i := range query.MaxRows + 1 {
		many = append(many, texts(fmt.Sprint(i), "1", "x"))
	}
	for _, c := range []struct {
		name    string
		query   query.Query
		columns []string
		rows    [][][]byte
		want    string
		reason  remote.Reason
		text    string
	}{
		{"one number", one, []string{"n"}, [][][]byte{texts("1.5")}, "vitals_query_value{dependency=\"d\",query=\"q\"} 1.5\n", "", ""},
		{"no row", one, []string{"n"}, nil, "", "", ""},
		{"labels in any order", cell, all, [][][]byte{texts("h1", "-3e2", "c1"), texts("h2", "0", "c1")},
			"vitals_query_value{cell=\"c1\",dependency=\"d\",host=\"h1\",query=\"q\"} -300\nvitals_query_value{cell=\"c1\",dependency=\"d\",host=\"h2\",query=\"q\"} 0\n", "", ""},
		{"NULL", one, []string{"n"}, [][][]byte{texts("1"), texts("NULL")}, "", "null", "the value is NULL: expected a number"},
		{"text", one, []string{"n"}, [][][]byte{texts("many")}, "", "not_a_number", `the value is "many": expected a finite number`},
		{"empty text", one, []string{"n"}, [][][]byte{texts("")}, "", "not_a_number", `the value is "": expected a finite number`},
		{"long text", one, []string{"n"}, [][][]byte{texts(strings.Repeat("x", 1000))}, "", "not_a_number", `the value is "` + strings.Repeat("x", 32) + `": expected a finite number`},
		{"NaN", one, []string{"n"}, [][][]byte{texts("NaN")}, "", "not_a_number", `the value is "NaN": expected a finite number`},
		{"infinity", one, []string{"n"}, [][][]byte{texts("-Infinity")}, "", "not_a_number", `the value is "-Infinity": expected a finite number`},
		{"boolean", one, []string{"n"}, [][][]byte{texts("t")}, "", "not_a_number", `the value is "t": expected a finite number`},
		{"two columns", one, []string{"n", "m"}, nil, "", "columns", "2 columns: expected one for the number and 0 for labels"},
		{"another column", cell, []string{"host", "n", "sell"}, nil, "", "columns", `there is no column "cell": expected one for each label`},
		{"a label twice", query.Query{Labels: []string{"a"}}, []string{"a", "a"}, [][][]byte{texts("x", "1")}, "vitals_query_value{a=\"x\",dependency=\"d\",query=\"q\"} 1\n", "", ""},
		{"NULL for a label", cell, all, [][][]byte{texts("NULL", "1", "c")}, "", "label", "the label host is NULL: expected a text"},
		{"long label", cell, all, [][][]byte{texts(strings.Repeat("x", 129), "1", "c")}, "", "label", "the label host has 129 bytes: expected at most 128"},
		{"control characters", cell, all, [][][]byte{texts("a\nb", "1", "c")}, "", "label", `the label host is "a\nb": expected UTF-8 without control characters`},
		{"no UTF-8", cell, all, [][][]byte{texts("\xff", "1", "c")}, "", "label", `the label host is "\xff": expected UTF-8 without control characters`},
		{"two rows alike", cell, all, [][][]byte{texts("h", "1", "c"), texts("h", "2", "c")}, "", "duplicate", "two rows have the same labels"},
		{"101 rows", cell, all, many, "", "too_many_rows", "more than 100 rows"},
		{"a row of another size", one, []string{"n"}, [][][]byte{texts("1", "2")}, "", "protocol", "row of 2 columns: expected 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			values, reason, err := read(c.query, c.columns, c.rows...)
			text := ""
			if err != nil {
				text = err.Error()
			}
			if values != c.want || reason != c.reason || text != c.text {
				t.Errorf("values %q, reason %q, error %q\nwant   %q, reason %q, error %q", values, reason, text, c.want, c.reason, c.text)
			}
		})
	}
}

// Series keep the labels of the configuration, and any value.
func TestSeries(t *testing.T) {
	type series struct {
		labels map[string]string
		value  float64
	}
	q := query.Query{Labels: []string{"cell", "host"}}
	a := map[string]string{"__name__": "up", "cell": "c1", "host": "h1", "job": "x"}
	var many []series
	for i := range query.MaxRows + 1 {
		many = append(many, series{map[string]string{"cell": fmt.Sprint(i)}, 1})
	}
	for _, c := range []struct {
		name   string
		series []series
		want   string
		reason remote.Reason
		text   string
	}{
		{"none", nil, "", "", ""},
		{"others are dropped", []series{{a, 1.5}}, "vitals_query_value{cell=\"c1\",dependency=\"d\",host=\"h1\",query=\"q\"} 1.5\n", "", ""},
		{"a series without a label", []series{{map[string]string{"host": "h"}, math.Inf(-1)}, {map[string]string{"host": "", "x": "y"}, math.NaN()}},
			"vitals_query_value{dependency=\"d\",host=\"h\",query=\"q\"} -Inf\nvitals_query_value{dependency=\"d\",query=\"q\"} NaN\n", "", ""},
		{"two alike", []series{{a, 1}, {map[string]string{"cell": "c1", "host": "h1", "job": "y"}, 1}}, "", "duplicate", "two series have the same labels: expected more names in labels, or an expression that aggregates, as sum by (...) does"},
		{"long label", []series{{map[string]string{"cell": strings.Repeat("x", 129)}, 1}}, "", "label", "the label cell has 129 bytes: expected at most 128"},
		{"101 series", many, "", "too_many_rows", "more than 100 series: expected an expression that aggregates them, as sum by (...) does"},
	} {
		t.Run(c.name, func(t *testing.T) {
			result := q.Series()
			var err error
			for _, s := range c.series {
				if err == nil {
					err = result.AddSeries(s.labels, s.value)
				}
			}
			if got := values(q, result, err); got != c.want {
				t.Errorf("values %q, want %q", got, c.want)
			}
			text := ""
			if err != nil {
				text = err.Error()
			}
			if reason := query.ReasonOf(err); reason != c.reason || text != c.text {
				t.Errorf("reason %q, error %q, want %q, %q", reason, text, c.reason, c.text)
			}
		})
	}
}

// A query that takes all of its time leaves some for each of the next, and for the answer.
func TestShare(t *testing.T) {
	const limit = 5 * time.Second
	left := time.Duration(limit)
	for queries := 4; queries > 0; queries-- {
		share := query.Share(left, queries)
		if share < 900*time.Millisecond {
			t.Errorf("Share(%s, %d) = %s, want about a quarter of %s", left, queries, share, limit)
		}
		left -= share
	}
	if left <= 0 {
		t.Errorf("%s is left after all queries, want some", left)
	}
	if got := query.Share(-time.Second, 0); got != time.Millisecond {
		t.Errorf("Share() after the deadline = %s, want a millisecond", got)
	}
}

// FuzzResult reads any row: its labels are bounded texts, and its number is finite.
func FuzzResult(f *testing.F) {
	f.Add("cell", "n", []byte("cell1"), []byte("1"))
	f.Add("n", "cell", []byte("1e400"), []byte(""))
	f.Add("cell", "cell", []byte("\xff"), []byte("0x1p-2"))
	f.Fuzz(func(t *testing.T, first, second string, a, b []byte) {
		values, reason, err := read(query.Query{Labels: []string{"cell"}}, []string{first, second}, [][]byte{a, b})
		if (err == nil) != (values != "") || (err == nil) != (reason == "") {
			t.Fatalf("values %q with the reason %q and the error %v, want one of them", values, reason, err)
		}
		if err != nil && (len(err.Error()) > 300 || !utf8.ValidString(err.Error())) {
			t.Fatalf("error of %d bytes: %q", len(err.Error()), err)
		}
		if err == nil && (len(values) > 1000 || strings.Count(values, "\n") != 1) {
			t.Fatalf("values %q, want one bounded line", values)
		}
		if n, err := query.Number(b); err == nil && (math.IsNaN(n) || math.IsInf(n, 0)) {
			t.Fatalf("Number(%q) = %v, want a finite number", b, n)
		}
	})
}
