package manifest

import (
	"time"

	"gopkg.in/yaml.v3"
)

func (r *reader) probe(kind string, key, n *yaml.Node) Probe {
	p := Probe{
		Kind: kind, Lines: lines(key, n), places: map[string]Lines{},
		InitialDelay: r.seconds(n, "initialDelaySeconds", 0), Period: r.seconds(n, "periodSeconds", 10),
		Timeout: r.seconds(n, "timeoutSeconds", 1), FailureThreshold: r.count(n, "failureThreshold", 3),
		SuccessThreshold: r.count(n, "successThreshold", 1),
	}
	p.locate("", n)
	if get := get(n, "httpGet"); get != nil {
		p.HTTP = r.http(get)
	}
	if command := get(n, "exec", "command"); command != nil {
		p.Exec = texts(command)
	}
	if socket := get(n, "tcpSocket"); socket != nil {
		t := r.target(socket)
		p.TCP = &t
	}
	if grpc := get(n, "grpc"); grpc != nil {
		t := r.target(grpc)
		p.GRPC, p.Service = &t, text(get(grpc, "service"))
	}
	return p
}

// locate stores the positions of the keys of a mapping and of its mappings.
func (p *Probe) locate(prefix string, n *yaml.Node) {
	for _, e := range entries(n) {
		name := prefix + e.key.Value
		if _, found := p.places[name]; found {
			continue
		}
		at := e.value
		if deref(at).Kind != yaml.ScalarNode {
			at = e.key
		}
		p.places[name] = lines(at, e.value)
		if prefix == "" {
			p.locate(name+".", e.value)
		}
	}
}

// http reads an HTTP probe with its defaults: see SetDefaults_HTTPGetAction.
func (r *reader) http(n *yaml.Node) *HTTP {
	h := &HTTP{Target: r.target(n), Scheme: "HTTP", Path: "/"}
	if scheme := text(get(n, "scheme")); scheme != "" {
		h.Scheme = scheme
	}
	if path := text(get(n, "path")); path != "" {
		h.Path = path
	}
	return h
}

// target reads the number or name of a port. A number may be quoted.
func (r *reader) target(n *yaml.Node) Target {
	t := Target{Host: text(get(n, "host"))}
	port := get(n, "port")
	if port == nil {
		r.fail(n, "expected a port, by number or by name")
		return t
	}
	if number, ok := whole(port.Value); ok {
		t.Port = number
		r.port(port, "port", number)
	} else {
		t.Name = port.Value
	}
	return t
}

// port checks the number of a port.
func (r *reader) port(n *yaml.Node, key string, number int) {
	if number < 1 || number > 65535 {
		r.fail(n, "%s %d, expected 1 to 65535", key, number)
	}
}

func (r *reader) seconds(n *yaml.Node, key string, def int) time.Duration {
	return time.Duration(r.count(n, key, def)) * time.Second
}

// count reads a number; 0 means the default, as for the API server.
func (r *reader) count(n *yaml.Node, key string, def int) int {
	value, ok := r.number(get(n, key), key)
	if !ok || value == 0 && def > 0 {
		return def
	}
	return value
}

// number reads a whole number, and false if there is none.
func (r *reader) number(n *yaml.Node, key string) (int, bool) {
	if n == nil || n.Tag == "!!null" {
		return 0, false
	}
	value, ok := whole(n.Value)
	if !ok || n.Tag != "!!int" {
		r.fail(n, "%s %.40q, expected a whole number from 0 to %d, without quotes", key, n.Value, most)
		return 0, false
	}
	return value, true
}
