package collectors

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// maxEndpointFile bounds a file that names an endpoint, in bytes.
const maxEndpointFile = 1 << 20

// HTTPURLFrom is the file in which a server's own configuration says where it listens.
// Exactly one of VHost and INI is set; the rest belongs to INI.
type HTTPURLFrom struct {
	// VHost is the file of an Apache virtual host.
	VHost string `yaml:"vhost,omitempty"`
	// INI is a file as oslo.config reads it. Host, Port and HTTPS are options of it,
	// written section.option.
	INI   string `yaml:"ini,omitempty"`
	Host  string `yaml:"host,omitempty"`
	Port  string `yaml:"port,omitempty"`
	HTTPS string `yaml:"https,omitempty"`
	// Path of the URL; "/" where it is not set.
	Path string `yaml:"path,omitempty"`
	// DefaultHost and DefaultPort stand in for options that are not set, or empty.
	// 127.0.0.1 stands in for the host where neither is.
	DefaultHost string `yaml:"default_host,omitempty"`
	DefaultPort int    `yaml:"default_port,omitempty"`
}

func (f *HTTPURLFrom) problems(path string) []Problem {
	switch {
	case (f.VHost == "") == (f.INI == ""):
		return []Problem{{path, "expected exactly one of vhost and ini"}}
	case f.VHost != "":
		if *f != (HTTPURLFrom{VHost: f.VHost}) {
			return []Problem{{path, "options beside vhost: expected them beside ini only"}}
		}
		return pathProblem(path+".vhost", f.VHost)
	}
	problems := pathProblem(path+".ini", f.INI)
	for _, o := range []struct{ key, text string }{{"host", f.Host}, {"port", f.Port}, {"https", f.HTTPS}} {
		if key, err := parseFileKey(o.text); o.text != "" && (err != nil || len(key) != 2) {
			problems = append(problems, Problem{path + "." + o.key, fmt.Sprintf("option %q: expected section.option", o.text)})
		}
	}
	if f.Port == "" && f.DefaultPort == 0 {
		problems = append(problems, Problem{path, "no port: expected port, default_port or both"})
	}
	if f.DefaultPort != 0 && !validPort(strconv.Itoa(f.DefaultPort)) {
		problems = append(problems, Problem{path + ".default_port", fmt.Sprintf("port %d: expected 1 to 65535", f.DefaultPort)})
	}
	if f.DefaultHost != "" && !validHost(f.DefaultHost) {
		problems = append(problems, Problem{path + ".default_host", fmt.Sprintf("host %q: expected a name or an address", f.DefaultHost)})
	}
	if f.Path != "" && !strings.HasPrefix(f.Path, "/") {
		problems = append(problems, Problem{path + ".path", fmt.Sprintf("path %q: expected one that begins with /", f.Path)})
	}
	return problems
}

// file is where the URL comes from.
func (f *HTTPURLFrom) file() string {
	if f.VHost != "" {
		return f.VHost
	}
	return f.INI
}

// Endpoint returns the URL that is asked. Where a file names it, the file is read now, and
// an error names the file and, where it is known, the line.
func (c *HTTPConfig) Endpoint() (string, error) {
	if c.URLFrom == nil {
		return c.URL, nil
	}
	data, err := ReadFile(c.URLFrom.file(), maxEndpointFile)
	if err != nil {
		return "", missingEndpoint(c.URLFrom.file(), err)
	}
	return c.URLFrom.endpoint(data)
}

// missingEndpoint words the error of a file that does not exist.
func missingEndpoint(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: there is no such file", path)
	}
	return err
}

// endpoint makes the URL out of the content of the file.
func (f *HTTPURLFrom) endpoint(data []byte) (string, error) {
	read := f.fromINI
	if f.VHost != "" {
		read = parseVHost
	}
	u, wrong := read(data)
	if wrong != nil {
		return "", errors.New(wrong.in(f.file()))
	}
	return u.String(), nil
}

// httpEndpoint finds the URL in a file, which it reads again when it has changed.
type httpEndpoint struct {
	from   *HTTPURLFrom
	source *FileWatcher
	url    string
	err    error
}

func newHTTPEndpoint(from *HTTPURLFrom) *httpEndpoint {
	return &httpEndpoint{from: from, source: NewFileWatcher(from.file(), maxEndpointFile)}
}

// find returns the URL, or why there is none. A file system that hangs does not hold it
// beyond ctx.
func (e *httpEndpoint) find(ctx context.Context) (string, error) {
	data, changed, err := e.source.Read(ctx)
	if err != nil {
		return "", missingEndpoint(e.from.file(), err)
	}
	if changed {
		e.url, e.err = e.from.endpoint(data)
	}
	return e.url, e.err
}
