package evaluator

import (
	"context"
	"log/slog"
	"maps"
	"slices"

	"golang.org/x/time/rate"

	"github.com/vitals-health/vitals/evaluator/internal/workers"
	"github.com/vitals-health/vitals/internal/text"
)

const (
	// newChanges is how many changes of a state are logged at once. Then one line each
	// changePause sums up those since the last line: a state that flaps does not fill the log,
	// as a collector does not.
	newChanges  = workers.NewChanges
	changePause = workers.ChangePause
)

// changeLog logs the changes of the states. It is not safe for concurrent use.
type changeLog struct {
	logger *slog.Logger
	states map[string]*stateChanges
}

// stateChanges are the changes of a state that are not logged yet.
type stateChanges struct {
	count  int
	limits *rate.Limiter
}

func newChangeLog(logger *slog.Logger) changeLog {
	return changeLog{logger, map[string]*stateChanges{}}
}

// log logs every state whose word changed. It logs a state that flaps with the number of
// its changes, also where the last verdict is the one that was logged before. first is set
// in the evaluation after which all collectors have run: log then also logs the states that
// have failed since the start.
func (c changeLog) log(old, s *Snapshot, first bool) {
	for _, st := range s.States {
		changes := c.states[st.Name]
		if changes == nil {
			changes = &stateChanges{limits: rate.NewLimiter(rate.Every(changePause), newChanges)}
			c.states[st.Name] = changes
		}
		if before, ok := old.State(st.Name, old.At); !ok || old.Word(&before) != s.Word(&st) {
			changes.count++
		}
		if (changes.count > 0 || first && st.Verdict == Fail) && changes.limits.AllowN(s.At, 1) {
			c.write(s, st, changes.count)
			changes.count = 0
		}
	}
	maps.DeleteFunc(c.states, func(name string, _ *stateChanges) bool {
		return !slices.ContainsFunc(s.States, func(st State) bool { return st.Name == name })
	})
}

// write logs the verdict of a state, and the number of changes if there is more than one.
func (c changeLog) write(s *Snapshot, st State, changes int) {
	logger := c.logger.With("state", st.Name)
	if changes > 1 {
		logger = logger.With("changes", changes)
	}
	if reason := s.reasonOf(st); reason != "" {
		logger = logger.With("reason", reason)
	}
	if len(st.Deciding) > 0 {
		logger = logger.With("rules", s.names(st.Deciding))
		logger = s.Rules[st.Deciding[0]].with(logger)
	}
	level := slog.LevelWarn
	if st.Verdict == Pass {
		level = slog.LevelInfo
	}
	logger.Log(context.Background(), level, "state "+s.Word(&st))
}

// with returns a logger of the first rule that decides a state: its summary, its value and
// its cause. The reason of the state has the error of the collector.
func (r *Rule) with(logger *slog.Logger) *slog.Logger {
	if r.Summary != "" {
		logger = logger.With("summary", text.Line(r.Summary, maxNote))
	}
	if r.Observed != nil {
		logger = logger.With("value", *r.Observed)
	}
	if r.Cause != "" {
		logger = logger.With("cause", r.Cause)
	}
	return logger
}
