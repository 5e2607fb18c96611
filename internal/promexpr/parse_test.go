package promexpr

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"
)

func TestParse(t *testing.T) {
	tests := []struct{ name, given, want string }{
		{"range", "rate(x[5m * 2])", "range 10m0s"},
		{"plain range", "rate(x[5m])", "range 5m0s"},
		{"offset", "x offset (1h / 2)", "offset 30m0s"},
		{"negative offset", "x offset -(1h / 2)", "offset -30m0s"},
		{"subquery", "max_over_time(x[1h + 1m:1m / 2] offset (1m * 2))", "subquery 1h1m0s 30s 2m0s"},
		{"least of two", "rate(x[min_of(1h, 5m)])", "range 5m0s"},
		{"with @", "rate(x[5m * 2] @ end()) + rate(y[1m])", "range 10m0s, range 1m0s"},
		{"in parentheses and constant", "(vector(1 + 1)) + max(rate(x[2 * 1m]))", "range 2m0s"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			expr, err := Parse(tt.given)
			if err != nil {
				t.Fatal(err)
			}
			if got := durations(expr); got != tt.want {
				t.Errorf("Parse(%s) has %s, want %s", tt.given, got, tt.want)
			}
			if again, err := Parse(expr.String()); err != nil || durations(again) != tt.want {
				t.Errorf("Parse(%s) = %v, want the durations of %s", expr, err, tt.given)
			}
		})
	}
}

// durations lists the durations of an expression that are not zero.
func durations(expr parser.Expr) string {
	var all []string
	for _, n := range timed(expr) {
		switch n := n.(type) {
		case *parser.VectorSelector:
			if n.OriginalOffset != 0 {
				all = append(all, fmt.Sprintf("offset %s", n.OriginalOffset))
			}
		case *parser.MatrixSelector:
			all = append(all, fmt.Sprintf("range %s", n.Range))
		case *parser.SubqueryExpr:
			all = append(all, fmt.Sprintf("subquery %s %s %s", n.Range, n.Step, n.OriginalOffset))
		}
	}
	return strings.Join(all, ", ")
}

func TestParseRejects(t *testing.T) {
	for _, given := range []string{"rate(x[5m - 5m])", "x offset (1h / 0)", "rate(x[5m *])", "x =="} {
		if expr, err := Parse(given); err == nil {
			t.Errorf("Parse(%s) = %v, want an error", given, expr)
		}
	}
}

// counting counts the expressions that reach the parser.
type counting struct {
	parser.Parser
	parsed *int
}

func (c counting) ParseExpr(text string) (parser.Expr, error) {
	*c.parsed++
	return c.Parser.ParseExpr(text)
}

func TestNestingIsBounded(t *testing.T) {
	const levels, operators = "nested deeper than 100 levels: split it with recording rules", "more than 2000 operators: split it with recording rules"
	nested := func(n int) string { return strings.Repeat("(", n) + "up" + strings.Repeat(")", n) }
	for _, tt := range []struct {
		text string
		at   int // of the mistake; -1 without one
		want string
	}{
		{nested(100), -1, ""},
		{nested(101), 100, levels},
		{nested(100_000), 100, levels},
		{"up{a=\"" + strings.Repeat("(", 200) + "\"}", -1, ""},
		{"up{a='\\'" + strings.Repeat("[", 200) + "'}", -1, ""},
		{"up{a=`\\`}" + " # " + strings.Repeat("{", 200), -1, ""},
		{"up # " + strings.Repeat("(", 200) + "\n + " + nested(101), 209 + 100, levels},
		{strings.Repeat("(up) + ", 2000) + "up", -1, ""},
		{strings.Repeat("-", 2000) + "up", -1, ""},
		{strings.Repeat("-", 30_000) + "up", 2000, operators},
		{strings.Repeat("- + ", 30_000) + "up", 4000, operators},
		{strings.Repeat("-", 1000) + "(" + strings.Repeat("+", 30_000) + "up)", 2001, operators},
		{strings.Repeat("1^", 30_000) + "1", 4001, operators},
		{strings.Repeat("up or ", 30_000) + "up", 12_003, operators},
		{"up[" + strings.Repeat("-", 30_000) + "1m]", 2003, operators},
		{"up{" + strings.Repeat(`a="b",`, 30_000) + "}", -1, ""},
	} {
		parsed := 0
		for name, parse := range map[string]func(string) (parser.Expr, error){
			"Parse": Parse, "ParseForeign": ParseForeign, "ParseExpr": bounded{counting{NewParser(), &parsed}}.ParseExpr,
		} {
			_, err := parse(tt.text)
			if tt.at < 0 {
				if err != nil {
					t.Errorf("%s(%.60s) = %v, want no error", name, tt.text, err)
				}
				continue
			}
			errs, ok := errors.AsType[parser.ParseErrors](err)
			if !ok || int(errs[0].PositionRange.Start) != tt.at || errs[0].Err.Error() != tt.want {
				t.Errorf("%s(%.60s) = %.200v, want the error %q at %d", name, tt.text, err, tt.want, tt.at)
			}
		}
		if refused := tt.at >= 0; refused == (parsed > 0) {
			t.Errorf("%.60s reached the parser %d times, want an expression beyond a bound refused before", tt.text, parsed)
		}
	}
}
