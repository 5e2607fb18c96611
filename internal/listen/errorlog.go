package listen

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	// firstErrors errors of connections are logged at once, and then one each errorPause:
	// clients cause them, and need no permission to.
	firstErrors = 10
	errorPause  = 10 * time.Second
	// firstPanics and panicPause are the same for panics of handlers, each a mistake of the
	// program.
	firstPanics = 10
	panicPause  = time.Minute
	// maxError bounds an error in bytes: the stack of a panic, too, is one.
	maxError = 8 << 10
)

// serverErrors is a slog.Handler for the errors that http.Server logs as free text. It logs them
// in the format of all other lines. It bounds the rate of panics of handlers, and that of all
// others, which are of connections.
type serverErrors struct {
	logger *slog.Logger

	mu                  sync.Mutex // guards what follows
	connections, panics errorLimit
}

// errorLimit counts what its limit omits.
type errorLimit struct {
	limit   *rate.Limiter
	omitted int
}

func newServerErrors(logger *slog.Logger) *serverErrors {
	return &serverErrors{
		logger:      logger,
		connections: errorLimit{limit: rate.NewLimiter(rate.Every(errorPause), firstErrors)},
		panics:      errorLimit{limit: rate.NewLimiter(rate.Every(panicPause), firstPanics)},
	}
}

// Handle logs the record, with the number of those of its sort that were omitted before it.
// net/http begins the message of a panic with these words.
func (e *serverErrors) Handle(ctx context.Context, r slog.Record) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	sort, level, text := &e.connections, slog.LevelWarn, "connection failed"
	if strings.HasPrefix(r.Message, "http: panic serving ") {
		sort, level, text = &e.panics, slog.LevelError, "handler panicked"
	}
	if !sort.limit.AllowN(r.Time, 1) {
		sort.omitted++
		return nil
	}
	logger := e.logger
	if sort.omitted > 0 {
		logger = logger.With("omitted", sort.omitted)
	}
	sort.omitted = 0
	logger.Log(ctx, level, text, "err", r.Message[:min(len(r.Message), maxError)])
	return nil
}

// Enabled reports that the logger decides.
func (e *serverErrors) Enabled(ctx context.Context, l slog.Level) bool {
	return e.logger.Enabled(ctx, l)
}

// WithAttrs returns the handler itself: http.Server has no attributes.
func (e *serverErrors) WithAttrs([]slog.Attr) slog.Handler { return e }

// WithGroup returns the handler itself.
func (e *serverErrors) WithGroup(string) slog.Handler { return e }
