package components

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/text"
)

const (
	// booleanPoll is the interval at which a shared boolean is read. A write through mmap
	// raises no event (inotify(7)). At 25 ms a change reaches a probe within the limit of
	// 50 ms, of which the evaluator uses 10 ms to wait for more changes. A read is one
	// pread(2): less than a microsecond and no allocation (BenchmarkSharedBoolean). The
	// wake-up costs fifty times that.
	booleanPoll = 25 * time.Millisecond
	// booleanCheck is the interval of the checks of the file.
	booleanCheck  = time.Second
	pollsPerCheck = int(booleanCheck / booleanPoll)
)

// sharedBoolean is the first byte of a file, such as a C bool in memory that several
// processes map: zero is not alive, every other value is alive.
type sharedBoolean struct {
	name, path string
	// deadline is the longest time between two writes; 0 is none.
	deadline time.Duration
	// file is nil while it cannot be opened; missing is the reason.
	file    *os.File
	missing string
	// memory is whether a read of the open file cannot block.
	memory bool
	// info identifies the open file, and has its last modification time.
	info fs.FileInfo
	// written is the time when the last write was detected; zero while stat fails.
	written time.Time
	// silent is whether the deadline has passed since then.
	silent bool
	// last is the previous reading.
	last reading
}

// reading is the result of one read of a shared boolean.
type reading struct {
	value bool
	// reason is the reason why there is no value; empty if there is one.
	reason string
	// unwritten is the time of the last write if the deadline has passed since then.
	unwritten time.Time
}

// evidence returns the state of the component by this reading.
func (r reading) evidence() evidence {
	if !r.unwritten.IsZero() {
		return evidence{alive: new(false), unwritten: r.unwritten}
	}
	if r.reason != "" {
		return evidence{reason: r.reason}
	}
	return evidence{alive: new(r.value)}
}

// watchBooleans reads all shared booleans until ctx ends.
func (c *Collector) watchBooleans(ctx context.Context) {
	defer func() {
		for _, b := range c.booleans {
			b.close()
		}
	}()
	polls := 0
	each(ctx, booleanPoll, func() {
		for _, b := range c.booleans {
			c.poll(b, polls%pollsPerCheck == 0)
		}
		polls++
	})
}

// eachTick calls poll at once, then every d until ctx ends.
func eachTick(ctx context.Context, d time.Duration, poll func()) {
	ticker := time.NewTicker(d)
	defer ticker.Stop()
	for ctx.Err() == nil {
		poll()
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
}

// poll reads one boolean and updates its component after a change. With check it also
// detects writes and a replaced file.
func (c *Collector) poll(b *sharedBoolean, check bool) {
	beat := check && b.check(time.Now()) && b.deadline > 0
	found := b.read()
	if b.silent && (found.value || found.reason != "") {
		found.unwritten = b.written
	}
	if found == b.last && !beat {
		return
	}
	b.last = found
	at := time.Now()
	// The name is one of the expected, so update finds it.
	_ = c.update(at, b.name, func(comp *component) { comp.share(at, found.evidence()) })
}

// read reads the byte.
func (b *sharedBoolean) read() reading {
	if b.file == nil {
		return reading{reason: b.missing}
	}
	first := readFirst
	if b.memory {
		first = readMemory
	}
	switch octet, err := first(b.file); {
	case err == nil:
		return reading{value: octet != 0}
	case errors.Is(err, io.EOF):
		return reading{reason: "shared boolean: file is empty"}
	default:
		return reading{reason: unreadable(err)}
	}
}

// readFirst reads the first byte of a file.
func readFirst(file *os.File) (byte, error) {
	var octet [1]byte
	_, err := file.ReadAt(octet[:], 0)
	return octet[0], err
}

// check opens the file at the path unless it is open already. It reports whether the file
// was written since the last check: whether its modification time differs. Durations use
// the monotonic clock, so a step of the wall clock and a time in the future have no effect.
func (b *sharedBoolean) check(at time.Time) bool {
	info, err := os.Stat(b.path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", b.path)
	}
	same := err == nil && b.file != nil && os.SameFile(info, b.info)
	written := err == nil && (!same || !info.ModTime().Equal(b.info.ModTime()))
	switch {
	case written:
		b.written = at
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		b.written = time.Time{} // without stat the time of a write is unknown
	}
	b.silent = b.deadline > 0 && !b.written.IsZero() && at.Sub(b.written) >= b.deadline
	if same {
		b.info = info
	} else {
		b.reopen(err)
	}
	return written
}

// reopen opens the file at the path; err is the error of its stat.
func (b *sharedBoolean) reopen(err error) {
	b.close()
	if err == nil {
		// Without O_NONBLOCK the open of a FIFO that replaced the file would block.
		b.file, err = os.OpenFile(b.path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	}
	if err == nil {
		b.memory = inMemory(b.file)
		b.info, err = b.file.Stat()
	}
	if err != nil {
		b.close()
		b.missing = unreadable(err)
	}
}

func (b *sharedBoolean) close() {
	if b.file != nil {
		_ = b.file.Close()
	}
	b.file, b.info = nil, nil
}

func unreadable(err error) string {
	return text.Short(fmt.Sprintf("shared boolean: %v", err), collectors.MaxReason)
}
