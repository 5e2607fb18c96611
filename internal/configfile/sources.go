package configfile

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Sources records the files of a configuration and digests of their content, to detect
// changes. It compares content and not events or times: that works on every file system,
// and with the symlink swaps of Kubernetes' volumes.
type Sources struct {
	seen  map[string][sha256.Size]byte
	globs []string
}

// NewSources returns sources without any file.
func NewSources() *Sources { return &Sources{seen: map[string][sha256.Size]byte{}} }

// Read reads a file and records it, also if it cannot be read: it may exist later. A file
// that is not regular, such as a pipe, is not recorded, as it can be read only once.
func (s *Sources) Read(path string) ([]byte, error) {
	data, err := ReadFile(path)
	if info, missing := os.Stat(path); missing != nil || info.Mode().IsRegular() {
		s.seen[path] = digest(data, err)
	}
	return data, err
}

// Regular reads a file as Read does, and returns an error if it is not a regular file. It
// never blocks on a pipe without a writer.
func (s *Sources) Regular(path string) ([]byte, error) {
	data, err := readRegular(path)
	s.seen[path] = digest(data, err)
	return atMost(data, err, maxConfig)
}

// Has reports whether a file is one of the sources.
func (s *Sources) Has(path string) bool {
	_, ok := s.seen[path]
	return ok
}

// glob returns the matching files and records the pattern: a new match is a change.
func (s *Sources) glob(pattern string) ([]string, error) {
	s.globs = append(s.globs, pattern)
	return filepath.Glob(pattern)
}

// Changed reports whether the content of a file or the matches of a pattern have changed.
func (s *Sources) Changed() bool {
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

// readRegular reads a regular file. For others, such as pipes, it returns an error.
func readRegular(path string) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil, errors.New("is not a regular file, expected one")
	}
	return ReadFile(path)
}

const (
	// maxFile bounds a rule file, which may be generated.
	maxFile = 8 << 20
	// maxConfig bounds all other files of a configuration.
	maxConfig = 1 << 20
)

// atMost returns what was read, or an error if it has more than limit bytes.
func atMost(data []byte, err error, limit int) ([]byte, error) {
	if len(data) > limit {
		return nil, fmt.Errorf("has more than %d bytes, expected at most that", limit)
	}
	return data, err
}
