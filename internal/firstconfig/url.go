package firstconfig

import (
	"net"
	"net/url"
	"slices"
	"strings"
)

// login is what a URL or variables have of a login, without the password.
type login struct {
	user, database, mode string
	hasPassword          bool
}

// ofURL returns the collector for the service at a URL. It returns false for a text that is no
// such URL. The password of the URL is not used.
func ofURL(text string, password secret) (Collector, bool) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" && u.Scheme != "unix" {
		return Collector{}, false
	}
	l := login{database: strings.Trim(u.Path, "/"), mode: u.Query().Get("sslmode")}
	if u.User != nil {
		l.user = u.User.Username()
		_, l.hasPassword = u.User.Password()
	}
	scheme, _, _ := strings.Cut(u.Scheme, "+") // such as mysql+pymysql
	at := func(port string) string {
		if p := u.Port(); p != "" {
			port = p
		}
		return endpoint(u.Hostname(), port)
	}
	switch scheme {
	case "http", "https":
		return ofWeb(u), true
	case "redis", "rediss":
		return redis(at("6379"), l, password, scheme == "rediss"), true
	case "postgres", "postgresql":
		return postgres(at("5432"), l, password), true
	case "mysql", "mariadb":
		return loggedIn(at("3306"), "mysql", l, password), true
	case "amqp", "rabbit":
		return loggedIn(at("5672"), "amqp", l, password), true
	case "memcached", "memcache":
		return memcached(at("11211")), true
	case "mongodb":
		return tcp("")(at("27017")), true
	case "grpc", "dns":
		if u.Port() == "" {
			return Collector{}, false
		}
		return Collector{Kind: "grpc", Keys: flow("address", at("")), target: at("")}, scheme == "grpc"
	case "tcp":
		return tcp("")(at("")), u.Port() != ""
	}
	return Collector{}, false
}

// ofWeb returns a collector for a URL without its user information, query and fragment, which
// may hold secrets.
func ofWeb(u *url.URL) Collector {
	plain := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	c := Collector{Kind: "http", Keys: flow("url", plain.String()), target: plain.Host}
	if u.RawQuery != "" {
		c.Better = []string{"The query of the URL is left out: it may hold a secret."}
	}
	if u.User != nil {
		c.Better = []string{"Credentials and query of the URL are left out. With the password in a file:",
			"  http: {" + flow("url", plain.String()) + ", basic_auth: {" + flow("username", u.User.Username()) + ", password_file: FILE}}"}
	}
	return c
}

// endpoint returns host:port.
func endpoint(host, port string) string { return net.JoinHostPort(host, port) }

// redis returns a collector for a redis. One that requires an unknown password is only connected to.
func redis(address string, l login, password secret, tls bool) Collector {
	keys := []string{flow("address", address)}
	if l.user != "" {
		keys = append(keys, flow("username", l.user))
	}
	return finished("redis", address, keys, tls, l, password)
}

// loggedIn returns a collector of the kind tcp for a protocol with a login.
func loggedIn(address, protocol string, l login, password secret) Collector {
	keys := []string{flow("address", address), "protocol: " + protocol}
	if l.user != "" {
		keys = append(keys, flow("username", l.user))
	}
	if l.database != "" {
		keys = append(keys, flow("database", l.database))
	}
	return finished("tcp", address, keys, false, l, password)
}

// postgres returns a collector for a PostgreSQL, whose password is in a file.
func postgres(address string, l login, password secret) Collector {
	keys := []string{flow("address", address)}
	if l.user != "" {
		keys = append(keys, flow("username", l.user))
	}
	if l.database != "" {
		keys = append(keys, flow("database", l.database))
	}
	if slices.Contains([]string{"disable", "allow", "prefer", "require", "verify-ca", "verify-full"}, l.mode) {
		keys = append(keys, flow("sslmode", l.mode))
	}
	l.hasPassword = l.hasPassword || password.variable != ""
	return finished("postgres", address, keys, false, l, secret{file: password.file})
}

// finished returns a collector with its password, or one that only connects where a password
// exists that a configuration cannot refer to.
func finished(kind, address string, keys []string, tls bool, l login, password secret) Collector {
	c := Collector{Kind: kind, target: address}
	if tls {
		keys = append(keys, "tls: {}")
	}
	key, known := password.key()
	switch {
	case known:
		keys = append(keys, key)
	case l.hasPassword:
		c.Kind, c.Keys = "tcp", flow("address", address)
		if tls {
			c.Keys += ", tls: {}"
		}
		c.Better = []string{"This only connects: the password is left out. With the password in a file:",
			"  " + kind + ": {" + strings.Join(keys, ", ") + ", password_file: FILE}"}
		return c
	}
	c.Keys = strings.Join(keys, ", ")
	return c
}
