package main

import (
	"fmt"
	"log/slog"

	"github.com/vitals-health/vitals/rules/lint"
)

// lintLog logs the errors that the checks find in the rules that run: rules that do harm,
// or nothing. They are obeyed all the same; a configuration that worked yesterday is not
// to keep a node from starting today.
type lintLog struct {
	logger *slog.Logger
	// logged are those of the configuration before: a reload logs what is new.
	logged map[lint.Finding]bool
}

// look logs what no comment accepts and what the last look did not find. It ends no
// process, whatever the rules look like.
func (w *lintLog) look(l *loaded) {
	defer func() {
		if r := recover(); r != nil {
			w.logger.Error("rules cannot be checked", "err", fmt.Sprint(r))
		}
	}()
	found := map[lint.Finding]bool{}
	for _, f := range l.lint().findings() {
		if f.Severity != lint.Error || f.Accepted != "" {
			continue
		}
		if found[f] = true; !w.logged[f] {
			w.logger.Warn("rule is obeyed although it does harm, or nothing", "code", f.Code+" "+f.Name,
				"at", fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Col), "rule", f.Where, "finding", f.Text, "cure", f.Cure)
		}
	}
	w.logged = found
}
