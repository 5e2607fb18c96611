package collectors

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

const (
	// booleanPoll is how often a shared boolean is read. A write through mmap raises
	// no event that could be waited for, see inotify(7), so it is polled: at 25 ms a
	// change reaches a probe within the budget of 50 ms, of which the evaluator waits
	// 10 ms for more. One look is one pread(2), of about a microsecond and without an
	// allocation (BenchmarkSharedBoolean); waking up costs a hundred times that.
	booleanPoll = 25 * time.Millisecond
	// booleanLooks is after how many looks the file itself is checked: each second.
	booleanLooks = int(time.Second / booleanPoll)
)

// sharedBoolean is one byte in a shared memory file: zero is not alive, all else is
// alive, as a C bool in memory that several processes map.
type sharedBoolean struct {
	name, path string
	// file is nil while the boolean cannot be opened, and missing says why.
	file    *os.File
	missing string
	// info identifies the open file.
	info fs.FileInfo
	// last is what the component was told last.
	last look
}

// look is what one look at a shared boolean found.
type look struct {
	value bool
	// reason says why there is no value; empty if there is one.
	reason string
}

// evidence is what the look says about the component.
func (l look) evidence() evidence {
	if l.reason != "" {
		return evidence{reason: l.reason}
	}
	return evidence{alive: new(l.value)}
}

// watchBooleans reads all shared booleans until ctx ends, and returns within
// booleanPoll after that.
func (c *Components) watchBooleans(ctx context.Context) {
	defer func() {
		for _, b := range c.booleans {
			b.close()
		}
	}()
	for looks := 0; ctx.Err() == nil; looks++ {
		for _, b := range c.booleans {
			c.lookAt(b, looks%booleanLooks == 0)
		}
		nap(booleanPoll)
	}
}

// lookAt reads one boolean and takes over what changed. With reopen it looks for
// a file that has appeared or has taken the place of the one that is open.
func (c *Components) lookAt(b *sharedBoolean, reopen bool) {
	if reopen {
		b.reopen()
	}
	found := b.read()
	if found == b.last {
		return
	}
	b.last = found
	at := time.Now()
	// The name is one of the expected, so update finds it.
	_ = c.update(at, b.name, func(comp *component) { comp.share(at, found.evidence()) })
}

// read looks at the byte.
func (b *sharedBoolean) read() look {
	if b.file == nil {
		return look{reason: b.missing}
	}
	var octet [1]byte
	switch _, err := b.file.ReadAt(octet[:], 0); {
	case err == nil:
		return look{value: octet[0] != 0}
	case errors.Is(err, io.EOF):
		return look{reason: "shared boolean: file is empty"}
	default:
		return look{reason: unreadable(err)}
	}
}

// reopen opens the file that has the path now, unless it is open already.
func (b *sharedBoolean) reopen() {
	info, err := os.Stat(b.path)
	if err == nil && b.file != nil && os.SameFile(info, b.info) {
		return
	}
	b.close()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", b.path)
	}
	if err == nil {
		// Without O_NONBLOCK a FIFO that has come in between would hang the open.
		b.file, err = os.OpenFile(b.path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	}
	if err == nil {
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
	return oneLine(fmt.Sprintf("shared boolean: %v", err), maxReason)
}
