package tripleo

import (
	"errors"
	"regexp"
	"strings"
)

// mysqlSocket is MariaDB's socket in TripleO's containers.
const mysqlSocket = "/var/lib/mysql/mysql.sock"

// mysql reads the client's socket and credentials from ~/.my.cnf. [mysql] overrides
// [client], and the last assignment of an option counts
// (https://dev.mysql.com/doc/refman/8.4/en/option-files.html).
func mysql(text string) (Endpoint, error) {
	sections := map[string]map[string]string{"client": {}, "mysql": {}}
	var current map[string]string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "["); ok {
			current = sections[strings.ToLower(strings.TrimSuffix(name, "]"))]
		}
		name, value, ok := strings.Cut(line, "=")
		if ok && current != nil && !strings.ContainsAny(line[:1], "[#;") {
			current[strings.TrimSpace(name)] = unquote(strings.TrimSpace(value))
		}
	}
	e := Endpoint{Address: "unix:" + mysqlSocket}
	for _, options := range []map[string]string{sections["client"], sections["mysql"]} {
		if options["socket"] != "" {
			e.Address = "unix:" + options["socket"]
		}
		setIf(&e.Username, options["user"])
		setIf((*string)(&e.Password), options["password"])
	}
	if e.Username == "" && e.Password != "" {
		return e, errors.New("a password without a user: expected user, too")
	}
	return e, nil
}

var (
	socatPort = regexp.MustCompile(`listen:([0-9]+)`)
	socatBind = regexp.MustCompile(`bind="?\[?([^",\]]*)`)
)

// ClustercheckURL returns the URL of the socat that runs clustercheck from the text of
// /etc/sysconfig/clustercheck. The default host is own, the name of this host.
func ClustercheckURL(text []byte, own string) (string, error) {
	bind := shellVariables(string(text))["TRIPLEO_SOCAT_BIND"]
	host, port := own, "9200"
	if m := socatPort.FindStringSubmatch(bind); m != nil {
		port = m[1]
	}
	if m := socatBind.FindStringSubmatch(bind); m != nil && strings.TrimSpace(m[1]) != "" {
		host = strings.TrimSpace(m[1])
	}
	address, err := reach(host, port)
	return "http://" + address + "/", err
}
