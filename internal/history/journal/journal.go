// Package journal stores the events of a history in files, and the silences and the maintenance
// that last, so that they outlive the process.
// Whatever happens to the files, nothing but the journal waits for them.
package journal

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/vitals-health/vitals/internal/history"
)

const (
	// openTimeout bounds how long the start of the process waits for the events of earlier
	// ones.
	openTimeout = 2 * time.Second
	// beat is the time between two records of the time. A failed journal is opened again as
	// often, and files are synchronized: so much is lost at most if the machine fails.
	beat = 10 * time.Second
	// storedTimeout bounds how long Stored waits: a disk that needs longer is overloaded, and
	// the client has other work.
	storedTimeout = 200 * time.Millisecond
)

// errHangs is the error of a file system that does not respond.
var errHangs = errors.New("the directory does not respond")

// Options configure a Journal.
type Options struct {
	// Dir is the directory. It is made where its parent exists.
	Dir string
	// MaxBytes bounds the files together, and MaxAge the age of the events: the oldest
	// files are removed.
	MaxBytes int64
	MaxAge   time.Duration
	Logger   *slog.Logger
}

// Journal stores events. A nil Journal stores nothing.
type Journal struct {
	options Options
	// opened is closed when the first attempt to open the directory has ended. From then on,
	// store, last and used belong to Run.
	opened chan struct{}
	// store is nil while the directory cannot be used.
	store *store
	// last is the ID of the last event that is stored.
	last uint64
	// used is set once the directory has been opened.
	used bool
	// open is openStore, except in tests.
	open func(Options, time.Time) (*store, history.Past, error)

	mu sync.Mutex // guards what follows
	// failed is set while events cannot be stored.
	failed bool
	// stored is the ID of the last event whose overrides are on the disk. progress is closed
	// when it changes.
	stored   uint64
	progress chan struct{}
}

// Open opens the journal, and returns what earlier processes stored. A directory that cannot
// be used, or does not respond in time, is logged. Run tries it again.
func Open(o Options) (*Journal, history.Past) { return open(o, openStore) }

func open(o Options, openStore func(Options, time.Time) (*store, history.Past, error)) (*Journal, history.Past) {
	j := &Journal{options: o, opened: make(chan struct{}), open: openStore, progress: make(chan struct{})}
	result := make(chan history.Past, 1)
	go func() {
		defer close(j.opened)
		result <- j.reopen(time.Now())
	}()
	select {
	case past := <-result:
		if n := len(past.Events); n > 0 {
			j.last = past.Events[n-1].ID // the history goes on behind it
		}
		return j, past
	case <-time.After(openTimeout):
		j.report(errHangs)
		return j, history.Past{}
	}
}

// Run stores the events of a history until ctx ends. It must be called once.
func (j *Journal) Run(ctx context.Context, h *history.History) {
	if j == nil {
		return
	}
	select {
	case <-j.opened:
	case <-ctx.Done():
		return
	}
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	for {
		changed := h.Changed() // before the events are read, so that none is missed
		j.use(h, time.Now(), (*store).nothing)
		select {
		case <-changed:
		case <-ticker.C:
			if j.store == nil {
				j.reopen(time.Now())
			}
			j.use(h, time.Now(), (*store).beat)
		case <-ctx.Done():
			j.use(h, time.Now(), (*store).end)
			return
		}
	}
}

// Writable reports whether events are stored.
func (j *Journal) Writable() bool {
	if j == nil {
		return false
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return !j.failed
}

// Stored waits for up to 200 ms until the overrides that the history has now are on the disk, and
// reports whether they are. With a nil Journal there is nothing to wait for.
func (j *Journal) Stored(h *history.History) bool {
	if j == nil {
		return true
	}
	last, timeout := h.LastID(), time.After(storedTimeout)
	for {
		j.mu.Lock()
		stored, progress := j.stored, j.progress
		j.mu.Unlock()
		if stored >= last {
			return true
		}
		select {
		case <-progress:
		case <-timeout:
			return false
		}
	}
}

// reopen opens the directory. The first success logs what is lost: a later one repairs what this
// process wrote.
func (j *Journal) reopen(now time.Time) (past history.Past) {
	defer j.watch().Stop()
	var err error
	j.store, past, err = j.open(j.options, now)
	if err != nil {
		j.report(err)
	} else if !j.used {
		j.used = true
		j.logFirst(now)
	}
	return past
}

// logFirst logs what of the files of earlier processes is left out or removed, and whether other
// users may move them.
func (j *Journal) logFirst(now time.Time) {
	if j.store.open {
		j.options.Logger.Warn("other users may move files of the storage, and so bring back a silence that was ended: chmod o-w or chmod +t; in a pod, mount the volume in no other container", "dir", j.options.Dir)
	}
	for flag, r := range j.store.removed {
		j.options.Logger.Warn("stored events are removed at the start: a higher "+flag+" keeps them", "dir", j.options.Dir, "files", r.segments, "bytes", r.bytes, "age_of_newest", now.Sub(r.newest).Round(time.Minute))
	}
	for _, err := range j.store.refused {
		j.options.Logger.Warn("a file in the storage is not read", "err", err)
	}
	if j.store.damaged+int(j.store.cut) > 0 {
		j.options.Logger.Warn("damaged records of stored events are left out", "dir", j.options.Dir, "records", j.store.damaged, "bytes_at_end", j.store.cut)
	}
}

// use stores the new events and then calls f with the store. It gives the store up if
// either fails.
func (j *Journal) use(h *history.History, now time.Time, f func(*store, time.Time) error) {
	if j.store == nil {
		return
	}
	hangs := j.watch()
	err := j.follow(h, now)
	if err == nil {
		err = f(j.store, now)
	}
	if err != nil {
		_ = j.store.close() // the first error is reported
		j.store = nil
	}
	hangs.Stop()
	j.report(err)
}

// follow stores the events that are not stored yet, and the overrides if they changed.
func (j *Journal) follow(h *history.History, now time.Time) error {
	last := h.LastID() // before the overrides are read, which then are as new
	events, _ := h.Events(history.Query{After: j.last})
	for _, e := range events {
		record, err := encode(e)
		if err != nil {
			j.options.Logger.Warn("an event is not stored", "err", err)
		} else if err := j.store.write(record, now); err != nil {
			return err
		}
		j.last = e.ID
	}
	whole, err := j.store.keepOverrides(h.Overrides())
	if whole && err == nil {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.stored = last
		close(j.progress)
		j.progress = make(chan struct{})
	}
	return err
}

// watch reports files that do not respond for the time of a beat, unless it is stopped.
func (j *Journal) watch() *time.Timer { return time.AfterFunc(beat, func() { j.report(errHangs) }) }

// report logs whether events are stored, when that changes.
func (j *Journal) report(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case err != nil && !j.failed:
		j.options.Logger.Warn("events are not stored", "dir", j.options.Dir, "err", err)
	case err == nil && j.failed:
		j.options.Logger.Info("events are stored again", "dir", j.options.Dir)
	}
	j.failed = err != nil
}
