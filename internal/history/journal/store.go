package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/history"
)

const (
	// parts is how many segments the bounds are divided by: so exact is the retention.
	parts = 8
	// maxSegment bounds a segment in bytes, as it is read into memory.
	maxSegment = 1 << 20
	// maxRead bounds what is read at the start, in bytes: more than a history holds.
	maxRead = 4 << 20
	// lockName is the file that is locked. It has the time at which the process was last seen.
	lockName = "lock"
	// segmentName is the format of the name of a segment.
	segmentName = "events-%08d.log"
)

// store is the directory of a journal: segments of events, of which the last one grows.
type store struct {
	options Options
	lock    *os.File
	// current is the segment that grows; nil if the next event begins one.
	current *os.File
	dirty   bool
	// begun is when the current segment was begun, or opened.
	begun time.Time
	// segments are the trusted segments, the oldest first. The current one is the last.
	segments []segment
	// number is the highest number of a segment, trusted or not.
	number int
	// user is the effective user of the process.
	user int
	// group may write to the directory, and so to its files; -1 if no group may.
	group int
	// open is set if all users may write to the directory, and move the files of the user.
	open bool
	// removed is what retention has removed, by the flag that would keep it.
	removed map[string]removal
	// refused are the reasons why files were not read when it was opened.
	refused []error
	// damaged is how many records were left out when it was opened, and cut how many bytes
	// behind the last whole one were removed.
	damaged int
	cut     int64
	// overrides are the overrides of the last read or write of the file. tooLong is set if the
	// write was left out, because the overrides are too long for the file.
	overrides []evaluator.Override
	tooLong   bool
	// append writes to a file: its Write, except in tests.
	append func(*os.File, []byte) (int, error)
}

type segment struct {
	number int
	bytes  int64
	// newest is the time of the last write.
	newest time.Time
}

// openStore locks the directory, cuts its last segment behind the last whole record, and
// returns the last events.
func openStore(o Options, now time.Time) (s *store, past history.Past, err error) {
	s = &store{options: o, begun: now, user: os.Geteuid(), removed: map[string]removal{}, append: (*os.File).Write}
	defer func() {
		if err != nil {
			_ = s.close()
			s = nil
		}
	}()
	if err := os.Mkdir(o.Dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return s, past, err
	}
	if err := s.checkDir(); err != nil {
		return s, past, err
	}
	if s.lock, err = s.file(lockName, os.O_RDWR|os.O_CREATE); err != nil {
		return s, past, err
	}
	if err := unix.Flock(int(s.lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return s, past, fmt.Errorf("another process uses the directory: %w", err)
	}
	if err := s.list(); err != nil {
		return s, past, err
	}
	if err := s.retain(now); err != nil {
		return s, past, err
	}
	if past, err = s.read(); err != nil {
		return s, past, err
	}
	past.Overrides, err = s.readOverrides()
	return s, past, err
}

// list finds the segments that are trusted.
func (s *store) list() error {
	entries, err := os.ReadDir(s.options.Dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		g := segment{}
		if _, err := fmt.Sscanf(entry.Name(), segmentName, &g.number); err != nil || entry.Name() != g.name() {
			continue
		}
		s.number = max(s.number, g.number)
		f, err := s.file(g.name(), os.O_RDONLY)
		if refused(err) {
			s.refuse(err)
			continue
		}
		if err != nil {
			return err
		}
		info, err := f.Stat()
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
		g.bytes, g.newest = info.Size(), info.ModTime()
		s.segments = append(s.segments, g)
	}
	slices.SortFunc(s.segments, func(a, b segment) int { return a.number - b.number })
	return nil
}

// read returns the last events, and opens the last segment to go on with it.
func (s *store) read() (past history.Past, err error) {
	seen := make([]byte, len(time.RFC3339))
	n, _ := s.lock.ReadAt(seen, 0)
	past.Seen, _ = time.Parse(time.RFC3339, string(seen[:n])) // zero at the first start
	total := int64(0)
	for i := len(s.segments) - 1; i >= 0 && len(past.Events) < history.MaxEvents && total < maxRead; i-- {
		events, err := s.readSegment(i)
		if err != nil {
			return past, err
		}
		past.Events = append(events, past.Events...)
		total += s.segments[i].bytes
	}
	past.Events = past.Events[max(0, len(past.Events)-history.MaxEvents):]
	return past, nil
}

// readSegment returns the events of a segment. It cuts the last one, and keeps it open where the
// user may write to it.
func (s *store) readSegment(i int) (events []*history.Event, err error) {
	name, last := s.segments[i].name(), i == len(s.segments)-1
	var f *os.File
	if last {
		f, err = s.file(name, os.O_RDWR|os.O_APPEND)
		last = !refused(err)
	}
	if !last {
		f, err = s.file(name, os.O_RDONLY)
	}
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxSegment+maxRecord))
	events, whole, damaged := decode(data)
	s.damaged += damaged
	if !last || err != nil {
		return events, errors.Join(err, f.Close())
	}
	s.current, s.cut = f, s.segments[i].bytes-int64(whole)
	if s.cut > 0 {
		s.segments[i].bytes = int64(whole)
		err = f.Truncate(int64(whole))
	}
	return events, err
}

