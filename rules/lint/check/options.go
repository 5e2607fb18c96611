package check

import (
	"github.com/vitals-health/vitals/internal/manifest"
	"github.com/vitals-health/vitals/rules"
	"github.com/vitals-health/vitals/rules/lint/analysis"
)

// Options are the inputs of the checks beyond the rule files.
type Options struct {
	// Vocabulary describes the metrics that selectors can match; nil if they are unknown.
	Vocabulary *analysis.Vocabulary
	// Complete is set if the files are all rule files of one configuration.
	Complete bool
	// Partial is set if the files have mistakes. Check then reports findings of valid rules
	// only, and none that could be a consequence of the invalid ones.
	Partial bool
	// Config is the name of the configuration file; empty if there is none.
	Config string
	// States are the names of all states.
	States []string
	// AliveNoData is the policy of alive for missing data; empty means that it passes.
	AliveNoData rules.NoData
	// Manifests are Kubernetes manifests with probes that use Vitals.
	Manifests []*manifest.File
	// ListenAddress is the configured listen address, which a flag can override; empty if
	// it is unknown.
	ListenAddress string
	// Needs are the files and variables that the configuration uses.
	Needs []manifest.Need
}
