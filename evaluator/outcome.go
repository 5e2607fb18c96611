package evaluator

import (
	"strings"
	"time"
	"unicode"

	"golang.org/x/time/rate"
)

const (
	// newErrors is how many changes of an error are logged at once, and errorPause the time
	// after which one more is: errors that alternate do not fill the log.
	newErrors  = 5
	errorPause = time.Minute
)

// outcomeLog holds the last logged outcome of a collector.
type outcomeLog struct {
	logged, ok bool
	// shape is the form of the logged error.
	shape  string
	limits *rate.Limiter
}

func newOutcomeLog() outcomeLog {
	return outcomeLog{limits: rate.NewLimiter(rate.Every(errorPause), newErrors)}
}

// shapeOf returns an error without its numbers, such as those of ports and requests.
func shapeOf(err string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return -1
		}
		return r
	}, err)
}

// logChange logs a result that differs in success, panic or error from the one that was
// logged last. Numbers in an error do not count.
func (w *worker) logChange(r result, at time.Time) {
	if r.stack != nil && !w.panicked {
		w.logger.Error("collector panicked", "err", r.err, "stack", string(r.stack))
	}
	w.panicked = r.stack != nil
	first, before := !w.log.logged, w.log.ok
	w.log.logged, w.log.ok = true, r.err == nil
	if r.err == nil {
		if first || !before {
			w.logger.Info("collector succeeds")
		}
		return
	}
	err := bound(r.err.Error())
	shape := shapeOf(err)
	switch {
	case first || before:
		w.logger.Warn("collector fails", "err", err)
	case shape == w.log.shape || !w.log.limits.AllowN(at, 1):
		return
	default:
		w.logger.Warn("error of the collector changed", "err", err)
	}
	w.log.shape = shape
}
