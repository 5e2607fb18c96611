package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/budget"
	"github.com/vitals-health/vitals/internal/files"
)

// reason is why a file could not be read or is not valid. The set is closed, because it is
// a label.
type reason string

const (
	forbidden  reason = "forbidden"   // permission denied
	unreadable reason = "unreadable"  // any other error of the file system
	timeout    reason = "timeout"     // the file system did not answer in time
	notRegular reason = "not_regular" // a directory, a FIFO, a device
	tooLarge   reason = "too_large"   // larger than the limit
	syntax     reason = "syntax"      // the content is not valid in the format
	epoch      reason = "epoch"       // the content is valid, and the key of the epoch has no number
)

func reasons() []reason {
	return []reason{forbidden, unreadable, timeout, notRegular, tooLarge, syntax, epoch}
}

// reasonOf returns the reason of an error, none for nil.
func reasonOf(err error) reason {
	return collectors.ReasonOf(err, func(err error) reason {
		if errors.Is(err, fs.ErrPermission) {
			return forbidden
		}
		return unreadable
	})
}

// snapshot is the state of a file at one moment.
type snapshot struct {
	missing bool
	// info is nil for a file that is missing or whose attributes could not be read.
	info fs.FileInfo
	// data is the content, nil if it is unchanged since the previous snapshot. A reader with
	// parse has parsed in its place.
	data      []byte
	parsed    content
	unchanged bool
	// settled reports whether every later change will change info, too.
	settled bool
	err     error
}

// settling is the coarsest time stamp of a file system in use: two seconds on FAT.
// A file may change twice within it and have the same attributes.
const settling = 2 * time.Second

// reader reads one file.
type reader struct {
	path string
	// content reports whether to read the content, of at most limit bytes.
	content bool
	limit   int64
	// parse, unless nil, parses the content while its memory is reserved of bodies: factor
	// bytes for each.
	parse  func([]byte) content
	bodies *budget.Bodies
	factor int64
	stat   func(path string) (fs.FileInfo, error)
	open   func(path string) (openFile, error)
}

// openFile is the part of *os.File that reader uses.
type openFile interface {
	io.ReaderAt
	io.Closer
	Stat() (fs.FileInfo, error)
}

// snapshot reads the attributes and, if configured, the content, unless the content is
// unchanged since the previous snapshot. It waits for memory until ctx ends.
func (r reader) snapshot(ctx context.Context, previous snapshot) snapshot {
	info, err := r.stat(r.path)
	switch {
	case err != nil && files.Missing(err):
		return snapshot{missing: true}
	case err != nil:
		return snapshot{err: fmt.Errorf("stat file: %w", err)}
	case !r.content:
		return snapshot{info: info}
	case previous.settled && sameContent(previous.info, info):
		return snapshot{info: info, unchanged: true, settled: true}
	case !info.Mode().IsRegular():
		return snapshot{info: info, err: r.notRegular(info)}
	}
	f, err := r.open(r.path)
	switch {
	case err != nil && files.Missing(err):
		return snapshot{missing: true}
	case err != nil:
		return snapshot{info: info, err: fmt.Errorf("read file: %w", err)}
	}
	defer f.Close()
	return r.readOpen(ctx, f)
}

// readOpen reads an open file. If it is written meanwhile, it is read again.
func (r reader) readOpen(ctx context.Context, f openFile) snapshot {
	const attempts = 3
	var seen snapshot
	for range attempts {
		var whole bool
		if seen, whole = r.attempt(ctx, f); whole || seen.err != nil {
			return seen
		}
	}
	return snapshot{info: seen.info, err: fmt.Errorf("read file %s: it is written while it is read", r.path)}
}

// attempt reads and parses an open file. whole reports whether it did not change meanwhile.
func (r reader) attempt(ctx context.Context, f openFile) (seen snapshot, whole bool) {
	body := r.bodies.Reader(ctx, io.NewSectionReader(f, 0, r.limit+1), max(r.factor, 1))
	defer body.Release()
	if seen = r.readOnce(f, body); seen.err != nil {
		return seen, false
	}
	if after, err := f.Stat(); err != nil || !sameContent(seen.info, after) {
		return seen, false
	}
	if r.parse != nil {
		seen.parsed, seen.data = r.parse(seen.data), nil
	}
	return seen, true
}

// readOnce reads an open file from its beginning. It may be another file than at stat.
func (r reader) readOnce(f openFile, body io.Reader) snapshot {
	info, err := f.Stat()
	if err != nil {
		return snapshot{err: fmt.Errorf("read file: %w", err)}
	}
	seen := snapshot{info: info}
	if !info.Mode().IsRegular() {
		seen.err = r.notRegular(info)
		return seen
	}
	if changed, ok := changed(info); ok {
		seen.settled = time.Since(changed) > settling
	}
	// The size may be wrong, as for files in /proc.
	seen.data, err = io.ReadAll(body)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		seen.err = collectors.Errorf(timeout, "read file %s: %w", r.path, err)
	case errors.Is(err, budget.ErrExceeded):
		seen.err = collectors.Errorf(tooLarge, "read file %s: %w", r.path, err)
	case err != nil:
		seen.err = fmt.Errorf("read file: %w", err)
	case int64(len(seen.data)) > r.limit:
		seen.err = collectors.Errorf(tooLarge, "read file %s: it is larger than %s", r.path, collectors.Size(r.limit))
	}
	return seen
}

func (r reader) notRegular(info fs.FileInfo) error {
	return collectors.Errorf(notRegular, "read file %s: it is of type %s: expected a regular file", r.path, files.Type(info.Mode()))
}

// sameContent reports whether two stats found the same file unchanged.
func sameContent(a, b fs.FileInfo) bool {
	if !os.SameFile(a, b) || a.Size() != b.Size() || !a.ModTime().Equal(b.ModTime()) || a.Mode() != b.Mode() {
		return false
	}
	changedA, okA := changed(a)
	changedB, okB := changed(b)
	return okA && okB && changedA.Equal(changedB)
}
