package collectorcheck

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/text"
)

const (
	// maxNamed is how many rules or values a line names.
	maxNamed = 3
	// maxUnmatched is how many selectors without a series are printed.
	maxUnmatched = 20
	// maxSelector bounds a selector in a line, in bytes.
	maxSelector = 300
)

// Text writes the report for people: for each collector its result and a line a metric, with
// series one a series.
func (r *Report) Text(w io.Writer, series bool) error {
	failed, unused := 0, 0
	for _, c := range r.Collectors {
		if !c.Success {
			failed++
		}
		if _, err := fmt.Fprintln(w, c.result()); err != nil {
			return err
		}
		unused += len(c.Unused())
		if err := c.table(w, series); err != nil {
			return err
		}
	}
	r.unmatchedText(w)
	_, err := fmt.Fprintf(w, "%s, %d failed; no rule uses %s\n", text.Plural(len(r.Collectors), "collector"), failed, text.Plural(unused, "metric"))
	return err
}

// result is the line about the collection.
func (c *Collector) result() string {
	took := time.Duration(c.Seconds * float64(time.Second)).Round(100 * time.Microsecond).String()
	result := "ok in " + took
	switch {
	case !c.Ran:
		result = "no result in time"
	case !c.Success:
		result = "failed after " + took
	}
	if c.Found != "" {
		result += ": " + c.Found
	}
	return fmt.Sprintf("%s (%s): %s", c.Name, c.Kind, result)
}

// table writes the metrics of the collector.
func (c *Collector) table(w io.Writer, series bool) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, m := range c.Metrics {
		values := m.values()
		if series {
			values = fmt.Sprintf("%d series", len(m.Series))
		}
		fmt.Fprintf(t, "  %s\t%s\t%s\n", m.Name, values, m.users())
		for _, s := range m.Series {
			if series {
				fmt.Fprintf(t, "    %s\t%s\n", labels.FromMap(s.Labels), s.Value)
			}
		}
	}
	return t.Flush()
}

// values returns the value of one series, or the smallest and the largest of several.
func (m *Metric) values() string {
	least, most := m.Series[0].Value, m.Series[0].Value
	for _, s := range m.Series {
		least, most = min(least, s.Value), max(most, s.Value)
	}
	switch {
	case len(m.Series) == 1:
		return least.String()
	case least == most:
		return fmt.Sprintf("%s in %d series", least, len(m.Series))
	}
	return fmt.Sprintf("%s to %s in %d series", least, most, len(m.Series))
}

// users names the rules that use the metric.
func (m *Metric) users() string { return cmp.Or(first(m.Rules), "no rule") }

// first lists the first names, and how many more there are.
func first(names []string) string {
	named := names[:min(maxNamed, len(names))]
	list := strings.Join(named, ", ")
	if more := len(names) - len(named); more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}

// unmatchedText writes a line for each selector that nothing matched, and one line for all whose
// series may be absent.
func (r *Report) unmatchedText(w io.Writer) {
	var absent []string
	shown, more := 0, 0
	for _, u := range r.Unmatched {
		switch {
		case u.MayBeAbsent:
			absent = append(absent, u.Rules...)
		case shown == maxUnmatched:
			more++
		default:
			shown++
			fmt.Fprintf(w, "%s %s: nothing was measured for %s", text.Either(len(u.Rules) == 1, "rule", "rules"), first(u.Rules), text.Line(u.Selector, maxSelector))
			if u.Label != "" {
				fmt.Fprintf(w, "; measured %s: %s", u.Label, first(u.Measured))
			}
			fmt.Fprintln(w)
		}
	}
	if more > 0 {
		fmt.Fprintf(w, "nothing was measured for %s more\n", text.Plural(more, "selector"))
	}
	if len(absent) > 0 {
		fmt.Fprintf(w, "rules over series that may be absent, and are now: %s\n", first(collectors.Unique(absent)))
	}
}
