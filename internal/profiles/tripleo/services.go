// Package tripleo is the table of the services whose containers TripleO checked: the checks
// of each, and the addresses of servers in the configuration files of containers.
package tripleo

import (
	"embed"
	"errors"
	"maps"
	"slices"

	"github.com/vitals-health/vitals/internal/strictyaml"
)

//go:embed services.yml
var shipped embed.FS

// Service is one of TripleO's services with the checks of its container. All paths are
// inside the container.
type Service struct {
	// Name is the name of TripleO's script.
	Name string `yaml:"-"`
	// Kind has a letter for each check of TripleO's script; see services.yml.
	Kind string `yaml:"kind"`
	// MayMiss is which configuration files may be missing.
	MayMiss Missing `yaml:"may_miss"`
	// Arguments is the meaning of the check's arguments; empty for none.
	Arguments Meaning `yaml:"arguments"`

	Processes []Process `yaml:"processes"`
	HTTP      []HTTP    `yaml:"http"`
	Queries   []Query   `yaml:"queries"`
	Files     []File    `yaml:"files"`
	// Rules are the rule files for the checks, without their prefix "tripleo-".
	Rules []string `yaml:"rules"`
}

// Missing is which configuration files may be missing, because containers of one image
// have different roles. The zero value is none.
type Missing string

// The other values.
const (
	// Some files may be missing, but not all of them.
	Some Missing = "some"
	// All files may be missing.
	All Missing = "all"
)

// Process is a process with its sockets.
type Process struct {
	// Name is that of the service by default.
	Name string `yaml:"name"`
	// Comm is the process's name in the kernel, and Argument is an argument of its command
	// line without directories. At most one is set. The default is the argument Name.
	Comm     string `yaml:"comm"`
	Argument string `yaml:"argument"`
	// Connections are remote TCP ports; Listen and UDP are local ports. One of each is
	// sufficient.
	Connections []int `yaml:"connections"`
	Listen      []int `yaml:"listen"`
	UDP         []int `yaml:"udp"`
	// UDPFrom is the option with the UDP port; nil for the ports in UDP.
	UDPFrom *Option `yaml:"udp_from"`
	// UnixSockets are paths, of which one is open in the process.
	UnixSockets []string `yaml:"unix_sockets"`
}

// Option is a number in an INI file.
type Option struct {
	INI string `yaml:"ini"`
	// Option is section.option.
	Option string `yaml:"option"`
	// Default is the number if the option is not set or empty.
	Default int `yaml:"default"`
}

// HTTP is a GET request to an address from a file.
type HTTP struct {
	// Name is that of the service by default.
	Name string `yaml:"name"`
	// VHost is a file with a virtual host of Apache.
	VHost string `yaml:"vhost"`
	// INI is a file with options, each section.option. The default host is 127.0.0.1 and
	// the default port DefaultPort.
	INI         string `yaml:"ini"`
	Host        string `yaml:"host"`
	Port        string `yaml:"port"`
	HTTPS       string `yaml:"https"`
	DefaultPort int    `yaml:"default_port"`
	Path        string `yaml:"path"`
	// Listen is a file of Apache with the port in its directive Listen, for INI.
	Listen string `yaml:"listen"`
	// Pipeline is the filter that serves Path: Path exists if the option pipeline of INI's
	// section pipeline:main contains it.
	Pipeline string `yaml:"pipeline"`
	// Clustercheck is the file with the options of the socat that runs clustercheck.
	Clustercheck string `yaml:"clustercheck"`
}

// Query is a request in a server's own protocol.
type Query struct {
	// Name is that of the service by default.
	Name string `yaml:"name"`
	// Protocol is one of the kind tcp, or Dialogue is set. Without both a connection is
	// sufficient.
	Protocol string `yaml:"protocol"`
	Dialogue []Step `yaml:"dialogue"`
	// Address is host:port, unix:/path or unix:@name. Without it, the address is in Files,
	// in the format From. The default of From is the protocol's name.
	Address string   `yaml:"address"`
	Files   []string `yaml:"files"`
	From    string   `yaml:"from"`
	// Optional is set if the server has defaults without Files.
	Optional bool `yaml:"optional"`
}

// Step is a step of a dialogue: a text to send, or an expression to expect.
type Step struct {
	Send   string `yaml:"send"`
	Expect string `yaml:"expect"`
}

// File is a file that a service writes.
type File struct {
	Name string `yaml:"name"`
	Path string `yaml:"path"`
	// Crontab is set for a crontab, whose lines are counted.
	Crontab bool `yaml:"crontab"`
	// Epoch is a key in JSON with seconds since the epoch, and Limit its maximum age in
	// seconds.
	Epoch string  `yaml:"epoch"`
	Limit *Option `yaml:"limit"`
}

// Services returns all services, in the order of their names.
func Services() []Service {
	var file struct {
		Services map[string]Service `yaml:"services"`
	}
	data, err := shipped.ReadFile("services.yml")
	if err != nil {
		panic("internal error: " + err.Error())
	}
	if _, mistakes := strictyaml.Decode("services.yml", data, &file); len(mistakes) > 0 {
		panic("internal error: " + mistakes[0].Error())
	}
	var all []Service
	for _, name := range slices.Sorted(maps.Keys(file.Services)) {
		s := file.Services[name]
		s.name(name)
		all = append(all, s)
	}
	return all
}

// name sets the service's name and the defaults that depend on it.
func (s *Service) name(name string) {
	s.Name = name
	for i := range s.Processes {
		p := &s.Processes[i]
		setDefault(&p.Name, name)
		if p.Comm == "" {
			setDefault(&p.Argument, p.Name)
		}
	}
	for i := range s.HTTP {
		setDefault(&s.HTTP[i].Name, name)
	}
	for i := range s.Queries {
		setDefault(&s.Queries[i].Name, name)
		if len(s.Queries[i].Files) > 0 {
			setDefault(&s.Queries[i].From, s.Queries[i].Protocol)
		}
	}
}

func setDefault(to *string, value string) {
	if *to == "" {
		*to = value
	}
}

// Find returns the service of that name. Its error suggests a similar name.
func Find(name string) (Service, error) {
	all := Services()
	names := make([]string, len(all))
	for i, s := range all {
		if s.Name == name {
			return s, nil
		}
		names[i] = s.Name
	}
	return Service{}, errors.New("there is no such service: " + strictyaml.Expected(name, names))
}

// ConfigFiles returns the configuration files that the checks require.
func (s Service) ConfigFiles() []string {
	var files []string
	add := func(paths ...string) {
		for _, p := range paths {
			if p != "" && !slices.Contains(files, p) {
				files = append(files, p)
			}
		}
	}
	for _, p := range s.Processes {
		if p.UDPFrom != nil {
			add(p.UDPFrom.INI)
		}
	}
	for _, h := range s.HTTP {
		add(h.Files()...)
	}
	for _, q := range s.Queries {
		if !q.Optional {
			add(q.Files...)
		}
	}
	for _, f := range s.Files {
		if f.Limit != nil {
			add(f.Limit.INI)
		}
	}
	return files
}

// Files returns the files that contain the address.
func (h HTTP) Files() []string {
	return slices.DeleteFunc([]string{h.VHost, h.INI, h.Listen, h.Clustercheck}, func(f string) bool { return f == "" })
}
