package lint_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/rules"
	"github.com/vitals-health/vitals/rules/lint"
)

// The texts of findings name the problem and its size.
func TestFindingsInWords(t *testing.T) {
	for _, c := range []struct{ name, code, given, want string }{
		{"a single collection decides", "V008", `{alert: A, expr: vitals_process_up == 0, labels: {state: alive}}`,
			`without "for", the rule waits for less than two collections of the collector "daemon", which runs every 10s: one failed collection can make alive fail`},
		{"a late collection decides", "V008", `{alert: A, expr: vitals_process_up == 0, for: 10s, labels: {state: alive}}`,
			`with "for: 10s", the rule waits for less than two collections of the collector "daemon", which runs every 10s: one failed collection can make alive fail when the next one is late`},
		{"half an interval", "V008", `{alert: A, expr: vitals_process_up == 0, for: 9s, labels: {state: ready}}`,
			`with "for: 9s", the rule waits for less than two collections of the collector "daemon", which runs every 10s: one failed collection can make ready fail`},
		{"the slowest of two", "V008", `{alert: A, expr: vitals_process_up == 0 or vitals_file_exists == 0, for: 30s, labels: {state: ready}}`,
			`with "for: 30s", the rule waits for less than two collections of the collector "conf", which runs every 1m: one failed collection can make ready fail`},
		{"the slowest of two, first", "V008", `{alert: A, expr: vitals_file_exists == 0 or vitals_process_up == 0, for: 30s, labels: {state: ready}}`,
			`with "for: 30s", the rule waits for less than two collections of the collector "conf", which runs every 1m: one failed collection can make ready fail`},
		{"the slowest of two that must agree", "V008", `{alert: A, expr: vitals_file_exists == 0 and on () vitals_process_up == 1, for: 30s, labels: {state: ready}}`,
			`with "for: 30s", the rule waits for less than two collections of the collector "conf", which runs every 1m: one failed collection can make ready fail`},
		{"one sample", "V009", `{alert: A, expr: 'rate(vitals_process_restarts_total[10s]) > 0'}`,
			`rate needs two samples, and with a sample of the collector "daemon" every 10s the range of 10s rarely holds more than one: it returns nothing`},
		{"two samples by chance", "V009", `{alert: A, expr: 'rate(vitals_process_restarts_total[11s]) > 0'}`,
			`rate needs two samples, and with a sample of the collector "daemon" every 10s the range of 11s does not always hold them`},
		{"three samples", "V009", `{alert: A, expr: 'rate(vitals_process_restarts_total[20s]) > 0'}`,
			`the range of 20s is shorter than 4 collections: with a sample of the collector "daemon" every 10s, a late or lost sample distorts the result`},
		{"the number on the left", "V011", `{alert: A, expr: 2 < vitals_systemd_up}`, `the rule never fires: vitals_systemd_up is 0 or 1, and never > 2`},
		{"not even zero", "V011", `{alert: A, expr: count(vitals_systemd_up) <= 0}`,
			`the rule never fires: a count over no series returns nothing, not 0, so count(vitals_systemd_up) is never <= 0`},
		{"no sample", "V011", `{alert: A, expr: 'count_over_time(vitals_systemd_up[5m]) == 0'}`,
			`the rule never fires: a count over no series returns nothing, not 0, so count_over_time(vitals_systemd_up[5m]) is never == 0`},
		{"no sum", "V011", `{alert: A, expr: 'avg(vitals_systemd_up) > 1'}`, `the rule never fires: avg(vitals_systemd_up) is from 0 to 1, and never > 1`},
		{"less than a count can be", "V011", `{alert: A, expr: count(vitals_systemd_up) == 0.5}`,
			`the rule never fires: count(vitals_systemd_up) is at least 1, and never == 0.5`},
		{"of another expression", "V011", `{alert: A, expr: vitals_systemd_up - 3 > on () vector(0.5)}`,
			`the rule never fires: vitals_systemd_up - 3 is -3 or -2, and never > 0.5`},
		{"of a recording rule", "V011", `{record: a, expr: vitals_systemd_up == 3}`, `the rule never records anything: vitals_systemd_up is 0 or 1, and never == 3`},
		{"a part", "V011", `{alert: A, expr: vitals_systemd_up == 3 or vitals_scrape_up == 0}`,
			`a part of the expression never returns anything: vitals_systemd_up is 0 or 1, and never == 3`},
		{"a long expression", "V011", `{alert: A, expr: 'absent(vitals_dependency_failure{dependency="keystone",reason=~"dns|refused|timeout|tls|auth"}) > 1'}`,
			`the rule never fires: absent(vitals_dependency_failure{dependency="keystone",reason=~"dns|refused|time... is 1, and never > 1`},
		{"whatever it is", "V012", `{alert: A, expr: vitals_systemd_up >= 0, labels: {state: ready}}`,
			`the rule fires as soon as there is any data: vitals_systemd_up >= 0 is true for every value that vitals_systemd_up can have: 0 or 1`},
		{"without a comparison", "V012", `{alert: A, expr: (vitals_systemd_up * 2), labels: {state: ready}}`,
			`the rule fires as soon as there is any data: nothing in vitals_systemd_up * 2 depends on a value`},
		{"a scalar", "V012", `{alert: A, expr: 1, labels: {state: ready}}`, `the rule always fires: a scalar always has a value`},
		{"of nothing", "V012", `{alert: A, expr: vector(1), labels: {state: ready}}`, `the rule always fires: vector(1) returns a result whatever is measured`},
		{"the same expression", "V017", `{alert: A, expr: vitals_systemd_up == 0, labels: {state: ready}}, {alert: B, expr: (vitals_systemd_up == 0), labels: {state: ready}}`,
			`the rule "A" at f.yml:1 has the same expression: this rule has no effect`},
		{"a lower threshold", "V017", `{alert: A, expr: vitals_process_open_fds > 5, labels: {state: ready}}, {alert: B, expr: 7 < vitals_process_open_fds, labels: {state: ready}}`,
			`the rule "A" at f.yml:1 is true while vitals_process_open_fds is above 5, and so whenever this rule is: this rule has no effect`},
		{"alive at once", "V020", `{alert: A, expr: vitals_systemd_up == 0, labels: {state: alive}}, {alert: B, expr: vitals_systemd_up == 0, for: 1m, labels: {state: ready}}`,
			`alive fails at once and ready, which uses vitals_systemd_up as well (rule "B"), after 1m: the process is restarted before it is taken out of service`},
		{"alive first", "V020", `{alert: A, expr: vitals_systemd_up == 0, for: 30s, labels: {state: alive}}, {alert: B, expr: vitals_systemd_up == 0, for: 2m, labels: {state: ready}}, {alert: C, expr: vitals_systemd_up == 0, for: 1m, labels: {state: ready}}`,
			`alive fails after 30s and ready, which uses vitals_systemd_up as well (rule "C"), after 1m: the process is restarted before it is taken out of service`},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := parse(t, "f.yml", fmt.Sprintf("groups: [{name: g, rules: [%s]}]", c.given))
			found := lint.Check([]*rules.File{f}, lint.Options{Vocabulary: vocabulary(nil), States: []string{"ready", "alive", "started"}})
			found = slices.DeleteFunc(found, func(f lint.Finding) bool { return f.Code != c.code })
			var texts []string
			for _, f := range found {
				texts = append(texts, f.Text)
			}
			if diff := cmp.Diff(c.want, strings.Join(texts, "\n")); diff != "" {
				t.Errorf("text differs (-want +got):\n%s", diff)
			}
		})
	}
}
