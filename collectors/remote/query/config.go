// Package query has what the SQL queries of a collector have in common: their configuration,
// the numbers that their rows give, the bounds, and the metrics.
package query

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/vitals-health/vitals/collectors"
)

const (
	// maxQueries is how many queries a collector has at most.
	maxQueries = 16
	// maxSQL is the length of a statement in bytes.
	maxSQL = 8 << 10
	// maxLabels is how many columns of a query become labels.
	maxLabels = 8
	// MaxColumns is how many columns a result has at most.
	MaxColumns = maxLabels + 1
	// MaxRows is how many rows a result has at most.
	MaxRows = 100
	// maxLabelValue is the length of the value of a label in bytes.
	maxLabelValue = 128
)

// NamesProblems returns the mistakes of the names of queries under the key at path.
func NamesProblems(path string, names []string) []collectors.Problem {
	var problems []collectors.Problem
	if len(names) > maxQueries {
		problems = append(problems, collectors.Problem{Path: path, Text: fmt.Sprintf("%d queries: expected at most %d", len(names), maxQueries)})
	}
	for _, name := range names {
		problems = append(problems, collectors.NameProblem(path+"."+name, name)...)
	}
	return problems
}

// Queries are the queries of a collector by their names, which are values of the label query.
type Queries map[string]Query

// Query is one statement. Each row of its result gives one number.
type Query struct {
	// SQL is one statement that reads.
	SQL string `yaml:"sql"`
	// Labels are the columns whose texts become labels of the same name. One more column
	// has the number.
	Labels []string `yaml:"labels,omitempty"`
}

// labelName is a name that Prometheus accepts without quotes.
var labelName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

// reservedLabels are labels that series of queries have, or that Prometheus adds.
func reservedLabels() []string {
	return []string{"dependency", "query", "job", "instance"}
}

// Names returns the names, sorted. Queries run in this order.
func (q Queries) Names() []string { return slices.Sorted(maps.Keys(q)) }

// Problems returns the mistakes of the queries under the key at path.
func (q Queries) Problems(path string) []collectors.Problem {
	problems := NamesProblems(path, q.Names())
	for _, name := range q.Names() {
		problems = append(problems, q[name].problems(path+"."+name)...)
	}
	return problems
}

func (q Query) problems(path string) []collectors.Problem {
	var problems []collectors.Problem
	add := func(key, format string, args ...any) {
		problems = append(problems, collectors.Problem{Path: path + key, Text: fmt.Sprintf(format, args...)})
	}
	switch {
	case strings.TrimSpace(q.SQL) == "":
		add(".sql", "no statement: expected one")
	case len(q.SQL) > maxSQL:
		add(".sql", "statement of %d bytes: expected at most %d", len(q.SQL), maxSQL)
	case strings.ContainsRune(q.SQL, 0):
		add(".sql", "statement with a zero byte: expected text")
	}
	return append(problems, LabelProblems(path+".labels", q.Labels, func(label string) string {
		return fmt.Sprintf("for the column, as in SELECT %s AS ...", label)
	})...)
}

// LabelProblems returns the mistakes of the labels of a query under the key at path. rename returns
// how to rename one.
func LabelProblems(path string, labels []string, rename func(label string) string) []collectors.Problem {
	var problems []collectors.Problem
	add := func(key, format string, args ...any) {
		problems = append(problems, collectors.Problem{Path: path + key, Text: fmt.Sprintf(format, args...)})
	}
	if len(labels) > maxLabels {
		add("", "%d labels: expected at most %d", len(labels), maxLabels)
	}
	for i, label := range labels {
		at := fmt.Sprintf("[%d]", i)
		switch {
		case !labelName.MatchString(label) || strings.HasPrefix(label, "__"):
			add(at, "label %q: expected letters, digits and '_', without a digit or two '_' at the beginning", label)
		case slices.Contains(reservedLabels(), label):
			add(at, "label %q is that of every series: expected another name %s", label, rename(label))
		case slices.Contains(labels[:i], label):
			add(at, "label %q twice: expected one", label)
		}
	}
	return problems
}
