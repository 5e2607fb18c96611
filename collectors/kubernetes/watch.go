package kubernetes

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/internal/panics"
)

const (
	// connectTimeout bounds the opening of a watch: the list for the start position, and
	// the headers of the watch.
	connectTimeout = 10 * time.Second
	// minLifetime is the lifetime from which a watch counts as successful. The API server
	// ends a successful watch after timeoutSeconds, which is minutes.
	minLifetime = 10 * time.Second
)

// The reasons that only a watch has.
const (
	reasonClosed remote.Reason = "closed"
	reasonHung   remote.Reason = "hung"
)

// failureReasons returns every reason of vitals_kubernetes_watch_failure.
func failureReasons() []remote.Reason { return append(remote.Reasons(), reasonClosed, reasonHung) }

var (
	errClosed = errors.New("the server ended the watch at once")
	errHung   = errors.New("nothing received for watch_idle_timeout")
	// errRetry ends an attempt to connect, for a new one.
	errRetry = errors.New("the API server is available again")
)

// watch keeps one watch open and has its state. Its methods are safe for concurrent use, except
// run.
type watch struct {
	client *client
	// resource is the target as in the configuration.
	resource string
	target   resource
	idle     time.Duration
	logger   *slog.Logger
	// namespace limits the watch to one namespace; empty means all.
	namespace string
	// objects receives the objects; nil if only the watch itself is of interest.
	objects follower

	// groupVersion is the preferred version of the group, and position the
	// resourceVersion at which the next attempt starts. Both are empty while unknown, and
	// only run uses them.
	groupVersion, position string

	// again ends the pause after a failure, or an attempt to connect. Its buffer has one
	// element.
	again chan struct{}
	// tried is closed when the first attempt has succeeded or failed.
	tried chan struct{}
	mu    sync.Mutex // guards state
	state watchState
}

// follower receives the objects of a watch. Only run calls its methods.
type follower interface {
	// selection returns the query parameters that select the objects.
	selection() url.Values
	// list requests all objects at a path, and returns the position at which the watch starts.
	list(ctx context.Context, path string) (position string, err error)
	// change receives an object that was added, modified or deleted.
	change(eventType string, object []byte) error
}

// watchState is the state of a watch. The zero value is unknown.
type watchState struct {
	tried     bool
	connected bool
	// connecting reports whether an attempt to open the watch is under way. After a
	// resumable end, connected remains true meanwhile.
	connecting bool
	// contact is when the server last sent data; zero if never.
	contact time.Time
	// restarts counts the attempts after the first.
	restarts int
	// failures counts the failed attempts.
	failures int
	// err is the reason why the watch is not connected, else nil.
	err error
}

// watchEnd is the result of one attempt.
type watchEnd struct {
	// err is nil if the server ended the watch regularly.
	err error
	// lived is how long the watch was open; zero if it could not be opened.
	lived time.Duration
	// delivered reports whether an event arrived.
	delivered bool
	// listed reports whether the start position came from a list in this attempt.
	listed bool
}

// resumable reports whether the end is a part of normal operation, so that the next attempt
// starts without a pause and without a failure:
//
//   - the server's timeout, after a successful watch;
//   - a position that the server no longer has, unless it was just listed;
//   - silence from the start. An API server sends bookmarks only for a resource with an event
//     since the server started, or when etcd reports progress, every 10 minutes. Opening such
//     a watch again shows whether it hangs.
//
// None of them leads to a hot loop: a watch has to live for minLifetime, and a listed position
// is not outdated.
func (e watchEnd) resumable() bool {
	if hasStatus(e.err, http.StatusGone) {
		return !e.listed || e.lived >= minLifetime
	}
	quiet := errors.Is(e.err, errHung) && !e.delivered
	return e.lived >= minLifetime && (e.err == nil || quiet)
}

// retry reports whether the attempt ended for a new one.
func (e watchEnd) retry() bool { return errors.Is(e.err, errRetry) }

// newWatch returns a watch on one resource. Call run to open it.
func newWatch(client *client, resource string, idle time.Duration, logger *slog.Logger) *watch {
	target, _ := parseResource(resource) // Config.Problems has checked it
	return &watch{
		client: client, resource: resource, target: target, idle: idle, logger: logger,
		again: make(chan struct{}, 1), tried: make(chan struct{}),
	}
}

// retry starts a new attempt of a watch that is not open, because the API server has changed and
// an attempt may succeed. It does not wait for the end of a pause or of an attempt to connect,
// which may hang since before the change.
func (w *watch) retry() {
	if s := w.snapshot(); s.connected && !s.connecting {
		return
	}
	select {
	case w.again <- struct{}{}:
	default:
	}
}

// drain drops a retry that the current attempt has fulfilled.
func (w *watch) drain() {
	select {
	case <-w.again:
	default:
	}
}

// run keeps the watch open until ctx ends. It begins anew after a run that panicked.
func (w *watch) run(ctx context.Context, changed func()) {
	w.position, w.groupVersion = "", ""
	w.update(func(s *watchState) { s.connected, s.connecting = false, false })
	var pause backoff
	for {
		end := w.attempt(ctx, changed)
		if ctx.Err() != nil {
			return
		}
		if end.lived >= minLifetime || end.retry() {
			pause = backoff{}
		}
		if end.err == nil && !end.resumable() {
			end.err = errClosed
		}
		w.reset(end.err)
		if !end.resumable() && !w.pause(ctx, end, &pause, changed) {
			return
		}
		w.update(func(s *watchState) { s.restarts++ })
	}
}

