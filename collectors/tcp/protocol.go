package tcp

import (
	"context"
	"crypto/tls"
	"net"
	"slices"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote/query"
)

// maxRead bounds how many bytes, with those of TLS, a collection reads from its server.
const maxRead = 1 << 20

// protocol is a protocol that the kind tcp implements. To add one, write its check in a
// file of its own and a line in protocols.
type protocol struct {
	// name is the value of the key protocol, and what the note begins with.
	name string
	// login and database report whether the protocol uses username and password, and
	// database. A configuration that sets what its protocol does not use is rejected.
	login, database bool
	// galera and queries report whether the protocol uses these keys.
	galera, queries bool
	// startsTLS reports whether the protocol begins in the clear and check makes the TLS
	// handshake, as in MySQL.
	startsTLS bool
	// check checks the server once. The note is its answer in a few words, without the
	// address. An error of collectors.Errorf has its reason; remote.ReasonUntil returns that of
	// any other. Nothing that check started may run after it returns.
	check func(ctx context.Context, peer *peer) (note string, err error)
}

// protocols returns every protocol, in the order of the documentation.
func protocols() []protocol {
	return []protocol{
		{name: "redis", login: true, check: checkRedis},
		{name: "memcached", check: checkMemcached},
		{name: "mysql", login: true, database: true, galera: true, queries: true, startsTLS: true, check: checkMySQL},
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

// peer is the server of a check.
type peer struct {
	// conn is connected and, except for a protocol that startsTLS, behind TLS where that
	// is configured. It ends with the collection: a deadline that check or a library sets
	// can only be earlier, and at most maxRead bytes can be read. The collector closes it;
	// a library may close it, too.
	conn net.Conn
	// host is the host of the address without the port, "localhost" for a Unix socket:
	// the name of a virtual host, not one to connect to.
	host string
	// tls are the settings of a handshake with the server's name in them, nil without
	// TLS. It is for a protocol that startsTLS. Every handshake with these settings
	// reports to the collector when the certificates expire.
	tls *tls.Config
	// login is nil where no user and no password are configured.
	login *credentials
	// database is empty where none is configured.
	database string
	// galera requests the state of the node in its Galera cluster.
	galera bool
	// queries run after the server has answered. answered is called before them: they are no
	// part of the time that the server took.
	queries  query.Queries
	answered func()
	// ran sets the outcome of a query.
	ran func(name string, outcome query.Outcome)
	// measured sets a gauge that only this protocol has. The collector adds the label.
	measured func(metric *collectors.Def, value float64)
}

// credentials are a user and the password that its file holds now. No note and no error
// contains them; the collector redacts a password that a server sends back.
type credentials struct {
	Username string
	Password collectors.Secret
}
