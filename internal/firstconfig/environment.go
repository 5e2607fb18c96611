package firstconfig

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/vitals-health/vitals/collectors"
)

// variables are those of the environment by their names.
type variables map[string]string

func environment(list []string) variables {
	env := variables{}
	for _, v := range list {
		if name, value, ok := strings.Cut(v, "="); ok && value != "" {
			env[name] = value
		}
	}
	return env
}

// openstack adds Keystone where the variables of OpenStack's clients name a cloud.
func (f *Found) openstack(env variables) {
	c := Collector{Name: "keystone", Kind: "keystone", target: "keystone", Better: []string{
		"Neutron, with the token of this login:", "- name: neutron", "  neutron: {keystone: keystone}",
	}}
	switch {
	case env["OS_CLOUD"] != "":
		c.Keys, c.Source = flow("cloud", env["OS_CLOUD"]), "OS_CLOUD names a cloud of clouds.yaml"
	case env["OS_AUTH_URL"] != "":
		c.Source = "OS_AUTH_URL is set; the login is that of the OS_* variables"
	default:
		return
	}
	f.add(c)
}

// ends are the ends of the names of variables that hold an address, longest first.
func ends() []string { return []string{"_ENDPOINTS", "_ENDPOINT", "_ADDRESS", "_URL", "_URI", "_DSN"} }

// variables adds collectors for the services that variables name.
func (f *Found) variables(env variables) {
	for _, name := range slices.Sorted(maps.Keys(env)) {
		for _, end := range ends() {
			before, ok := strings.CutSuffix(name, end)
			if !ok || before == "" || before == "OS_AUTH" {
				continue
			}
			target := env[name]
			if rest, ok := strings.CutPrefix(target, "http"); ok && strings.HasPrefix(name, "OTEL_") {
				_, target, _ = strings.Cut(rest, ":") // OTLP is gRPC, or HTTP with POST only
				target = "tcp:" + target
			}
			c, ok := ofURL(target, secretOf(before, env))
			if !ok {
				if strings.Contains(target, "://") && strings.Contains(target, "@") {
					f.remark(name + " is not used: expected a URL with a known scheme, in which special characters of the password are escaped, such as %40 for @")
				}
				break
			}
			c.Name, c.Source = before, name+" names it"
			f.add(c)
			break
		}
	}
	f.postgresOf(env)
	f.redisOf(env)
}

// postgresOf adds a PostgreSQL of the variables of its clients.
func (f *Found) postgresOf(env variables) {
	host := env["PGHOST"]
	if host == "" {
		return
	}
	port := env["PGPORT"]
	if port == "" {
		port = "5432"
	}
	address := endpoint(host, port)
	if strings.HasPrefix(host, "/") {
		address = "unix:" + host + "/.s.PGSQL." + port
	}
	c := postgres(address, login{env["PGUSER"], env["PGDATABASE"], env["PGSSLMODE"], secretOf("PG", env)})
	c.Name, c.Source = "postgres", "PGHOST names it"
	f.add(c)
}

// redisOf adds a redis of two common variables. Docker and Kubernetes set REDIS_PORT to a URL for
// any service of that name: such a value does not count.
func (f *Found) redisOf(env variables) {
	host, port := env["REDIS_HOST"], env["REDIS_PORT"]
	if host == "" {
		return
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		port = "6379"
	}
	c := redis(endpoint(host, port), login{secret: secretOf("REDIS", env)})
	c.Name, c.Source = "redis", "REDIS_HOST names it"
	f.add(c)
}

// secret is a password and where it is.
type secret struct {
	// variable is the name of a variable with it, and file the path of a file; either may
	// be empty.
	variable, file string
	// value is the password, unless only the file has it.
	value collectors.Secret
}

// secretOf returns the password of a service, by the beginning of the names of its variables.
func secretOf(begin string, env variables) secret {
	var s secret
	for _, name := range []string{begin + "_PASSWORD", begin + "PASSWORD"} {
		if env[name] != "" && s.variable == "" {
			s.variable, s.value = name, collectors.Secret(env[name])
		}
		if file := env[name+"_FILE"]; strings.HasPrefix(file, "/") && s.file == "" {
			s.file = file
		}
	}
	return s
}

// ownFile stands for the path of the file with the password until the collector has a name. No
// value has it, because a zero byte is quoted.
const ownFile = "\x00"

// key returns the key with the password, and the password if it needs a file of its own: it is in
// no file yet, and in no variable, or the kind refers to none. The key is empty without a password.
func (s secret) key(refers bool) (string, collectors.Secret) {
	switch {
	case s.file != "":
		return flow("password_file", s.file), ""
	case s.variable != "" && refers:
		return "password: " + reference(s.variable), ""
	case s.value != "":
		return "password_file: " + ownFile, s.value
	}
	return "", ""
}
