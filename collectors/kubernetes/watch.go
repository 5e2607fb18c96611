package kubernetes

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/vitals-health/vitals/collectors/remote"
)

const (
	// connectTimeout bounds what comes before the first byte of a watch: the
	// list that says where to start, and the headers of the watch itself.
	connectTimeout = 10 * time.Second
	// steady is how long a watch has to live to count as one that worked. The
	// API server ends a healthy watch after timeoutSeconds, minutes later.
	steady = 10 * time.Second
	// The pause after a failed watch, which doubles from the first to the second.
	firstPause = 500 * time.Millisecond
	lastPause  = 30 * time.Second
)

// The reasons that only a watch has.
const (
	reasonClosed remote.Reason = "closed"
	reasonHung   remote.Reason = "hung"
)

// watchReasons returns every reason of vitals_kubernetes_watch_failure.
func watchReasons() []remote.Reason { return append(remote.Reasons(), reasonClosed, reasonHung) }

var (
	errKubeClosed = errors.New("the server ended the watch at once")
	errKubeHung   = errors.New("nothing received for watch_idle_timeout")
)

// watch keeps one watch open and knows how it is doing. Its methods are safe
// for concurrent use, except run.
type watch struct {
	client *client
	// resource is what the configuration calls target.
	resource string
	target   resource
	idle     time.Duration
	logger   *slog.Logger

	// groupVersion is the preferred version of the group, once it is known, and
	// position the resourceVersion from which to go on. Both belong to run.
	groupVersion, position string

	// again ends the pause after a failure; it has room for one value.
	again chan struct{}
	// tried is closed as soon as the first attempt has succeeded or failed.
	tried chan struct{}
	mu    sync.Mutex // guards what follows
	state watchState
}

// watchState is how a watch is doing. The zero value is unknown.
type watchState struct {
	tried     bool
	connected bool
	// contact is when the server last sent something; zero if it never did.
	contact time.Time
	// restarts counts the attempts after the first.
	restarts int
	// err is why the watch is not connected; nil while it is.
	err error
}

// watchEnd is how one attempt ended.
type watchEnd struct {
	// err is nil if the server ended the watch in order.
	err error
	// lived is how long the watch was open; zero if it never was.
	lived time.Duration
	// delivered says whether anything came through it.
	delivered bool
	// fresh says whether the watch began at a position that was just listed.
	fresh bool
}

// resumable says whether the end is a part of normal operation, so that the watch
// goes on at once and nothing has failed:
//
//   - the server's own time-out, after a watch that worked;
//   - a position that the server no longer knows, unless it was just listed;
//   - silence from the very start. An API server sends bookmarks only for a
//     resource of which it has seen an event since it started, or, without any,
//     once etcd reports progress, which is every 10 minutes. Whether such a watch
//     hangs is found out by opening it anew.
//
// None of them can become a hot loop: a watch has to live for steady first, and
// a position cannot be outdated twice.
func (e watchEnd) resumable() bool {
	if failedWith(e.err, http.StatusGone) {
		return !e.fresh || e.lived >= steady
	}
	quiet := errors.Is(e.err, errKubeHung) && !e.delivered
	return e.lived >= steady && (e.err == nil || quiet)
}

// newKubeWatch makes a watch on one resource, which does nothing before run.
func newKubeWatch(client *client, resource string, idle time.Duration, logger *slog.Logger) *watch {
	target, _ := parseKubeResource(resource) // checked with the configuration
	return &watch{
		client: client, resource: resource, target: target, idle: idle, logger: logger,
		again: make(chan struct{}, 1), tried: make(chan struct{}),
	}
}

// retry ends the pause of a watch that is not open, or the next one if an attempt
// is under way: something has changed at the API server, so that it may succeed.
func (w *watch) retry() {
	if w.snapshot().connected {
		return
	}
	select {
	case w.again <- struct{}{}:
	default:
	}
}

// run keeps the watch open until ctx ends.
func (w *watch) run(ctx context.Context, changed func()) {
	var pause kubePause
	for {
		end := w.attempt(ctx, changed)
		if ctx.Err() != nil {
			return
		}
		if end.lived >= steady || end.delivered {
			pause = kubePause{}
		}
		if end.err == nil && !end.resumable() {
			end.err = errKubeClosed
		}
		w.forget(end.err)
		if !end.resumable() {
			w.failed(end.err, changed)
			if !pause.wait(ctx, w.again) {
				return
			}
			w.client.closeIdle() // a connection that hangs would serve the next attempt as badly
		}
		w.update(func(s *watchState) { s.restarts++ })
	}
}

