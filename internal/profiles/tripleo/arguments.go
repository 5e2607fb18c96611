package tripleo

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Meaning is the type of a check's arguments.
type Meaning string

// The meanings. The zero value is that of a check without arguments.
const (
	// Ports are ports that replace the default ones; one open port is sufficient.
	Ports Meaning = "ports"
	// Daemon is the name of a daemon of libvirt.
	Daemon Meaning = "daemon"
	// User is the owner of the crontab; root by default.
	User Meaning = "user"
)

// WithArguments returns the service with the arguments of its check applied. In text they
// are separated by white space.
func (s Service) WithArguments(text string) (Service, error) {
	words := strings.Fields(text)
	switch s.Arguments {
	case Ports:
		return s.withPorts(words)
	case Daemon:
		return s.withDaemon(words)
	case User:
		return s.withUser(words)
	}
	if len(words) > 0 {
		return s, fmt.Errorf("the service %s takes no arguments", s.Name)
	}
	return s, nil
}

// withPorts replaces the ports of processes.
func (s Service) withPorts(words []string) (Service, error) {
	if len(words) == 0 {
		return s, nil
	}
	var ports []int
	for _, w := range words {
		n, err := strconv.ParseUint(w, 10, 16)
		if err != nil || n == 0 {
			return s, fmt.Errorf("%.32q is no port: expected numbers from 1 to 65535", w)
		}
		if !slices.Contains(ports, int(n)) {
			ports = append(ports, int(n))
		}
	}
	s.Processes = slices.Clone(s.Processes)
	for i := range s.Processes {
		p := &s.Processes[i]
		for _, to := range []*[]int{&p.Connections, &p.Listen, &p.UDP} {
			if len(*to) > 0 {
				*to = ports
			}
		}
	}
	return s, nil
}

// libvirtDaemons are the daemons of libvirt and the names of their sockets
// (https://libvirt.org/daemons.html). virtproxyd replaces libvirtd.
func libvirtDaemons() map[string]string {
	sockets := map[string]string{"libvirtd": "libvirt-sock", "virtproxyd": "libvirt-sock"}
	for _, d := range []string{
		"virtinterfaced", "virtlockd", "virtlogd", "virtnetworkd", "virtnodedevd", "virtnwfilterd", "virtqemud", "virtsecretd", "virtstoraged",
	} {
		sockets[d] = d + "-sock"
	}
	return sockets
}

// withDaemon adds the process of a daemon with its socket. /var/run is a link to /run, and
// the daemon may have bound either path.
func (s Service) withDaemon(words []string) (Service, error) {
	if len(words) != 1 {
		return s, errors.New("expected the name of one daemon, such as virtlogd or libvirtd")
	}
	socket, ok := libvirtDaemons()[words[0]]
	if !ok {
		return s, fmt.Errorf("%.32q is no daemon of libvirt: expected one such as virtlogd, virtqemud or libvirtd", words[0])
	}
	s.Processes = []Process{{
		Name: words[0], Comm: words[0],
		UnixSockets: []string{"/run/libvirt/" + socket, "/var/run/libvirt/" + socket},
	}}
	return s, nil
}

// withUser selects the crontab of another user than root.
func (s Service) withUser(words []string) (Service, error) {
	if len(words) == 0 {
		return s, nil
	}
	if len(words) > 1 || strings.ContainsAny(words[0], "/\x00") || words[0] == "." || words[0] == ".." {
		return s, errors.New("expected the name of one user")
	}
	s.Files = slices.Clone(s.Files)
	for i := range s.Files {
		if f := &s.Files[i]; f.Crontab {
			f.Path = path.Join(path.Dir(f.Path), words[0])
		}
	}
	return s, nil
}
