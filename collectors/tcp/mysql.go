package tcp

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/user"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/internal/panics"
)

// mysqlSession is a connection after the login.
type mysqlSession struct {
	driver.Conn
	guard *mysqlGuard
}

// checkMySQL logs in and selects 1. Of a node of a Galera cluster it also reads what
// clustercheck reads: the state of the node, and whether it is read-only.
func checkMySQL(ctx context.Context, peer *peer) (note string, err error) {
	defer func() { // the driver panics on packets that are cut off
		if r := recover(); r != nil {
			note, err = "", collectors.Errorf(remote.ReasonProtocol, "malformed packet: %v", r)
		}
	}()
	s, err := connectMySQL(ctx, peer)
	if err != nil {
		return "", fmt.Errorf("login: %w", err)
	}
	defer s.Close() // ends the session first, so that the server does not count it as aborted
	row, err := s.query(ctx, "SELECT 1, VERSION()")
	if err != nil {
		return "", err
	}
	if len(row) != 2 || row[0] != "1" {
		return "", collectors.Errorf(remote.ReasonProtocol, "answer to SELECT 1 is %q: expected 1", strings.Join(row, " "))
	}
	note = row[1]
	if peer.galera {
		state, err := s.galera(ctx, peer.measured)
		if err != nil {
			return "", err
		}
		note = strings.TrimSpace(note + " " + state)
	}
	s.run(ctx, peer, strings.Contains(row[1], "MariaDB"))
	return note, nil
}

// galera measures the node, and returns the name of its state.
// Source: https://galeracluster.com/library/documentation/galera-status-variables.html
func (s *mysqlSession) galera(ctx context.Context, measured func(*collectors.Def, float64)) (string, error) {
	row, err := s.query(ctx, "SELECT @@GLOBAL.read_only")
	if err != nil {
		return "", err
	}
	// A number, or since MariaDB 12 one of several words.
	writable := len(row) == 1 && (row[0] == "0" || strings.EqualFold(row[0], "OFF"))
	measured(mysqlReadOnlyMetric, collectors.Number(!writable))
	row, err = s.query(ctx, `SHOW GLOBAL STATUS LIKE 'wsrep\_local\_state'`)
	if err != nil {
		return "", err
	}
	if len(row) != 2 {
		return "", collectors.Errorf(remote.ReasonNotFound, "there is no wsrep_local_state: expected a node of a Galera cluster")
	}
	state, err := strconv.ParseUint(row[1], 10, 64)
	if err != nil {
		return "", collectors.Errorf(remote.ReasonProtocol, "wsrep_local_state is %q: expected a number", row[1])
	}
	measured(mysqlWsrepLocalStateMetric, float64(state))
	row, err = s.query(ctx, `SHOW GLOBAL STATUS LIKE 'wsrep\_local\_state\_comment'`)
	if err != nil || len(row) != 2 {
		return "", err
	}
	return row[1], nil
}

// connectMySQL logs in over the connection of peer.
func connectMySQL(ctx context.Context, peer *peer) (*mysqlSession, error) {
	login, err := mysqlLogin(peer.login)
	if err != nil {
		return nil, err
	}
	if strings.ContainsRune(login.Username+peer.database, 0) {
		return nil, collectors.Errorf(remote.ReasonProtocol, "username or database contains a zero byte")
	}
	guard := &mysqlGuard{Conn: peer.conn, tls: peer.tls != nil, local: remote.LocalHost(peer.host)}
	c := mysql.NewConfig()
	c.User, c.Passwd, c.DBName = login.Username, login.Password.Value(), peer.database
	c.TLS, c.Logger = peer.tls, &mysql.NopLogger{}
	c.DialFunc = panics.Dial(func(context.Context, string, string) (net.Conn, error) { return guard, nil })
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, err
	}
	conn, err := connector.Connect(ctx)
	if err != nil {
		return nil, mysqlError(err, guard)
	}
	return &mysqlSession{conn, guard}, nil
}

// mysqlLogin returns the configured login. Without a username it is that of this process, as
// in the client mysql: the server may authenticate it by the Unix socket alone.
func mysqlLogin(configured *credentials) (*credentials, error) {
	login := &credentials{}
	if configured != nil {
		*login = *configured
	}
	if login.Username == "" && os.Geteuid() == 0 {
		login.Username = "root"
	}
	if login.Username == "" {
		own, err := user.Current()
		if err != nil {
			return nil, collectors.Errorf(remote.ReasonAuth, "no username is configured, and that of this process is unknown: %w", err)
		}
		login.Username = own.Username
	}
	return login, nil
}

// query returns the first row of the result, nil without one. NULL is empty.
func (s *mysqlSession) query(ctx context.Context, text string) ([]string, error) {
	row, err := s.firstRow(ctx, text)
	if err != nil {
		return nil, fmt.Errorf("query %q: %w", text, mysqlError(err, s.guard))
	}
	return row, nil
}

func (s *mysqlSession) firstRow(ctx context.Context, text string) (row []string, err error) {
	rows, err := s.Conn.(driver.QueryerContext).QueryContext(ctx, text, nil)
	if err != nil {
		return nil, err
	}
	values := make([]driver.Value, len(rows.Columns()))
	switch err := rows.Next(values); {
	case err == nil:
		for _, v := range values {
			row = append(row, mysqlText(v))
		}
	case !errors.Is(err, io.EOF):
		return nil, err
	}
	return row, rows.Close()
}

func mysqlText(value driver.Value) string {
	switch v := value.(type) {
	case nil:
		return ""
	case []byte:
		return string(v)
	}
	return fmt.Sprint(value)
}

// mysqlError adds the reason to an error of the driver. The driver replaces errors of the
// connection by its own, so the guard keeps them.
func mysqlError(err error, guard *mysqlGuard) error {
	server, ok := errors.AsType[*mysql.MySQLError](err)
	switch {
	case ok:
		return collectors.Errorf(mysqlReason(server.Number), "error %d: %s", server.Number, server.Message)
	case guard.err != nil:
		return guard.err
	case errors.Is(err, mysql.ErrNoTLS):
		return collectors.Errorf(remote.ReasonTLS, "the server does not support TLS")
	case errors.Is(err, mysql.ErrUnknownPlugin), errors.Is(err, mysql.ErrCleartextPassword), errors.Is(err, mysql.ErrOldPassword):
		return collectors.Errorf(remote.ReasonAuth, "%w", err)
	}
	return err
}

// mysqlReason classifies the number of a server's error.
// Source: https://dev.mysql.com/doc/mysql-errors/8.4/en/server-error-reference.html
// and https://mariadb.com/kb/en/mariadb-error-code-reference/
func mysqlReason(number uint16) remote.Reason {
	switch number {
	case 1045, 1251, 1524, 1698, 1820, 1862, 1873, 3118, 3955, 4151: // wrong, locked or expired, or a plugin that is not loaded
		return remote.ReasonAuth
	case 1044, 1129, 1130, 1142, 1227: // a database, a host, or a privilege
		return remote.ReasonForbidden
	case 1049: // no such database
		return remote.ReasonNotFound
	case 3159: // the server requires TLS
		return remote.ReasonTLS
	case 1043, 1064, 1156, 1157, 1158, 1160: // the server does not understand the request
		return remote.ReasonProtocol
	}
	return remote.ReasonServerError
}
