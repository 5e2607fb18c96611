// Package tripleo knows the services whose containers TripleO checked: what is looked at
// in each, and where the files that a container has say that its server listens.
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

// Service is one of TripleO's services: what is looked at in its container. All paths
// are those inside the container.
type Service struct {
	// Name is the name of TripleO's script.
	Name string `yaml:"-"`
	// Kind says in letters how TripleO's script looked.
	Kind string `yaml:"kind"`
	// MayMiss says which configuration files may be missing.
	MayMiss Missing `yaml:"may_miss"`
	// Arguments says what the arguments of the check are; empty where it takes none.
	Arguments Meaning `yaml:"arguments"`

	Processes []Process `yaml:"processes"`
	HTTP      []HTTP    `yaml:"http"`
	Queries   []Query   `yaml:"queries"`
	Files     []File    `yaml:"files"`
	// Rules are the rule files that judge all this, without their prefix "tripleo-".
	Rules []string `yaml:"rules"`
}

// Missing says which configuration files may be missing, because containers of one image
// are of several kinds. The zero value is none.
type Missing string

// The other values.
const (
	// Some files may be missing, and one of them has to be there.
	Some Missing = "some"
	// All files may be missing.
	All Missing = "all"
)

// Process is a process, and what it holds where it works.
type Process struct {
	// Name is the service's where it is not set.
	Name string `yaml:"name"`
	// Comm is the process's name in the kernel, and Argument one of the arguments of its
	// command line, without its folder. At most one of them is set; without both it is
	// the argument Name.
	Comm     string `yaml:"comm"`
	Argument string `yaml:"argument"`
	// Connections are remote TCP ports, Listen and UDP are its own ports. One of each is
	// enough.
	Connections []int `yaml:"connections"`
	Listen      []int `yaml:"listen"`
	UDP         []int `yaml:"udp"`
	// UDPFrom is where the file names the port; nil where UDP does.
	UDPFrom *Option `yaml:"udp_from"`
	// UnixSockets are paths, of which it holds one.
	UnixSockets []string `yaml:"unix_sockets"`
}

// Option is a number in an INI file.
type Option struct {
	INI string `yaml:"ini"`
	// Option is section.option.
	Option string `yaml:"option"`
	// Default is the number where the file has no such option.
	Default int `yaml:"default"`
}

// HTTP is an address to ask with GET, by the file that it is taken from.
type HTTP struct {
	// Name is the service's where it is not set.
	Name string `yaml:"name"`
	// VHost is a file with a virtual host of Apache.
	VHost string `yaml:"vhost"`
	// INI is a file with options, each section.option. Where it has none of them, the
	// host is 127.0.0.1 and the port DefaultPort.
	INI         string `yaml:"ini"`
	Host        string `yaml:"host"`
	Port        string `yaml:"port"`
	HTTPS       string `yaml:"https"`
	DefaultPort int    `yaml:"default_port"`
	Path        string `yaml:"path"`
	// Listen is a file of Apache whose directive Listen has the port, beside INI.
	Listen string `yaml:"listen"`
	// Pipeline is a filter that the option pipeline of the section pipeline:main of INI
	// has to name for Path to exist.
	Pipeline string `yaml:"pipeline"`
	// Clustercheck is the file with the options of the socat that runs clustercheck.
	Clustercheck string `yaml:"clustercheck"`
}

// Query is a question in a server's own protocol.
type Query struct {
	// Name is the service's where it is not set.
	Name string `yaml:"name"`
	// Protocol is one of the kind tcp; Dialogue stands instead of one. Without both the
	// connection is the answer.
	Protocol string `yaml:"protocol"`
	Dialogue []Step `yaml:"dialogue"`
	// Address is host:port, unix:/path or unix:@name. Without it, Files have it in the
	// format From, which is the protocol's name where it is not set.
	Address string   `yaml:"address"`
	Files   []string `yaml:"files"`
	From    string   `yaml:"from"`
	// Optional is set where there are defaults for what Files would say.
	Optional bool `yaml:"optional"`
}

// Step is a step of a dialogue: a text to send, or an expression to expect.
type Step struct {
	Send   string `yaml:"send"`
	Expect string `yaml:"expect"`
}

// File is a file that a service leaves behind.
type File struct {
	Name string `yaml:"name"`
	Path string `yaml:"path"`
	// Crontab is set where the lines of a crontab count.
	Crontab bool `yaml:"crontab"`
	// Epoch is the key of a number of seconds since the epoch in JSON, and Limit the age
	// at which it is too old, in seconds.
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

// name fills in what follows from the service's name.
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

// Find returns the service of that name. Its error says which name was probably meant.
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

// ConfigFiles are the configuration files that the service is looked at by, those that
// it can be looked at without left out.
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

// Files are the files that the address is taken from.
func (h HTTP) Files() []string {
	return slices.DeleteFunc([]string{h.VHost, h.INI, h.Listen, h.Clustercheck}, func(f string) bool { return f == "" })
}
