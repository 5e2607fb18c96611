package file

import (
	"context"
	"fmt"
	"io/fs"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/blocking"
	"github.com/vitals-health/vitals/internal/files"
)

// collector is a collector of the kind file. Only one Collect runs at a time.
type collector struct {
	name   string
	config Config
	keys   []Key
	epoch  Key // nil: none

	// reader reads the file, and may hang with the file system.
	reader reader
	call   blocking.Call[snapshot]
	// last is the last snapshot without its data, and content the result of parsing them.
	last    snapshot
	content content

	note string
}

// content is the result of parsing the data that were last read.
type content struct {
	present []bool // by key
	epoch   float64
	lines   crontabLines
	err     error
}

// Collect reads the file. A missing file is a measurement and no error. If the file system
// cannot report whether the file exists, that is an error and no measurement.
func (c *collector) Collect(ctx context.Context) ([]collectors.Sample, error) {
	seen, err := c.snapshot(ctx)
	if err == nil {
		err = seen.err
	}
	if err == nil && c.config.Format != "" && seen.info != nil {
		if !seen.unchanged {
			c.content = seen.parsed
		}
		seen.parsed, seen.unchanged = content{}, true
		c.last, err = seen, c.content.err
	} else {
		c.last = snapshot{}
	}
	var b collectors.Batch
	if seen.missing || seen.info != nil {
		b.Set(existsMetric, collectors.Number(seen.info != nil), c.name)
	}
	if seen.info != nil {
		c.addAttributes(&b, seen.info)
	}
	reason := reasonOf(err)
	for _, r := range reasons() {
		b.Set(failureMetric, collectors.Number(r == reason), c.name, string(r))
	}
	c.addContent(&b, seen.info != nil, reason)
	if c.config.AgeLimit > 0 {
		b.Set(ageLimitMetric, time.Duration(c.config.AgeLimit).Seconds(), c.name)
	}
	c.note = c.noteAt(seen, err, time.Now())
	return b.Samples, err
}

// Note implements Noter: the age of the file or the lines of a crontab, if the configuration
// measures them.
func (c *collector) Note() string { return c.note }

// snapshot reads the file in a goroutine, of which there is at most one. If the file system
// hangs, the goroutine hangs, and the caller returns at the end of ctx.
func (c *collector) snapshot(ctx context.Context) (snapshot, error) {
	previous := c.last
	seen, err := c.call.Do(ctx, func() snapshot {
		early, cancel := c.patience(ctx)
		defer cancel()
		return c.reader.snapshot(early, previous)
	})
	if err != nil {
		err = collectors.Errorf(timeout, "stat file %s: no answer of the file system: %w", c.config.Path, err)
	}
	return seen, err
}

// patience returns a context that ends shortly before ctx, so that a wait for memory ends with
// an error of its own.
func (c *collector) patience(ctx context.Context) (context.Context, context.CancelFunc) {
	const share = 10
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, deadline.Add(-time.Until(deadline)/share))
}

// parse parses the content, and finds the keys.
func (c *collector) parse(data []byte) content {
	parsed, wrong := parseFormat(c.config.Format, data)
	if wrong != nil {
		return content{err: &collectors.Error[reason]{Reason: syntax, Err: fmt.Errorf("read file %s", wrong.In(c.config.Path))}}
	}
	result := content{lines: parsed.lines}
	for _, key := range c.keys {
		result.present = append(result.present, parsed.has(key))
	}
	if c.epoch != nil {
		var ok bool
		if result.epoch, ok = parsed.number(c.epoch); !ok {
			wrong := "missing"
			if parsed.has(c.epoch) {
				wrong = "no number"
			}
			result.err = collectors.Errorf(epoch, "read file %s: the key %s is %s: expected a number of seconds since the epoch", c.config.Path, c.config.Epoch, wrong)
		}
	}
	return result
}

// addAttributes adds the attributes of a file that exists.
func (c *collector) addAttributes(b *collectors.Batch, info fs.FileInfo) {
	b.Set(sizeMetric, float64(info.Size()), c.name)
	b.Set(mtimeMetric, collectors.EpochSeconds(info.ModTime()), c.name)
	b.Set(infoMetric, 1, c.name, c.config.Path, files.Type(info.Mode()))
	if uid, gid, ok := owner(info); ok {
		b.Set(ownerUIDMetric, float64(uid), c.name)
		b.Set(ownerGIDMetric, float64(gid), c.name)
	}
	bit := fs.FileMode(0o400)
	for _, class := range classes() {
		for _, permission := range permissions() {
			b.Set(permissionMetric, collectors.Number(info.Mode()&bit != 0), c.name, class, permission)
			bit >>= 1
		}
	}
}

// addContent adds whether the content is valid and has the keys. There is no such sample for
// a file that could not be read.
func (c *collector) addContent(b *collectors.Batch, exists bool, reason reason) {
	if c.config.Format == "" || !exists || reason == forbidden || reason == unreadable {
		return
	}
	valid := reason == "" || reason == epoch
	b.Set(validMetric, collectors.Number(valid), c.name, c.config.Format)
	if !valid {
		return
	}
	if c.epoch != nil && reason == "" {
		b.Set(epochMetric, c.content.epoch, c.name, c.config.Epoch)
	}
	if c.config.Format == formatCrontab {
		b.Set(activeLinesMetric, float64(c.content.lines.active), c.name)
		b.Set(uncommentedLinesMetric, float64(c.content.lines.uncommented), c.name)
	}
	for i, key := range c.config.Keys {
		b.Set(keyPresentMetric, collectors.Number(c.content.present[i]), c.name, key)
	}
}

// Describe implements Collector.
func (c *collector) Describe() []collectors.Desc { return collectors.Describe(defs()) }

// classes and permissions are the values of those labels, in the order of the bits of a mode.
func classes() []string { return []string{"user", "group", "other"} }

func permissions() []string { return []string{"read", "write", "execute"} }
