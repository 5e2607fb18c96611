package profiles

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/file"
	httpkind "github.com/vitals-health/vitals/collectors/http"
	"github.com/vitals-health/vitals/collectors/kinds"
	"github.com/vitals-health/vitals/collectors/process"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/collectors/tcp"
	"github.com/vitals-health/vitals/internal/config"
	"github.com/vitals-health/vitals/internal/profiles/tripleo"
)

// tripleoBuilder makes the collectors of one service.
type tripleoBuilder struct {
	settings   tripleoSettings
	service    tripleo.Service
	from       *config.Sources
	collectors []kinds.Config
}

// build makes the collectors and returns the errors. A collector whose optional file is
// missing is left out.
func (b *tripleoBuilder) build() []error {
	if err := b.require(); err != nil {
		return []error{err}
	}
	var errs []error
	note := func(err error) {
		if err != nil {
			errs = append(errs, fmt.Errorf("service %s: %w", b.service.Name, err))
		}
	}
	for _, p := range b.service.Processes {
		note(b.process(p))
	}
	for _, h := range b.service.HTTP {
		if !slices.ContainsFunc(h.Files(), b.missing) {
			note(b.http(h))
		}
	}
	for _, q := range b.service.Queries {
		note(b.query(q))
	}
	for _, f := range b.service.Files {
		note(b.file(f))
	}
	return errs
}

// require reads the configuration files. It returns an error that names the required files
// that are missing.
func (b *tripleoBuilder) require() error {
	var missing []string
	files := b.service.ConfigFiles()
	for _, file := range files {
		_, _ = b.read(file) // recorded as a source, also if it is missing
		if b.missing(file) {
			missing = append(missing, b.path(file))
		}
	}
	switch {
	case len(missing) == 0 || b.service.MayMiss == tripleo.All:
		return nil
	case b.service.MayMiss == tripleo.Some && len(missing) < len(files):
		return nil
	case b.service.MayMiss == tripleo.Some:
		return fmt.Errorf("service %s: %s: there is no such file, expected one of them", b.service.Name, strings.Join(missing, ", "))
	}
	return fmt.Errorf("service %s: %s: there is no such file", b.service.Name, strings.Join(missing, ", "))
}

// path returns the path on this host of a path in the container.
func (b *tripleoBuilder) path(inside string) string { return filepath.Join(b.settings.root, inside) }

func (b *tripleoBuilder) missing(inside string) bool {
	_, err := os.Stat(b.path(inside))
	return errors.Is(err, fs.ErrNotExist)
}

// read reads a file of the container.
func (b *tripleoBuilder) read(inside string) ([]byte, error) {
	data, err := b.from.Regular(b.path(inside))
	if err != nil {
		return nil, b.wrong(inside, err)
	}
	return data, nil
}

// wrong adds the path of a file of the container to an error.
func (b *tripleoBuilder) wrong(inside string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", b.path(inside), err)
}

// number is the value of an option.
func (b *tripleoBuilder) number(o *tripleo.Option) (int, error) {
	data, err := b.read(o.INI)
	if err != nil {
		return 0, err
	}
	return o.Number(b.path(o.INI), data)
}

// add adds a valid collector. It returns an error for an invalid one, which would otherwise
// be reported as an error of the profile.
func (b *tripleoBuilder) add(name string, kind kinds.Kinds) error {
	c := kinds.Config{Name: name, Kinds: kind}
	c.SetDefaults()
	if kind.HTTP != nil && b.settings.curl.maxTime > 0 {
		c.Timeout = model.Duration(b.settings.curl.maxTime)
		c.Interval = max(c.Interval, c.Timeout)
	}
	if problems := c.Problems(); len(problems) > 0 {
		return fmt.Errorf("%s: %s", problems[0].Path, problems[0].Text)
	}
	b.collectors = append(b.collectors, c)
	return nil
}

func (b *tripleoBuilder) process(p tripleo.Process) error {
	k := &process.Config{}
	k.Name, k.Argument = p.Comm, p.Argument
	if b.settings.root != "" {
		k.PIDNamespace = "any" // the processes run in the container, Vitals on its host
	}
	k.Connections, k.Listen, k.UDP, k.UnixSockets = p.Connections, p.Listen, p.UDP, p.UnixSockets
	if p.UDPFrom != nil {
		port, err := b.number(p.UDPFrom)
		if err != nil {
			return err
		}
		k.UDP = []int{port}
	}
	return b.add(p.Name, kinds.Kinds{Process: k})
}

func (b *tripleoBuilder) http(h tripleo.HTTP) error {
	k := &httpkind.Config{}
	k.SetDefaults()
	k.Status = []string{"200-399"} // the successes of curl --fail
	k.UserAgent, k.UseProxy = b.settings.curl.userAgent, b.settings.curl.useProxy
	k.NoteFormat = cmp.Or(b.settings.curl.writeOut, k.NoteFormat)
	k.BodyOutput = b.settings.curl.output
	k.TLS = b.tls(nil)
	var err error
	switch {
	case h.VHost != "":
		k.URLFrom = &httpkind.URLFrom{VHost: b.path(h.VHost)}
	case h.INI != "":
		err = b.fromINI(k, h)
	default:
		err = b.clustercheck(k, h.Clustercheck)
	}
	if err != nil {
		return err
	}
	// Report an invalid file now, and not only at every collection.
	if _, err := k.Endpoint(); err != nil {
		return err
	}
	return b.add(h.Name, kinds.Kinds{HTTP: k})
}

