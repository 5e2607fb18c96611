package collectors

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/prometheus/common/model"
)

// FileConfig configures the kind file: whether a file is there, how large it is
// and when it was last written. The file is never opened, so a FIFO without a
// writer or a device does not hang the collector.
type FileConfig struct {
	// Path is absolute. A symbolic link is followed, as a mounted ConfigMap needs.
	Path string `yaml:"path"`
}

// Problems implements Kind.
func (c *FileConfig) Problems() []Problem {
	if !filepath.IsAbs(c.Path) {
		return []Problem{{"path", fmt.Sprintf("path %q: expected an absolute path", c.Path)}}
	}
	return nil
}

// External implements Kind: a file is on this host.
func (c *FileConfig) External() bool { return false }

// Uses implements Kind.
func (c *FileConfig) Uses() []string { return nil }

// New implements Kind.
func (c *FileConfig) New(env Env) (Collector, error) {
	return &file{name: env.Name, path: c.Path}, nil
}

type file struct{ name, path string }

// Collect asks the kernel for the file's attributes. That the file is not there is
// a measurement and no error; that nobody can say whether it is there is an error
// and no measurement.
func (f *file) Collect(context.Context) ([]Sample, error) {
	var b batch
	info, err := os.Stat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		b.add("vitals_file_exists", 0, "file", f.name)
		return b.samples, nil
	case err != nil:
		return nil, fmt.Errorf("look at file: %w", err)
	}
	b.add("vitals_file_exists", 1, "file", f.name)
	b.add("vitals_file_size_bytes", float64(info.Size()), "file", f.name)
	b.add("vitals_file_mtime_timestamp_seconds", epochSeconds(info.ModTime()), "file", f.name)
	b.add("vitals_file_info", 1, "file", f.name, "path", f.path, "type", fileType(info.Mode()))
	return b.samples, nil
}

// Describe implements Collector.
func (f *file) Describe() []Desc {
	return []Desc{
		{"vitals_file_exists", "Whether the file exists (1) or not (0); absent when nobody can say.", model.MetricTypeGauge},
		{"vitals_file_size_bytes", "Size of the file in bytes.", model.MetricTypeGauge},
		{"vitals_file_mtime_timestamp_seconds", "When the content of the file was last changed, in seconds since the epoch.", model.MetricTypeGauge},
		{"vitals_file_info", "The path of the file and what kind of file it is; always 1 while it exists.", model.MetricTypeGauge},
	}
}

// fileType names the kind of a file, out of a closed set.
func fileType(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "regular"
	case mode.IsDir():
		return "directory"
	case mode&fs.ModeSocket != 0:
		return "socket"
	case mode&fs.ModeNamedPipe != 0:
		return "fifo"
	case mode&fs.ModeDevice != 0:
		return "device"
	}
	return "other"
}

// epochSeconds is a moment in seconds since the epoch, with microseconds: the
// resolution that a float64 holds for the present.
func epochSeconds(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }
