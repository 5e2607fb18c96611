package listen

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	// firstErrors errors of connections are logged at once, and then one each errorPause:
	// clients cause them, and need no permission to.
	firstErrors = 10
	errorPause  = 10 * time.Second
	// maxError bounds an error in bytes: the stack of a panic, too, is one.
	maxError = 8 << 10
)

// connectionErrors is a slog.Handler for the errors that http.Server logs as free text. It
// logs them in the format of all other lines, and bounds their rate.
type connectionErrors struct {
	logger *slog.Logger

	mu      sync.Mutex // guards what follows
	limits  *rate.Limiter
	omitted int
}

func newConnectionErrors(logger *slog.Logger) *connectionErrors {
	return &connectionErrors{logger: logger, limits: rate.NewLimiter(rate.Every(errorPause), firstErrors)}
}

// Handle logs the record as an error, with the number of those that were omitted before it.
func (c *connectionErrors) Handle(_ context.Context, r slog.Record) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.limits.AllowN(r.Time, 1) {
		c.omitted++
		return nil
	}
	logger := c.logger
	if c.omitted > 0 {
		logger = logger.With("omitted", c.omitted)
	}
	c.omitted = 0
	logger.Warn("connection failed", "err", r.Message[:min(len(r.Message), maxError)])
	return nil
}

// Enabled reports that the logger decides.
func (c *connectionErrors) Enabled(ctx context.Context, l slog.Level) bool {
	return c.logger.Enabled(ctx, l)
}

// WithAttrs returns the handler itself: http.Server has no attributes.
func (c *connectionErrors) WithAttrs([]slog.Attr) slog.Handler { return c }

// WithGroup returns the handler itself.
func (c *connectionErrors) WithGroup(string) slog.Handler { return c }
