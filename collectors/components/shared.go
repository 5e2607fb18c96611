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
)

const (
	// booleanPoll is how often a shared boolean is read. A write through mmap raises
	// no event that could be waited for, see inotify(7), so it is polled: at 25 ms a
	// change reaches a probe within the budget of 50 ms, of which the evaluator waits
	// 10 ms for more. One look is one pread(2), of less than a microsecond and without an
	// allocation (BenchmarkSharedBoolean); waking up costs fifty times that.
	booleanPoll = 25 * time.Millisecond
	// booleanCheck is how often the file itself is looked at.
	booleanCheck = time.Second
	booleanLooks = int(booleanCheck / booleanPoll)
)

// sharedBoolean is one byte in a shared memory file: zero is not alive, all else is
// alive, as a C bool in memory that several processes map.
type sharedBoolean struct {
	name, path string
	// deadline is the longest time between two writes; 0 is none.
	deadline time.Duration
	// file is nil while the boolean cannot be opened, and missing says why.
	file    *os.File
	missing string
	// memory says that a read of the open file cannot block.
	memory bool
	// info identifies the open file, and has its last modification time.
	info fs.FileInfo
	// written is when a write was last noticed; zero while no file can be seen.
	written time.Time
	// silent says whether that is longer ago than it may be.
	silent bool
	// last is what the component was told last.
	last look
}

// look is what one look at a shared boolean found.
type look struct {
	value bool
	// reason says why there is no value; empty if there is one.
	reason string
	// unwritten is when the file was last written, if that is too long ago to believe
	// that the component is alive.
	unwritten time.Time
}

// evidence is what the look says about the component.
func (l look) evidence() evidence {
	if !l.unwritten.IsZero() {
		return evidence{alive: new(false), unwritten: l.unwritten}
	}
	if l.reason != "" {
		return evidence{reason: l.reason}
	}
	return evidence{alive: new(l.value)}
}

// watchBooleans reads all shared booleans until ctx ends.
func (c *Collector) watchBooleans(ctx context.Context) {
	defer func() {
		for _, b := range c.booleans {
			b.close()
		}
	}()
	looks := 0
	each(ctx, booleanPoll, func() {
		for _, b := range c.booleans {
			c.lookAt(b, looks%booleanLooks == 0)
		}
		looks++
	})
}

// eachTick calls look at once, then every d until ctx ends.
func eachTick(ctx context.Context, d time.Duration, look func()) {
	ticker := time.NewTicker(d)
	defer ticker.Stop()
	for ctx.Err() == nil {
		look()
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
}

// lookAt reads one boolean and takes over what changed. With check it looks at the
// file as well: whether it was written, or another one has taken its place.
func (c *Collector) lookAt(b *sharedBoolean, check bool) {
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
	_ = c.update(at, b.name, func(comp *collector) { comp.share(at, found.evidence()) })
}

// read looks at the byte.
func (b *sharedBoolean) read() look {
	if b.file == nil {
		return look{reason: b.missing}
	}
	first := readFirst
	if b.memory {
		first = readMemory
	}
	switch octet, err := first(b.file); {
	case err == nil:
		return look{value: octet != 0}
	case errors.Is(err, io.EOF):
		return look{reason: "shared boolean: file is empty"}
	default:
		return look{reason: unreadable(err)}
	}
}

// readFirst reads the first byte of a file.
func readFirst(file *os.File) (byte, error) {
	var octet [1]byte
	_, err := file.ReadAt(octet[:], 0)
	return octet[0], err
}

// check opens the file that has the path now, unless it is open already, and says
// whether it was written since the last check. Only that its modification time has
// changed counts, and not what it is: silence is measured with the monotonic clock,
// so neither a step of the wall clock nor a file from the future does harm.
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
		b.written = time.Time{} // what cannot be seen is not known to be silent
	}
	b.silent = b.deadline > 0 && !b.written.IsZero() && at.Sub(b.written) >= b.deadline
	if same {
		b.info = info
	} else {
		b.reopen(err)
	}
	return written
}

// reopen opens the file that has the path now, unless err says why it cannot be.
func (b *sharedBoolean) reopen(err error) {
	b.close()
	if err == nil {
		// Without O_NONBLOCK a FIFO that has come in between would hang the open.
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
	return collectors.OneLine(fmt.Sprintf("shared boolean: %v", err), collectors.MaxReason)
}
