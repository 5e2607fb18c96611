package textfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/textformat"
	"github.com/vitals-health/vitals/internal/blocking"
	"github.com/vitals-health/vitals/internal/budget"
	"github.com/vitals-health/vitals/internal/files"
	"github.com/vitals-health/vitals/internal/text"
)

// reason is why a file, or the directory, could not be read. The set is closed, because it is a
// label.
type reason string

const (
	missing        reason = "missing"     // no directory, or no such file
	forbidden      reason = "forbidden"   // permission denied
	unreadable     reason = "unreadable"  // any other error of the file system
	timeout        reason = "timeout"     // the file system, or memory, was not there in time
	notRegular     reason = "not_regular" // a symbolic link, a directory, a FIFO, a device
	tooLarge       reason = "too_large"
	tooManyFiles   reason = "too_many_files"
	syntax         reason = "syntax"
	timestamp      reason = reason(textformat.ReasonTimestamp)
	duplicate      reason = reason(textformat.ReasonDuplicate) // a series twice, also in another file
	conflict       reason = "conflict"                         // a type other than in another file
	tooManySamples reason = reason(textformat.ReasonTooManySamples)
	limitOfLabels  reason = reason(textformat.ReasonLabelLimit)
	memory         reason = "memory"
)

func reasons() []reason {
	return []reason{missing, forbidden, unreadable, timeout, notRegular, tooLarge, tooManyFiles, syntax, timestamp, duplicate, conflict, tooManySamples, limitOfLabels, memory}
}

// reasonOf returns the reason of an error, none for nil.
func reasonOf(err error) reason {
	return collectors.ReasonOf(err, func(err error) reason {
		e, parsed := errors.AsType[*collectors.Error[textformat.Reason]](err)
		switch {
		case parsed && e.Reason == textformat.ReasonProtocol:
			return syntax
		case parsed:
			return reason(e.Reason)
		case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
			return timeout
		case errors.Is(err, budget.ErrExceeded):
			return memory
		case errors.Is(err, fs.ErrPermission):
			return forbidden
		case files.Missing(err):
			return missing
		}
		return unreadable
	})
}

// collector is a collector of the kind textfile. Only one Collect runs at a time.
type collector struct {
	name, path string
	// reader may hang with the file system. Only one call of it runs at a time.
	reader reader
	call   blocking.Call[listing]
	// last is the result of the last collection, without its samples, and lastErr its error.
	last     listing
	lastErr  error
	families []collectors.Desc
	at       time.Time
}

// Collect reads all files. A file that cannot be read exports none of its samples; the others
// count.
func (c *collector) Collect(ctx context.Context) ([]collectors.Sample, error) {
	all, err := c.call.Do(ctx, func() listing {
		early, cancel := patience(ctx)
		defer cancel()
		return c.reader.read(early)
	})
	if err != nil {
		all = listing{err: fmt.Errorf("read %s: no answer of the file system: %w", c.path, err)}
	}
	c.at, c.families = time.Now(), all.families
	b := c.own(all)
	for i := range all.files {
		b.Samples = append(b.Samples, all.files[i].samples...)
		all.files[i].samples = nil
	}
	c.last, c.lastErr = all, all.failure()
	return b.Samples, c.lastErr
}

// patience returns a context that ends shortly before ctx, so that a wait for memory ends with
// an error of its own.
func patience(ctx context.Context) (context.Context, context.CancelFunc) {
	const share = 10
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, deadline.Add(-time.Until(deadline)/share))
}

// own returns the samples of the kind's own metrics.
func (c *collector) own(all listing) collectors.Batch {
	var b collectors.Batch
	samples, reserved, ok := 0, 0, all.err == nil
	for _, f := range all.files {
		ok = ok && f.err == nil
		samples += len(f.samples)
		reserved += f.reserved
	}
	b.Set(upMetric, collectors.Number(ok), c.name)
	if all.listed {
		b.Set(filesMetric, float64(all.found), c.name)
	}
	b.Set(samplesMetric, float64(samples), c.name)
	b.Set(reservedMetric, float64(reserved), c.name)
	for _, f := range all.files {
		b.Set(successMetric, collectors.Number(f.err == nil), c.name, f.path)
		if f.err == nil {
			b.Set(mtimeMetric, collectors.EpochSeconds(f.changed), c.name, f.path)
		}
		c.setReason(&b, f.path, f.err)
	}
	if !slices.ContainsFunc(all.files, func(f file) bool { return f.path == c.path }) {
		c.setReason(&b, c.path, all.err)
	}
	return b
}

func (c *collector) setReason(b *collectors.Batch, path string, err error) {
	failed := reasonOf(err)
	for _, r := range reasons() {
		b.Set(failureMetric, collectors.Number(r == failed), c.name, path, string(r))
	}
}

// Describe lists the metrics of the kind and those of the files that were read last.
func (c *collector) Describe() []collectors.Desc {
	return append(collectors.Describe(defs()), c.families...)
}

// Note implements collectors.Noter: how many files there are, and the age of the oldest. After
// a failure the error is shown instead.
func (c *collector) Note() string {
	if c.lastErr != nil || len(c.last.files) == 0 {
		return ""
	}
	oldest := slices.MinFunc(c.last.files, func(a, b file) int { return a.changed.Compare(b.changed) })
	if len(c.last.files) == 1 {
		return text.Clip(oldest.path+": "+c.age(oldest), collectors.MaxNote)
	}
	return text.Clip(fmt.Sprintf("%s: %d files, the oldest is %s, %s", c.path, len(c.last.files), filepath.Base(oldest.path), c.age(oldest)), collectors.MaxNote)
}

// age returns when a file was written, as of the last collection.
func (c *collector) age(f file) string {
	if f.changed.After(c.at) {
		return "written " + text.Span(f.changed.Sub(c.at)) + " in the future"
	}
	return "written " + text.Span(c.at.Sub(f.changed)) + " ago"
}
