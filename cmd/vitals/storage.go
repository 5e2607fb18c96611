package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/internal/files"
	"github.com/vitals-health/vitals/internal/history"
	"github.com/vitals-health/vitals/internal/history/journal"
	"github.com/vitals-health/vitals/internal/text"
)

// minStorage is the least for --storage.retention.size: a few events fit.
const minStorage = 64 << 10

// storage is where events are stored. The zero value is nowhere.
type storage struct {
	path   string
	size   func() int64
	maxAge model.Duration

	// journal is nil before open, and without a path. past is what it had.
	journal *journal.Journal
	past    history.Past
}

// storageFlags declares the flags for storage, with the names of Prometheus.
func (p *program) storageFlags(cmd *kingpin.CmdClause) {
	cmd.Flag("storage.path", "A directory for the events, silences and maintenance, which a later process then has as well. By default they are kept in memory only.").PlaceHolder("DIR").StringVar(&p.storage.path)
	size := cmd.Flag("storage.retention.size", "With --storage.path: how many bytes the files may have together, such as 512KB or 16MB; the oldest events are removed.").Default("16MB").Bytes()
	p.storage.size = func() int64 { return int64(*size) }
	cmd.Flag("storage.retention.time", "With --storage.path: how long events are kept, such as 12h or 30d.").Default("30d").SetValue(&p.storage.maxAge)
}

// check returns an error for flags that cannot be obeyed.
func (s *storage) check() error {
	switch {
	case s.path == "":
		return nil
	case s.size() < minStorage:
		return fmt.Errorf("--storage.retention.size: expected at least %dKB", minStorage>>10)
	case s.maxAge <= 0:
		return fmt.Errorf("--storage.retention.time=%s: expected a duration above 0", s.maxAge)
	}
	return nil
}

// open opens the journal, where there is to be one.
func (s *storage) open(logger *slog.Logger) {
	if s.path != "" {
		s.journal, s.past = journal.Open(journal.Options{Dir: s.path, MaxBytes: s.size(), MaxAge: time.Duration(s.maxAge), Logger: logger})
	}
}

const (
	// terminationLog is the file in a container whose text Kubernetes shows when it has ended:
	// terminationMessagePath.
	terminationLog = "/dev/termination-log"
	// maxMessage is the most that the kubelet reads of it, in bytes.
	maxMessage = 4096
)

// lastMessage writes a text for whoever looks at the container after its end.
func (d *daemon) lastMessage(path, message string) {
	if err := files.Overwrite(path, text.Clip(message, maxMessage)); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
		d.logger.Warn("the last message is not written", "file", path, "err", err)
	}
}
