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
	"github.com/vitals-health/vitals/internal/text"
)

// criticalPrograms are the critical programs of the configuration and of a file, which is
// read again when it changes. The zero value has none.
type criticalPrograms struct {
	// fixed are those of the configuration, read those of the last valid file.
	fixed, read []programName
	// file is nil without a file; err is the error of its content.
	file *file.Watcher
	path string
	err  error
}

// watch sets the file.
func (c *criticalPrograms) watch(path string) {
	c.path, c.file = path, file.NewWatcher(path, maxCriticalFile)
}

// refresh reads a changed file. An invalid one keeps the programs of the last valid one.
func (c *criticalPrograms) refresh(ctx context.Context) error {
	if c.file == nil {
		return nil
	}
	return c.update(c.file.Read(ctx))
}

// update processes the result of a read of the file.
func (c *criticalPrograms) update(data []byte, changed bool, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = fmt.Errorf("%s: no such file: expected an empty one if no program is critical", c.path)
	case err == nil && changed:
		err = c.take(data)
	case err == nil:
		err = c.err
	}
	if err == nil {
		return nil
	}
	message := "read critical programs: " + strings.ReplaceAll(err.Error(), "\n", "; ")
	return &collectors.Error[reason]{Reason: critical, Err: errors.New(text.Short(message, collectors.MaxReason))}
}

// take parses the content of the file.
func (c *criticalPrograms) take(data []byte) error {
	names, err := parseCriticalFile(c.path, data)
	if c.err = err; err == nil {
		c.read = names
	}
	return err
}

// names returns all critical programs.
func (c *criticalPrograms) names() []programName { return slices.Concat(c.fixed, c.read) }

// wanted reports whether critical programs are configured.
func (c *criticalPrograms) wanted() bool { return c.file != nil || len(c.fixed) > 0 }
