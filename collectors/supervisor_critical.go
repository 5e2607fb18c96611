package collectors

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// criticalPrograms are those of the configuration and of its file, which is read again
// when it changes. The zero value has none.
type criticalPrograms struct {
	// fixed are the configuration's, read those of the file as it last was in order.
	fixed, read []supervisorName
	// file is nil without one; err is what is wrong with it now.
	file *file
	err  error
}

// watch sets the file.
func (c *criticalPrograms) watch(path string) {
	look := fileLook{path: path, read: true, limit: maxCriticalFile, stat: os.Stat, open: openWithoutWaiting}
	c.file = &file{config: FileConfig{Path: path}, look: look}
}

// refresh looks whether the file has changed. A broken one leaves what was read before.
func (c *criticalPrograms) refresh(ctx context.Context) error {
	if c.file == nil {
		return nil
	}
	seen, err := c.file.ask(ctx)
	if err != nil {
		return &supervisorError{supervisorCritical, fmt.Errorf("read critical programs: %w", err)}
	}
	return c.take(seen)
}

// take reads the file's content unless it is known already.
func (c *criticalPrograms) take(seen fileSeen) error {
	path := c.file.config.Path
	switch {
	case seen.missing:
		c.err = fmt.Errorf("%s: there is no such file, expected one that is empty where nothing is critical", path)
	case seen.err != nil:
		c.err = seen.err
	case !seen.same:
		var names []supervisorName
		if names, c.err = parseCriticalFile(path, seen.data); c.err == nil {
			c.read = names
		}
	}
	seen.data = nil
	c.file.seen = seen
	if c.err == nil {
		return nil
	}
	text := "read critical programs: " + strings.ReplaceAll(c.err.Error(), "\n", "; ")
	return &supervisorError{supervisorCritical, errors.New(oneLine(text, maxReason))}
}

// names are all critical programs.
func (c *criticalPrograms) names() []supervisorName { return slices.Concat(c.fixed, c.read) }

// wanted says whether the configuration asks for critical programs at all.
func (c *criticalPrograms) wanted() bool { return c.file != nil || len(c.fixed) > 0 }
