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

// LocalHost says whether a host's name or address means this host: loopback, and the
// unspecified address, which leads there.
func LocalHost(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && (addr.Unmap().IsLoopback() || addr.IsUnspecified())
}

// PathProblem returns the mistake of a path that is not absolute.
func PathProblem(path, file string) []collectors.Problem {
	switch {
	case filepath.IsAbs(file):
		return nil
	case path == "body_file" || strings.HasPrefix(path, "header_files") || redact.Name(strings.TrimSuffix(path, "_file")):
		return []collectors.Problem{{Path: path, Text: "expected the absolute path of a file"}} // and got what may be the secret itself
	}
	return []collectors.Problem{{Path: path, Text: fmt.Sprintf("path %q: expected an absolute path", file)}}
}

// ReadClientFile reads a certificate or a secret. It waits for nobody: a FIFO may have no
// writer, and would hold its collector for ever.
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
