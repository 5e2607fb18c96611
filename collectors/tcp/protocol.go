package tcp

import (
	"context"
	"crypto/tls"
	"net"
	"slices"

	"github.com/vitals-health/vitals/collectors"
)

// protocol is a protocol that the kind tcp speaks. To add one, write its check in a
// file of its own and a line in protocols.
type protocol struct {
	// name is the value of the key protocol, and what the note begins with.
	name string
	// login and database say that the protocol takes username and password, and
	// database. A configuration that sets what its protocol does not take is refused.
	login, database bool
	// galera says that the protocol takes the key galera.
	galera bool
	// startsTLS says that the protocol begins in the clear and that check makes the TLS
	// handshake itself, as MySQL wants it.
	startsTLS bool
	// check asks the server whether it serves, once. The note says what it answered, in a
	// few words and without the address. An error that failed made has its reason; what
	// it is of any other error says reasonOfError. Nothing that check has started may
	// run on when it returns.
	check func(ctx context.Context, peer *peer) (note string, err error)
}

// protocols returns every protocol, in the order of the documentation.
func protocols() []protocol {
	return []protocol{
		{name: "redis", login: true, check: checkRedis},
		{name: "memcached", check: checkMemcached},
		{name: "mysql", login: true, database: true, galera: true, startsTLS: true, check: checkMySQL},
		{name: "amqp", login: true, database: true, check: checkAMQP},
		{name: "etcd", check: checkEtcd},
		{name: "ovsdb", database: true, check: checkOVSDB},
	}
}

// protocolNames returns the values of the key protocol.
func protocolNames() []string {
	var names []string
	for _, p := range protocols() {
		names = append(names, p.name)
	}
	return names
}

// protocolOf finds a protocol by its name.
func protocolOf(name string) (protocol, bool) {
	all := protocols()
	i := slices.IndexFunc(all, func(p protocol) bool { return p.name == name })
	if i < 0 {
		return protocol{}, false
	}
	return all[i], true
}

// peer is the server that a check asks.
type peer struct {
	// conn is connected and, except for a protocol that startsTLS, behind TLS where that
	// is configured. It ends with the round: a deadline that check or a library sets can
	// only be earlier, and more than maxRead bytes cannot be read. The collector closes
	// it; that a library closes it, too, does no harm.
	conn net.Conn
	// host is the host of the address without the port, "localhost" for a Unix socket:
	// the name of a virtual host, not one to connect to.
	host string
	// tls are the settings of a handshake with the server's name in them, nil where no TLS
	// is configured. It is for a protocol that startsTLS; whoever makes the handshake, the
	// collector learns when the certificates expire.
	tls *tls.Config
	// login is nil where no user and no password are configured.
	login *tcpLogin
	// database is empty where none is configured.
	database string
	// galera says that the state of a node of a Galera cluster is to be measured.
	galera bool
	// measured takes a gauge of the protocol's own. The collector gives it its label.
	measured func(metric *collectors.Def, value float64)
}

// tcpLogin are the credentials, with the password as its file holds it now. They stay out
// of every note and error; the collector redacts a password that a server sends back.
type tcpLogin struct {
	Username string
	Password collectors.Secret
}
