// Package firstconfig writes a first configuration: it reads what a host or a pod shows of the
// services on it and of those that it needs, and makes a collector for each. It opens no
// connection. A password that the configuration cannot refer to gets a file of its own.
package firstconfig

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/vitals-health/vitals/collectors"
)

// Host is where a workload runs.
type Host struct {
	// Root has the files of the host, below its root directory.
	Root fs.FS
	// Environment holds variables as NAME=VALUE.
	Environment []string
}

// Collector is a collector of the configuration.
type Collector struct {
	// Name is unique.
	Name string
	// Kind is the key of its kind.
	Kind string
	// Keys are those of its block, as the inside of a flow mapping in YAML.
	Keys string
	// Source describes what led to the collector.
	Source string
	// Password is the content of the file PasswordFile, which the keys name; empty without such
	// a file.
	Password collectors.Secret
	// Better are commented lines with what the reader may use instead, such as a block with
	// a password.
	Better []string
	// target is what it measures, to find it only once: an address or a path.
	target string
}

// PasswordFile returns the name of the file for the password.
func (c Collector) PasswordFile() string { return c.Name + ".password" }

// Found is what a host has.
type Found struct {
	Collectors []Collector
	// Kuryr is the path of a kuryr.conf, and Profile the profile for it; empty for none.
	Kuryr, Profile string
	// Others are the listening addresses that belong to no known service.
	Others []string
	// Remarks are about what was found and not used.
	Remarks []string
}

// Find returns what the requests name and what the host has, in this order. dir is the absolute
// path of the directory for files with passwords.
func Find(h Host, r Requests, dir string) (*Found, error) {
	f := &Found{}
	if err := f.requested(h, r); err != nil {
		return nil, err
	}
	env := environment(h.Environment)
	f.kuryr(h)
	f.kubernetes(h, env, r.Watch)
	f.openstack(env)
	f.variables(env)
	processes := h.processes()
	f.sockets(h, processes)
	f.units(h)
	f.name(dir)
	return f, nil
}

// add adds a collector unless its target has one.
func (f *Found) add(c Collector) {
	if slices.ContainsFunc(f.Collectors, func(o Collector) bool { return o.target != "" && o.target == c.target }) {
		return
	}
	f.Collectors = append(f.Collectors, c)
}

func (f *Found) remark(text string) { f.Remarks = append(f.Remarks, text) }

// maxName is the limit for names of collectors.
const maxName = 63

// name makes the names valid and unique, and names the files with passwords in dir.
func (f *Found) name(dir string) {
	used := map[string]bool{}
	for i := range f.Collectors {
		c := &f.Collectors[i]
		first := valid(c.Name)
		c.Name = first
		for n := 2; used[c.Name]; n++ {
			c.Name = first + "-" + strconv.Itoa(n)
		}
		used[c.Name] = true
		file := filepath.Join(dir, c.PasswordFile())
		c.Keys = strings.Replace(c.Keys, ownFile, quoted(file), 1)
		if p := c.Password.Value(); strings.TrimSpace(p) != p || strings.ContainsAny(p, "\r\n\x00") {
			f.remark(fmt.Sprintf("the password of %s is not written to %s, where a line break, a zero byte or white space around it would be lost: choose another password", c.Name, file))
			c.Password = ""
		}
	}
}

// valid returns a valid name for a collector, similar to a text.
func valid(text string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, text)
	for strings.Contains(name, "--") {
		name = strings.ReplaceAll(name, "--", "-")
	}
	const numbers = 4 // room for a number behind it
	name = strings.Trim(name[:min(len(name), maxName-numbers)], "-")
	if name == "" {
		return "collector"
	}
	return name
}
