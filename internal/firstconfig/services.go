package firstconfig

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// service is a server that is known by its port, its program or its Unix socket.
type service struct {
	name string
	port uint16
	// programs are names of its processes.
	programs []string
	// sockets are patterns for the ends of the paths of its Unix sockets.
	sockets []string
	// collect returns the collector for an address, as in the key address.
	collect func(address string) Collector
}

// services are the known services. The first that matches counts.
func services() []service {
	return []service{
		{"redis", 6379, []string{"redis-server", "valkey-server"}, []string{"*redis*.sock"}, redisAt},
		{"memcached", 11211, []string{"memcached"}, nil, memcached},
		{"postgres", 5432, []string{"postgres", "postmaster"}, []string{".s.PGSQL.*"}, connecting(noLogin, "postgres: {address: %s, username: vitals, password_file: /run/secrets/postgres}")},
		{"mysql", 3306, []string{"mysqld", "mariadbd"}, []string{"mysqld.sock", "mysql.sock"}, connecting(noLogin, "tcp: {address: %s, protocol: mysql, username: vitals, password_file: /run/secrets/mysql}")},
		{"rabbitmq", 5672, nil, nil, connecting(noLogin, "tcp: {address: %s, protocol: amqp, username: vitals, password_file: /run/secrets/rabbitmq}")},
		{"etcd", 2379, nil, nil, connecting(noLogin, "tcp: {address: %s, protocol: etcd, tls: {ca_file: FILE, cert_file: FILE, key_file: FILE}}")},
		{"mongodb", 27017, []string{"mongod"}, nil, tcp("")},
		{"kube-apiserver", 6443, nil, nil, tcp("")},
		{"kubelet", 10248, nil, nil, web("/healthz")},
		{"prometheus", 9090, nil, nil, web("/-/healthy")},
		{"alertmanager", 9093, nil, nil, web("/-/healthy")},
		{"grafana", 3000, nil, nil, web("/api/health")},
		{"node-exporter", 9100, nil, nil, scrape("/metrics")},
		{"ovn-northbound", 6641, nil, []string{"ovnnb_db.sock"}, tcp("protocol: ovsdb, database: OVN_Northbound")},
		{"ovn-southbound", 6642, nil, []string{"ovnsb_db.sock"}, tcp("protocol: ovsdb, database: OVN_Southbound")},
		{"openvswitch", 6640, nil, []string{"openvswitch/db.sock"}, tcp("protocol: ovsdb")},
		{"supervisor", 0, nil, []string{"supervisor.sock", "supervisord.sock"}, supervisor},
		{"web", 80, []string{"nginx", "apache2", "httpd", "haproxy", "caddy"}, nil, connecting(noPath, "http: {url: http://%s/}")},
		{"web-tls", 443, nil, nil, connecting(noPath, "http: {url: https://NAME/}")},
	}
}

// byPort returns the service that listens on a port, by its program where that is known.
func byPort(port uint16, program string) (service, bool) {
	all := services()
	i := slices.IndexFunc(all, func(s service) bool { return program != "" && slices.Contains(s.programs, program) })
	if i < 0 {
		i = slices.IndexFunc(all, func(s service) bool { return s.port != 0 && s.port == port })
	}
	if i < 0 {
		return service{}, false
	}
	return all[i], true
}

// byPath returns the service with a Unix socket.
func byPath(file string) (service, bool) {
	for _, s := range services() {
		for _, pattern := range s.sockets {
			parts := strings.Split(file, "/")
			end := strings.Join(parts[max(0, len(parts)-1-strings.Count(pattern, "/")):], "/")
			if ok, err := path.Match(pattern, end); ok && err == nil {
				return s, true
			}
		}
	}
	return service{}, false
}

// redisAt returns a collector of the kind redis, and one with a password.
func redisAt(address string) Collector {
	return Collector{
		Kind: "redis", Keys: flow("address", address), target: address,
		Better: []string{"If it requires a password:", "  redis: {" + flow("address", address) + ", password_file: /run/secrets/redis}"},
	}
}

func memcached(address string) Collector {
	return Collector{Kind: "memcached", Keys: flow("address", address), target: address}
}

// tcp returns a collector of the kind tcp with more keys.
func tcp(keys string) func(string) Collector {
	return func(address string) Collector {
		c := Collector{Kind: "tcp", Keys: flow("address", address), target: address}
		if keys != "" {
			c.Keys += ", " + keys
		}
		return c
	}
}

// The reasons why a collector only connects.
const (
	noLogin = "No login is known, so this only connects. With one:"
	noPath  = "This only connects. This also checks what it answers:"
)

// connecting returns a collector that only connects, why, and another block for more.
func connecting(why, better string) func(string) Collector {
	return func(address string) Collector {
		shown := quoted(address)
		if strings.Contains(better, "http") {
			shown = address
		}
		if strings.Contains(better, "%s") {
			better = fmt.Sprintf(better, shown)
		}
		return Collector{
			Kind: "tcp", Keys: flow("address", address), target: address,
			Better: []string{why, "  " + better},
		}
	}
}

// web returns a collector of the kind http.
func web(file string) func(string) Collector {
	return func(address string) Collector {
		return Collector{Kind: "http", Keys: flow("url", "http://"+address+file), target: address}
	}
}

func scrape(file string) func(string) Collector {
	return func(address string) Collector {
		return Collector{Kind: "scrape", Keys: flow("url", "http://"+address+file), target: address}
	}
}

func supervisor(address string) Collector {
	return Collector{Kind: "supervisor", Keys: flow("socket", strings.TrimPrefix(address, "unix:")), target: address}
}
