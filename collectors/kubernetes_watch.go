package collectors

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
)

const (
	// kubeConnectTimeout bounds what comes before the first byte of a watch: the
	// list that says where to start, and the headers of the watch itself.
	kubeConnectTimeout = 10 * time.Second
	// kubeSteady is how long a watch has to live to count as one that worked. The
	// API server ends a healthy watch after timeoutSeconds, minutes later.
	kubeSteady = 10 * time.Second
	// The pause after a failed watch, which doubles from the first to the second.
	kubeFirstPause = 500 * time.Millisecond
	kubeLastPause  = 30 * time.Second
)

// The reasons that only a watch has.
const (
	kubeReasonClosed Reason = "closed"
	kubeReasonHung   Reason = "hung"
)

// kubeWatchReasons returns every reason of vitals_kubernetes_watch_failure.
func kubeWatchReasons() []Reason { return append(Reasons(), kubeReasonClosed, kubeReasonHung) }

var (
	errKubeClosed = errors.New("the server ended the watch at once")
	errKubeHung   = errors.New("nothing received for watch_idle_timeout")
)

// kubeWatch keeps one watch open and knows how it is doing. Its methods are safe
// for concurrent use, except run.
type kubeWatch struct {
	client *kubeClient
	// resource is what the configuration calls target.
	resource string
	target   kubeResource
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
	state kubeWatchState
}

// kubeWatchState is how a watch is doing. The zero value is unknown.
type kubeWatchState struct {
	tried     bool
	connected bool
	// contact is when the server last sent something; zero if it never did.
	contact time.Time
	// restarts counts the attempts after the first.
	restarts int
	// err is why the watch is not connected; nil while it is.
	err error
}

// kubeWatchEnd is how one attempt ended.
type kubeWatchEnd struct {
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
// None of them can become a hot loop: a watch has to live for kubeSteady first, and
// a position cannot be outdated twice.
func (e kubeWatchEnd) resumable() bool {
	if kubeFailedWith(e.err, http.StatusGone) {
		return !e.fresh || e.lived >= kubeSteady
	}
	quiet := errors.Is(e.err, errKubeHung) && !e.delivered
	return e.lived >= kubeSteady && (e.err == nil || quiet)
}

// newKubeWatch makes a watch on one resource, which does nothing before run.
func newKubeWatch(client *kubeClient, resource string, idle time.Duration, logger *slog.Logger) *kubeWatch {
	target, _ := parseKubeResource(resource) // checked with the configuration
	return &kubeWatch{
		client: client, resource: resource, target: target, idle: idle, logger: logger,
		again: make(chan struct{}, 1), tried: make(chan struct{}),
	}
}

// retry ends the pause of a watch that is not open, or the next one if an attempt
// is under way: something has changed at the API server, so that it may succeed.
func (w *kubeWatch) retry() {
	if w.snapshot().connected {
		return
	}
	select {
	case w.again <- struct{}{}:
	default:
	}
}

// run keeps the watch open until ctx ends.
func (w *kubeWatch) run(ctx context.Context, changed func()) {
	var pause kubePause
	for {
		end := w.attempt(ctx, changed)
		if ctx.Err() != nil {
			return
		}
		if end.lived >= kubeSteady || end.delivered {
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
		w.update(func(s *kubeWatchState) { s.restarts++ })
	}
}

// attempt opens the watch and follows it to its end.
func (w *kubeWatch) attempt(ctx context.Context, changed func()) kubeWatchEnd {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	connecting := time.AfterFunc(kubeConnectTimeout, func() { cancel(context.DeadlineExceeded) })
	defer connecting.Stop()
	end := kubeWatchEnd{fresh: w.position == ""}
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
// tells proven, or to live for kubeSteady. Otherwise a server that ends each watch
// would seem well for a moment at each attempt. The caller calls stop at the end.
func (w *kubeWatch) proving(opened time.Time, changed func()) (proven, stop func()) {
	if !errors.Is(w.snapshot().err, errKubeClosed) {
		w.succeeded(opened, changed)
		return func() {}, func() {}
	}
	w.update(func(s *kubeWatchState) { s.contact = opened })
	proven = sync.OnceFunc(func() { w.succeeded(time.Now(), changed) })
	done := make(chan struct{})
	timer := time.AfterFunc(kubeSteady, func() {
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
func (w *kubeWatch) follow(ctx context.Context, cancel context.CancelCauseFunc, body io.Reader, proven func()) (delivered bool, err error) {
	silent := time.AfterFunc(w.idle, func() { cancel(errKubeHung) })
	defer silent.Stop()
	stream := newKubeStream(body)
	for {
		event, err := stream.next()
		if err == io.EOF {
			return delivered, nil
		}
		if err != nil {
			return delivered, kubeCause(ctx, err)
		}
		silent.Reset(w.idle)
		delivered = true
		proven()
		if v := event.Object.Metadata.ResourceVersion; v != "" {
			w.position = v
		}
		w.update(func(s *kubeWatchState) { s.contact = time.Now() })
	}
}

// forget drops what an answer, or silence, has put in doubt. After a connection
// that was lost, the watch goes on where it was.
func (w *kubeWatch) forget(err error) {
	var failure *kubeFailure
	if errors.As(err, &failure) || errors.Is(err, errKubeHung) {
		w.position = ""
	}
	if kubeFailedWith(err, http.StatusNotFound) {
		w.groupVersion = ""
	}
}

func (w *kubeWatch) succeeded(at time.Time, changed func()) {
	before := w.update(func(s *kubeWatchState) {
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

func (w *kubeWatch) failed(err error, changed func()) {
	before := w.update(func(s *kubeWatchState) { s.connected, s.err = false, err })
	if kubeWatchReason(before.err) != kubeWatchReason(err) {
		w.logger.Warn("watch is not open", "resource", w.resource, "err", err)
	}
	if before.connected || !before.tried {
		changed()
	}
}

// update changes the state and returns what it was.
func (w *kubeWatch) update(change func(*kubeWatchState)) kubeWatchState {
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
func (w *kubeWatch) snapshot() kubeWatchState {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.state
}

// kubeWatchReason classifies the end of a watch; nil is no failure.
func kubeWatchReason(err error) Reason {
	switch {
	case errors.Is(err, errKubeClosed):
		return kubeReasonClosed
	case errors.Is(err, errKubeHung):
		return kubeReasonHung
	case err != nil && strings.Contains(err.Error(), "client connection lost"):
		// What the HTTP/2 transport says when its ping is not answered: 45 s of
		// silence by client-go's defaults, so that it mostly comes first.
		return kubeReasonHung
	}
	return kubeReason(err)
}

// kubePause is the pause between failed attempts. The zero value starts anew.
type kubePause struct{ length time.Duration }

// wait pauses, twice as long as the last time and with a jitter of a fifth, or
// until again, and says whether ctx lasted.
func (p *kubePause) wait(ctx context.Context, again <-chan struct{}) bool {
	p.length = min(max(2*p.length, kubeFirstPause), kubeLastPause)
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
