package remote

import (
	"fmt"
	"io"
	"net/netip"
	"path/filepath"
	"strings"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/files"
	"github.com/vitals-health/vitals/internal/redact"
)

// LocalHost reports whether a name or address is this host: loopback, or the unspecified
// address, for which Linux connects to loopback.
func LocalHost(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && (addr.Unmap().IsLoopback() || addr.IsUnspecified())
}

// PathProblem returns a problem if file, the value of the key at path, is not absolute. It does
// not quote the value of a key whose name is that of a secret.
func PathProblem(path, file string) []collectors.Problem {
	switch {
	case filepath.IsAbs(file):
		return nil
	case redact.Name(strings.TrimSuffix(path, "_file")):
		return SecretPathProblem(path, file)
	}
	return []collectors.Problem{{Path: path, Text: fmt.Sprintf("path %q: expected an absolute path", file)}}
}

// SecretPathProblem is PathProblem for the file of a secret. It does not quote the value, which
// may be the secret in place of its path.
func SecretPathProblem(path, file string) []collectors.Problem {
	if filepath.IsAbs(file) {
		return nil
	}
	return []collectors.Problem{{Path: path, Text: "expected the absolute path of a file"}}
}

// ReadClientFile reads a certificate or a secret of at most 1 MiB. It accepts regular files
// only: reading a FIFO without a writer would block forever.
func ReadClientFile(path string) ([]byte, error) {
	f, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", path, err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("read %s: expected a regular file", path)
	}
	data, err := io.ReadAll(io.NewSectionReader(f, 0, maxClientFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", path, err)
	case len(data) > maxClientFile:
		return nil, fmt.Errorf("read %s: it is larger than %s", path, collectors.Size(maxClientFile))
	}
	return data, nil
}

// maxClientFile bounds certificates and secrets in bytes.
const maxClientFile = 1 << 20
