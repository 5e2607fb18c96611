package collectors

import (
	"context"
	"fmt"
	"io/fs"
	"time"
)

// file is the collector of the kind file. Only one Collect runs at a time.
type file struct {
	name   string
	config FileConfig
	keys   []fileKey
	epoch  fileKey // nil: none

	// look asks the file system, and may hang with it; asked is set while it does.
	look  fileLook
	asked chan fileSeen
	// seen is what look said last, and content what came of its data.
	seen    fileSeen
	content fileContent

	// note is what the last round saw.
	note string
}

// fileContent is what the format says of the data that was last read.
type fileContent struct {
	present []bool // by key
	epoch   float64
	lines   crontabLines
	err     error
}

// Collect asks the file system. That the file is not there is a measurement and no
// error; that nobody can say whether it is there is an error and no measurement.
func (f *file) Collect(ctx context.Context) ([]Sample, error) {
	seen, err := f.ask(ctx)
	if err == nil {
		err = seen.err
	}
	if err == nil && f.config.Format != "" && seen.info != nil {
		if !seen.same {
			f.content = f.parse(seen.data)
		}
		seen.data, seen.same = nil, true
		f.seen, err = seen, f.content.err
	} else {
		f.seen = fileSeen{}
	}
	var b batch
	if seen.missing || seen.info != nil {
		b.set(fileExistsMetric, number(seen.info != nil), f.name)
	}
	if seen.info != nil {
		f.attributes(&b, seen.info)
	}
	reason := reasonOfFile(err)
	for _, r := range fileReasons() {
		b.set(fileFailureMetric, number(r == reason), f.name, string(r))
	}
	f.judged(&b, seen.info != nil, reason)
	if f.config.AgeLimit > 0 {
		b.set(fileAgeLimitMetric, time.Duration(f.config.AgeLimit).Seconds(), f.name)
	}
	f.note = f.noteOf(seen, err, time.Now())
	return b.samples, err
}

// Note implements Noter: how old the file is, or how much is in it, where the
// configuration asks for that.
func (f *file) Note() string { return f.note }

// ask looks at the file in a goroutine of its own, of which there is never more
// than one: a file system that hangs holds it, and not its caller beyond ctx.
func (f *file) ask(ctx context.Context) (fileSeen, error) {
	select {
	case <-f.asked: // of a round that is over
		f.asked = nil
	default:
	}
	if f.asked == nil {
		f.asked = make(chan fileSeen, 1)
		go func(before fileSeen, answer chan<- fileSeen) { answer <- f.look.now(before) }(f.seen, f.asked)
	}
	select {
	case seen := <-f.asked:
		f.asked = nil
		return seen, nil
	case <-ctx.Done():
		return fileSeen{}, &fileError{fileTimeout, fmt.Errorf("look at file %s: no answer of the file system: %w", f.config.Path, context.Cause(ctx))}
	}
}

// parse reads the content in its format, and looks for the keys.
func (f *file) parse(data []byte) fileContent {
	parsed, wrong := parseFormat(f.config.Format, data)
	if wrong != nil {
		return fileContent{err: &fileError{fileSyntax, fmt.Errorf("read file %s", wrong.in(f.config.Path))}}
	}
	c := fileContent{lines: parsed.lines}
	for _, key := range f.keys {
		c.present = append(c.present, parsed.has(key))
	}
	if f.epoch != nil {
		var ok bool
		if c.epoch, ok = parsed.number(f.epoch); !ok {
			c.err = &fileError{fileEpoch, fmt.Errorf("read file %s: the key %s is %s: expected a number of seconds since the epoch", f.config.Path, f.config.Epoch, either(parsed.has(f.epoch), "no number", "missing"))}
		}
	}
	return c
}

// attributes are what the file system says of a file that is there.
func (f *file) attributes(b *batch, info fs.FileInfo) {
	b.set(fileSizeMetric, float64(info.Size()), f.name)
	b.set(fileMtimeMetric, epochSeconds(info.ModTime()), f.name)
	b.set(fileInfoMetric, 1, f.name, f.config.Path, fileType(info.Mode()))
	if uid, gid, ok := fileOwner(info); ok {
		b.set(fileOwnerUIDMetric, float64(uid), f.name)
		b.set(fileOwnerGIDMetric, float64(gid), f.name)
	}
	bit := fs.FileMode(0o400)
	for _, class := range fileClasses() {
		for _, permission := range filePermissions() {
			b.set(filePermissionMetric, number(info.Mode()&bit != 0), f.name, class, permission)
			bit >>= 1
		}
	}
}

// judged is whether the content is in its format and has its keys, as far as it is
// known: nobody knows it of a file that could not be read.
func (f *file) judged(b *batch, exists bool, reason fileReason) {
	if f.config.Format == "" || !exists || reason == fileForbidden || reason == fileUnreadable {
		return
	}
	valid := reason == "" || reason == fileEpoch
	b.set(fileValidMetric, number(valid), f.name, f.config.Format)
	if !valid {
		return
	}
	if f.epoch != nil && reason == "" {
		b.set(fileEpochMetric, f.content.epoch, f.name, f.config.Epoch)
	}
	if f.config.Format == formatCrontab {
		b.set(fileActiveLinesMetric, float64(f.content.lines.active), f.name)
		b.set(fileUncommentedLinesMetric, float64(f.content.lines.uncommented), f.name)
	}
	for i, key := range f.config.Keys {
		b.set(fileKeyPresentMetric, number(f.content.present[i]), f.name, key)
	}
}

// Describe implements Collector.
func (f *file) Describe() []Desc { return describe(fileDefs()) }

// fileClasses and filePermissions are the values of those labels, in the order of the
// bits of a mode.
func fileClasses() []string { return []string{"user", "group", "other"} }

func filePermissions() []string { return []string{"read", "write", "execute"} }
