package tripleo

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"github.com/vitals-health/vitals/collectors"
)

// Endpoint is the address of a server in its configuration.
type Endpoint struct {
	// Address is host:port or unix:/path.
	Address string
	// TLS is nil for a server without TLS.
	TLS *TLS
	// Username and Password are the server's credentials, empty for none.
	Username string
	Password collectors.Secret
}

// TLS names the files, in PEM, that a client needs; the paths may be empty.
type TLS struct {
	// CAFile is the CA of the server's certificate.
	CAFile string
	// CertFile and KeyFile are the server's. A client in the same container can use them
	// for a server that requires client certificates.
	CertFile, KeyFile string
}

// Endpoints returns the addresses in the text of a server's configuration. The format is
// redis, memcached, etcd, qdrouterd, rabbitmq or mysql. An empty text is the configuration
// of a server with its defaults.
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
		return nil, fmt.Errorf("format %.32q: expected one of redis, memcached, etcd, qdrouterd, rabbitmq, mysql", format)
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

// reach returns the address to connect to for a server that listens on host and port, from
// the same host: loopback for one that listens on all addresses.
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
		return "", fmt.Errorf("%.32q is no host: expected a name or an address", host)
	}
	return net.JoinHostPort(host, port), nil
}

// shellVariables parses a file of shell variables, such as those in /etc/sysconfig. It drops
// quotes around values and does not expand variables.
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
