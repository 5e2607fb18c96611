package lint_test

import "strings"

// textsOfConditions concern conditions that do not fit their metrics.
func textsOfConditions() []textTest {
	return []textTest{
		{
			name: "at any value", code: "V012",
			rules: alert("alive", `rate(errors_total[5m])`, ""),
			want: []string{
				`the rule fires at any value of errors_total: nothing compares it: add a comparison that is true only when something is wrong, such as metric == 0`,
			},
		},
		{
			name: "a counter by its type, and by its name", code: "V014",
			rules: alert("ready", `vitals_process_restarts_total > 3 or app_errors_total > 3`, ""),
			want: []string{
				`vitals_process_restarts_total is a counter: it only increases until its process restarts, so the comparison depends on the uptime and not on the current condition: compare its increase, as in increase(vitals_process_restarts_total[5m]) > 0`,
				`app_errors_total is a counter by its name: if it is one, it only increases until its process restarts, so the comparison depends on the uptime and not on the current condition: compare its increase, as in increase(app_errors_total[5m]) > 0`,
			},
		},
		{
			name: "absent series of many rules", features: "unconfigured", code: "V006",
			rules: many(`app_ready == 0`, 7),
			want: []string{
				`7 rules compare series that can be absent while everything works. Prometheus then sees no alert, and vitals reports them as unknown, which their states handle by their own no_data: A, AA, AAA, AAAA, AAAAA and 2 more: set the annotation no_data of each to fail, pass or hold; pass a configuration (--config.file) to check its collectors, with one finding for each rule`,
			},
		},
		{
			name: "an inverted sense", code: "V044",
			rules: alert("ready", `vitals_scrape_up == 1 or vitals_dependency_failure < 1`, ""),
			want: []string{
				`vitals_scrape_up is 1 while all is well, so the rule makes ready fail then, and pass while something is wrong: invert the comparison: an expression describes what is wrong`,
				`vitals_dependency_failure is 0 while all is well, so the rule makes ready fail then, and pass while something is wrong: invert the comparison: an expression describes what is wrong`,
			},
		},
		{
			name: "names of Vitals", code: "V045",
			rules: "- {record: vitals_scrape_up, expr: app_up}\n- {record: vitals_app_up, expr: app_up}\n",
			want: []string{
				`Vitals exports a metric vitals_scrape_up: rules select the series of both: choose another prefix, or a name with a colon such as app:scrape_up`,
				`the prefix vitals_ is reserved: another version may export a metric vitals_app_up: choose another prefix, or a name with a colon such as app:app_up`,
			},
		},
		{
			name: "runbooks", code: "V047",
			rules: "- {alert: A, expr: app_up, annotations: {runbook_url: 'ftp://a'}}\n- {alert: B, expr: app_up, annotations: {runbook_url: '{{ $labels.a }}'}}\n",
			want:  []string{`the runbook "ftp://a" is no URL with http or https, so no page links to it: write a URL such as https://example.org/runbooks/A`},
		},
		{
			name: "arguments of functions over labels", code: "V046",
			rules: alert("ready", `label_replace(up, "a", "", "b", "(") == 0 or label_join(up, "", ",", "b") == 0`, ""),
			want: []string{
				`every evaluation of the rule fails: "(" in label_replace is not a valid regular expression: correct it: brackets need a pair, and a backslash is doubled in double quotes`,
				`every evaluation of the rule fails: "" in label_join is not a valid name of a label: use a name that is not empty`,
			},
		},
	}
}

// many returns alerts with the same expression and the names A, AA and so on.
func many(expr string, count int) string {
	var all strings.Builder
	for i := range count {
		all.WriteString(strings.Replace(alert("ready", expr, ""), "alert: A", "alert: "+strings.Repeat("A", i+1), 1))
	}
	return all.String()
}
