//go:build e2e

package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Timelines are random rules over random series. Nothing in them lies on the border of
// a range or of the look back of five minutes: Prometheus 3 leaves out what lies on the
// left one, and Debian's promtool is older. So intervals do not divide five minutes, those
// of series that are not the evaluations' end in three milliseconds, and ranges in half a
// second.

// stepSeconds are the intervals of series and evaluations.
func stepSeconds() []int { return []int{7, 11, 13, 17, 70, 90} }

// pick returns one of the choices.
func pick[E any](r *rand.Rand, choices ...E) E { return choices[r.IntN(len(choices))] }

// span is a range that ends in half a second.
func span(r *rand.Rand, step int) string {
	return fmt.Sprintf("%ds500ms", step*(1+r.IntN(5))+r.IntN(step))
}

// randomExpr is an expression whose results have whole numbers, so that the text of a
// value is the same everywhere.
func randomExpr(r *rand.Rand, step int) string {
	a, b := pick(r, "a", "b"), pick(r, "a", "b", "c")
	n := r.IntN(3)
	switch r.IntN(20) {
	case 0:
		return fmt.Sprintf("%s == %d", a, n)
	case 1:
		return fmt.Sprintf("%s > %d", a, n)
	case 2:
		return fmt.Sprintf("%s != on (i) %s", a, b)
	case 3:
		return fmt.Sprintf("sum by (job) (%s) > %d", a, n+1)
	case 4:
		return fmt.Sprintf("count(%s == %d) > 1", a, n)
	case 5:
		return fmt.Sprintf("max_over_time(%s[%s]) == %d", a, span(r, step), n)
	case 6:
		return fmt.Sprintf("count_over_time(%s[%s]) < %d", a, span(r, step), n+2)
	case 7:
		return fmt.Sprintf("changes(%s[%s]) > %d", a, span(r, step), n)
	case 8:
		return fmt.Sprintf(`absent(%s{i="%d"})`, a, n+1)
	case 9:
		return fmt.Sprintf("%s unless on (i) %s == %d", a, b, n)
	case 10:
		return fmt.Sprintf("%s and on (i) %s > 0", a, b)
	case 11:
		return fmt.Sprintf("(%s or %s) > %d", a, b, n)
	case 12:
		return fmt.Sprintf("%s offset %s == %d", a, span(r, step), n)
	case 13:
		return fmt.Sprintf("max_over_time(sum(%s)[%s:%ds]) > %d", a, span(r, step), step, n)
	case 14:
		return fmt.Sprintf("resets(c[%s]) > 0", span(r, step))
	case 15:
		return fmt.Sprintf("%s != %s", a, a) // true for NaN only
	case 16:
		return fmt.Sprintf("sum:a > %d", n)
	case 17:
		return fmt.Sprintf(`count(ALERTS{alertname="R0", alertstate="%s"}) > %d`, pick(r, "firing", "pending"), n)
	case 18:
		return fmt.Sprintf("time() - timestamp(%s) > %d", a, step*(1+n))
	}
	return fmt.Sprintf(`time() - ALERTS_FOR_STATE{alertname="R0"} > %d`, 3*step)
}

// randomRules is a rule file with recording rules, ordinary alerts and such of a state.
func randomRules(r *rand.Rand, step int) string {
	var b strings.Builder
	b.WriteString("groups:\n  - name: first\n    rules:\n      - {record: 'sum:a', expr: sum(a)}\n      - {record: 'sum:late', expr: 'max_over_time(sum:a[3m500ms])', labels: {made: here}}\n")
	seconds := func(most int) int { return pick(r, 0, 0, step, step*(1+r.IntN(most)), step*2+step/2) }
	for i := range 6 {
		if i == 3 {
			b.WriteString("  - name: second\n    rules:\n")
		}
		labels := []string{"fixed: yes-it-is"}
		if i == 0 {
			labels = append(labels, pick(r, `templated: "{{ $labels.i }}"`, `templated: "v{{ $value }}"`, "plain: text"))
		}
		notes := []string{`value: "{{ $labels.i }} = {{ $value }}"`}
		switch r.IntN(4) {
		case 0:
			notes = append(notes, pick(r, `now: '{{ with query "time()" }}{{ . | first | value }}{{ end }}'`, `queried: '{{ with query "sum(a)" }}{{ . | first | value }}{{ end }}'`, `nothing: ""`,
				`recorded: '{{ with query "sum:a" }}{{ . | first | value }}{{ end }}'`,
				`own: '{{ with query "count(ALERTS)" }}{{ . | first | value }}{{ end }}'`,
				`composed: '{{ with printf "a{i=%q}" $labels.i | query }}{{ . | first | value }}{{ end }}'`))
		case 1, 2, 3:
			labels = append(labels, "state: "+pick(r, "ready", "ready", "alive"), pick(r, "severity: critical", "severity: critical", "severity: warning"))
			if r.IntN(4) == 0 {
				notes = append(notes, "mode: observe")
			}
			if r.IntN(2) == 0 {
				notes = append(notes, "no_data: "+pick(r, "fail", "pass", "hold"))
			}
		}
		fmt.Fprintf(&b, "      - alert: R%d\n        expr: '%s'\n        for: %ds\n        keep_firing_for: %ds\n        labels: {%s}\n        annotations: {%s}\n",
			i, randomExpr(r, step), seconds(5), seconds(4), strings.Join(labels, ", "), strings.Join(notes, ", "))
	}
	return b.String()
}

// randomSeries are the values of a series in the notation of test files: runs of numbers,
// gaps, stale markers and NaN; of a counter, growing numbers that begin anew.
func randomSeries(r *rand.Rand, steps int, counter bool) string {
	var values []string
	now, total := r.IntN(3), 0
	for len(values) < steps {
		for range 1 + r.IntN(6) {
			switch {
			case counter:
				total += r.IntN(3)
				values = append(values, fmt.Sprint(total))
			default:
				values = append(values, fmt.Sprint(now))
			}
		}
		switch p := r.IntN(100); {
		case p < 12:
			values = append(values, fmt.Sprintf("_x%d", 1+r.IntN(8)))
		case p < 20:
			values = append(values, "stale")
		case p < 30:
			values = append(values, "stale", fmt.Sprintf("_x%d", 1+r.IntN(10)))
		case p < 35 && !counter:
			values = append(values, "NaN")
		case p < 40:
			total = 0
		}
		now = r.IntN(3)
	}
	return strings.Join(values, " ")
}

// randomInput are the series of a timeline, by their names. Some are missing.
func randomInput(r *rand.Rand, steps int) [][2]string {
	var all [][2]string
	for _, metric := range []string{"a", "b", "c"} {
		for i := 1; i <= 3; i++ {
			if r.IntN(6) == 0 {
				continue
			}
			name := fmt.Sprintf(`%s{i="%d", job="%s"}`, metric, i, pick(r, "x", "y"))
			all = append(all, [2]string{name, randomSeries(r, steps, metric == "c")})
		}
	}
	return all
}
