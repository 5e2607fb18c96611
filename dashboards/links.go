package dashboards

import "strings"

// DefaultRunbooks and DefaultPage are the addresses for links that Options leave empty.
const (
	DefaultRunbooks = "https://github.com/vitals-health/vitals/blob/main/docs/runbooks/README.md"
	DefaultPage     = "http://INSTANCE/"
)

// linksTo makes the links that lead from a rule or an instance to elsewhere.
type linksTo struct {
	// page is the address of the status page of Vitals, with INSTANCE, POD and NAMESPACE for
	// those labels.
	page string
	// runbooks is the address of the runbook of a rule that has none of its own, with NAME
	// for the name of the rule.
	runbooks string
}

// chosenTargets keeps the choice of targets and the time in a link.
const chosenTargets = "${datasource:queryparam}&${job:queryparam}&${namespace:queryparam}&${pod:queryparam}&${__url_time_range}"

// rule returns the links of a cell with the name of a rule. The column runbook must have the
// text of runbookTexts.
func (l linksTo) rule() []dataLink {
	return []dataLink{
		{"Vitals / Rule for ${__value.text}", "/d/vitals-rule?var-rule=${__value.text}&${instance:queryparam}&" + chosenTargets, false},
		{"Runbook", "${__data.fields.runbook.text}", true},
	}
}

// instance returns the links of a cell that names an instance. The column instance must have
// its label.
func (l linksTo) instance() []dataLink {
	return []dataLink{
		{"Only this instance", "/d/vitals-overview?var-instance=${__data.fields.instance}&" + chosenTargets, false},
		{"Why: the status page of this instance", l.pageOf(), true},
	}
}

// pageOf returns the address of the page of the instance in a line of a table.
func (l linksTo) pageOf() string {
	return strings.NewReplacer("INSTANCE", "${__data.fields.instance}", "POD", "${__data.fields.pod}", "NAMESPACE", "${__data.fields.namespace}").Replace(l.page)
}
