package textfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/textformat"
	"github.com/vitals-health/vitals/internal/budget"
	"github.com/vitals-health/vitals/internal/files"
	"github.com/vitals-health/vitals/internal/text"
)

const (
	// maxEntries bounds the entries of the directory that are read, and chunk is how many are
	// read at once. Names have at most 255 bytes, so 10,000 take about 2.5 MB.
	maxEntries, chunk = 10_000, 500
	// bodyFactor is what a file takes for each of its bytes: the buffer doubles as it grows.
	bodyFactor = 2
)

// listing is the result of reading all files.
type listing struct {
	// listed is set if the directory was read, and found is the number of files that match.
	listed bool
	found  int
	// err is why files are not read: of the directory, or of their number.
	err      error
	files    []file
	families []collectors.Desc
}

// file is the result of reading one file.
type file struct {
	path     string
	changed  time.Time
	samples  []collectors.Sample
	families []collectors.Desc
	reserved int
	err      error
}

// failure returns the error of the directory, or of the first file with one and how many more
// there are.
func (l *listing) failure() error {
	first, more := l.err, 0
	for _, f := range l.files {
		switch {
		case f.err == nil:
		case first == nil:
			first = f.err
		default:
			more++
		}
	}
	if more == 0 || first == nil {
		return first
	}
	return fmt.Errorf("%w; and %s more", first, text.Plural(more, "error"))
}

// reader reads the files of a directory. It is not safe for concurrent use.
type reader struct {
	dir, pattern string
	// limit bounds the bytes of a file, and files their number.
	limit   collectors.Size
	files   int
	bodies  *budget.Bodies
	options textformat.Options
	// parsers have the caches of the files, by name.
	parsers map[string]*textformat.Parser
}

// read reads all files that match.
func (r *reader) read(ctx context.Context) listing {
	names, err := r.names()
	l := listing{listed: names != nil, found: len(names), err: err}
	if len(names) > r.files {
		names = names[:r.files]
		l.err = errors.Join(l.err, collectors.Errorf(tooManyFiles, "read %s: %d files match: expected at most file_limit, %d", r.path(r.pattern), l.found, r.files))
	}
	r.forget(names)
	seen := seen{series: map[uint64]owned{}, kinds: map[string]kind{}}
	for _, name := range names {
		f := r.readFile(ctx, name)
		if files.Missing(f.err) {
			l.found--
			if isPattern(r.pattern) { // it was removed since
				continue
			}
		}
		if f.err == nil {
			f.err = seen.add(&f)
		}
		if f.err != nil {
			f = file{path: f.path, err: fmt.Errorf("read %s: %w", f.path, withoutPath(f.err))}
		}
		l.families = append(l.families, f.families...)
		l.files = append(l.files, f)
	}
	return l
}

func (r *reader) path(name string) string { return filepath.Join(r.dir, name) }

