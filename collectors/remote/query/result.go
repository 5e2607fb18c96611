package query

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// The reasons of vitals_query_failure that remote.Reasons does not have.
const (
	ReasonReadOnly  remote.Reason = "read_only"
	reasonColumns   remote.Reason = "columns"
	reasonNull      remote.Reason = "null"
	ReasonNotNumber remote.Reason = "not_a_number"
	reasonLabel     remote.Reason = "label"
	reasonDuplicate remote.Reason = "duplicate"
	reasonTooMany   remote.Reason = "too_many_rows"
)

// shownValue is how many bytes of a value an error has.
const shownValue = 32

// Reasons returns every reason of vitals_query_failure, in the order in which they are exported.
func Reasons() []remote.Reason {
	return []remote.Reason{
		remote.ReasonTimeout, remote.ReasonForbidden, remote.ReasonNotFound, ReasonReadOnly, remote.ReasonClientError,
		remote.ReasonServerError, remote.ReasonProtocol,
		reasonColumns, reasonNull, ReasonNotNumber, reasonLabel, reasonDuplicate, reasonTooMany,
	}
}

// Result reads the rows of one query.
type Result struct {
	query Query
	// value is the column of the number, and labels those of the labels in their order.
	value  int
	labels []int
	rows   []row
	seen   map[string]bool
}

type row struct {
	labels []string
	value  float64
}

// Result returns an empty result with these columns. It fails unless the columns are those of the
// labels and one more.
func (q Query) Result(columns []string) (*Result, error) {
	r := &Result{query: q, value: -1, seen: map[string]bool{}}
	if len(columns) != len(q.Labels)+1 {
		return nil, collectors.Errorf(reasonColumns, "%d columns: expected one for the number and %d for labels", len(columns), len(q.Labels))
	}
	for _, label := range q.Labels {
		i := slices.Index(columns, label)
		if i < 0 {
			return nil, collectors.Errorf(reasonColumns, "there is no column %q: expected one for each label", label)
		}
		r.labels = append(r.labels, i)
	}
	for i := range columns {
		if !slices.Contains(r.labels, i) {
			r.value = i
		}
	}
	if r.value < 0 {
		return nil, collectors.Errorf(reasonColumns, "there is no column for the number")
	}
	return r, nil
}

// Add reads one row of texts in the order of the columns. A nil text is NULL.
func (r *Result) Add(texts [][]byte) error {
	if len(r.rows) == MaxRows {
		return collectors.Errorf(reasonTooMany, "more than %d rows", MaxRows)
	}
	if len(texts) != len(r.labels)+1 {
		return collectors.Errorf(remote.ReasonProtocol, "row of %d columns: expected %d", len(texts), len(r.labels)+1)
	}
	value, err := Number(texts[r.value])
	if err != nil {
		return err
	}
	one := row{value: value}
	for i, column := range r.labels {
		text, err := labelValue(r.query.Labels[i], texts[column])
		if err != nil {
			return err
		}
		one.labels = append(one.labels, text)
	}
	if r.repeats(one) {
		return collectors.Errorf(reasonDuplicate, "two rows have the same labels")
	}
	r.rows = append(r.rows, one)
	return nil
}

// Series returns an empty result whose rows are series.
func (q Query) Series() *Result { return &Result{query: q, seen: map[string]bool{}} }

// AddSeries reads one series. Of its labels, those of the configuration are kept; the others are
// dropped. Any value is a number.
func (r *Result) AddSeries(labels map[string]string, value float64) error {
	if len(r.rows) == MaxRows {
		return collectors.Errorf(reasonTooMany, "more than %d series: expected an expression that aggregates them, as sum by (...) does", MaxRows)
	}
	one := row{value: value}
	for _, label := range r.query.Labels {
		text, err := labelValue(label, append([]byte{}, labels[label]...))
		if err != nil {
			return err
		}
		one.labels = append(one.labels, text)
	}
	if r.repeats(one) {
		return collectors.Errorf(reasonDuplicate, "two series have the same labels: expected more names in labels, or an expression that aggregates, as sum by (...) does")
	}
	r.rows = append(r.rows, one)
	return nil
}

// repeats reports whether an earlier row has the labels of this one.
func (r *Result) repeats(one row) bool {
	key := strings.Join(one.labels, "\x00")
	twice := r.seen[key]
	r.seen[key] = true
	return twice
}

// Number reads a finite number. A nil text is NULL.
func Number(text []byte) (float64, error) {
	if text == nil {
		return 0, collectors.Errorf(reasonNull, "the value is NULL: expected a number")
	}
	value, err := strconv.ParseFloat(string(text), 64)
	if err != nil || math.IsNaN(value) || math.IsInf(value, 0) {
		return 0, collectors.Errorf(ReasonNotNumber, "the value is %q: expected a finite number", shown(text))
	}
	return value, nil
}

// labelValue reads the text of a label without control characters.
func labelValue(label string, text []byte) (string, error) {
	switch {
	case text == nil:
		return "", collectors.Errorf(reasonLabel, "the label %s is NULL: expected a text", label)
	case len(text) > maxLabelValue:
		return "", collectors.Errorf(reasonLabel, "the label %s has %d bytes: expected at most %d", label, len(text), maxLabelValue)
	case !utf8.Valid(text) || slices.ContainsFunc(text, func(b byte) bool { return b < ' ' || b == 0x7f }):
		return "", collectors.Errorf(reasonLabel, "the label %s is %q: expected UTF-8 without control characters", label, shown(text))
	}
	return string(text), nil
}

// shown returns the beginning of a value for an error.
func shown(text []byte) []byte { return text[:min(len(text), shownValue)] }
