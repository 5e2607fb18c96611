package journal

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/vitals-health/vitals/evaluator"
)

const (
	// overridesName is the file with the overrides that last, and newOverridesName the one
	// that replaces it. They are apart from the events, whose retention may be shorter.
	overridesName, newOverridesName = "overrides", "overrides.new"
	// maxOverrides bounds the file in bytes: more than a thousand with the longest texts.
	maxOverrides = 2 << 20
)

// readOverrides returns the stored overrides. A damaged or refused file has none.
func (s *store) readOverrides() ([]evaluator.Override, error) {
	f, err := s.file(overridesName, os.O_RDONLY)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if refused(err) {
		s.refuse(err)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxOverrides+maxRecord))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	overrides, ok := decodeOverrides(data)
	if !ok {
		s.damaged++
	}
	s.overrides = overrides
	return overrides, nil
}

// decodeOverrides reads the file of overrides, and reports whether it is whole.
func decodeOverrides(data []byte) (overrides []evaluator.Override, ok bool) {
	line, rest, ok := bytes.Cut(data, []byte("\n"))
	if !ok || len(rest) > 0 || !unrecord(line, maxOverrides, &overrides) {
		return nil, false
	}
	return overrides, true
}

// keepOverrides replaces the file of overrides if it has others, and reports whether the disk
// then has them all.
func (s *store) keepOverrides(overrides []evaluator.Override) (whole bool, err error) {
	if slices.Equal(overrides, s.overrides) {
		return !s.tooLong, nil
	}
	data, err := record(overrides, maxOverrides)
	if s.tooLong = err != nil; s.tooLong {
		s.options.Logger.Warn("silences and maintenance are not stored", "err", err)
		s.overrides = overrides
		return false, nil
	}
	path, next := filepath.Join(s.options.Dir, overridesName), filepath.Join(s.options.Dir, newOverridesName)
	if err := os.Remove(next); err != nil && !errors.Is(err, os.ErrNotExist) {
		return false, err
	}
	f, err := s.file(newOverridesName, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return false, err
	}
	_, err = s.append(f, data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return false, err
	}
	if err := errors.Join(os.Rename(next, path), syncDir(s.options.Dir)); err != nil {
		return false, err
	}
	s.overrides = overrides
	return true, nil
}

// syncDir writes the names in a directory to the disk, where its file system can.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	if err = f.Sync(); errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil
	}
	return errors.Join(err, f.Close())
}
