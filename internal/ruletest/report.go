package ruletest

import (
	"fmt"
	"io"
	"strings"

	"github.com/vitals-health/vitals/internal/text"
)

// Text writes the report as text, without the mistakes, which the caller prints.
func (r *Report) Text(w io.Writer) {
	fmt.Fprintf(w, "%s\n", r.File)
	for _, t := range r.Tests {
		if len(t.Timeline) > 0 {
			fmt.Fprintf(w, "  test %q:\n%s", t.Name, indent(strings.Join(t.Timeline, "\n"), "  "))
		}
	}
	switch {
	case len(r.Mistakes) > 0:
		fmt.Fprintf(w, "  NOT RUN: %s\n", text.Plural(len(r.Mistakes), "mistake"))
		return
	case len(r.Tests) == 0:
		fmt.Fprint(w, "  no test to run\n")
		return
	case r.Failed() == 0:
		expectations := 0
		for _, t := range r.Tests {
			expectations += t.Expectations
		}
		fmt.Fprintf(w, "  SUCCESS: %s, %s\n", text.Plural(len(r.Tests), "test"), text.Plural(expectations, "expectation"))
		return
	}
	fmt.Fprintf(w, "  FAILED: %s in %s\n", text.Plural(r.Failed(), "failure"), text.Plural(len(r.Tests), "test"))
	for _, t := range r.Tests {
		for _, f := range t.Failures {
			fmt.Fprintf(w, "    %s: test %q: %s\n%s", f.Place, t.Name, f.What, indent(f.Text, "      "))
		}
	}
}

// indent indents every line and ends the last one.
func indent(text, by string) string {
	return by + strings.ReplaceAll(text, "\n", "\n"+by) + "\n"
}
