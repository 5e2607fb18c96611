package file

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/files"
)

// reason says why a file could not be looked at, or is not what it should be.
// The set is closed, because it is a label.
type reason string

const (
	forbidden  reason = "forbidden"   // the kernel refuses to show or to open it
	unreadable reason = "unreadable"  // any other error of the file system
	timeout    reason = "timeout"     // the file system did not answer in time
	notRegular reason = "not_regular" // it is a directory, a FIFO, a device: nothing to read a format from
	tooLarge   reason = "too_large"   // it is larger than the limit
	syntax     reason = "syntax"      // its content is not in the format
	epoch      reason = "epoch"       // its content is in the format, and the key of the epoch is no number
)

func reasons() []reason {
	return []reason{forbidden, unreadable, timeout, notRegular, tooLarge, syntax, epoch}
}

// reasonOfFile is the reason of an error; nil has none.
func reasonOfFile(err error) reason {
	return collectors.ReasonOf(err, func(err error) reason {
		if errors.Is(err, fs.ErrPermission) {
			return forbidden
		}
		return unreadable
	})
}

// fileSeen is what the file system said of a file.
type fileSeen struct {
	missing bool
	// info is nil of a file that is missing, or of which nobody can say anything.
	info fs.FileInfo
	// data is the content; with same, it is what it was before and not repeated.
	data []byte
	same bool
	// settled is whether a later change cannot have left info as it is.
	settled bool
	err     error
}

// settling is the coarsest time stamp of a file system in use: two seconds of FAT.
// A file may change twice within it and look the same.
const settling = 2 * time.Second

// look is where to look, and at what.
type look struct {
	path string
	// read is whether the content is wanted, of at most limit bytes.
	read  bool
	limit int64
	stat  func(path string) (fs.FileInfo, error)
	open  func(path string) (openFile, error)
}

// openFile is what is needed of an *os.File.
type openFile interface {
	io.ReaderAt
	io.Closer
	Stat() (fs.FileInfo, error)
}

// now asks the file system for the file's attributes and, if wanted, for its
// content, unless that cannot have changed since before.
func (l look) now(before fileSeen) fileSeen {
	info, err := l.stat(l.path)
	switch {
	case err != nil && files.Missing(err):
		return fileSeen{missing: true}
	case err != nil:
		return fileSeen{err: fmt.Errorf("look at file: %w", err)}
	case !l.read:
		return fileSeen{info: info}
	case before.settled && sameContent(before.info, info):
		return fileSeen{info: info, same: true, settled: true}
	case !info.Mode().IsRegular():
		return fileSeen{info: info, err: l.notRegular(info)}
	}
	f, err := l.open(l.path)
	switch {
	case err != nil && files.Missing(err):
		return fileSeen{missing: true}
	case err != nil:
		return fileSeen{info: info, err: fmt.Errorf("read file: %w", err)}
	}
	defer f.Close()
	return l.content(f)
}

// content reads an open file. One that is written meanwhile is read again.
func (l look) content(f openFile) fileSeen {
	const attempts = 3
	var seen fileSeen
	for range attempts {
		if seen = l.once(f); seen.err != nil {
			return seen
		}
		if after, err := f.Stat(); err == nil && sameContent(seen.info, after) {
			return seen
		}
	}
	return fileSeen{info: seen.info, err: fmt.Errorf("read file %s: it is written while it is read", l.path)}
}

// once reads an open file from its beginning. Since stat it may have become another.
func (l look) once(f openFile) fileSeen {
	info, err := f.Stat()
	if err != nil {
		return fileSeen{err: fmt.Errorf("read file: %w", err)}
	}
	seen := fileSeen{info: info}
	if !info.Mode().IsRegular() {
		seen.err = l.notRegular(info)
		return seen
	}
	if changed, ok := changed(info); ok {
		seen.settled = time.Since(changed) > settling
	}
	// The size may lie, as that of a file in /proc does.
	seen.data, err = io.ReadAll(io.NewSectionReader(f, 0, l.limit+1))
	switch {
	case err != nil:
		seen.err = fmt.Errorf("read file: %w", err)
	case int64(len(seen.data)) > l.limit:
		seen.err = collectors.Errorf(tooLarge, "read file %s: it is larger than %s", l.path, collectors.Size(l.limit))
	}
	return seen
}

func (l look) notRegular(info fs.FileInfo) error {
	return collectors.Errorf(notRegular, "read file %s: it is of type %s: expected a regular file", l.path, files.Type(info.Mode()))
}

// sameContent says whether two looks at a file found the same file unchanged.
func sameContent(a, b fs.FileInfo) bool {
	if !os.SameFile(a, b) || a.Size() != b.Size() || !a.ModTime().Equal(b.ModTime()) || a.Mode() != b.Mode() {
		return false
	}
	changedA, okA := changed(a)
	changedB, okB := changed(b)
	return okA && okB && changedA.Equal(changedB)
}
