package configfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/vitals-health/vitals/internal/files"
)

// pipeTimeout bounds how long the writer of a pipe may take. It is below reloadTimeout, so
// that the mistake names the file.
const pipeTimeout = 20 * time.Second

// ReadFile reads a file of at most 8 MiB. It limits the bytes that it reads, because a
// device or a pipe has no size. A pipe without a writer is an error.
func ReadFile(path string) ([]byte, error) {
	f, err := files.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errors.New("there is no such file")
	case errors.Is(err, fs.ErrPermission):
		return nil, errors.New("this user has no permission to read it")
	case err != nil:
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		return nil, errors.New("is a directory, expected a file")
	}
	pipe := err == nil && info.Mode()&fs.ModeNamedPipe != 0
	if pipe {
		_ = f.SetReadDeadline(time.Now().Add(pipeTimeout)) // a file that was opened without waiting has one
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if pipe && (len(data) == 0 || errors.Is(err, os.ErrDeadlineExceeded)) {
		return nil, errors.New("is a pipe whose writer sends nothing or does not end, expected a file")
	}
	return atMost(data, err, maxFile)
}
