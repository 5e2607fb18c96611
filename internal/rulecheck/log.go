package rulecheck

import (
	"fmt"
	"log/slog"

	"github.com/vitals-health/vitals/internal/config"
	"github.com/vitals-health/vitals/rules/lint"
)

// Log logs findings of severity error in the running rules: rules that do harm or have no
// effect. They stay in use, so that an upgrade of Vitals does not refuse a configuration
// that an earlier version accepted.
type Log struct {
	Logger *slog.Logger
	// logged are the findings of the previous configuration: a reload logs new ones only.
	logged map[lint.Finding]bool
}

// Check logs findings that no comment accepts and that are new since the last call. It
// recovers panics of the checks.
func (w *Log) Check(l *config.Loaded) {
	defer func() {
		if r := recover(); r != nil {
			w.Logger.Error("rules cannot be checked", "err", fmt.Sprint(r))
		}
	}()
	found := map[lint.Finding]bool{}
	for _, f := range OfConfig(l).Findings() {
		if f.Severity != lint.Error || f.Accepted != "" {
			continue
		}
		if found[f] = true; !w.logged[f] {
			w.Logger.Warn("rule is in use although it does harm or has no effect", "code", f.Code+" "+f.Name,
				"at", fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Col), "rule", f.Where, "finding", f.Text, "cure", f.Cure)
		}
	}
	w.logged = found
}
