package collectors

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
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
	fileEpoch      fileReason = "epoch"       // its content is in the format, and the key of the epoch is no number
)

func fileReasons() []fileReason {
	return []fileReason{fileForbidden, fileUnreadable, fileTimeout, fileNotRegular, fileTooLarge, fileSyntax, fileEpoch}
}

// fileError is an error with its reason.
type fileError = reasonError[fileReason]

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

// fileSettling is the coarsest time stamp of a file system in use: two seconds of FAT.
// A file may change twice within it and look the same.
const fileSettling = 2 * time.Second

// fileLook is where to look, and at what.
type fileLook struct {
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
func (l fileLook) now(before fileSeen) fileSeen {
	info, err := l.stat(l.path)
	switch {
	case err != nil && isMissingFile(err):
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
	case err != nil && isMissingFile(err):
		return fileSeen{missing: true}
	case err != nil:
		return fileSeen{info: info, err: fmt.Errorf("read file: %w", err)}
	}
	defer f.Close()
	return l.content(f)
}

// content reads an open file. One that is written meanwhile is read again.
func (l fileLook) content(f openFile) fileSeen {
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
func (l fileLook) once(f openFile) fileSeen {
	info, err := f.Stat()
	if err != nil {
		return fileSeen{err: fmt.Errorf("read file: %w", err)}
	}
	seen := fileSeen{info: info}
	if !info.Mode().IsRegular() {
		seen.err = l.notRegular(info)
		return seen
	}
	if changed, ok := fileChanged(info); ok {
		seen.settled = time.Since(changed) > fileSettling
	}
	// The size may lie, as that of a file in /proc does.
	seen.data, err = io.ReadAll(io.NewSectionReader(f, 0, l.limit+1))
	switch {
	case err != nil:
		seen.err = fmt.Errorf("read file: %w", err)
	case int64(len(seen.data)) > l.limit:
		seen.err = &fileError{fileTooLarge, fmt.Errorf("read file %s: it is larger than %s", l.path, Size(l.limit))}
	}
	return seen
}

func (l fileLook) notRegular(info fs.FileInfo) error {
	return &fileError{fileNotRegular, fmt.Errorf("read file %s: it is of type %s: expected a regular file", l.path, fileType(info.Mode()))}
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
