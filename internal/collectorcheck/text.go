package collectorcheck

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/internal/text"
)

// maxNamed is how many rules a line names.
const maxNamed = 3

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
func (m *Metric) users() string {
	named := m.Rules[:min(maxNamed, len(m.Rules))]
	list := strings.Join(named, ", ")
	if more := len(m.Rules) - len(named); more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return cmp.Or(list, "no rule")
}