// names returns the names that match, in their order. A name without a pattern need not exist.
// As in a shell, a pattern finds a name that begins with a dot only if it begins with one. The
// names are nil if the directory could not be read.
func (r *reader) names() ([]string, error) {
	if !isPattern(r.pattern) {
		return []string{r.pattern}, nil
	}
	d, err := files.Open(r.dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, entries := []string{}, 0
	for {
		some, err := d.ReadDir(chunk)
		for _, e := range some {
			if r.matches(e.Name()) {
				names = append(names, e.Name())
			}
		}
		entries += len(some)
		switch {
		case entries >= maxEntries:
			err = collectors.Errorf(tooManyFiles, "read %s: the directory has at least %d entries", r.dir, maxEntries)
		case errors.Is(err, io.EOF) && len(names) == 0:
			err = collectors.Errorf(missing, "read %s: no file matches", r.path(r.pattern))
		case errors.Is(err, io.EOF):
			err = nil
		case err == nil:
			continue
		default:
			return nil, err
		}
		slices.Sort(names)
		return names, err
	}
}

func (r *reader) matches(name string) bool {
	ok, err := filepath.Match(r.pattern, name)
	return ok && err == nil && (!strings.HasPrefix(name, ".") || strings.HasPrefix(r.pattern, ".")) && utf8.ValidString(name)
}

// forget drops the caches of files that are gone.
func (r *reader) forget(names []string) {
	for name, p := range r.parsers {
		if _, ok := slices.BinarySearch(names, name); !ok {
			p.Close()
			delete(r.parsers, name)
		}
	}
}

// readFile reads one file. If it is written meanwhile, it is read again.
func (r *reader) readFile(ctx context.Context, name string) file {
	const attempts = 3
	f := file{path: r.path(name)}
	open, err := r.open(f.path)
	if err != nil {
		f.err = err
		return f
	}
	defer open.Close()
	parser := r.parsers[name]
	if parser == nil {
		parser = textformat.New(r.options)
		r.parsers[name] = parser
	}
	for range attempts {
		before, err := open.Stat()
		if err != nil {
			f.err = err
			return f
		}
		parsed, err := r.parse(ctx, open, parser)
		if after, statErr := open.Stat(); statErr == nil && before.Size() == after.Size() && before.ModTime().Equal(after.ModTime()) {
			f.samples, f.families, f.reserved, f.changed, f.err = parsed.Samples, parsed.Families, parsed.Reserved, before.ModTime(), err
			return f
		}
	}
	f.err = collectors.Errorf(unreadable, "it is written while it is read: write another file and rename it")
	return f
}

// open opens a regular file. Any other is not opened, because that may have an effect on a device;
// the second check is for a file that was replaced in between.
func (r *reader) open(path string) (*os.File, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if err := regular(info.Mode()); err != nil {
		return nil, err
	}
	open, err := files.OpenItself(path)
	if err != nil {
		return nil, err
	}
	if info, err = open.Stat(); err == nil {
		err = regular(info.Mode())
	}
	if err != nil {
		_ = open.Close()
		return nil, err
	}
	return open, nil
}

func regular(mode fs.FileMode) error {
	switch {
	case mode.IsRegular():
		return nil
	case mode&fs.ModeSymlink != 0:
		return collectors.Errorf(notRegular, "it is a symbolic link: expected a regular file")
	}
	return collectors.Errorf(notRegular, "it is of type %s: expected a regular file", files.Type(mode))
}

// parse reads and parses an open file from its beginning.
func (r *reader) parse(ctx context.Context, open io.ReaderAt, parser *textformat.Parser) (textformat.Exposition, error) {
	body := r.bodies.Reader(ctx, io.NewSectionReader(open, 0, int64(r.limit)+1), bodyFactor)
	defer body.Release()
	data, err := io.ReadAll(body)
	if err != nil {
		return textformat.Exposition{}, err
	}
	if int64(len(data)) > int64(r.limit) {
		return textformat.Exposition{}, collectors.Errorf(tooLarge, "it is larger than size_limit, %s", r.limit)
	}
	if len(data) > 0 && data[len(data)-1] != '\n' {
		return textformat.Exposition{}, collectors.Errorf(syntax, "its last line has no line feed, and may be cut")
	}
	return parser.Parse(ctx, data, textformat.ContentType, time.Now())
}

// seen are the series and the types of the files that were read before.
type seen struct {
	series map[uint64]owned
	kinds  map[string]kind
}

// owned is a series with the path of its file, and kind a type.
type owned struct {
	labels labels.Labels
	path   string
}

type kind struct {
	of   model.MetricType
	path string
}

// add adds what a file has, or returns the first conflict with another file. A file with a
// conflict adds nothing. Metrics that an earlier file describes are not described again.
func (s *seen) add(f *file) error {
	var described []collectors.Desc
	for _, d := range f.families {
		before, ok := s.kinds[d.Name]
		if ok && d.Type != model.MetricTypeUnknown && before.of != model.MetricTypeUnknown && d.Type != before.of {
			return collectors.Errorf(conflict, "the type of %.50q is %s, and %s in %s", d.Name, d.Type, before.of, before.path)
		}
		if !ok {
			described = append(described, d)
		}
	}
	for _, sample := range f.samples {
		before, ok := s.series[sample.Labels.Hash()]
		if ok && labels.Equal(before.labels, sample.Labels) {
			return collectors.Errorf(duplicate, "%s has the series %.200s as well", before.path, before.labels)
		}
	}
	for _, d := range described {
		s.kinds[d.Name] = kind{d.Type, f.path}
	}
	for _, sample := range f.samples {
		s.series[sample.Labels.Hash()] = owned{sample.Labels, f.path}
	}
	f.families = described
	return nil
}

// withoutPath returns the cause of an error that names the file, because its text names it again.
func withoutPath(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
