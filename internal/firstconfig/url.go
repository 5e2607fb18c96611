package firstconfig

import (
	"cmp"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/vitals-health/vitals/collectors"
)

// login is what a URL or variables have of a login.
type login struct {
	user, database, mode string
	secret
}

// ofURL returns the collector for the service at a URL, or at the first of several. The password of
// the URL counts unless a file or a variable has one. It returns false for a text that is no such URL.
func ofURL(text string, password secret) (Collector, bool) {
	u, err := url.Parse(firstURL(text))
	if err != nil || u.Host == "" && u.Scheme != "unix" || cutPassword(u) {
		return Collector{}, false
	}
	l := loginOf(u, password)
	scheme, _, _ := strings.Cut(u.Scheme, "+") // such as mysql+pymysql
	at := func(port string) string {
		if p := u.Port(); p != "" {
			port = p
		}
		return endpoint(u.Hostname(), port)
	}
	switch scheme {
	case "http", "https":
		return ofWeb(u, l), true
	case "redis":
		return redis(at("6379"), l), true
	case "rediss":
		return redis(at("6379"), l, "tls: {}"), true
	case "postgres", "postgresql":
		return postgres(at("5432"), l), true
	case "mysql", "mariadb":
		return server("tcp", at("3306"), l, "protocol: mysql"), true
	case "amqp", "rabbit":
		return server("tcp", at("5672"), l, "protocol: amqp"), true
	case "amqps":
		return server("tcp", at("5671"), l, "protocol: amqp", "tls: {}"), true
	case "memcached", "memcache":
		if l.database = ""; l.user == "" {
			return memcached(at("11211")), true
		}
		return server("memcached", at("11211"), l), true
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

// loginOf returns the login of a URL.
func loginOf(u *url.URL, password secret) login {
	query := u.Query()
	own, _ := u.User.Password()
	password.value = cmp.Or(collectors.Secret(own), collectors.Secret(query.Get("password")), password.value)
	return login{cmp.Or(u.User.Username(), query.Get("user")), strings.TrimPrefix(u.Path, "/"), query.Get("sslmode"), password}
}

// firstURL returns the first of several URLs, and a URL with several hosts with the first of them.
// A comma in its password counts for nothing.
func firstURL(text string) string {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		return text
	}
	end := len(rest)
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		end = i
	}
	user := strings.LastIndex(rest[:end], "@") + 1
	if user == 0 && strings.Contains(rest[end:], "@") {
		return text
	}
	host, _, several := strings.Cut(rest[user:end], ",")
	more, _, _ := strings.Cut(rest[end:], ",")
	if several && strings.HasPrefix(more, "//") { // of the second URL
		more = ""
	}
	return scheme + "://" + rest[:user] + host + more
}

// cutPassword reports whether the host of a URL may be the beginning of a password that has /, ? or
// # in it.
func cutPassword(u *url.URL) bool {
	web := strings.HasPrefix(u.Scheme, "http") && (u.User != nil || u.Port() == "") // @ may be part of a path
	return !web && strings.Contains(u.EscapedPath()+u.RawQuery+u.EscapedFragment(), "@")
}

// ofWeb returns a collector for a URL without its query and fragment, which may hold secrets.
func ofWeb(u *url.URL, l login) Collector {
	plain := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	c := Collector{Kind: "http", Keys: flow("url", plain.String()), target: plain.Host}
	if u.RawQuery != "" {
		c.Better = []string{"The query of the URL is left out: it may hold a secret."}
	}
	c.authorize(u, l)
	return c
}

// authorize adds the login to a collector with the URL, or a comment if it is not complete.
func (c *Collector) authorize(u *url.URL, l login) {
	if u.User == nil {
		return
	}
	key, password := l.key(false)
	if l.user == "" || key == "" {
		c.Better = append(c.Better, "The user information of the URL is left out: it may be a token. basic_auth needs a user name and a password.")
		return
	}
	c.Keys, c.Password = c.Keys+", basic_auth: {"+flow("username", l.user)+", "+key+"}", password
}

// endpoint returns host:port.
func endpoint(host, port string) string { return net.JoinHostPort(host, port) }

// redis returns a collector for a redis, whose databases are not distinguished.
func redis(address string, l login, more ...string) Collector {
	l.database = ""
	return server("redis", address, l, more...)
}

// postgres returns a collector for a PostgreSQL.
func postgres(address string, l login) Collector {
	var more []string
	if slices.Contains([]string{"disable", "allow", "prefer", "require", "verify-ca", "verify-full"}, l.mode) {
		more = append(more, flow("sslmode", l.mode))
	}
	return server("postgres", address, l, more...)
}

// server returns a collector for a server with a login. more are keys after the address.
func server(kind, address string, l login, more ...string) Collector {
	keys := append([]string{flow("address", address)}, more...)
	if l.user != "" {
		keys = append(keys, flow("username", l.user))
	}
	if l.database != "" {
		keys = append(keys, flow("database", l.database))
	}
	key, password := l.key(kind != "postgres") // which has no key for a reference
	if key != "" {
		keys = append(keys, key)
	}
	return Collector{Kind: kind, Keys: strings.Join(keys, ", "), Password: password, target: address}
}