// attempt opens the watch and follows it to its end.
func (w *watch) attempt(ctx context.Context, changed func()) watchEnd {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	connecting := time.AfterFunc(connectTimeout, func() { cancel(context.DeadlineExceeded) })
	defer connecting.Stop()
	end := watchEnd{fresh: w.position == ""}
	body, err := w.open(ctx)
	if err != nil {
		end.err = err
		return end
	}
	defer body.Close()
	connecting.Stop()
	opened := time.Now()
	proven, stop := w.proving(opened, changed)
	defer stop()
	end.delivered, end.err = w.follow(ctx, cancel, body, proven)
	end.lived = time.Since(opened)
	return end
}

// proving says when an accepted watch counts as connected: at once, unless the one
// before it was accepted as well and then ended at once. That one shows that being
// accepted proves nothing, so this one has to deliver something, of which the caller
// tells proven, or to live for steady. Otherwise a server that ends each watch
// would seem well for a moment at each attempt. The caller calls stop at the end.
func (w *watch) proving(opened time.Time, changed func()) (proven, stop func()) {
	if !errors.Is(w.snapshot().err, errKubeClosed) {
		w.succeeded(opened, changed)
		return func() {}, func() {}
	}
	w.update(func(s *watchState) { s.contact = opened })
	proven = sync.OnceFunc(func() { w.succeeded(time.Now(), changed) })
	done := make(chan struct{})
	timer := time.AfterFunc(steady, func() {
		defer close(done)
		proven()
	})
	return proven, func() {
		if !timer.Stop() {
			<-done
		}
	}
}

// follow reads events until the stream ends or falls silent, and says whether
// there were any; it calls proven for each.
func (w *watch) follow(ctx context.Context, cancel context.CancelCauseFunc, body io.Reader, proven func()) (delivered bool, err error) {
	silent := time.AfterFunc(w.idle, func() { cancel(errKubeHung) })
	defer silent.Stop()
	stream := newKubeStream(body)
	for {
		event, err := stream.next()
		if err == io.EOF {
			return delivered, nil
		}
		if err != nil {
			return delivered, cause(ctx, err)
		}
		silent.Reset(w.idle)
		delivered = true
		proven()
		if v := event.Object.Metadata.ResourceVersion; v != "" {
			w.position = v
		}
		w.update(func(s *watchState) { s.contact = time.Now() })
	}
}

// forget drops what an answer, or silence, has put in doubt. After a connection
// that was lost, the watch goes on where it was.
func (w *watch) forget(err error) {
	var failure *failure
	if errors.As(err, &failure) || errors.Is(err, errKubeHung) {
		w.position = ""
	}
	if failedWith(err, http.StatusNotFound) {
		w.groupVersion = ""
	}
}

func (w *watch) succeeded(at time.Time, changed func()) {
	before := w.update(func(s *watchState) {
		s.connected, s.contact, s.err = true, at, nil
	})
	select {
	case <-w.again: // was for this attempt
	default:
	}
	if !before.connected {
		w.logger.Info("watch is open", "resource", w.resource)
		changed()
	}
}

func (w *watch) failed(err error, changed func()) {
	before := w.update(func(s *watchState) { s.connected, s.err = false, err })
	if watchReason(before.err) != watchReason(err) {
		w.logger.Warn("watch is not open", "resource", w.resource, "err", err)
	}
	if before.connected || !before.tried {
		changed()
	}
}

// update changes the state and returns what it was.
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

// snapshot returns how the watch is doing.
func (w *watch) snapshot() watchState {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.state
}

// watchReason classifies the end of a watch; nil is no failure.
func watchReason(err error) remote.Reason {
	switch {
	case errors.Is(err, errKubeClosed):
		return reasonClosed
	case errors.Is(err, errKubeHung):
		return reasonHung
	case err != nil && strings.Contains(err.Error(), "client connection lost"):
		// What the HTTP/2 transport says when its ping is not answered: 45 s of
		// silence by client-go's defaults, so that it mostly comes first.
		return reasonHung
	}
	return reason(err)
}

// kubePause is the pause between failed attempts. The zero value starts anew.
type kubePause struct{ length time.Duration }

// wait pauses, twice as long as the last time and with a jitter of a fifth, or
// until again, and says whether ctx lasted.
func (p *kubePause) wait(ctx context.Context, again <-chan struct{}) bool {
	p.length = min(max(2*p.length, firstPause), lastPause)
	timer := time.NewTimer(p.length*4/5 + rand.N(p.length*2/5))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-again:
	case <-timer.C:
	}
	return true
}