// fromINI reads the address from options of an INI file.
func (b *tripleoBuilder) fromINI(k *httpkind.Config, h tripleo.HTTP) error {
	k.URLFrom = &httpkind.URLFrom{
		INI: b.path(h.INI), Host: h.Host, Port: h.Port, HTTPS: h.HTTPS, DefaultPort: h.DefaultPort, Path: h.Path,
	}
	if h.Listen != "" {
		data, err := b.read(h.Listen)
		if err != nil {
			return err
		}
		if k.URLFrom.DefaultPort, err = tripleo.ApachePort(data); err != nil {
			return b.wrong(h.Listen, err)
		}
	}
	if h.Pipeline != "" {
		data, err := b.read(h.INI)
		if err != nil {
			return err
		}
		has, err := tripleo.HasFilter(b.path(h.INI), data, h.Pipeline)
		if err != nil {
			return err
		}
		if !has {
			// Without the healthcheck filter the server answers 4xx for this path; any
			// answer means that it is up.
			k.Status = []string{"200-499"}
		}
	}
	return nil
}

// clustercheck reads the address from the options of socat.
func (b *tripleoBuilder) clustercheck(k *httpkind.Config, file string) error {
	data, err := b.read(file)
	if err != nil {
		return err
	}
	own, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("get the host name: %w", err)
	}
	k.URL, err = tripleo.ClustercheckURL(data, own)
	return b.wrong(file, err)
}

// tls returns the TLS settings of --set and of the server's files, or nil for none.
func (b *tripleoBuilder) tls(of *tripleo.TLS) *remote.ClientTLS {
	t := remote.ClientTLS{CAFile: b.settings.caFile, ServerName: b.settings.serverName, InsecureSkipVerify: b.settings.insecure}
	if of == nil && t == (remote.ClientTLS{}) {
		return nil
	}
	if of != nil {
		inside := func(file string) string {
			if file == "" {
				return ""
			}
			return b.path(file)
		}
		t.CAFile = cmp.Or(t.CAFile, inside(of.CAFile))
		t.CertFile, t.KeyFile = inside(of.CertFile), inside(cmp.Or(of.KeyFile, of.CertFile))
	}
	return &t
}

// query makes a collector for each address of a server.
func (b *tripleoBuilder) query(q tripleo.Query) error {
	endpoints := []tripleo.Endpoint{{Address: q.Address}}
	if q.Address == "" {
		var err error
		if endpoints, err = b.endpoints(q); err != nil {
			return err
		}
	}
	for i, e := range endpoints {
		k := &tcp.Config{}
		k.SetDefaults()
		k.Address, k.Protocol = e.Address, q.Protocol
		if socket, ok := strings.CutPrefix(e.Address, "unix:/"); ok {
			k.Address = "unix:" + b.path("/"+socket)
		}
		k.Username, k.Password = e.Username, collectors.Secret(e.Password)
		if e.TLS != nil {
			k.TLS = b.tls(e.TLS)
		}
		for _, s := range q.Dialogue {
			k.QueryResponse = append(k.QueryResponse, tcp.Step{Send: s.Send, Expect: s.Expect})
		}
		name := q.Name
		if i > 0 {
			name = fmt.Sprintf("%s-%d", q.Name, i+1)
		}
		if err := b.add(name, kinds.Kinds{TCP: k}); err != nil {
			return err
		}
	}
	return nil
}

// endpoints are the addresses in a server's own files, of which some may be missing.
func (b *tripleoBuilder) endpoints(q tripleo.Query) ([]tripleo.Endpoint, error) {
	var text bytes.Buffer
	var named []string
	for _, file := range q.Files {
		data, err := b.read(file)
		switch {
		case err == nil:
			text.Write(data)
			text.WriteByte('\n')
			named = append(named, b.path(file))
		case !q.Optional || !b.missing(file):
			return nil, err
		}
	}
	endpoints, err := tripleo.Endpoints(q.From, text.Bytes())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(named, ", "), err)
	}
	return endpoints, nil
}

func (b *tripleoBuilder) file(f tripleo.File) error {
	k := &file.Config{}
	k.SetDefaults()
	k.Path = b.path(f.Path)
	if f.Crontab {
		k.Format = "crontab"
	}
	if f.Epoch != "" {
		seconds, err := b.number(f.Limit)
		if err != nil {
			return err
		}
		k.Format, k.Epoch, k.AgeLimit = "json", f.Epoch, model.Duration(time.Duration(seconds)*time.Second)
	}
	return b.add(f.Name, kinds.Kinds{File: k})
}
