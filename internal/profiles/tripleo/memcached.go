package tripleo

import (
	"net"
	"strings"
)

// memcached reads the port and the command-line options from /etc/sysconfig/memcached. With
// TLS, TripleO adds an address without TLS, which begins with notls.
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

// reachOne returns the address of a host that may include a port. A host with several
// colons is an IPv6 address, with a port after the last colon or without.
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
