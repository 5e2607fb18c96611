package rules

import (
	"cmp"
	"slices"
	"time"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/internal/expand"
	"github.com/vitals-health/vitals/internal/expand/texttemplate"
)

// Options are what a configuration defines for its rule files.
type Options struct {
	// States are the allowed values of the state's label.
	States []string
	// StateLabel is the label that makes an alert a rule of a state; state if empty.
	StateLabel string
	// Step is the step of a subquery without one; a minute if zero, as in Prometheus.
	Step time.Duration
	// Templates parses the templates in labels and annotations, as Templates returns it. Without
	// it, a template is a mistake of its rule.
	Templates expand.Parser
}

// Templates returns the parser of templates. It executes them with text/template, which only
// programs that call Templates, Parse or ParseAll contain.
func Templates() expand.Parser { return texttemplate.Parse }

// DefaultStateLabel is the label that makes an alert a rule of a state, unless a
// configuration names another.
const DefaultStateLabel = "state"

// StateLabelProblem returns why a label cannot be that of the state, or an empty string. An
// empty label stands for the default.
func StateLabelProblem(label string) string {
	switch {
	case label == "":
		return ""
	case !model.UTF8Validation.IsValidLabelName(label):
		return "expected a label name"
	case slices.Contains([]string{model.MetricNameLabel, model.AlertNameLabel, "severity"}, label):
		return "expected a label without a meaning of its own"
	}
	return ""
}

func (o Options) stateLabel() string { return cmp.Or(o.StateLabel, DefaultStateLabel) }

// ParseAll parses a rule file with templates and otherwise default options: see Options.ParseAll.
func ParseAll(file string, data []byte, states []string) ([]*File, []error) {
	return Options{States: states, Templates: Templates()}.ParseAll(file, data)
}
