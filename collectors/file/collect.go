package file

import (
	"context"
	"fmt"
	"io/fs"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/files"
)

// collector is the collector of the kind collector. Only one Collect runs at a time.
type collector struct {
	name   string
	config Config
	keys   []Key
	epoch  Key // nil: none

	// look asks the file system, and may hang with it; asked is set while it does.
	look  look
	asked chan fileSeen
	// seen is what look said last, and content what came of its data.
	seen    fileSeen
	content content

	// note is what the last round saw.
	note string
}

// content is what the format says of the data that was last read.
type content struct {
	present []bool // by key
	epoch   float64
	lines   crontabLines
	err     error
}

// Collect asks the file system. That the file is not there is a measurement and no
// error; that nobody can say whether it is there is an error and no measurement.
func (f *collector) Collect(ctx context.Context) ([]collectors.Sample, error) {
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
	var b collectors.Batch
	if seen.missing || seen.info != nil {
		b.Set(existsMetric, collectors.Number(seen.info != nil), f.name)
	}
	if seen.info != nil {
		f.attributes(&b, seen.info)
	}
	reason := reasonOfFile(err)
	for _, r := range reasons() {
		b.Set(failureMetric, collectors.Number(r == reason), f.name, string(r))
	}
	f.judged(&b, seen.info != nil, reason)
	if f.config.AgeLimit > 0 {
		b.Set(ageLimitMetric, time.Duration(f.config.AgeLimit).Seconds(), f.name)
	}
	f.note = f.noteOf(seen, err, time.Now())
	return b.Samples, err
}

// Note implements Noter: how old the file is, or how much is in it, where the
// configuration asks for that.
func (f *collector) Note() string { return f.note }

// ask looks at the file in a goroutine of its own, of which there is never more
// than one: a file system that hangs holds it, and not its caller beyond ctx.
func (f *collector) ask(ctx context.Context) (fileSeen, error) {
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
		return fileSeen{}, collectors.Errorf(timeout, "look at file %s: no answer of the file system: %w", f.config.Path, context.Cause(ctx))
	}
}

// parse reads the content in its format, and looks for the keys.
func (f *collector) parse(data []byte) content {
	parsed, wrong := ParseFormat(f.config.Format, data)
	if wrong != nil {
		return content{err: &collectors.Error[reason]{Reason: syntax, Err: fmt.Errorf("read file %s", wrong.In(f.config.Path))}}
	}
	c := content{lines: parsed.lines}
	for _, key := range f.keys {
		c.present = append(c.present, parsed.Has(key))
	}
	if f.epoch != nil {
		var ok bool
		if c.epoch, ok = parsed.number(f.epoch); !ok {
			c.err = collectors.Errorf(epoch, "read file %s: the key %s is %s: expected a number of seconds since the epoch", f.config.Path, f.config.Epoch, collectors.Either(parsed.Has(f.epoch), "no number", "missing"))
		}
	}
	return c
}

// attributes are what the file system says of a file that is there.
func (f *collector) attributes(b *collectors.Batch, info fs.FileInfo) {
	b.Set(sizeMetric, float64(info.Size()), f.name)
	b.Set(mtimeMetric, collectors.EpochSeconds(info.ModTime()), f.name)
	b.Set(infoMetric, 1, f.name, f.config.Path, files.Type(info.Mode()))
	if uid, gid, ok := owner(info); ok {
		b.Set(ownerUIDMetric, float64(uid), f.name)
		b.Set(ownerGIDMetric, float64(gid), f.name)
	}
	bit := fs.FileMode(0o400)
	for _, class := range classes() {
		for _, permission := range permissions() {
			b.Set(permissionMetric, collectors.Number(info.Mode()&bit != 0), f.name, class, permission)
			bit >>= 1
		}
	}
}

// judged is whether the content is in its format and has its keys, as far as it is
// known: nobody knows it of a file that could not be read.
func (f *collector) judged(b *collectors.Batch, exists bool, reason reason) {
	if f.config.Format == "" || !exists || reason == forbidden || reason == unreadable {
		return
	}
	valid := reason == "" || reason == epoch
	b.Set(validMetric, collectors.Number(valid), f.name, f.config.Format)
	if !valid {
		return
	}
	if f.epoch != nil && reason == "" {
		b.Set(epochMetric, f.content.epoch, f.name, f.config.Epoch)
	}
	if f.config.Format == formatCrontab {
		b.Set(activeLinesMetric, float64(f.content.lines.active), f.name)
		b.Set(uncommentedLinesMetric, float64(f.content.lines.uncommented), f.name)
	}
	for i, key := range f.config.Keys {
		b.Set(keyPresentMetric, collectors.Number(f.content.present[i]), f.name, key)
	}
}

// Describe implements Collector.
func (f *collector) Describe() []collectors.Desc { return collectors.Describe(defs()) }

// classes and permissions are the values of those labels, in the order of the
// bits of a mode.
func classes() []string { return []string{"user", "group", "other"} }

func permissions() []string { return []string{"read", "write", "execute"} }
