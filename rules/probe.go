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
// missing, like an empty label in Prometheus.
func (p *fileParser) probe(at probePaths, r *Rule) {
	p.state(at, r)
	switch mode := r.Annotations["mode"]; mode {
	case "":
	case "observe":
		r.Observe = true
	default:
		p.fail(at.annotation("mode"), `mode %q, expected "observe" or none`, clip(mode))
	}
	if r.NoData = NoData(r.Annotations["no_data"]); r.NoData != "" && !r.NoData.Valid() {
		p.fail(at.annotation("no_data"), "no_data %q, expected %s", clip(string(r.NoData)), NoDataExpected)
	}
	if text := r.Annotations["exit_code"]; text != "" && !strings.Contains(text, "{{") {
		code, ok := ExitCode(text)
		if !ok {
			p.fail(at.annotation("exit_code"), "exit_code %q, expected a whole number from 1 to 119, or a template", clip(text))
		}
		r.ExitCode = code
	}
	p.dependsOn(at, r)
	p.misplaced(at, r)
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

// misplaced rejects keys that have an effect only in the other place. It concerns rules
// with a state, or with a misplaced state. Other alerts may use any labels and annotations.
func (p *fileParser) misplaced(at probePaths, r *Rule) {
	const text = "%s %q has no meaning here, expected it among the %s"
	for _, name := range []string{"state", "severity"} {
		value := r.Annotations[name]
		wanted := r.State != "" || name == "state" && slices.Contains(p.opts.States, value)
		if value != "" && r.Labels[name] == "" && wanted {
			p.fail(at.annotation(name), text, name, clip(value), "labels")
		}
	}
	if r.State == "" {
		return
	}
	for _, name := range []string{"depends_on", "exit_code", "mode", "no_data"} {
		value := r.Labels[name]
		if value != "" && (name != "mode" || value == "observe") { // mode is a common label
			p.fail(at.label(name), text, name, clip(value), "annotations")
		}
	}
}

func (p *fileParser) state(at probePaths, r *Rule) {
	state := r.Labels["state"]
	if state == "" {
		return
	}
	if !slices.Contains(p.opts.States, state) {
		p.fail(at.label("state"), "state %q is not configured, expected one of %s", clip(state), strings.Join(p.opts.States, ", "))
		return
	}
	r.State = state
	switch r.Severity {
	case "":
		r.Severity = SeverityCritical
	case SeverityCritical, SeverityWarning:
	default:
		p.fail(at.label("severity"), "severity %q of a rule with a state, expected critical or warning", clip(r.Severity))
	}
}

func (p *fileParser) dependsOn(at probePaths, r *Rule) {
	list := r.Annotations["depends_on"]
	if list == "" {
		return
	}
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		switch {
		case !alertName.MatchString(name):
			p.fail(at.annotation("depends_on"), "depends_on %q, expected names of alerts, separated by commas", clip(list))
			return
		case !slices.Contains(r.DependsOn, name):
			r.DependsOn = append(r.DependsOn, name)
		}
	}
}
