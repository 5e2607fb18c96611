package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// sources remembers what a configuration was read from, and what was in there, so
// that a change can be seen. Content counts, not events and not times: that works
// wherever files can be read, and with the symlink swaps of Kubernetes' volumes.
type sources struct {
	seen  map[string][sha256.Size]byte
	globs []string
}

func newSources() *sources { return &sources{seen: map[string][sha256.Size]byte{}} }

// read reads a file, which becomes a part of the configuration. One that cannot be
// read is a part as well: it may be there later. What is no regular file, such as a
// pipe, is not: it can be read only once.
func (s *sources) read(path string) ([]byte, error) {
	data, err := readFile(path)
	if info, missing := os.Stat(path); missing != nil || info.Mode().IsRegular() {
		s.seen[path] = digest(data, err)
	}
	return data, err
}

// regular reads a file that has to be a regular one, as read does. It waits for nobody: a
// pipe in its place may have no writer.
func (s *sources) regular(path string) ([]byte, error) {
	data, err := readRegular(path)
	s.seen[path] = digest(data, err)
	return data, err
}

// glob returns the files that match, now; later ones are a change.
func (s *sources) glob(pattern string) ([]string, error) {
	s.globs = append(s.globs, pattern)
	return filepath.Glob(pattern)
}

// changed says whether reading it all again would yield something else.
func (s *sources) changed() bool {
	for path, before := range s.seen {
		if digest(readRegular(path)) != before {
			return true
		}
	}
	for _, g := range s.globs {
		matches, _ := filepath.Glob(g)
		for _, m := range matches {
			if _, ok := s.seen[m]; !ok {
				return true
			}
		}
	}
	return false
}

func digest(data []byte, err error) [sha256.Size]byte {
	if err != nil {
		data = []byte("\x00" + err.Error())
	}
	return sha256.Sum256(data)
}

// readRegular reads a file unless it is something else, such as a pipe.
func readRegular(path string) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil, errors.New("is no regular file, expected one")
	}
	return readFile(path)
}

// maxFile bounds a configuration or rule file.
const maxFile = 1 << 20

// readFile reads a file of bounded size. What is read is bounded as well: a device
// or a pipe has no size.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errors.New("there is no such file")
	case errors.Is(err, fs.ErrPermission):
		return nil, errors.New("may not be read by this user")
	case err != nil:
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, errors.New("is a directory, expected a file")
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if len(data) > maxFile {
		return nil, fmt.Errorf("has more than %d bytes, expected at most that", maxFile)
	}
	return data, err
}
