package supervisor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/file"
)

// criticalPrograms are those of the configuration and of its file, which is read again
// when it changes. The zero value has none.
type criticalPrograms struct {
	// fixed are the configuration's, read those of the file as it last was in order.
	fixed, read []supervisorName
	// file is nil without one; err is what is wrong with its content.
	file *file.Watcher
	path string
	err  error
}

// watch sets the file.
func (c *criticalPrograms) watch(path string) {
	c.path, c.file = path, file.NewWatcher(path, maxCriticalFile)
}

// refresh looks whether the file has changed. A broken one leaves what was read before.
func (c *criticalPrograms) refresh(ctx context.Context) error {
	if c.file == nil {
		return nil
	}
	return c.update(c.file.Read(ctx))
}

// update takes over what a read of the file returned.
func (c *criticalPrograms) update(data []byte, changed bool, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = fmt.Errorf("%s: there is no such file, expected one that is empty where nothing is critical", c.path)
	case err == nil && changed:
		err = c.take(data)
	case err == nil:
		err = c.err
	}
	if err == nil {
		return nil
	}
	text := "read critical programs: " + strings.ReplaceAll(err.Error(), "\n", "; ")
	return &collectors.Error[reason]{Reason: critical, Err: errors.New(collectors.OneLine(text, collectors.MaxReason))}
}

// take reads the file's content.
func (c *criticalPrograms) take(data []byte) error {
	names, err := parseCriticalFile(c.path, data)
	if c.err = err; err == nil {
		c.read = names
	}
	return err
}

// names are all critical programs.
func (c *criticalPrograms) names() []supervisorName { return slices.Concat(c.fixed, c.read) }

// wanted says whether the configuration asks for critical programs at all.
func (c *criticalPrograms) wanted() bool { return c.file != nil || len(c.fixed) > 0 }
