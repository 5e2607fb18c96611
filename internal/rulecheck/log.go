package rulecheck

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/vitals-health/vitals/internal/config"
	"github.com/vitals-health/vitals/rules/lint"
)

// Log logs findings of severity error in the running rules: rules that do harm or have no
// effect. They stay in use, so that an upgrade of Vitals does not refuse a configuration
// that an earlier version accepted.
//
// The checks of many rules take time, and a probe must be answered before: Use only records
// a configuration, and Run checks it. A nil Log checks nothing.
type Log struct {
	logger *slog.Logger
	// next holds the configuration to check, at most one.
	next chan *config.Loaded
	// logged are the findings of the previous configuration: a reload logs new ones only.
	logged map[lint.Finding]bool
}

// NewLog returns a log without a configuration.
func NewLog(logger *slog.Logger) *Log {
	return &Log{logger: logger, next: make(chan *config.Loaded, 1)}
}

// Use records the configuration that is now running. It replaces one that is not checked
// yet. Calls must not overlap.
func (w *Log) Use(l *config.Loaded) {
	if w == nil {
		return
	}
	select {
	case <-w.next:
	default:
	}
	w.next <- l
}

// Run checks the recorded configurations until the context ends.
func (w *Log) Run(ctx context.Context) {
	for w != nil {
		select {
		case <-ctx.Done():
			return
		case l := <-w.next:
			w.check(l)
		}
	}
}

// check logs findings that no comment accepts and that are new since the last configuration. It
// recovers panics of the checks.
func (w *Log) check(l *config.Loaded) {
	defer func() {
		if r := recover(); r != nil {
			w.logger.Error("rules cannot be checked", "err", fmt.Sprint(r))
		}
	}()
	found := map[lint.Finding]bool{}
	for _, f := range OfConfig(l).Findings() {
		if f.Severity != lint.Error || f.Accepted != "" {
			continue
		}
		if found[f] = true; !w.logged[f] {
			w.logger.Warn("rule is in use although it does harm or has no effect", "code", f.Code+" "+f.Name,
				"at", fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Col), "rule", f.Where, "finding", f.Text, "cure", f.Cure)
		}
	}
	w.logged = found
}
