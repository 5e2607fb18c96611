package rules

import (
	"slices"
	"strconv"
	"strings"
)

// probePaths are the paths of the parts that make an alert a probe.
type probePaths struct {
	rule, labels, groupLabels string
	// own holds the rule's labels without those of its group.
	own map[string]string
}

// label returns the path of a label: in the rule, or else in its group.
func (at probePaths) label(name string) string {
	if _, ok := at.own[name]; ok {
		return at.labels + "." + name
	}
	return at.groupLabels + "." + name
}

func (at probePaths) annotation(name string) string { return at.rule + ".annotations." + name }

// probe parses the labels and annotations that Vitals uses. An empty value counts as
// missing, like an empty label in Prometheus. In an ordinary alert the annotations are for
// other programs: a value that is none of Vitals' is ignored.
func (p *fileParser) probe(at probePaths, r *Rule) {
	fail := p.fail
	if r.Labels[p.opts.stateLabel()] == "" {
		fail = func(string, string, ...any) {}
	} else {
		p.state(at, r)
		p.misplaced(at, r)
		p.topLevelBool(at.rule+".expr", r.AST)
	}
	switch mode := r.Annotations["mode"]; mode {
	case "":
	case "observe":
		r.Observe = true
	default:
		fail(at.annotation("mode"), `mode %q, expected "observe" or none`, clip(mode))
	}
	if noData := NoData(r.Annotations["no_data"]); noData == "" || noData.Valid() {
		r.NoData = noData
	} else {
		fail(at.annotation("no_data"), "no_data %q, expected %s", clip(string(noData)), NoDataExpected)
	}
	if text := r.Annotations["exit_code"]; text != "" && !strings.Contains(text, "{{") {
		code, ok := ExitCode(text)
		if !ok {
			fail(at.annotation("exit_code"), "exit_code %q, expected a whole number from 1 to 119, or a template", clip(text))
		}
		r.ExitCode = code
	}
	var ok bool
	if r.DependsOn, ok = causes(r.Annotations["depends_on"]); !ok {
		fail(at.annotation("depends_on"), "depends_on %q, expected names of alerts, separated by commas", clip(r.Annotations["depends_on"]))
	}
}

// ExitCode parses the expanded annotation exit_code: a whole number from 1 to 119. This
// excludes success and the codes of shells, container runtimes and the exec probe itself.
func ExitCode(text string) (code int, ok bool) {
	code, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || code < 1 || code > 119 {
		return 0, false
	}
	return code, true
}

// misplaced rejects keys of a rule of a state that have an effect only in the other place.
func (p *fileParser) misplaced(at probePaths, r *Rule) {
	const text = "%s %q has no meaning here, expected it among the %s"
	if value := r.Annotations["severity"]; value != "" && r.Labels["severity"] == "" {
		p.fail(at.annotation("severity"), text, "severity", clip(value), "labels")
	}
	for _, name := range []string{"depends_on", "exit_code", "mode", "no_data"} {
		value := r.Labels[name]
		if value != "" && (name != "mode" || value == "observe") { // mode is a common label
			p.fail(at.label(name), text, name, clip(value), "annotations")
		}
	}
}

// state checks the state and what makes the rule part of it: a name that needs no escaping
// in a path, and its severity.
func (p *fileParser) state(at probePaths, r *Rule) {
	label := p.opts.stateLabel()
	state := r.Labels[label]
	if !alertName.MatchString(r.Alert) && !p.doc.Broken(at.rule+".alert") {
		p.fail(at.rule+".alert", "invalid name %q of a rule with a state, expected letters, digits and _, a letter first, such as KeystoneDown", clip(r.Alert))
	}
	if slices.Contains(p.opts.States, state) {
		r.State = state
	} else {
		p.fail(at.label(label), "state %q is not configured, expected one of %s, or a state_label that names another label", clip(state), strings.Join(p.opts.States, ", "))
	}
	switch r.Severity {
	case "":
		r.Severity = SeverityCritical
	case SeverityCritical, SeverityWarning:
	default:
		if !p.doc.Broken(at.label("severity")) {
			p.fail(at.label("severity"), "severity %q of a rule with a state, expected critical or warning", clip(r.Severity))
		}
	}
}

// causes returns the names in the annotation depends_on, each once. ok is false if one of
// them is empty.
func causes(list string) (names []string, ok bool) {
	ok = true
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		switch {
		case name == "":
			ok = list == ""
		case !slices.Contains(names, name):
			names = append(names, name)
		}
	}
	return names, ok
}
