package server

import (
	"html"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vitals-health/vitals/internal/states"
	"github.com/vitals-health/vitals/internal/text"
)

// markup is HTML. A constant is markup as it is; escape makes markup of any other text, also of
// the value of an attribute in double quotes. Beside escape, only numbers and times are converted.
type markup string

func escape(s string) markup { return markup(html.EscapeString(s)) }

// each joins the markup of all elements.
func each[T any](all []T, f func(*T) markup) markup {
	var b strings.Builder
	for i := range all {
		b.WriteString(string(f(&all[i])))
	}
	return markup(b.String())
}

// plainDocument returns the page for browsers without scripts.
func plainDocument(d *plainData) markup {
	failing := each(d.States, func(s *StateStatus) markup {
		if s.Verdict != "fail" {
			return ""
		}
		return "✕ " + escape(s.Name) + " " + escape(s.Status) + " – "
	})
	return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>` + failing + escape(d.Headline) + `</title>
<link rel="icon" href="assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="assets/page.css">
</head>
<body class="plain">
<header class="top"><h1>` + escape(d.Headline) + `</h1><p class="pulse">` + escape(d.Where) + `</p></header>
` + plainNotices(d) + `<main>
` + plainTable("States", []markup{"state", "status", "since", "why"}, each(d.States, stateRow)) +
		plainTable("Rules", []markup{"rule", "state", "status", "since", "why"}, each(d.Rules, func(r *RuleStatus) markup { return ruleRow(r, d.At) })) +
		plainTable("Collectors", []markup{"collector", "kind", "last collection", "error or note"}, each(d.Collectors, collectorRow)) + `</main>
<footer><p>Evaluated at ` + moment(d.At) + `, generation ` + markup(strconv.FormatUint(d.Generation, 10)) + `. Load it again <a href="plain">every 10 s</a> or <a href="plain?refresh=off">by hand</a>.</p>
<nav aria-label="Other views"><a href=".">with scripts</a> <a href="wall">wall</a> <a href="metrics">metrics</a> <a href="api/v1/status">status as JSON</a></nav></footer>
</body>
</html>
`
}

func plainNotices(d *plainData) markup {
	notice := func(shown bool, text markup) markup {
		if !shown {
			return ""
		}
		return `<p class="notice" role="alert">` + text + "</p>\n"
	}
	return notice(d.Stalled, "The evaluator stalled: the last evaluation was at "+moment(d.At)+".") +
		notice(d.ShuttingDown, "Vitals is shutting down.") +
		notice(!d.Reload.OK, "The configuration could not be loaded. "+escape(d.Reload.Error))
}

// plainTable returns a section with a table.
func plainTable(title markup, columns []markup, rows markup) markup {
	return `<section><h2>` + title + `</h2><div class="card"><table>
<thead><tr>` + each(columns, func(c *markup) markup { return `<th scope="col">` + *c + `</th>` }) + `</tr></thead>
<tbody>` + rows + `</tbody></table></div></section>
`
}

// row returns a row with a heading and cells.
func row(heading markup, cells ...markup) markup {
	return `<tr><th scope="row">` + heading + `</th>` + each(cells, func(c *markup) markup { return *c }) + "</tr>\n"
}

// cell returns a cell. On a narrow screen, its label takes the place of the column's heading.
func cell(label, content markup) markup {
	return `<td data-label="` + label + `">` + content + `</td>`
}

// plainBadge returns a status with the color of a class of page.css.
func plainBadge(class, shown markup) markup {
	return `<span class="badge ` + class + `">` + shown + `</span>`
}

func stateRow(s *StateStatus) markup {
	sign := map[string]markup{states.OK: "✓", states.Warning: "!", states.Failing: "✕", states.Unknown: "?"}[s.Status]
	since := s.Since
	if s.Verdict == "warn" {
		since = s.WarnsSince
	}
	why := slices.DeleteFunc([]string{s.Reason, strings.Join(s.Deciding, ", ")}, func(s string) bool { return s == "" })
	return row(`<a href="`+escape(s.Name)+`?verbose">`+escape(s.Name)+`</a>`,
		cell("status", plainBadge(escape(s.Verdict), sign+" "+escape(s.Status))),
		cell("since", moment(since)),
		cell("why", escape(strings.Join(why, ": "))),
	)
}

func ruleRow(r *RuleStatus, at time.Time) markup {
	heading := escape(r.Name)
	if isLink(r.RunbookURL) {
		heading = `<a href="` + escape(r.RunbookURL) + `" rel="noreferrer">` + heading + `</a>`
	}
	return row(heading,
		cell("state", escape(r.State)),
		cell("status", plainBadge(escape(r.Status), escape(r.Status))),
		cell("since", moment(r.Since)),
		cell("why", whyOf(r, at)),
	)
}

// whyOf returns what the page without scripts shows about a rule.
func whyOf(r *RuleStatus, at time.Time) markup {
	var why markup
	if r.Silence != nil {
		why = "Silenced " + escape(strings.TrimSpace(r.Silence.UntilText(at)+" "+r.Silence.Why())) + ". "
	}
	switch r.Status {
	case states.OK:
	case states.Unknown:
		why += escape(r.Reason)
	default:
		why += escape(r.Summary)
		if !r.FiresAt.IsZero() {
			why += " Failing at " + moment(r.FiresAt) + "."
		}
	}
	if r.Observe && r.Silence == nil {
		why += " Observed only."
	}
	return why
}

// isLink reports whether a page may link to a URL of a rule file. A link with another scheme, such as
// javascript, runs code. A path would lead to Vitals itself.
func isLink(url string) bool {
	lower := strings.ToLower(url)
	return strings.HasPrefix(lower, "http://") || strings.HasPrefix(lower, "https://")
}

func collectorRow(c *CollectorStatus) markup {
	outcome := plainBadge("failing", "failed")
	switch {
	case !c.Ran:
		outcome = plainBadge("unknown", "none yet")
	case c.Success:
		outcome = plainBadge("ok", "succeeded")
	}
	return row(escape(c.Name),
		cell("kind", escape(c.Kind)),
		cell("last collection", outcome),
		cell("error or note", escape(c.Error+text.Either(c.Error != "" && c.Note != "", " · ", "")+c.Note)),
	)
}

// moment returns a time for people; empty for none.
func moment(t time.Time) markup {
	if t.IsZero() {
		return ""
	}
	return markup(t.Format("2006-01-02 15:04:05 UTC"))
}