// write appends a record.
func (s *store) write(record []byte, now time.Time) (err error) {
	limit := min(s.options.MaxBytes/parts, maxSegment)
	if s.current != nil && (s.last().bytes+int64(len(record)) > limit || now.Sub(s.begun) > s.options.MaxAge/parts) {
		err := errors.Join(s.current.Sync(), s.current.Close())
		if s.current = nil; err != nil {
			return err
		}
	}
	if s.current == nil {
		next := segment{number: s.number + 1}
		if s.current, err = s.file(next.name(), os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL); err != nil {
			return err
		}
		s.segments, s.number, s.begun = append(s.segments, next), next.number, now
	}
	n, err := s.append(s.current, record)
	s.last().bytes += int64(n)
	s.last().newest, s.dirty = now, true
	if err != nil {
		return err
	}
	return s.retain(now)
}

func (s *store) last() *segment { return &s.segments[len(s.segments)-1] }

func (g segment) name() string { return fmt.Sprintf(segmentName, g.number) }

// removal counts removed segments. newest is the time of the last write to one of them.
type removal struct {
	segments int
	bytes    int64
	newest   time.Time
}

// retain removes the oldest segments, until the rest is within the bounds. It never removes
// the current one. A segment that the user may not remove is refused.
func (s *store) retain(now time.Time) error {
	var total int64
	for _, g := range s.segments {
		total += g.bytes
	}
	for len(s.segments) > 0 && (len(s.segments) > 1 || s.current == nil) {
		oldest, flag := s.segments[0], ""
		switch {
		case now.Sub(oldest.newest) > s.options.MaxAge:
			flag = "--storage.retention.time"
		case total > s.options.MaxBytes:
			flag = "--storage.retention.size"
		default:
			return nil
		}
		err := os.Remove(filepath.Join(s.options.Dir, oldest.name()))
		if err != nil && !errors.Is(err, fs.ErrPermission) {
			return err
		}
		total -= oldest.bytes
		s.segments = s.segments[1:]
		if err != nil {
			s.refuse(err)
			continue
		}
		r := s.removed[flag]
		s.removed[flag] = removal{r.segments + 1, r.bytes + oldest.bytes, oldest.newest}
	}
	return nil
}

// beat records that the process runs, writes events through to the disk, and removes what is
// too old.
func (s *store) beat(now time.Time) error {
	if _, err := s.lock.WriteAt([]byte(now.UTC().Format(time.RFC3339)), 0); err != nil {
		return err
	}
	if s.dirty && s.current != nil {
		if err := s.current.Sync(); err != nil {
			return err
		}
		s.dirty = false
	}
	return s.retain(now)
}

// end is beat, before the process ends.
func (s *store) end(now time.Time) error { return errors.Join(s.beat(now), s.close()) }

func (*store) nothing(time.Time) error { return nil }

// close closes the files, and so unlocks the directory.
func (s *store) close() error {
	var errs []error
	for _, f := range []*os.File{s.current, s.lock} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	s.current, s.lock = nil, nil
	return errors.Join(errs...)
}