// pause pauses after a failed attempt, unless it ended for a new one. It returns false if ctx
// ended.
func (w *watch) pause(ctx context.Context, end watchEnd, pause *backoff, changed func()) bool {
	if !end.retry() {
		w.failed(end.err, changed)
		if !pause.wait(ctx, w.again) {
			return false
		}
	}
	w.client.closeIdle() // the next attempt must not use a connection that hangs
	return true
}

// attempt opens the watch and reads it to its end.
func (w *watch) attempt(ctx context.Context, changed func()) watchEnd {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	end := watchEnd{listed: w.position == ""}
	connected := w.connecting(ctx, cancel)
	body, err := w.open(ctx)
	connected()
	if err != nil {
		end.err = err
		return end
	}
	defer body.Close()
	opened := time.Now()
	defer w.confirm(opened, changed, cancel)()
	end.delivered, end.err = w.follow(ctx, cancel, body)
	end.lived = time.Since(opened)
	return end
}

// connecting cancels an attempt to connect after connectTimeout, or for a retry. The caller calls
// the returned function after the attempt.
func (w *watch) connecting(ctx context.Context, cancel context.CancelCauseFunc) func() {
	w.drain()
	w.update(func(s *watchState) { s.connecting = true })
	over := make(chan struct{})
	timeout := time.NewTimer(connectTimeout)
	watching := panics.Go(func() struct{} {
		defer timeout.Stop()
		select {
		case <-timeout.C:
			cancel(context.DeadlineExceeded)
		case <-w.again:
			cancel(errRetry)
		case <-over:
		case <-ctx.Done():
		}
		return struct{}{}
	})
	return func() {
		close(over)
		watching.Result()
		w.update(func(s *watchState) { s.connecting = false })
		w.drain()
	}
}

// confirm decides when an accepted watch counts as connected: at once, unless the server accepted
// the previous watch and ended it at once. Then the watch has to live for minLifetime; otherwise
// each attempt at such a server would count as connected for a moment. The caller calls the
// returned function at the end.
func (w *watch) confirm(opened time.Time, changed func(), cancel context.CancelCauseFunc) (stop func()) {
	if !errors.Is(w.snapshot().err, errClosed) {
		w.succeeded(opened, changed)
		return func() {}
	}
	w.update(func(s *watchState) { s.contact = opened })
	var panicked error
	done := make(chan struct{})
	timer := time.AfterFunc(minLifetime, func() {
		defer close(done)
		if panicked = panics.Try(func() { w.succeeded(time.Now(), changed) }); panicked != nil {
			cancel(panicked)
		}
	})
	return func() {
		if !timer.Stop() {
			<-done
			panics.Raise(panicked)
		}
	}
}

// follow reads events until the stream ends or is silent for too long. It reports whether there
// were any.
func (w *watch) follow(ctx context.Context, cancel context.CancelCauseFunc, body io.Reader) (delivered bool, err error) {
	silent := time.AfterFunc(w.idle, func() { cancel(errHung) })
	defer silent.Stop()
	stream := newStream(body)
	for {
		event, err := stream.next()
		if err == io.EOF {
			return delivered, nil
		}
		if err == nil && w.objects != nil && event.Type != eventBookmark {
			err = w.objects.change(event.Type, event.Raw)
		}
		if event.Type == eventError || w.objects != nil && isMalformed(err) {
			w.position = "" // the same event would follow at the same position
		}
		if err != nil {
			return delivered, cause(ctx, err)
		}
		silent.Reset(w.idle)
		delivered = true
		if v := event.Object.Metadata.ResourceVersion; v != "" {
			w.position = v
		}
		w.update(func(s *watchState) { s.contact = time.Now() })
	}
}

// reset clears what may be the cause of a failure: the position after silence or a status about
// it, and the version after a 404. After any other failure, such as an overload, the watch
// continues at its position, which saves a list. 504 is the status for a position that the server
// has not reached, as after a restored backup.
func (w *watch) reset(err error) {
	for _, status := range []int{http.StatusBadRequest, http.StatusNotFound, http.StatusGone, http.StatusGatewayTimeout} {
		if hasStatus(err, status) || errors.Is(err, errHung) {
			w.position = ""
		}
	}
	if hasStatus(err, http.StatusNotFound) {
		w.groupVersion = ""
	}
}

// succeeded sets the state of an open watch.
func (w *watch) succeeded(at time.Time, changed func()) {
	before := w.update(func(s *watchState) {
		s.connected, s.contact, s.err = true, at, nil
	})
	if !before.connected {
		w.logger.Info("watch is open", "resource", w.resource)
		changed()
	}
}

// failed sets the state of a failed attempt.
func (w *watch) failed(err error, changed func()) {
	before := w.update(func(s *watchState) {
		s.connected, s.err = false, err
		s.failures++
	})
	if watchReason(before.err) != watchReason(err) {
		w.logger.Warn("watch is not open", "resource", w.resource, "err", err)
	}
	if before.connected || !before.tried || w.objects != nil {
		changed()
	}
}

// update changes the state and returns the previous one.
func (w *watch) update(change func(*watchState)) watchState {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.state
	change(&w.state)
	if w.state.connected || w.state.err != nil {
		w.state.tried = true
	}
	if w.state.tried && !before.tried {
		close(w.tried)
	}
	return before
}

// snapshot returns the state.
func (w *watch) snapshot() watchState {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.state
}

// watchReason returns the reason of a failed attempt, and "" for nil.
func watchReason(err error) remote.Reason {
	switch {
	case errors.Is(err, errClosed):
		return reasonClosed
	case errors.Is(err, errHung):
		return reasonHung
	case err != nil && strings.Contains(err.Error(), "client connection lost"):
		// The error of the HTTP/2 transport after a ping without a response. With
		// client-go's defaults that is after 45 s of silence.
		return reasonHung
	}
	return remote.ReasonOf(err)
}
