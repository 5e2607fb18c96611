package tripleo

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// Endpoint is where a server listens, by its own configuration.
type Endpoint struct {
	// Address is host:port or unix:/path.
	Address string
	// TLS is nil where the server does not speak it.
	TLS *TLS
	// Username and Password are what the server wants of a client, if anything.
	Username string
	Password Secret
}

// TLS names the files, in PEM, that a client needs; the paths may be empty.
type TLS struct {
	// CAFile has who signed the server's certificate.
	CAFile string
	// CertFile and KeyFile are the server's own, which do for a client of the same
	// container where the server wants a certificate of it.
	CertFile, KeyFile string
}

// Secret is a text that prints as <secret>. Convert it where it is needed.
type Secret string

// Format implements fmt.Formatter for every verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("<secret>")) }

// Endpoints reads where a server listens from the text of its configuration in a
// format: redis, memcached, etcd, qdrouterd, rabbitmq or mysql. An empty text is that of
// a server with its defaults. The error says what the file lacks.
func Endpoints(format string, text []byte) ([]Endpoint, error) {
	parse, ok := map[string]func(string) ([]Endpoint, error){
		"redis":     one(redis),
		"memcached": one(memcached),
		"etcd":      etcd,
		"qdrouterd": one(qdrouterd),
		"rabbitmq":  one(rabbitmq),
		"mysql":     one(mysql),
	}[format]
	if !ok {
		return nil, fmt.Errorf("nothing is known of the format %q", format)
	}
	return parse(string(text))
}

func one(parse func(string) (Endpoint, error)) func(string) ([]Endpoint, error) {
	return func(text string) ([]Endpoint, error) {
		e, err := parse(text)
		if err != nil {
			return nil, err
		}
		return []Endpoint{e}, nil
	}
}

// reach is the address by which a server that listens on host and port is reached from
// beside it: where it listens on all addresses, that is loopback.
func reach(host, port string) (string, error) {
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", fmt.Errorf("%.32q is no port: expected a number from 1 to 65535", port)
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	switch host {
	case "", "*", "0.0.0.0":
		host = "127.0.0.1"
	case "::", "::*":
		host = "::1"
	}
	_, err := netip.ParseAddr(host)
	if err != nil && strings.ContainsAny(host, ":/@ \t'\"") {
		return "", fmt.Errorf("%.64q is no host: expected a name or an address", host)
	}
	return net.JoinHostPort(host, port), nil
}

// shellVariables reads the assignments of a file of variables, as /etc/sysconfig has
// them. Quotes around a value are dropped. Nothing is expanded.
func shellVariables(text string) map[string]string {
	variables := map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "export ")
		name, value, ok := strings.Cut(line, "=")
		if ok && name != "" && !strings.HasPrefix(line, "#") && !strings.ContainsAny(name, " \t") {
			variables[name] = unquote(strings.TrimSpace(value))
		}
	}
	return variables
}

// unquote drops one pair of quotes around a value.
func unquote(value string) string {
	if n := len(value); n >= 2 && value[0] == value[n-1] && (value[0] == '"' || value[0] == '\'') {
		return value[1 : n-1]
	}
	return value
}

// ApachePort returns the port of the first directive Listen of a file of Apache, or else
// of its first virtual host.
func ApachePort(text []byte) (int, error) {
	host := ""
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(strings.Trim(strings.TrimSpace(line), "<>"))
		if len(words) < 2 {
			continue
		}
		port := words[1][strings.LastIndex(words[1], ":")+1:]
		switch {
		case strings.EqualFold(words[0], "Listen"):
			return apachePort(port)
		case strings.EqualFold(words[0], "VirtualHost") && host == "":
			host = port
		}
	}
	if host == "" {
		return 0, errors.New("no directive Listen: expected one with a port")
	}
	return apachePort(host)
}

func apachePort(text string) (int, error) {
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("directive Listen with %.32q: expected a port from 1 to 65535", text)
	}
	return int(n), nil
}
