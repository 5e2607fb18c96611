package collectors

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// fileReason says why a file could not be looked at, or is not what it should be.
// The set is closed, because it is a label.
type fileReason string

const (
	fileForbidden  fileReason = "forbidden"   // the kernel refuses to show or to open it
	fileUnreadable fileReason = "unreadable"  // any other error of the file system
	fileTimeout    fileReason = "timeout"     // the file system did not answer in time
	fileNotRegular fileReason = "not_regular" // it is a directory, a FIFO, a device: nothing to read a format from
	fileTooLarge   fileReason = "too_large"   // it is larger than the limit
	fileSyntax     fileReason = "syntax"      // its content is not in the format
)

func fileReasons() []fileReason {
	return []fileReason{fileForbidden, fileUnreadable, fileTimeout, fileNotRegular, fileTooLarge, fileSyntax}
}

// fileError is an error with its reason.
type fileError struct {
	reason fileReason
	err    error
}

func (e *fileError) Error() string { return e.err.Error() }
func (e *fileError) Unwrap() error { return e.err }

// reasonOfFile is the reason of an error; nil has none.
func reasonOfFile(err error) fileReason {
	var known *fileError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &known):
		return known.reason
	case errors.Is(err, fs.ErrPermission):
		return fileForbidden
	}
	return fileUnreadable
}

// isMissing says whether an error means that there is no such file.
func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
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

// lookAtFile asks the file system for a file's attributes and, with read, for its
// content, unless that cannot have changed since before.
func lookAtFile(path string, read bool, limit int64, before fileSeen) fileSeen {
	info, err := os.Stat(path)
	switch {
	case err != nil && isMissing(err):
		return fileSeen{missing: true}
	case err != nil:
		return fileSeen{err: fmt.Errorf("look at file: %w", err)}
	case !read:
		return fileSeen{info: info}
	case before.settled && sameContent(before.info, info):
		return fileSeen{info: info, same: true, settled: true}
	case !info.Mode().IsRegular():
		return fileSeen{info: info, err: notRegular(path, info)}
	}
	return readFile(path, limit)
}

func notRegular(path string, info fs.FileInfo) error {
	return &fileError{fileNotRegular, fmt.Errorf("read file %s: it is of type %s: expected a regular file", path, fileType(info.Mode()))}
}

// readFile opens a file without ever waiting for it, should it have become a FIFO
// meanwhile, and reads it. A file that is written meanwhile is read once more.
func readFile(path string, limit int64) fileSeen {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		seen := fileSeen{missing: isMissing(err)}
		if !seen.missing {
			seen.err = fmt.Errorf("read file: %w", err)
			// Its attributes are known all the same.
			seen.info, _ = os.Stat(path)
		}
		return seen
	}
	defer f.Close()
	const attempts = 3
	var seen fileSeen
	for range attempts {
		if seen = readOpen(f, path, limit); seen.err != nil {
			return seen
		}
		if after, err := f.Stat(); err == nil && sameContent(seen.info, after) {
			return seen
		}
	}
	return fileSeen{info: seen.info, err: fmt.Errorf("read file %s: it is written while it is read", path)}
}

// readOpen reads an open file from its beginning.
func readOpen(f *os.File, path string, limit int64) fileSeen {
	info, err := f.Stat()
	if err != nil {
		return fileSeen{err: fmt.Errorf("read file: %w", err)}
	}
	seen := fileSeen{info: info}
	if !info.Mode().IsRegular() {
		seen.err = notRegular(path, info)
		return seen
	}
	if changed, ok := fileChanged(info); ok {
		seen.settled = time.Since(changed) > settling
	}
	// The size may lie, as that of a file in /proc does.
	seen.data, err = io.ReadAll(io.NewSectionReader(f, 0, limit+1))
	switch {
	case err != nil:
		seen.err = fmt.Errorf("read file: %w", err)
	case int64(len(seen.data)) > limit:
		seen.err = &fileError{fileTooLarge, fmt.Errorf("read file %s: it is larger than %s", path, Size(limit))}
	}
	return seen
}

// sameContent says whether two looks at a file found the same file unchanged.
func sameContent(a, b fs.FileInfo) bool {
	if !os.SameFile(a, b) || a.Size() != b.Size() || !a.ModTime().Equal(b.ModTime()) || a.Mode() != b.Mode() {
		return false
	}
	changedA, okA := fileChanged(a)
	changedB, okB := fileChanged(b)
	return okA && okB && changedA.Equal(changedB)
}
