package query

import (
	"context"
	"slices"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// The metrics of queries.
var (
	valueMetric    = collectors.NewGauge("vitals_query_value", "The number in a row of the query; the labels of its configuration are added.", "dependency", "query")
	rowsMetric     = collectors.NewGauge("vitals_query_rows", "How many rows the last result of the query had; absent if it failed.", "dependency", "query")
	successMetric  = collectors.NewGauge("vitals_query_success", "Whether the last run of the query succeeded (1) or not (0).", "dependency", "query")
	durationMetric = collectors.NewGauge("vitals_query_duration_seconds", "How long the last run of the query took; absent if it failed.", "dependency", "query")
	failureMetric  = collectors.NewGauge("vitals_query_failure", "Why the last run of the query failed: 1 for that reason, 0 for all others.", "dependency", "query", "reason")
)

// valueDef returns the metric of the numbers of a query with these labels.
func valueDef(labels []string) *collectors.Def {
	desc := valueMetric.Desc()
	return collectors.NewGauge(desc.Name, desc.Help, append([]string{"dependency", "query"}, labels...)...)
}

// Defs returns the metrics that Add sets.
func Defs() []*collectors.Def {
	return []*collectors.Def{valueMetric, rowsMetric, successMetric, durationMetric, failureMetric}
}

// Describe completes the entries of Defs in a catalog: those of a configuration with these
// queries.
func (q Queries) Describe(c *collectors.Catalog) {
	c.Configured("query", q.Names(), Defs()...)
	c.Closed("reason", collectors.Texts(Reasons()), failureMetric)
	c.Bools(successMetric, failureMetric)
	c.Vanishing(successMetric, failureMetric) // no query runs without a connection
	c.Vanishing(valueMetric, rowsMetric, durationMetric)
	c.Labelled(valueMetric, q.labels())
}

// labels returns the labels of all queries.
func (q Queries) labels() []string {
	var all []string
	for _, name := range q.Names() {
		all = append(all, q[name].Labels...)
	}
	return collectors.Unique(all)
}

// Outcome is one run of a query.
type Outcome struct {
	Result *Result
	Took   time.Duration
	// Err is nil for a run that succeeded.
	Err error
}

// Add appends the samples of a run. A run that failed has no values.
func (q Queries) Add(b *collectors.Batch, dependency, name string, o Outcome) {
	reason := ReasonOf(o.Err)
	b.Set(successMetric, collectors.Number(o.Err == nil), dependency, name)
	for _, r := range Reasons() {
		b.Set(failureMetric, collectors.Number(r == reason), dependency, name, string(r))
	}
	if o.Err != nil {
		return
	}
	b.Set(durationMetric, o.Took.Seconds(), dependency, name)
	b.Set(rowsMetric, float64(len(o.Result.rows)), dependency, name)
	for _, row := range o.Result.rows {
		labels, values := row.named(q[name].Labels)
		b.Set(valueDef(labels), row.value, append([]string{dependency, name}, values...)...)
	}
}

// named returns the names and the texts of the labels of a row. As in Prometheus, an empty label is
// none.
func (r row) named(all []string) (names, values []string) {
	for i, text := range r.labels {
		if text != "" {
			names, values = append(names, all[i]), append(values, text)
		}
	}
	return names, values
}

// ReasonOf returns the reason of an error of a query, "" for none. A reason of logins is not in the
// set of Reasons: a server that reports one for a query has an error.
func ReasonOf(err error) remote.Reason {
	reason := remote.ReasonOf(err)
	if err != nil && !slices.Contains(Reasons(), reason) {
		return remote.ReasonServerError
	}
	return reason
}

// InTime returns an error after the deadline with the reason timeout, and any other unchanged: a
// connection that the deadline ends looks as if the server had closed it.
func InTime(ctx context.Context, err error) error {
	if err != nil && ReasonOf(err) == remote.ReasonProtocol && ctx.Err() != nil {
		return collectors.Errorf(remote.ReasonTimeout, "%w", err)
	}
	return err
}

// Left returns the time until the deadline, an hour without one.
func Left(ctx context.Context) time.Duration {
	deadline, ok := ctx.Deadline()
	if !ok {
		return time.Hour
	}
	return time.Until(deadline)
}

// Share returns how long the next of several queries may run, so that one that is slow leaves
// time for the others, and its server time to report the end.
func Share(left time.Duration, queries int) time.Duration {
	return max(left*9/10/time.Duration(max(queries, 1)), time.Millisecond)
}
