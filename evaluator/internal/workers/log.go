package workers

import (
	"regexp"
	"time"

	"golang.org/x/time/rate"
)

const (
	// NewChanges is how many changes of an outcome are logged at once.
	NewChanges = 10
	// ChangePause is the time after which one more line sums up the changes since the last
	// one: a collector that flaps does not fill the log.
	ChangePause = time.Minute
	// newErrors is how many changes of an error are logged at once, and errorPause the time
	// after which one more is: errors that alternate do not fill the log.
	newErrors  = 5
	errorPause = time.Minute
)

// outcomeLog holds what is logged of a collector's outcomes, and what is not yet.
type outcomeLog struct {
	begun, ok bool
	// changes is how often the outcome changed since the last line about it. The first one is
	// a change.
	changes int
	// shape is the form of the logged error.
	shape         string
	flips, limits *rate.Limiter
}

func newOutcomeLog() outcomeLog {
	return outcomeLog{
		flips:  rate.NewLimiter(rate.Every(ChangePause), NewChanges),
		limits: rate.NewLimiter(rate.Every(errorPause), newErrors),
	}
}

var (
	// numbered is a word with a digit, such as an address or the identity of a request.
	numbered = regexp.MustCompile(`[\w.:-]*\d[\w.:-]*`)
	// errorStatus is the status of an HTTP response to a failed request.
	errorStatus = regexp.MustCompile(`^[45]\d\d[.:]?$`)
	// expired is the end of a deadline: which part of Go finds it first is chance.
	expired = regexp.MustCompile(`((dial|read|write) \w+ \S+: )?(i/o timeout|context deadline exceeded)`)
)

// shapeOf returns an error without the words with digits. An HTTP status stays, and every
// time-out is the same.
func shapeOf(err string) string {
	err = expired.ReplaceAllLiteralString(err, "time-out")
	return numbered.ReplaceAllStringFunc(err, func(word string) string {
		if errorStatus.MatchString(word) {
			return word
		}
		return ""
	})
}

// logChange logs a result that differs in success, panic or error from the one that was
// logged last. Words with digits in an error do not count. Collectors that flap are summed
// up.
func (w *worker) logChange(r Result, at time.Time) {
	w.logPanic(r)
	w.log.count(r.Err == nil)
	if w.log.changes > 0 {
		if w.log.flips.AllowN(at, 1) {
			w.logOutcome(r)
		}
		return
	}
	if r.Err == nil {
		return
	}
	err := bound(r.Err.Error())
	if shape := shapeOf(err); shape != w.log.shape && w.log.limits.AllowN(at, 1) {
		w.logger.Warn("error of the collector changed", "err", err)
		w.log.shape = shape
	}
}

// logPanic logs a panic unless the last collection panicked as well.
func (w *worker) logPanic(r Result) {
	if r.Stack != nil && !w.panicked {
		w.logger.Error("collector panicked", "err", r.Err, "stack", string(r.Stack))
	}
	w.panicked = r.Stack != nil
}

// count counts a change of the outcome.
func (l *outcomeLog) count(ok bool) {
	if !l.begun || ok != l.ok {
		l.changes++
	}
	l.begun, l.ok = true, ok
}

// logOutcome logs whether the collector succeeds, and the number of changes if there is more
// than one.
func (w *worker) logOutcome(r Result) {
	logger := w.logger
	if w.log.changes > 1 {
		logger = logger.With("changes", w.log.changes)
	}
	w.log.changes = 0
	if r.Err == nil {
		logger.Info("collector succeeds")
		return
	}
	err := bound(r.Err.Error())
	w.log.shape = shapeOf(err)
	logger.Warn("collector fails", "err", err)
}
