package lint_test

import "strings"

// textsOfConditions concern conditions that do not fit their metrics.
func textsOfConditions() []textTest {
	return []textTest{
		{
			name: "at any value", code: "V012",
			rules: alert("alive", `rate(errors_total[5m])`, ""),
			want: []string{
				`the rule fires at any value of errors_total: nothing in rate(errors_total[5m]) compares it: add a comparison that is true only when something is wrong, such as metric == 0`,
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
