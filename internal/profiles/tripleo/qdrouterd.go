package tripleo

import (
	"errors"
	"fmt"
	"strings"
)

// qdrouterd reads qdrouterd.conf(5), which has blocks of "name: value". It returns the first
// listener that is not for HTTP, with its profile.
func qdrouterd(text string) (Endpoint, error) {
	blocks, err := routerBlocks(text)
	if err != nil {
		return Endpoint{}, err
	}
	for _, b := range blocks {
		if b.kind != "listener" || b.get("http") == "yes" || b.get("http") == "true" {
			continue
		}
		host, port := b.get("host"), b.get("port")
		setDefault(&host, b.get("addr"))
		switch port {
		case "", "amqp":
			port = "5672"
		case "amqps":
			port = "5671"
		}
		var e Endpoint
		if name := b.get("sslProfile"); name != "" {
			if e.TLS, err = routerTLS(blocks, name); err != nil {
				return e, err
			}
		}
		e.Address, err = reach(host, port)
		return e, err
	}
	return Endpoint{}, errors.New("no listener: expected one without http")
}

// routerTLS returns the TLS files of the profile of that name.
func routerTLS(blocks []routerBlock, name string) (*TLS, error) {
	for _, b := range blocks {
		if b.kind != "sslProfile" || b.get("name") != name {
			continue
		}
		t := &TLS{CAFile: b.get("caCertFile"), CertFile: b.get("certFile"), KeyFile: b.get("privateKeyFile")}
		setDefault(&t.CAFile, b.get("certDb"))
		setDefault(&t.KeyFile, b.get("keyFile"))
		return t, nil
	}
	return nil, fmt.Errorf("the listener's sslProfile %.32q: expected a block sslProfile of that name", name)
}

// routerBlock is a block such as "listener { host: 0.0.0.0 }".
type routerBlock struct {
	kind    string
	options map[string]string
}

func (b routerBlock) get(name string) string { return b.options[name] }

func routerBlocks(text string) ([]routerBlock, error) {
	var all []routerBlock
	var current *routerBlock
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), "#")
		name, begins := strings.CutSuffix(strings.TrimSpace(line), "{")
		switch {
		case begins:
			current = &routerBlock{strings.TrimSpace(name), map[string]string{}}
		case strings.TrimSpace(line) == "}":
			if current == nil {
				return nil, errors.New(`a "}" without its "{"`)
			}
			all = append(all, *current)
			current = nil
		case current != nil:
			if name, value, ok := strings.Cut(line, ":"); ok {
				current.options[strings.TrimSpace(name)] = strings.TrimSpace(value)
			}
		}
	}
	if current != nil {
		return nil, fmt.Errorf("the block %.32q has no end", current.kind)
	}
	return all, nil
}
