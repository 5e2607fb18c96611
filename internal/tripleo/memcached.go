package tripleo

import (
	"net"
	"strings"
)

// memcached reads /etc/sysconfig/memcached: the port, and the options of the command
// line. With TLS, TripleO adds an address without it, which begins with notls.
func memcached(text string) (Endpoint, error) {
	variables := shellVariables(text)
	port := "11211"
	setIf(&port, variables["PORT"])
	var listen []string
	secured := false
	words := strings.Fields(variables["OPTIONS"])
	for i, w := range words {
		value := append(words[i+1:], "")[0]
		switch {
		case w == "-p" || w == "--port":
			setIf(&port, value)
		case w == "-l" || w == "--listen":
			listen = append(listen, strings.Split(value, ",")...)
		case w == "-Z" || w == "--enable-ssl":
			secured = true
		case strings.HasPrefix(w, "--port="):
			port = w[len("--port="):]
		case strings.HasPrefix(w, "--listen="):
			listen = append(listen, strings.Split(w[len("--listen="):], ",")...)
		case strings.HasPrefix(w, "-l"):
			listen = append(listen, strings.Split(w[len("-l"):], ",")...)
		}
	}
	address := append(listen, "")[0]
	for _, l := range listen {
		if clear, ok := strings.CutPrefix(l, "notls:"); ok {
			address, secured = clear, false
			break
		}
	}
	e := Endpoint{}
	if secured {
		e.TLS = &TLS{}
	}
	var err error
	e.Address, err = reachOne(address, port)
	return e, err
}

// reachOne is the address of a host that may have a port of its own. One with colons is
// an address of IPv6 without a port, or has a port behind the last of them.
func reachOne(address, port string) (string, error) {
	host, own, err := net.SplitHostPort(address)
	if err == nil {
		return reach(host, own)
	}
	if i := strings.LastIndex(address, ":"); strings.Count(address, ":") > 1 && address[i+1:] == port && !strings.HasSuffix(address[:i], ":") {
		return reach(address[:i], port)
	}
	return reach(address, port)
}

func setIf(to *string, value string) {
	if value != "" {
		*to = value
	}
}
