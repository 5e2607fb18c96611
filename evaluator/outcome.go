package evaluator

import (
	"regexp"
	"time"

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
// logged last. Words with digits in an error do not count.
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
