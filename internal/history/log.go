package history

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/vitals-health/vitals/internal/text"
)

// Log logs each event of a state from now on. What fails at the start is logged once all collectors have run, with
// the reason of then. It must be called before Observe.
func (h *History) Log(logger *slog.Logger) { h.logger = logger }

// toLog returns which of the new events are logged. The lock is held.
func (h *History) toLog() []*Event {
	return slices.DeleteFunc(slices.Clone(h.added), func(e *Event) bool {
		return e.Kind != State || e.Action != "" || e.From == None && !h.started
	})
}

// log logs events of states. The lock is not held.
func (h *History) log(events []*Event) {
	if h.logger == nil {
		return
	}
	for _, e := range events {
		h.logState(e)
	}
}

// logState logs one event of a state: its status, and of several changes when they began and for how long it
// failed. The worst moment explains it.
func (h *History) logState(e *Event) {
	attrs := []slog.Attr{slog.String("state", e.Name)}
	add := func(key, value string) {
		if value != "" {
			attrs = append(attrs, slog.String(key, text.Line(value, maxReason)))
		}
	}
	worst, _ := e.worst()
	if e.Changes > 1 {
		attrs = append(attrs, slog.Int("changes", e.Changes), slog.Time("begin", e.Begin), slog.Time("end", e.At))
		if e.FailingSeconds > 0 {
			attrs = append(attrs, slog.Duration("failing", seconds(e.FailingSeconds).Round(time.Millisecond)))
		}
		add("worst", worst.String())
	}
	var reasons []string
	because := func(all ...string) {
		for _, reason := range all {
			if reason != "" && !slices.Contains(reasons, reason) {
				reasons = append(reasons, reason)
			}
		}
	}
	because(e.Reason)
	for i := range e.Rules {
		because(e.Rules[i].Reason, e.Rules[i].Note)
	}
	add("reason", strings.Join(reasons, "; "))
	names := e.names()
	if more := e.RuleCount - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	if len(e.Rules) > 0 {
		r := &e.Rules[0]
		attrs = append(attrs, slog.Any("rules", names))
		add("summary", r.Summary)
		if r.Value != nil {
			attrs = append(attrs, slog.Float64("value", float64(*r.Value)))
		}
		add("cause", r.Cause)
	}
	level := slog.LevelWarn
	if worst == OK || worst == Removed {
		level = slog.LevelInfo
	}
	h.logger.LogAttrs(context.Background(), level, "state "+e.To.String(), attrs...)
}
