package http

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/file"
	"github.com/vitals-health/vitals/collectors/remote"
)

// maxEndpointFile bounds a file that names an endpoint, in bytes.
const maxEndpointFile = 1 << 20

// URLFrom is the configuration file of a server, which has the address on which it listens.
// Exactly one of VHost and INI is set; the other fields belong to INI.
type URLFrom struct {
	// VHost is the file of an Apache virtual host.
	VHost string `yaml:"vhost,omitempty"`
	// INI is a file of oslo.config. Host, Port and HTTPS are options in it, written
	// section.option.
	INI   string `yaml:"ini,omitempty"`
	Host  string `yaml:"host,omitempty"`
	Port  string `yaml:"port,omitempty"`
	HTTPS string `yaml:"https,omitempty"`
	// Path of the URL; "/" by default.
	Path string `yaml:"path,omitempty"`
	// DefaultHost and DefaultPort replace options that are not set or empty. The default of
	// DefaultHost is 127.0.0.1.
	DefaultHost string `yaml:"default_host,omitempty"`
	DefaultPort int    `yaml:"default_port,omitempty"`
}

func (f *URLFrom) problems(path string) []collectors.Problem {
	switch {
	case (f.VHost == "") == (f.INI == ""):
		return []collectors.Problem{{Path: path, Text: "expected exactly one of vhost and ini"}}
	case f.VHost != "":
		if *f != (URLFrom{VHost: f.VHost}) {
			return []collectors.Problem{{Path: path, Text: "options together with vhost: expected them together with ini only"}}
		}
		return remote.PathProblem(path+".vhost", f.VHost)
	}
	problems := remote.PathProblem(path+".ini", f.INI)
	for _, o := range []struct{ key, text string }{{"host", f.Host}, {"port", f.Port}, {"https", f.HTTPS}} {
		if key, err := file.ParseKey(o.text); o.text != "" && (err != nil || len(key) != 2) {
			problems = append(problems, collectors.Problem{Path: path + "." + o.key, Text: fmt.Sprintf("option %q: expected section.option", o.text)})
		}
	}
	if f.Port == "" && f.DefaultPort == 0 {
		problems = append(problems, collectors.Problem{Path: path, Text: "no port: expected port, default_port or both"})
	}
	if f.DefaultPort != 0 && !remote.ValidPort(strconv.Itoa(f.DefaultPort)) {
		problems = append(problems, collectors.Problem{Path: path + ".default_port", Text: fmt.Sprintf("port %d: expected 1 to 65535", f.DefaultPort)})
	}
	if f.DefaultHost != "" && !validHost(f.DefaultHost) {
		problems = append(problems, collectors.Problem{Path: path + ".default_host", Text: fmt.Sprintf("host %q: expected a name or an address", f.DefaultHost)})
	}
	if f.Path != "" && !strings.HasPrefix(f.Path, "/") {
		problems = append(problems, collectors.Problem{Path: path + ".path", Text: fmt.Sprintf("path %q: expected one that begins with /", f.Path)})
	}
	return problems
}

// file returns the path of the file.
func (f *URLFrom) file() string {
	if f.VHost != "" {
		return f.VHost
	}
	return f.INI
}

// Endpoint returns the URL of the request. With url_from, it reads the file, and an error names
// the file and, if it is known, the line.
func (c *Config) Endpoint() (string, error) {
	if c.URLFrom == nil {
		return c.URL, nil
	}
	data, err := file.Read(c.URLFrom.file(), maxEndpointFile)
	if err != nil {
		return "", missingEndpoint(c.URLFrom.file(), err)
	}
	return c.URLFrom.endpoint(data)
}

// missingEndpoint returns the error of a file that could not be read.
func missingEndpoint(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: there is no such file", path)
	}
	return err
}

// endpoint returns the URL in the content of the file.
func (f *URLFrom) endpoint(data []byte) (string, error) {
	read := f.fromINI
	if f.VHost != "" {
		read = parseVHost
	}
	u, wrong := read(data)
	if wrong != nil {
		return "", errors.New(wrong.In(f.file()))
	}
	return u.String(), nil
}

// endpoint finds the URL in a file, and reads it again after a change.
type endpoint struct {
	from   *URLFrom
	source *file.Watcher
	url    string
	err    error
}

func newEndpoint(from *URLFrom) *endpoint {
	return &endpoint{from: from, source: file.NewWatcher(from.file(), maxEndpointFile)}
}

// find returns the URL, or why there is none. It returns at the end of ctx, even if the file
// system hangs.
func (e *endpoint) find(ctx context.Context) (string, error) {
	data, changed, err := e.source.Read(ctx)
	if err != nil {
		return "", missingEndpoint(e.from.file(), err)
	}
	if changed {
		e.url, e.err = e.from.endpoint(data)
	}
	return e.url, e.err
}
