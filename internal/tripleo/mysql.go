package tripleo

import (
	"errors"
	"regexp"
	"strings"
)

// mysqlSocket is where MariaDB listens in TripleO's containers.
const mysqlSocket = "/var/lib/mysql/mysql.sock"

// mysql reads the options of a client, as the client mysql finds them in ~/.my.cnf: the
// socket, and who asks.
func mysql(text string) (Endpoint, error) {
	e := Endpoint{Address: "unix:" + mysqlSocket}
	for _, section := range []string{"client", "mysql"} {
		get := func(name string) string {
			value, _ := Lookup([]byte(text), section+"."+name)
			return value
		}
		if socket := get("socket"); socket != "" {
			e.Address = "unix:" + socket
		}
		setIf(&e.Username, get("user"))
		setIf((*string)(&e.Password), get("password"))
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

// ClustercheckURL is where the socat answers that runs clustercheck, by the text of
// /etc/sysconfig/clustercheck; own is the host's own name, which it binds to by default.
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
